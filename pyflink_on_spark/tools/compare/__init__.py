"""``compare``: one script on both engines, and where what they print differs."""

from __future__ import annotations
