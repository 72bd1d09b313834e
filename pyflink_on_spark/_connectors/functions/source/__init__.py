"""Sources that are a function of the user's, which runs in a thread beside the subtask."""

from __future__ import annotations

from pyflink_on_spark._connectors.functions.source.source import FunctionSource

__all__ = ["FunctionSource"]
