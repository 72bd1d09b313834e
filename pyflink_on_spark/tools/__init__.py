"""Tools for someone who brings a PyFlink script: ``check``, ``compare`` and ``plan``."""

from __future__ import annotations
