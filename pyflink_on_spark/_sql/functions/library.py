"""All functions that Flink has by itself."""

from __future__ import annotations

import importlib
from functools import lru_cache

from pyflink_on_spark._sql.plan.signatures import FunctionRegistry

CHAPTERS = (
    "addresses",
    "aggregating",
    "arithmetic",
    "bitmaps",
    "collections",
    "comparison",
    "conditional",
    "deviations",
    "digests",
    "json",
    "json_aggregates",
    "json_quotes",
    "lists",
    "logic",
    "mathematics",
    "overlaps",
    "percentiles",
    "ranking",
    "session",
    "single_value",
    "strings",
    "times",
    "variants",
)
"""The modules of ``functions.builtin``; each has its functions in ``FUNCTIONS``."""


@lru_cache(maxsize=1)
def builtin_functions() -> FunctionRegistry:
    """Return Flink's own functions."""
    registry = FunctionRegistry()
    for chapter in CHAPTERS:
        module = importlib.import_module(f"pyflink_on_spark._sql.functions.builtin.{chapter}")
        registry.add(*module.FUNCTIONS)
    return registry
