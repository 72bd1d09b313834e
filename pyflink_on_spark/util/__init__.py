"""PyFlink's small public tools: exceptions, stability marks, access to Java."""

from __future__ import annotations
