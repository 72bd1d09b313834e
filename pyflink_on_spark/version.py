"""The PyFlink release whose API this package has."""

from __future__ import annotations

__version__ = "2.3.0"
