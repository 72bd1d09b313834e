"""The methods of a TableEnvironment that later releases of PyFlink have dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark._sql.errors import TableError, ValidationError
from pyflink_on_spark._sql.parser.statements import parse_path, parse_statement
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark.common import JobExecutionResult
from pyflink_on_spark.table._inner import described_of, description_of, node_of
from pyflink_on_spark.table.descriptors import (
    ConnectorDescriptor,
    ConnectTableDescriptor,
    StreamTableDescriptor,
)
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expressions import col
from pyflink_on_spark.table.schema import Schema
from pyflink_on_spark.table.sinks import TableSink
from pyflink_on_spark.table.sources import TableSource
from pyflink_on_spark.table.table import Table
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_pipeline import TablePipeline

if TYPE_CHECKING:
    from pyflink_on_spark.table.table_environment.environment import Jobs
    from pyflink_on_spark.table.udf import UserDefinedFunctionWrapper


_BUFFERED = "use execute_insert, or a StatementSet"


class FormerMethods:
    """Tables, functions and INSERTs as PyFlink 1.13 and earlier have them.

    INSERTs of ``insert_into`` and ``sql_update`` wait for ``execute``, which runs them as one job.
    """

    _session: Session
    _jobs: Jobs
    _waiting: list[TablePipeline]

    # -- tables ----------------------------------------------------------------------------------

    def scan(self, *table_path: str) -> Table:
        """Return a table of a catalog.

        Args:
            table_path: its name; or the catalog, the database and the name.

        Raises:
            ValidationError: it is not there.
        """
        note_former("t_env.scan(...)", "use from_path")
        return self.from_path(".".join(map(_quoted, table_path)))  # type: ignore[attr-defined]

    def register_table(self, name: str, table: Table):
        """Give a table a name for this session.

        Raises:
            ValidationError: there is one of that name.
        """
        note_former("t_env.register_table(...)", "use create_temporary_view")
        self.create_temporary_view(_quoted(name), table)  # type: ignore[attr-defined]

    def register_table_source(self, name: str, table_source: TableSource):
        """Give a source a name for this session.

        Raises:
            ValidationError: there is a table of that name.
        """
        note_former(
            "t_env.register_table_source(...)", "use create_temporary_table, or CREATE TABLE"
        )
        self._register(name, *described_of(table_source))

    def register_table_sink(self, name: str, table_sink: TableSink):
        """Give a sink a name for this session.

        Raises:
            ValidationError: there is a table of that name.
        """
        note_former("t_env.register_table_sink(...)", "use create_temporary_table, or CREATE TABLE")
        self._register(name, *described_of(table_sink))

    def from_table_source(self, table_source: TableSource) -> Table:
        """Return the table of a source."""
        note_former("t_env.from_table_source(...)", "use from_descriptor")
        schema, options = described_of(table_source)
        path = self._session.anonymous_path("source")
        table = self._of_options(schema, options)
        return Table(self._session.read(path, table), self)

    def connect(self, connector_descriptor: ConnectorDescriptor) -> ConnectTableDescriptor:
        """Describe a table by what it connects to.

        Args:
            connector_descriptor: ``FileSystem``, ``Kafka`` or another one of
                ``pyflink.table.descriptors``.
        """
        note_former("t_env.connect(...)", "use create_temporary_table(path, TableDescriptor)")
        return StreamTableDescriptor((self, connector_descriptor))

    def _create_connected(
        self, path: str, properties: dict[str, str], columns: dict[str, str]
    ) -> None:
        """Add the table that descriptors describe: its columns by the numbers in their keys."""
        described = ConnectedColumns(columns)
        table = self._of_options(described.schema(), properties)
        qualified = self._session.catalog.qualify(parse_path(path))
        added: CatalogTable | CatalogView = table
        if described.renames:
            hidden = self._session.anonymous_path(properties["connector.type"])
            node = self._session.read(hidden, table)
            added = CatalogView(node_of(Table(node, self).select(*described.selection())))
        self._session.catalog.add(qualified, added, temporary=True)

    def _register(self, name: str, schema: Schema, options: dict[str, str]) -> None:
        path = self._session.catalog.qualify((name,))
        self._session.catalog.add(path, self._of_options(schema, options), temporary=True)

    def _of_options(self, schema: Schema, options: dict[str, str]) -> CatalogTable:
        return self._session.described_table(description_of(schema), options, (), None)

    # -- functions -------------------------------------------------------------------------------

    def register_function(self, name: str, function: UserDefinedFunctionWrapper):
        """Add a function for this session; one of that name is replaced.

        Args:
            name: what SQL and texts of expressions call it.
            function: what ``udf``, ``udtf`` or ``udaf`` returned, or an AggregateFunction.
        """
        note_former("t_env.register_function(...)", "use create_temporary_system_function")
        self.drop_temporary_system_function(name)  # type: ignore[attr-defined]
        self.create_temporary_system_function(name, function)  # type: ignore[attr-defined]

    # -- INSERTs ---------------------------------------------------------------------------------

    def insert_into(self, target_path: str, table: Table):
        """Let ``execute`` write the rows of a table to another one.

        Raises:
            ValidationError: the rows do not fit, or there is no such table.
        """
        note_former("t_env.insert_into(...)", _BUFFERED)
        table.insert_into(target_path)

    def sql_update(self, stmt: str):
        """Carry out a statement; an INSERT waits for ``execute``.

        Raises:
            ValidationError: something in it is wrong; the message says where.
            TableException: it is a query.
        """
        note_former("t_env.sql_update(...)", "use execute_sql")
        statement = parse_statement(stmt)
        if isinstance(statement, syntax.Insert):
            self._buffered(TablePipeline(self._session.bind_insert(statement), self))
        elif isinstance(statement, syntax.QueryStatement):
            raise TableError(
                "Unsupported SQL query! sqlUpdate() only accepts a single SQL statement of type "
                "INSERT, CREATE TABLE, DROP TABLE, ALTER TABLE, USE CATALOG, USE [CATALOG.]"
                "DATABASE, CREATE DATABASE, DROP DATABASE, ALTER DATABASE, CREATE FUNCTION, "
                "DROP FUNCTION, ALTER FUNCTION, CREATE CATALOG, CREATE VIEW, DROP VIEW."
            )
        else:
            self.execute_sql(stmt)  # type: ignore[attr-defined]

    def execute(self, job_name: str) -> JobExecutionResult:
        """Run the INSERTs that wait as one job, and return when it has ended.

        Args:
            job_name: the name of the job.

        Raises:
            ValueError: none waits.
        """
        note_former("t_env.execute(job_name)", _BUFFERED)
        if not self._waiting:
            raise ValueError(
                "No operators defined in streaming topology. Cannot generate StreamGraph."
            )
        waiting, self._waiting = self._waiting, []
        return self._jobs.run([pipeline._sink for pipeline in waiting], job_name)

    def explain(self, table: Table | None = None, extended: bool = False) -> str:
        """Return how a table is computed, or how the INSERTs are carried out that wait.

        Args:
            table: the table; None for the INSERTs.
            extended: whether the kinds of changes are shown, too.
        """
        note_former("t_env.explain(...)", "use Table.explain")
        details: list[Any] = [ExplainDetail.CHANGELOG_MODE] if extended else []
        if table is not None:
            return table.explain(*details)
        sinks = [pipeline._sink for pipeline in self._waiting]
        return self._explain(sinks, details)  # type: ignore[attr-defined]

    def _buffered(self, pipeline: TablePipeline) -> TablePipeline:
        self._waiting.append(pipeline)
        return pipeline

    def _unbuffer(self, pipeline: TablePipeline) -> None:
        self._waiting = [each for each in self._waiting if each is not pipeline]


def former_config(
    settings: object, table_config: TableConfig | None, environment: object
) -> tuple[Any, list[TableConfig]]:
    """Return the settings, and the TableConfig that is given beside or in place of them.

    Args:
        settings: EnvironmentSettings; a TableConfig, which PyFlink 1.13 has in this place; or None.
        table_config: a TableConfig, or None.
        environment: the environment of streams or of batch programs, or None.

    Raises:
        ValueError: there is a TableConfig together with settings, or without an environment.
    """
    if isinstance(settings, TableConfig):
        settings, table_config = None, settings
    if table_config is None:
        return settings, []
    note_former("create(..., table_config)", "use get_config() of the environment")
    if settings is not None:
        raise ValueError(
            "The param 'table_config' and 'environment_settings' cannot be used at the same time"
        )
    if environment is None:
        raise ValueError(
            "Only the param 'table_config' is found, the execution environment is also required."
        )
    return settings, [table_config]


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


_PROPERTIES = frozenset(
    {
        "name", "data-type", "from", "proctime", "rowtime.timestamps.type",
        "rowtime.timestamps.from", "rowtime.watermarks.type", "rowtime.watermarks.delay",
    }
)  # fmt: skip


class ConnectedColumns:
    """The columns of a table, of which some are called otherwise in its records.

    Args:
        properties: ``schema.0.name``, ``schema.0.data-type`` and so on.

    Raises:
        ValidationError: there are none.
    """

    def __init__(self, properties: dict[str, str]) -> None:
        by_number: dict[int, dict[str, str]] = {}
        for key, value in properties.items():
            number, _, name = key.removeprefix("schema.").partition(".")
            assert name in _PROPERTIES
            by_number.setdefault(int(number), {})[name] = value
        if not by_number:
            raise ValidationError("A table needs columns: call with_schema(Schema().field(...)).")
        self._columns = [by_number[number] for number in sorted(by_number)]

    @property
    def renames(self) -> bool:
        """True if a column has another name than its field of the records."""
        return any(_field(column) != column["name"] for column in self._columns)

    def selection(self) -> list[Expression]:
        """Return the columns of the table, of the fields of the records."""
        return [col(_field(column)).alias(column["name"]) for column in self._columns]

    def schema(self) -> Schema:
        """Return the fields of the records, with time attributes.

        Raises:
            ValidationError: a time attribute is incomplete.
        """
        builder = Schema.new_builder()
        for column in self._columns:
            if column.get("proctime") == "true":
                builder.column_by_expression(column["name"], "PROCTIME()")
            elif "rowtime.timestamps.type" in column:
                self._add_rowtime(builder, column)
            else:
                builder.column(_field(column), column["data-type"])
        return builder.build()

    def _add_rowtime(self, builder: Schema.Builder, column: dict[str, str]) -> None:
        name = _field(column)
        if column["rowtime.timestamps.type"] == "from-source":
            builder.column_by_metadata(name, "TIMESTAMP_LTZ(3)", "timestamp", True)
        else:
            builder.column(name, "TIMESTAMP(3)")
        kind = column.get("rowtime.watermarks.type")
        if kind is None:
            raise ValidationError(
                f"The rowtime attribute '{column['name']}' needs watermarks: call "
                "watermarks_periodic_bounded(delay) of Rowtime, for example."
            )
        if kind == "from-source":
            builder.watermark(name, "SOURCE_WATERMARK()")
            return
        delay = int(column.get("rowtime.watermarks.delay", "1"))
        seconds, millis = divmod(delay, 1000)
        interval = f"INTERVAL '{seconds}.{millis:03}' SECOND({max(len(str(seconds)), 2)}, 3)"
        builder.watermark(name, f"`{name}` - {interval}")


def _field(column: dict[str, str]) -> str:
    """Return the name of a column's field in the records."""
    return column.get("rowtime.timestamps.from", column.get("from", column["name"]))
