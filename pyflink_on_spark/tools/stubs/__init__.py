"""Stubs with which editors and type checkers resolve ``pyflink``."""

from __future__ import annotations
