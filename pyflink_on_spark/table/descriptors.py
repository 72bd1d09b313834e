# mypy: disable-error-code="empty-body"
"""Descriptors of connectors, formats and columns, as PyFlink 1.13 has them for ``connect``."""

from __future__ import annotations

from typing import Self

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, refuse_java, unsupported_class
from pyflink_on_spark._sql.types.external import to_logical
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table.table_schema import TableSchema

__all__ = [
    "Rowtime",
    "Schema",
    "OldCsv",
    "FileSystem",
    "Kafka",
    "Elasticsearch",
    "HBase",
    "Csv",
    "Avro",
    "Json",
    "ConnectTableDescriptor",
    "StreamTableDescriptor",
    "BatchTableDescriptor",
    "CustomConnectorDescriptor",
    "CustomFormatDescriptor",
]


class Descriptor:
    """Properties of a table.

    Args:
        j_descriptor: the properties.
    """

    def __init__(self, j_descriptor):
        self._properties: dict[str, str] = dict(j_descriptor or {})

    def to_properties(self) -> dict:
        """Return the properties."""
        return dict(self._properties)

    def _set(self, key: str, value: object) -> Self:
        self._properties[key] = value if isinstance(value, str) else _text(value)
        return self


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _type_text(given: DataType | str) -> str:
    return given if isinstance(given, str) else str(to_logical(given))


def _one_character(value: object) -> str:
    if not isinstance(value, str) or len(value) != 1:
        raise TypeError("Only one-character string is supported!")
    return value


# -- columns -------------------------------------------------------------------------------------


class Rowtime(Descriptor):
    """Where the timestamps of a rowtime attribute come from, and its watermarks."""

    def __init__(self):
        super().__init__({})

    def timestamps_from_field(self, field_name: str):
        """Take the timestamps from a field of the records."""
        self._set("rowtime.timestamps.type", "from-field")
        return self._set("rowtime.timestamps.from", field_name)

    def timestamps_from_source(self) -> Rowtime:
        """Take the timestamps that the source gives its records."""
        return self._set("rowtime.timestamps.type", "from-source")

    def timestamps_from_extractor(self, extractor: str) -> Rowtime:
        """Take the timestamps from a class of Java.

        Raises:
            UnsupportedFlinkFeature: always.
        """
        refuse_java(
            "timestamps_from_extractor(...)", instead="Use timestamps_from_field(field_name)."
        )

    def watermarks_periodic_ascending(self) -> Rowtime:
        """Emit watermarks for timestamps that never fall."""
        return self._set("rowtime.watermarks.type", "periodic-ascending")

    def watermarks_periodic_bounded(self, delay: int) -> Rowtime:
        """Emit watermarks some time after the greatest timestamp.

        Args:
            delay: how far, in ms.
        """
        self._set("rowtime.watermarks.type", "periodic-bounded")
        return self._set("rowtime.watermarks.delay", delay)

    def watermarks_from_source(self) -> Rowtime:
        """Take the watermarks of the source."""
        return self._set("rowtime.watermarks.type", "from-source")

    def watermarks_from_strategy(self, strategy: str) -> Rowtime:
        """Take the watermarks from a class of Java.

        Raises:
            UnsupportedFlinkFeature: always.
        """
        refuse_java(
            "watermarks_from_strategy(...)", instead="Use watermarks_periodic_bounded(delay)."
        )


class Schema(Descriptor):
    """The columns of a table.

    Args:
        schema: columns to begin with.
        fields: names and types of columns.
        rowtime: makes the last column a rowtime attribute.
    """

    def __init__(self, schema=None, fields=None, rowtime=None):
        super().__init__({})
        self._count = 0
        if schema is not None:
            self.schema(schema)
        if fields is not None:
            self.fields(fields)
        if rowtime is not None:
            self.rowtime(rowtime)

    def schema(self, table_schema: TableSchema) -> Schema:
        """Replace all columns by those of a TableSchema."""
        self._properties.clear()
        self._count = 0
        for name, kind in zip(table_schema.get_field_names(), table_schema.get_field_data_types()):
            self.field(name, kind)
        return self

    def field(self, field_name: str, field_type: DataType | str) -> Schema:
        """Add a column.

        Args:
            field_name: its name.
            field_type: its type, or the text of one.
        """
        prefix = f"schema.{self._count}"
        self._count += 1
        self._set(f"{prefix}.name", field_name)
        return self._set(f"{prefix}.data-type", _type_text(field_type))

    def fields(self, fields: dict[str, DataType | str]) -> Schema:
        """Add columns.

        Raises:
            TypeError: it is no dict.
        """
        if not isinstance(fields, dict):
            raise TypeError("fields must be stored in a dict or OrderedDict")
        for field_name, field_type in fields.items():
            self.field(field_name, field_type)
        return self

    def from_origin_field(self, origin_field_name: str) -> Schema:
        """Say what field of the records the last column is."""
        return self._of_last("from", origin_field_name)

    def proctime(self) -> Schema:
        """Make the last column the time at which a row is looked at."""
        return self._of_last("proctime", "true")

    def rowtime(self, rowtime: Rowtime) -> Schema:
        """Make the last column a rowtime attribute."""
        for key, value in rowtime.to_properties().items():
            self._of_last(key, value)
        return self

    def _of_last(self, key: str, value: str) -> Schema:
        if not self._count:
            raise ValueError("No field previously defined. Use field() before.")
        return self._set(f"schema.{self._count - 1}.{key}", value)


# -- formats -------------------------------------------------------------------------------------


class FormatDescriptor(Descriptor):
    """A format.

    Args:
        j_format_descriptor: its properties.
    """

    def __init__(self, j_format_descriptor):
        super().__init__({"format.property-version": "1", **j_format_descriptor})


class OldCsv(FormatDescriptor):
    """CSV in files.

    Args:
        schema: the columns; those of the table count.
        field_delimiter: stands between fields.
        line_delimiter: ends a line.
        quote_character: stands around texts.
        comment_prefix: what the lines begin with that are left out.
        ignore_parse_errors: whether a field that cannot be read is NULL.
        ignore_first_line: whether the first line of each file is left out.
    """

    def __init__(
        self,
        schema=None,
        field_delimiter=None,
        line_delimiter=None,
        quote_character=None,
        comment_prefix=None,
        ignore_parse_errors=False,
        ignore_first_line=False,
    ):
        super().__init__({"format.type": "csv"})
        self._count = 0
        if schema is not None:
            self.schema(schema)
        if field_delimiter is not None:
            self.field_delimiter(field_delimiter)
        if line_delimiter is not None:
            self.line_delimiter(line_delimiter)
        if quote_character is not None:
            self.quote_character(quote_character)
        if comment_prefix is not None:
            self.comment_prefix(comment_prefix)
        if ignore_parse_errors:
            self.ignore_parse_errors()
        if ignore_first_line:
            self.ignore_first_line()

    def field_delimiter(self, delimiter: str) -> OldCsv:
        """Set what stands between fields."""
        return self._set("format.field-delimiter", delimiter)

    def line_delimiter(self, delimiter: str) -> OldCsv:
        """Set what ends a line."""
        return self._set("format.line-delimiter", delimiter)

    def schema(self, table_schema: TableSchema) -> OldCsv:
        """Set the columns; those of the table count."""
        for name, kind in zip(table_schema.get_field_names(), table_schema.get_field_data_types()):
            self.field(name, kind)
        return self

    def field(self, field_name: str, field_type: DataType | str) -> OldCsv:
        """Add a column; those of the table count."""
        prefix = f"format.fields.{self._count}"
        self._count += 1
        self._set(f"{prefix}.name", field_name)
        return self._set(f"{prefix}.data-type", _type_text(field_type))

    def quote_character(self, quote_character: str) -> OldCsv:
        """Set what stands around texts."""
        return self._set("format.quote-character", quote_character)

    def comment_prefix(self, prefix: str) -> OldCsv:
        """Set what the lines begin with that are left out."""
        return self._set("format.comment-prefix", prefix)

    def ignore_parse_errors(self) -> OldCsv:
        """Make a field NULL that cannot be read."""
        return self._set("format.ignore-parse-errors", True)

    def ignore_first_line(self) -> OldCsv:
        """Leave the first line of each file out."""
        return self._set("format.ignore-first-line", True)


class Csv(FormatDescriptor):
    """CSV in messages.

    Args:
        schema: the type of the rows; the columns of the table count.
        field_delimiter: stands between fields.
        line_delimiter: ends a message.
        quote_character: stands around texts.
        allow_comments: whether lines that begin with # are left out.
        ignore_parse_errors: whether messages are left out that cannot be read.
        array_element_delimiter: stands between the elements of an array.
        escape_character: stands before what has no meaning of its own.
        null_literal: how NULL is written.
    """

    def __init__(
        self,
        schema=None,
        field_delimiter=None,
        line_delimiter=None,
        quote_character=None,
        allow_comments=False,
        ignore_parse_errors=False,
        array_element_delimiter=None,
        escape_character=None,
        null_literal=None,
    ):
        super().__init__({"format.type": "csv"})
        if schema is not None:
            self.schema(schema)
        if field_delimiter is not None:
            self.field_delimiter(field_delimiter)
        if line_delimiter is not None:
            self.line_delimiter(line_delimiter)
        if quote_character is not None:
            self.quote_character(quote_character)
        if allow_comments:
            self.allow_comments()
        if ignore_parse_errors:
            self.ignore_parse_errors()
        if array_element_delimiter is not None:
            self.array_element_delimiter(array_element_delimiter)
        if escape_character is not None:
            self.escape_character(escape_character)
        if null_literal is not None:
            self.null_literal(null_literal)

    def field_delimiter(self, delimiter: str) -> Csv:
        """Set the character that stands between fields."""
        return self._set("format.field-delimiter", _one_character(delimiter))

    def line_delimiter(self, delimiter: str) -> Csv:
        """Set what ends a message."""
        return self._set("format.line-delimiter", delimiter)

    def quote_character(self, quote_character: str) -> Csv:
        """Set the character that stands around texts."""
        return self._set("format.quote-character", _one_character(quote_character))

    def allow_comments(self) -> Csv:
        """Leave lines out that begin with #."""
        return self._set("format.allow-comments", True)

    def ignore_parse_errors(self) -> Csv:
        """Leave messages out that cannot be read."""
        return self._set("format.ignore-parse-errors", True)

    def array_element_delimiter(self, delimiter: str) -> Csv:
        """Set what stands between the elements of an array."""
        return self._set("format.array-element-delimiter", delimiter)

    def escape_character(self, escape_character: str) -> Csv:
        """Set the character that stands before what has no meaning of its own."""
        return self._set("format.escape-character", _one_character(escape_character))

    def null_literal(self, null_literal: str) -> Csv:
        """Set how NULL is written."""
        return self._set("format.null-literal", null_literal)

    def schema(self, schema_data_type: DataType) -> Csv:
        """Set the type of the rows; the columns of the table count."""
        return self._set("format.schema", _type_text(schema_data_type))

    def derive_schema(self) -> Csv:
        """Take the columns of the table, which is so in any case."""
        return self._set("format.derive-schema", True)


class Avro(FormatDescriptor):
    """Avro in messages.

    Args:
        record_class: a class of Java.
        avro_schema: the schema as JSON; the columns of the table count.
    """

    def __init__(self, record_class=None, avro_schema=None):
        super().__init__({"format.type": "avro"})
        if record_class is not None:
            self.record_class(record_class)
        if avro_schema is not None:
            self.avro_schema(avro_schema)

    def record_class(self, record_class: str) -> Avro:
        """Name a class of Java.

        Raises:
            UnsupportedFlinkFeature: always.
        """
        refuse_java("Avro().record_class(...)", instead="Use avro_schema(avro_schema).")

    def avro_schema(self, avro_schema: str) -> Avro:
        """Set the schema as JSON; the columns of the table count."""
        return self._set("format.avro-schema", avro_schema)


class Json(FormatDescriptor):
    """JSON in messages.

    Args:
        json_schema: a schema as JSON; the columns of the table count.
        schema: the type of the rows; the columns of the table count.
        derive_schema: whether the columns of the table count, which is so in any case.
    """

    def __init__(self, json_schema=None, schema=None, derive_schema=False):
        super().__init__({"format.type": "json"})
        if json_schema is not None:
            self.json_schema(json_schema)
        if schema is not None:
            self.schema(schema)
        if derive_schema:
            self.derive_schema()

    def fail_on_missing_field(self, fail_on_missing_field: bool) -> Json:
        """Set whether the job fails if a field is missing.

        Raises:
            TypeError: it is no bool.
        """
        return self._flag("fail-on-missing-field", fail_on_missing_field)

    def ignore_parse_errors(self, ignore_parse_errors: bool) -> Json:
        """Set whether messages are left out that cannot be read.

        Raises:
            TypeError: it is no bool.
        """
        return self._flag("ignore-parse-errors", ignore_parse_errors)

    def _flag(self, key: str, value: bool) -> Json:
        if not isinstance(value, bool):
            raise TypeError("Only bool value is supported!")
        return self._set(f"format.{key}", value)

    def json_schema(self, json_schema: str) -> Json:
        """Set a schema as JSON; the columns of the table count."""
        return self._set("format.json-schema", json_schema)

    def schema(self, schema_data_type: DataType) -> Json:
        """Set the type of the rows; the columns of the table count."""
        return self._set("format.schema", _type_text(schema_data_type))

    def derive_schema(self) -> Json:
        """Take the columns of the table, which is so in any case."""
        return self._set("format.derive-schema", True)


class _Custom(Descriptor):
    """A descriptor with any properties."""

    def property(self, key: str, value: str) -> Self:
        """Set a property.

        Raises:
            TypeError: the key or the value is no str.
        """
        for name, given in (("key", key), ("value", value)):
            if not isinstance(given, str):
                raise TypeError(f"{name} must be of type str.")
        return self._set(key, value)

    def properties(self, property_dict: dict[str, str]) -> Self:
        """Set properties.

        Raises:
            TypeError: it is no dict.
        """
        if not isinstance(property_dict, dict):
            raise TypeError("property_dict must be of type dict.")
        self._properties.update(property_dict)
        return self


def _check_custom(kind: object, version: object) -> None:
    if not isinstance(kind, str):
        raise TypeError("type must be of type str.")
    if not isinstance(version, int):
        raise TypeError("version must be of type int.")


class CustomFormatDescriptor(_Custom, FormatDescriptor):
    """A format by its name.

    Args:
        type: its name.
        version: of its properties.

    Raises:
        TypeError: an argument is of another type.
    """

    def __init__(self, type, version):
        _check_custom(type, version)
        super().__init__({"format.type": type, "format.property-version": str(version)})


# -- connectors ----------------------------------------------------------------------------------


class ConnectorDescriptor(Descriptor):
    """A connector.

    Args:
        j_connector_descriptor: its properties.
    """

    def __init__(self, j_connector_descriptor):
        super().__init__({"connector.property-version": "1", **j_connector_descriptor})


class FileSystem(ConnectorDescriptor):
    """Files of CSV.

    Args:
        path: a file or a folder.
    """

    def __init__(self, path=None):
        super().__init__({"connector.type": "filesystem"})
        if path is not None:
            self.path(path)

    def path(self, path_str: str) -> FileSystem:
        """Set the file or folder."""
        return self._set("connector.path", path_str)


class Kafka(ConnectorDescriptor):
    """A topic of Kafka.

    Args:
        version: of the client; there is one.
        topic: its name.
        properties: of the client.
        start_from_earliest: whether to start at the beginning.
        start_from_latest: whether to start at the end.
        start_from_group_offsets: whether to start where the consumer group was.
        start_from_specific_offsets_dict: where to start, by the partition.
        start_from_timestamp: from when on to start, in ms.
        sink_partitioner_fixed: whether each subtask writes to one partition.
        sink_partitioner_round_robin: whether rows go to all partitions in turns.
        custom_partitioner_class_name: a class of Java.
    """

    def __init__(
        self,
        version=None,
        topic=None,
        properties=None,
        start_from_earliest=False,
        start_from_latest=False,
        start_from_group_offsets=True,
        start_from_specific_offsets_dict=None,
        start_from_timestamp=None,
        sink_partitioner_fixed=None,
        sink_partitioner_round_robin=None,
        custom_partitioner_class_name=None,
    ):
        super().__init__({"connector.type": "kafka"})
        if version is not None:
            self.version(version)
        if topic is not None:
            self.topic(topic)
        if properties is not None:
            self.properties(properties)
        self._start_from(
            (start_from_earliest, start_from_latest, start_from_group_offsets),
            start_from_specific_offsets_dict,
            start_from_timestamp,
        )
        if sink_partitioner_fixed:
            self.sink_partitioner_fixed()
        if sink_partitioner_round_robin:
            self.sink_partitioner_round_robin()
        if custom_partitioner_class_name is not None:
            self.sink_partitioner_custom(custom_partitioner_class_name)

    def _start_from(
        self, flags: tuple[bool, ...], offsets: dict[int, int] | None, timestamp: int | None
    ) -> None:
        for wanted, mode in zip(flags, ("earliest-offset", "latest-offset", "group-offsets")):
            if wanted:
                self._start(mode)
        if offsets is not None:
            self.start_from_specific_offsets(offsets)
        if timestamp is not None:
            self.start_from_timestamp(timestamp)

    def version(self, version: str) -> Kafka:
        """Set the version of the client; there is one."""
        return self._set("connector.version", version)

    def topic(self, topic: str) -> Kafka:
        """Set the name of the topic."""
        return self._set("connector.topic", topic)

    def properties(self, property_dict: dict[str, str]) -> Kafka:
        """Set properties of the client.

        Raises:
            TypeError: it is no dict.
        """
        if not isinstance(property_dict, dict):
            raise TypeError("property_dict must be of type dict.")
        for key, value in property_dict.items():
            self.property(key, value)
        return self

    def property(self, key: str, value: str) -> Kafka:
        """Set a property of the client."""
        return self._set(f"connector.properties.{key}", value)

    def start_from_earliest(self) -> Kafka:
        """Start at the beginning."""
        return self._start("earliest-offset")

    def start_from_latest(self) -> Kafka:
        """Start at the end."""
        return self._start("latest-offset")

    def start_from_group_offsets(self) -> Kafka:
        """Start where the consumer group was."""
        return self._start("group-offsets")

    def start_from_specific_offsets(self, specific_offsets_dict: dict[int, int]) -> Kafka:
        """Set where to start, by the partition.

        Raises:
            TypeError: it is no dict.
        """
        if not isinstance(specific_offsets_dict, dict):
            raise TypeError("specific_offsets_dict must be of type dict.")
        for partition, offset in specific_offsets_dict.items():
            self.start_from_specific_offset(partition, offset)
        return self

    def start_from_specific_offset(self, partition: int, specific_offset: int) -> Kafka:
        """Set where to start in a partition."""
        key = "connector.specific-offsets"
        before = [self._properties[key]] if key in self._properties else []
        self._start("specific-offsets")
        text = f"partition:{int(partition)},offset:{int(specific_offset)}"
        return self._set(key, ";".join([*before, text]))

    def start_from_timestamp(self, timestamp: int) -> Kafka:
        """Set from when on to start, in ms."""
        self._start("timestamp")
        return self._set("connector.startup-timestamp-millis", int(timestamp))

    def _start(self, mode: str) -> Kafka:
        return self._set("connector.startup-mode", mode)

    def sink_partitioner_fixed(self) -> Kafka:
        """Let each subtask write to one partition."""
        return self._set("connector.sink-partitioner", "fixed")

    def sink_partitioner_round_robin(self) -> Kafka:
        """Let rows go to all partitions in turns."""
        return self._set("connector.sink-partitioner", "round-robin")

    def sink_partitioner_custom(self, partitioner_class_name: str) -> Kafka:
        """Name a class of Java that chooses partitions.

        Raises:
            UnsupportedFlinkFeature: always.
        """
        refuse_java(
            "Kafka().sink_partitioner_custom(...)", instead="Use sink_partitioner_round_robin()."
        )


class CustomConnectorDescriptor(_Custom, ConnectorDescriptor):
    """A connector by its name.

    Args:
        type: its name, ``jdbc`` for example.
        version: of its properties.
        format_needed: whether it needs a format.

    Raises:
        TypeError: an argument is of another type.
    """

    def __init__(self, type, version, format_needed):
        _check_custom(type, version)
        if not isinstance(format_needed, bool):
            raise TypeError("format_needed must be of type bool.")
        super().__init__({"connector.type": type, "connector.property-version": str(version)})


_search = unsupported_class(
    kind=Gap.NOT_YET,
    reason="no sink writes to Elasticsearch",
    instead="Write with Spark's connector for Elasticsearch: extensions.to_spark.",
)
_hbase = unsupported_class(
    kind=Gap.NOT_YET,
    reason="no source or sink connects to HBase",
    instead="Use Spark's connector for HBase: extensions.from_spark and to_spark.",
)


@_search
class Elasticsearch(ConnectorDescriptor):
    """A connector to Elasticsearch."""

    def __init__(
        self,
        version=None,
        hostname=None,
        port=None,
        protocol=None,
        index=None,
        document_type=None,
        key_delimiter=None,
        key_null_literal=None,
        failure_handler_fail=False,
        failure_handler_ignore=False,
        failure_handler_retry_rejected=False,
        custom_failure_handler_class_name=None,
        disable_flush_on_checkpoint=False,
        bulk_flush_max_actions=None,
        bulk_flush_max_size=None,
        bulk_flush_interval=None,
        bulk_flush_backoff_constant=False,
        bulk_flush_backoff_exponential=False,
        bulk_flush_backoff_max_retries=None,
        bulk_flush_backoff_delay=None,
        connection_max_retry_timeout=None,
        connection_path_prefix=None,
    ): ...

    def version(self, version) -> Elasticsearch: ...

    def host(self, hostname, port, protocol) -> Elasticsearch: ...

    def index(self, index) -> Elasticsearch: ...

    def document_type(self, document_type) -> Elasticsearch: ...

    def key_delimiter(self, key_delimiter) -> Elasticsearch: ...

    def key_null_literal(self, key_null_literal) -> Elasticsearch: ...

    def failure_handler_fail(self) -> Elasticsearch: ...

    def failure_handler_ignore(self) -> Elasticsearch: ...

    def failure_handler_retry_rejected(self) -> Elasticsearch: ...

    def failure_handler_custom(self, failure_handler_class_name) -> Elasticsearch: ...

    def disable_flush_on_checkpoint(self) -> Elasticsearch: ...

    def bulk_flush_max_actions(self, max_actions_num) -> Elasticsearch: ...

    def bulk_flush_max_size(self, max_size) -> Elasticsearch: ...

    def bulk_flush_interval(self, interval) -> Elasticsearch: ...

    def bulk_flush_backoff_constant(self) -> Elasticsearch: ...

    def bulk_flush_backoff_exponential(self) -> Elasticsearch: ...

    def bulk_flush_backoff_max_retries(self, max_retries) -> Elasticsearch: ...

    def bulk_flush_backoff_delay(self, delay) -> Elasticsearch: ...

    def connection_max_retry_timeout(self, max_retry_timeout) -> Elasticsearch: ...

    def connection_path_prefix(self, path_prefix) -> Elasticsearch: ...


@_hbase
class HBase(ConnectorDescriptor):
    """A connector to HBase."""

    def __init__(
        self,
        version=None,
        table_name=None,
        zookeeper_quorum=None,
        zookeeper_node_parent=None,
        write_buffer_flush_max_size=None,
        write_buffer_flush_max_rows=None,
        write_buffer_flush_interval=None,
    ): ...

    def version(self, version) -> HBase: ...

    def table_name(self, table_name) -> HBase: ...

    def zookeeper_quorum(self, zookeeper_quorum) -> HBase: ...

    def zookeeper_node_parent(self, zookeeper_node_parent) -> HBase: ...

    def write_buffer_flush_max_size(self, max_size) -> HBase: ...

    def write_buffer_flush_max_rows(self, write_buffer_flush_max_rows) -> HBase: ...

    def write_buffer_flush_interval(self, interval) -> HBase: ...


# -- tables --------------------------------------------------------------------------------------


class ConnectTableDescriptor(Descriptor):
    """A table in the making.

    Args:
        j_connect_table_descriptor: the environment and the connector; use ``t_env.connect``.
    """

    def __init__(self, j_connect_table_descriptor):
        self._t_env, connector = j_connect_table_descriptor
        super().__init__(connector.to_properties())
        self._schema: dict[str, str] = {}

    def to_properties(self) -> dict:
        """Return the properties of the connector, the format and the columns."""
        return {**self._properties, **self._schema}

    def with_format(self, format_descriptor: FormatDescriptor) -> ConnectTableDescriptor:
        """Set the format."""
        self._properties.update(format_descriptor.to_properties())
        return self

    def with_schema(self, schema: Schema) -> ConnectTableDescriptor:
        """Set the columns."""
        self._schema = schema.to_properties()
        return self

    def create_temporary_table(self, path: str) -> ConnectTableDescriptor:
        """Give the table a name for this session.

        Raises:
            ValidationError: there is one of that name, or it has no columns.
        """
        self._t_env._create_connected(path, self._properties, self._schema)
        return self


class StreamTableDescriptor(ConnectTableDescriptor):
    """A table in the making, with the kinds of its changes.

    Args:
        j_stream_table_descriptor: the environment and the connector; use ``t_env.connect``.
        in_append_mode: whether there are new rows only.
        in_retract_mode: whether updates are a row less and a row more.
        in_upsert_mode: whether updates are rows with the same key.
    """

    def __init__(
        self,
        j_stream_table_descriptor,
        in_append_mode=False,
        in_retract_mode=False,
        in_upsert_mode=False,
    ):
        super().__init__(j_stream_table_descriptor)
        if in_append_mode:
            self.in_append_mode()
        if in_retract_mode:
            self.in_retract_mode()
        if in_upsert_mode:
            self.in_upsert_mode()

    def in_append_mode(self) -> StreamTableDescriptor:
        """Say that there are new rows only."""
        return self._set("update-mode", "append")

    def in_retract_mode(self) -> StreamTableDescriptor:
        """Say that updates are a row less and a row more. On Spark: the connector says it."""
        return self._set("update-mode", "retract")

    def in_upsert_mode(self) -> StreamTableDescriptor:
        """Say that updates are rows with the same key. On Spark: the connector says it."""
        return self._set("update-mode", "upsert")


class BatchTableDescriptor(ConnectTableDescriptor):
    """A table of a BatchTableEnvironment in the making."""

    def __init__(self, j_batch_table_descriptor):
        super().__init__(j_batch_table_descriptor)


__getattr__ = missing_name(__name__)
