"""``compare``: one script on both engines, and the differences of their output."""

from __future__ import annotations
