"""The connectors ``kafka`` and ``upsert-kafka``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._connectors.kafka.config import KafkaSinkConfig, KafkaSourceConfig
from pyflink_on_spark._connectors.kafka.sink import KafkaRecordSink
from pyflink_on_spark._connectors.kafka.source import KafkaSplitSource
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.options import Option, TableOptions, duration, integer
from pyflink_on_spark._sql.plan.ports import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.connectors.kafka import options as kafka
from pyflink_on_spark._sql.tables.connectors.kafka.records import (
    METADATA,
    RecordReader,
    RowRecords,
    ValueReader,
)
from pyflink_on_spark._sql.tables.connectors.keyed_records import (
    DecodeRecords,
    EncodeRecords,
    RowShape,
)
from pyflink_on_spark._sql.tables.formats.format import DecodeOperator, Decoder, Encoder, Format
from pyflink_on_spark._sql.tables.formats.registry import find_format
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common import Types

_FLUSH_ROWS = Option("sink.buffer-flush.max-rows", integer, default=0)
_FLUSH_INTERVAL = Option("sink.buffer-flush.interval", duration, default=0)
_Found = tuple[Format, TableOptions]


class KafkaFactory(TableFactory):
    """Makes tables of the records of topics."""

    identifier = "kafka"
    options = (
        kafka.SERVERS, kafka.TOPIC, kafka.TOPIC_PATTERN, kafka.KEY_FIELDS, kafka.KEY_PREFIX,
        kafka.VALUE_FIELDS, *kafka.READING, *kafka.WRITING,
    )  # type: ignore[assignment]  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        parts = _Parts.of(context, _value_format(options), _key_format(options))
        options.note(kafka.WRITING)
        options.note((kafka.GROUP,))
        return _TopicTable(_source_config(options), parts.decoders(context), parts.shape)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options = context.options
        parts = _Parts.of(context, _value_format(options), _key_format(options))
        options.note(kafka.READING)
        kafka.check_partitioner(options)
        encoders, shape = parts.encoders(context), parts.written_shape(context)
        return _TopicSink(_sink_config(options), encoders, shape, options[kafka.PARALLELISM])


class UpsertKafkaFactory(TableFactory):
    """Makes tables of topics whose records are the last state of their keys."""

    identifier = "upsert-kafka"
    options = (
        kafka.SERVERS, kafka.TOPIC, kafka.KEY_PREFIX, kafka.VALUE_FIELDS, kafka.PARALLELISM,
        kafka.GUARANTEE, kafka.TRANSACTIONAL_ID, _FLUSH_ROWS, _FLUSH_INTERVAL,
        kafka.BOUNDED_MODE, kafka.BOUNDED_OFFSETS, kafka.BOUNDED_TIMESTAMP, kafka.DISCOVERY,
    )  # type: ignore[assignment]  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options, parts = context.options, self._parts(context)
        options.note((*kafka.WRITING, kafka.GROUP, _FLUSH_ROWS, _FLUSH_INTERVAL))
        config = _source_config(options.with_default(kafka.STARTUP_MODE.key, "earliest-offset"))
        return _UpsertTable(config, parts.decoders(context), parts.shape)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options, parts = context.options, self._parts(context)
        options.note((*kafka.READING, _FLUSH_ROWS, _FLUSH_INTERVAL))
        config, encoders = _sink_config(options), parts.encoders(context)
        shape = parts.written_shape(context)
        return _UpsertSink(config, encoders, shape, options[kafka.PARALLELISM])

    @staticmethod
    def _parts(context: TableContext) -> _Parts:
        options, key = context.options, context.schema.primary_key
        if not key:
            raise ValidationError(
                "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY "
                "specifies which columns should be read from or write to the Kafka message key. "
                "The PRIMARY KEY also defines records in the 'upsert-kafka' table should update or "
                "delete on which keys."
            )
        key_format = find_format(options, "key.format")
        return _Parts.of(context, find_format(options, "value.format"), key_format, key)


@dataclass(frozen=True)
class _Parts:
    """The formats of keys and values, and their columns."""

    value_format: _Found
    key_format: _Found | None
    key: Schema
    value: Schema
    shape: RowShape

    @classmethod
    def of(
        cls,
        context: TableContext,
        value_format: _Found,
        key_format: _Found | None,
        names: tuple[str, ...] | None = None,
    ) -> _Parts:
        options, physical = context.options, context.schema.physical
        given = options[kafka.KEY_FIELDS]
        if names is None:
            names = tuple(given.split(";")) if given else ()
        if bool(names) != (key_format is not None):
            raise ValidationError(
                "A key format needs key fields, and key fields need a key format: set both "
                "'key.format' and 'key.fields', or none of them."
            )
        for name in names:
            if name not in physical.names:
                raise ValidationError(
                    f"Could not find the field '{name}' in the table schema for usage in the key "
                    f"format. A key field must be a regular, physical column. The following "
                    f"columns can be selected in the 'key.fields' option: {list(physical.names)}"
                )
        key = tuple(physical.names.index(name) for name in names)
        every = range(len(physical))
        both = options[kafka.VALUE_FIELDS] == "all"
        value = tuple(index for index in every if both or index not in key)
        prefix = options[kafka.KEY_PREFIX]
        return cls(
            value_format,
            key_format,
            _columns(physical, key, prefix),
            _columns(physical, value, ""),
            RowShape(key, value, len(physical)),
        )

    def decoders(self, context: TableContext) -> tuple[Decoder | None, Decoder]:
        found, own = self.value_format
        value = found.decoder(self.value, own, context.time_zone)
        if self.key_format is None:
            return None, value
        found, own = self.key_format
        return found.decoder(self.key, own, context.time_zone), value

    def written_shape(self, context: TableContext) -> RowShape:
        """Return the shape of rows that are written: metadata stand among their columns."""
        names, written = context.schema.physical.names, context.schema.sink.names
        places = [written.index(name) for name in names]
        shape = self.shape
        return RowShape(
            tuple(places[index] for index in shape.key),
            tuple(places[index] for index in shape.value),
            shape.width,
        )

    def encoders(self, context: TableContext) -> _Encoders:
        found, own = self.value_format
        value = found.encoder(self.value, own, context.time_zone)
        key = None
        if self.key_format is not None:
            found, own = self.key_format
            key = found.encoder(self.key, own, context.time_zone)
        return _Encoders(key, value, _timestamp_column(context))


@dataclass(frozen=True)
class _Encoders:
    key: Encoder | None
    value: Encoder
    timestamp: int | None


class _TopicTable(TableSource):
    def __init__(
        self,
        config: KafkaSourceConfig,
        decoders: tuple[Decoder | None, Decoder],
        shape: RowShape,
    ) -> None:
        self._config, self._shape = config, shape
        self._key, self._value = decoders
        self.changes = self._value.changes

    def metadata(self) -> Mapping[str, LogicalType]:
        return METADATA

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        if not metadata and self._key is None:
            source = KafkaSplitSource(self._config)
            return Reading(source, DecodeOperator(self._value))
        source = KafkaSplitSource(_whole(self._config, metadata))
        return Reading(source, DecodeRecords(self._key, self._value, self._shape))


class _UpsertTable(_TopicTable):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.changes = ModifyKinds.ALL
        self.before = False

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        source = KafkaSplitSource(_whole(self._config, metadata))
        return Reading(source, DecodeRecords(self._key, self._value, self._shape, upsert=True))


class _TopicSink(TableSink):
    _upsert = False

    def __init__(
        self, config: KafkaSinkConfig, encoders: _Encoders, shape: RowShape, parallelism: int | None
    ) -> None:
        self._config, self._encoders, self._shape = config, encoders, shape
        self._parallelism = parallelism
        self.accepts = encoders.value.accepts

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        encoders = self._encoders
        # A changelog format gets pairs, whatever the query gives.
        pairs = changelog or encoders.value.accepts is not ModifyKinds.INSERT
        encode = EncodeRecords(
            encoders.key,
            encoders.value,
            self._shape,
            changelog=changelog,
            as_pairs=pairs and not self._upsert,
            upsert=self._upsert,
            timestamp=encoders.timestamp,
        )
        sink = KafkaRecordSink(self._config).with_input_type(None)
        return Writing(sink, encode, self._parallelism)


class _UpsertSink(_TopicSink):
    _upsert = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.accepts = ModifyKinds.ALL
        self.before = False


def _columns(schema: Schema, positions: tuple[int, ...], prefix: str) -> Schema:
    return Schema(
        tuple(schema.names[index].removeprefix(prefix) for index in positions),
        tuple(schema.types[index] for index in positions),
    )


def _value_format(options: TableOptions) -> _Found:
    return find_format(options, "value.format" if "value.format" in options.given else "format")


def _key_format(options: TableOptions) -> _Found | None:
    return find_format(options, "key.format") if "key.format" in options.given else None


def _source_config(options: TableOptions) -> KafkaSourceConfig:
    stopping = kafka.stopping(options)
    return KafkaSourceConfig(
        kafka.subscription(options),
        kafka.starting(options),
        stopping,
        bounded=stopping is not None,
        deserializer=UserFunction.of(ValueReader()),
        produced_type=Types.PICKLED_BYTE_ARRAY(),
        properties=kafka.properties(options),
    )


def _whole(config: KafkaSourceConfig, metadata: tuple[str, ...]) -> KafkaSourceConfig:
    reader = UserFunction.of(RecordReader(metadata))
    return replace(config, deserializer=reader, whole_records=True)


def _sink_config(options: TableOptions) -> KafkaSinkConfig:
    return KafkaSinkConfig(
        RowRecords(kafka.written_topic(options)),
        kafka.guarantee(options),
        options[kafka.TRANSACTIONAL_ID] or "",
        kafka.properties(options),
    )


def _timestamp_column(context: TableContext) -> int | None:
    """Return the position of the metadata column that is written as the record's timestamp.

    Raises:
        ValidationError: another metadata column would have to be written.
    """
    found = None
    for column in context.schema.of_kind(ColumnKind.METADATA):
        if not column.virtual:
            key = column.metadata_key or column.name
            if key != "timestamp":
                raise ValidationError(
                    f"The metadata column '{column.name}' cannot be written: declare it VIRTUAL."
                )
            found = context.schema.sink.names.index(column.name)
    return found
