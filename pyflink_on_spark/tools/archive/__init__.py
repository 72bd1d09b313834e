"""Records the archive of Java classes with which Spark starts faster."""

from __future__ import annotations
