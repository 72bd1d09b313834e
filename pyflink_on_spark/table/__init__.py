"""The Table API."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.changelog_mode import ChangelogMode
from pyflink_on_spark.table.compiled_plan import CompiledPlan
from pyflink_on_spark.table.data_view import DataView, ListView, MapView
from pyflink_on_spark.table.environment_settings import EnvironmentSettings
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.module import Module, ModuleEntry
from pyflink_on_spark.table.plan_reference import PlanReference
from pyflink_on_spark.table.result_kind import ResultKind
from pyflink_on_spark.table.schema import Schema
from pyflink_on_spark.table.sinks import CsvTableSink, TableSink, WriteMode
from pyflink_on_spark.table.sources import CsvTableSource, TableSource
from pyflink_on_spark.table.sql_dialect import SqlDialect
from pyflink_on_spark.table.statement_set import StatementSet
from pyflink_on_spark.table.table import (
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    Table,
    WindowGroupedTable,
)
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_descriptor import FormatDescriptor, TableDescriptor
from pyflink_on_spark.table.table_environment import (
    BatchTableEnvironment,
    StreamTableEnvironment,
    TableEnvironment,
)
from pyflink_on_spark.table.table_pipeline import TablePipeline
from pyflink_on_spark.table.table_result import TableResult
from pyflink_on_spark.table.table_schema import TableSchema
from pyflink_on_spark.table.types import DataTypes, Row, RowKind, UserDefinedType
from pyflink_on_spark.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

__all__ = [
    "TableEnvironment",
    "StreamTableEnvironment",
    "BatchTableEnvironment",
    "Table",
    "GroupedTable",
    "GroupWindowedTable",
    "OverWindowedTable",
    "WindowGroupedTable",
    "FunctionContext",
    "ScalarFunction",
    "TableFunction",
    "AggregateFunction",
    "AsyncScalarFunction",
    "TableAggregateFunction",
    "DataView",
    "ListView",
    "MapView",
    "StatementSet",
    "EnvironmentSettings",
    "TableConfig",
    "TableDescriptor",
    "FormatDescriptor",
    "Schema",
    "DataTypes",
    "UserDefinedType",
    "Expression",
    "TablePipeline",
    "TableSchema",
    "TableResult",
    "Row",
    "RowKind",
    "ChangelogMode",
    "ExplainDetail",
    "ResultKind",
    "SqlDialect",
    "Module",
    "ModuleEntry",
    "CompiledPlan",
    "PlanReference",
    "CsvTableSink",
    "CsvTableSource",
    "TableSink",
    "TableSource",
    "WriteMode",
]

__getattr__ = missing_name(__name__)
