"""The environment of a program over streams and tables."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from pyflink_on_spark.table.changelog_mode import ChangelogMode
from pyflink_on_spark.table.environment_settings import EnvironmentSettings
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.schema import Schema
from pyflink_on_spark.table.table import Table
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_environment.environment import TableEnvironment
from pyflink_on_spark.table.table_environment.former_methods import former_config
from pyflink_on_spark.table.table_environment.from_streams import declared_schema, stream_node
from pyflink_on_spark.table.table_environment.to_streams import (
    append_stream,
    changelog_stream,
    data_stream,
    retract_stream,
)


class StreamTableEnvironment(TableEnvironment):
    """Plans and runs queries over tables and DataStreams.

    Args:
        j_tenv: use ``create``.
    """

    def __init__(self, j_tenv):
        super().__init__(j_tenv)

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment = None,
        environment_settings: EnvironmentSettings = None,
        table_config: TableConfig = None,
    ) -> StreamTableEnvironment:
        """Return a new environment.

        Args:
            stream_execution_environment: where its streams are; a new one if not given.
            environment_settings: its mode and options; those of the StreamExecutionEnvironment if
                not given. PyFlink 1.13 has a TableConfig in this place.
            table_config: options, as in PyFlink 1.13; not together with settings.

        Raises:
            ValueError: none was given, or options without a StreamExecutionEnvironment or
                together with settings.

        Example:
            >>> env = StreamExecutionEnvironment.get_execution_environment()
            >>> t_env = StreamTableEnvironment.create(env)
        """
        environment, settings = stream_execution_environment, environment_settings
        settings, config = former_config(settings, table_config, environment)
        if environment is None and settings is None:
            raise ValueError(
                "No argument found, the param 'stream_execution_environment' or "
                "'environment_settings' is required."
            )
        streaming_results = environment is not None
        if environment is None:
            environment = StreamExecutionEnvironment.get_execution_environment()
        if settings is None:
            settings = EnvironmentSettings.new_instance().build()
        return StreamTableEnvironment((environment, settings, streaming_results, *config))

    def from_data_stream(
        self, data_stream: DataStream, *fields_or_schema: Expression | Schema | str
    ) -> Table:
        """Return a stream as a table.

        Args:
            data_stream: its elements are rows that are added.
            fields_or_schema: the columns: expressions with names of the stream's fields, or new
                names by position; or a Schema; all fields if not given.

        Raises:
            ValidationError: the stream has no such fields.
        """
        table = Table(self._stream_node(data_stream, fields_or_schema), self)
        table._declared = declared_schema(self._session, data_stream, fields_or_schema)
        return table

    def from_changelog_stream(
        self, data_stream: DataStream, schema: Schema = None, changelog_mode: ChangelogMode = None
    ) -> Table:
        """Return a stream of Rows with kinds as a table.

        Args:
            data_stream: its elements are changes.
            schema: the columns; all fields if not given.
            changelog_mode: which changes there are; all if not given.
        """
        mode = ChangelogMode.all() if changelog_mode is None else changelog_mode
        fields = () if schema is None else (schema,)
        table = Table(stream_node(self._session, data_stream, fields, mode._mode), self)
        table._declared = declared_schema(self._session, data_stream, fields)
        return table

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table that only grows, as a stream of Rows with names.

        Raises:
            TableException: the table has other changes than new rows.
        """
        return data_stream(self._environment, self._session, table._node)

    def to_changelog_stream(
        self,
        table: Table,
        target_schema: Schema = None,
        changelog_mode: ChangelogMode = None,
    ) -> DataStream:
        """Return the changes of a table, as a stream of Rows with names and kinds.

        Args:
            table: the table.
            target_schema: the columns that are wanted; those of the table if not given.
            changelog_mode: which changes are wanted; all if not given.

        Raises:
            TableException: the table has other changes than these.
        """
        mode = ChangelogMode.all() if changelog_mode is None else changelog_mode
        description = None if target_schema is None else target_schema._description
        return changelog_stream(
            self._environment, self._session, table._node, description, mode._mode
        )

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table that only grows, as a stream of some type.

        Args:
            table: the table.
            type_info: of rows or tuples; fields go by position.

        Raises:
            TableException: the table has other changes than new rows.
            ValidationError: the type does not fit the table.
        """
        return append_stream(self._environment, self._session, table._node, type_info)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the changes of a table, as pairs of a bool, whether a row is added, and the row.

        Args:
            table: the table.
            type_info: of the rows; fields go by position.

        Raises:
            ValidationError: the type does not fit the table.
        """
        return retract_stream(self._environment, self._session, table._node, type_info)

    def _stream_node(self, stream: DataStream, fields: tuple[Any, ...]) -> Node:
        return stream_node(self._session, stream, fields, ChangelogMode.insert_only()._mode)
