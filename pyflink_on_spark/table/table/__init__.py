"""Tables and their operations."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.table.grouped_tables import (
    AggregatedTable,
    FlatAggregateTable,
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    WindowGroupedTable,
)
from pyflink_on_spark.table.table.table import Table

__all__ = [
    "Table",
    "GroupedTable",
    "GroupWindowedTable",
    "OverWindowedTable",
    "WindowGroupedTable",
    "AggregatedTable",
    "FlatAggregateTable",
]

__getattr__ = missing_name(__name__)
