"""``plan``: the graph of a script, as text, JSON or a picture. Its jobs are not run."""

from __future__ import annotations
