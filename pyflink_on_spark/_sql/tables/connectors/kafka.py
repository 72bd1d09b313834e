"""The connectors kafka and upsert-kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.kafka.config import (
    Guarantee,
    KafkaSinkConfig,
    KafkaSourceConfig,
    OffsetRule,
    Partition,
    Reset,
    Subscription,
)
from pyflink_on_spark._connectors.kafka.reader import KafkaSplitSource
from pyflink_on_spark._connectors.kafka.sink import KafkaRecordSink
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, duration, integer, one_of, text
from pyflink_on_spark._sql.plan.ports import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.connectors.keyed_records import (
    DecodeRecords,
    EncodeRecords,
    RowShape,
)
from pyflink_on_spark._sql.tables.formats.format import (
    DecodeOperator,
    Decoder,
    Encoder,
    Format,
    find_format,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.kafka.records import Record
    from pyflink_on_spark.common.typeinfo import TypeInformation


_MODES = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")

TOPIC = Option("topic", text)
TOPIC_PATTERN = Option("topic-pattern", text)
SERVERS = Option("properties.bootstrap.servers", text, required=True)
GROUP = Option("properties.group.id", text)
STARTUP_MODE = Option("scan.startup.mode", one_of(*_MODES), default="group-offsets")
STARTUP_OFFSETS = Option("scan.startup.specific-offsets", text)
STARTUP_TIMESTAMP = Option("scan.startup.timestamp-millis", integer)
BOUNDED_MODE = Option("scan.bounded.mode", one_of("unbounded", *_MODES[1:]), default="unbounded")
BOUNDED_OFFSETS = Option("scan.bounded.specific-offsets", text)
BOUNDED_TIMESTAMP = Option("scan.bounded.timestamp-millis", integer)
DISCOVERY = Option("scan.topic-partition-discovery.interval", duration)
KEY_FIELDS = Option("key.fields", text)
KEY_PREFIX = Option("key.fields-prefix", text, default="")
VALUE_FIELDS = Option("value.fields-include", one_of("all", "except_key"), default="all")
PARTITIONER = Option("sink.partitioner", text, default="default")
GUARANTEE = Option(
    "sink.delivery-guarantee",
    one_of("none", "at-least-once", "exactly-once"),
    default="at-least-once",
)
SEMANTIC = Option("sink.semantic", one_of("none", "at-least-once", "exactly-once"))
TRANSACTIONAL_ID = Option("sink.transactional-id-prefix", text)
PARALLELISM = Option("sink.parallelism", integer)

READING = (STARTUP_MODE, STARTUP_OFFSETS, STARTUP_TIMESTAMP, BOUNDED_MODE, BOUNDED_OFFSETS,
           BOUNDED_TIMESTAMP, DISCOVERY)  # fmt: skip
WRITING = (PARTITIONER, GUARANTEE, SEMANTIC, TRANSACTIONAL_ID, PARALLELISM)


def properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of Kafka's client."""
    found = options.beginning_with("properties.")
    interval = options[DISCOVERY]
    if interval is not None:
        found["partition.discovery.interval.ms"] = str(interval)
    return found


def subscription(options: TableOptions) -> Subscription:
    """Return the topics that a table reads.

    Raises:
        ValidationError: there are none, or both names and a pattern.
    """
    topics, pattern = options[TOPIC], options[TOPIC_PATTERN]
    if topics is not None and pattern is not None:
        raise ValidationError(
            "Option 'topic' and 'topic-pattern' shouldn't be set together for a source."
        )
    if pattern is not None:
        return Subscription(pattern=pattern)
    if topics is None:
        raise ValidationError("Either 'topic' or 'topic-pattern' must be set.")
    return Subscription(topics=tuple(topic.strip() for topic in topics.split(";")))


def written_topic(options: TableOptions) -> str:
    """Return the one topic that a table writes.

    Raises:
        ValidationError: there is none, or more than one.
    """
    topic = options[TOPIC]
    options.note((TOPIC_PATTERN,))
    if topic is None or ";" in topic:
        raise ValidationError("A Kafka sink writes exactly one topic: set the option 'topic'.")
    return topic


def starting(options: TableOptions) -> OffsetRule:
    """Return where reading begins."""
    reset: Reset = "none"
    given = options.given.get("properties.auto.offset.reset")
    if given in {"earliest", "latest"}:
        reset = "earliest" if given == "earliest" else "latest"
    return _rule(options, options[STARTUP_MODE], STARTUP_OFFSETS, STARTUP_TIMESTAMP, reset)


def stopping_rule(options: TableOptions) -> OffsetRule | None:
    """Return where reading ends, or None if it never ends."""
    mode = options[BOUNDED_MODE]
    if mode == "unbounded":
        options.note((BOUNDED_OFFSETS, BOUNDED_TIMESTAMP))
        return None
    return _rule(options, mode, BOUNDED_OFFSETS, BOUNDED_TIMESTAMP, "none")


def guarantee(options: TableOptions) -> Guarantee:
    """Return the delivery guarantee of a sink."""
    word = options[SEMANTIC] or options[GUARANTEE]
    found = Guarantee(word.replace("-", " "))
    if found is Guarantee.EXACTLY_ONCE and options[TRANSACTIONAL_ID] is None:
        raise ValidationError(
            "sink.transactional-id-prefix must be specified when using "
            "DeliveryGuarantee.EXACTLY_ONCE."
        )
    return found


def check_partitioner(options: TableOptions) -> None:
    """Refuse partitioners that Kafka's client does not have.

    Raises:
        UnsupportedFlinkFeature: the option asks for another one than the client's.
    """
    if options[PARTITIONER] != "default":
        raise_unsupported(
            f"'sink.partitioner' = '{options[PARTITIONER]}'",
            kind=Gap.NOT_YET,
            reason="Kafka's client chooses the partition",
            instead="Leave the option out: records with equal keys go to one partition.",
        )


def _rule(
    options: TableOptions,
    mode: str,
    offsets: Option[str],
    timestamp: Option[int],
    reset: Reset,
) -> OffsetRule:
    given_offsets, given_timestamp = options[offsets], options[timestamp]
    if mode == "timestamp":
        if given_timestamp is None:
            raise ValidationError(f"'{timestamp.key}' is required in the mode 'timestamp'.")
        return OffsetRule("timestamp", timestamp=given_timestamp)
    if mode == "specific-offsets":
        if given_offsets is None:
            raise ValidationError(f"'{offsets.key}' is required in the mode 'specific-offsets'.")
        topic = options[TOPIC] or ""
        return OffsetRule("specified", reset, specified=_specified(topic, given_offsets))
    if mode == "group-offsets" and options[GROUP] is None:
        raise ValidationError(
            "The mode 'group-offsets' needs the option 'properties.group.id'. Set it, or "
            "'scan.startup.mode' = 'earliest-offset'."
        )
    kinds: dict[str, Literal["earliest", "latest", "committed"]] = {
        "earliest-offset": "earliest",
        "latest-offset": "latest",
        "group-offsets": "committed",
    }
    return OffsetRule(kinds[mode], reset)


def _specified(topic: str, written: str) -> dict[Partition, int]:
    found: dict[Partition, int] = {}
    for pair in written.rstrip(";").split(";"):
        try:
            parts = dict(part.split(":") for part in pair.split(","))
            found[topic, int(parts["partition"])] = int(parts["offset"])
        except (ValueError, KeyError):
            raise ValidationError(
                "Invalid properties 'scan.startup.specific-offsets' should follow the format "
                f"'partition:0,offset:42;partition:1,offset:300', but is '{written}'."
            ) from None
    return found


_MICROS_PER_MILLI = 1000
_KINDS_OF_TIMESTAMPS = ("NoTimestampType", "CreateTime", "LogAppendTime")

METADATA = {
    "topic": logical.STRING.with_nullable(False),
    "partition": logical.INT.with_nullable(False),
    "headers": logical.mapping(
        logical.STRING.with_nullable(False), logical.BYTES.with_nullable(False)
    ).with_nullable(False),
    "leader-epoch": logical.INT,
    "offset": logical.BIGINT.with_nullable(False),
    "timestamp": replace(logical.timestamp_ltz(3), nullable=False),
    "timestamp-type": logical.STRING.with_nullable(False),
}
"""The metadata of a record, and their types."""

_READERS: dict[str, Callable[[Any], object]] = {
    "topic": lambda record: record.topic(),
    "partition": lambda record: record.partition(),
    "headers": lambda record: dict(record.headers() or ()),
    "leader-epoch": lambda record: record.leader_epoch(),
    "offset": lambda record: record.offset(),
    "timestamp": lambda record: record.timestamp()[1] * _MICROS_PER_MILLI,
    "timestamp-type": lambda record: _KINDS_OF_TIMESTAMPS[record.timestamp()[0]],
}


@dataclass(frozen=True)
class RecordReader:
    """Makes of a record of Kafka's client its key, its value and some metadata.

    Args:
        metadata: the keys of the metadata.
    """

    metadata: tuple[str, ...] = ()

    def _deserializer(self) -> Callable[[Any], object]:
        readers = [_READERS[key] for key in self.metadata]

        def read(record: Any) -> Any:
            return record.key(), record.value(), tuple([each(record) for each in readers])

        return read


@dataclass(frozen=True)
class ValueReader:
    """Makes of the value of a record the value itself."""

    def _deserializer(self) -> Callable[[Any], object]:
        return lambda value: value


@dataclass(frozen=True)
class RowRecords:
    """Makes records of the results of ``EncodeRecords``.

    Args:
        topic: where they are written.
    """

    topic: str

    def check_input(self, type_info: TypeInformation | None) -> None:
        """Do nothing: the table has checked the columns."""

    def serializer(self) -> Callable[[Any, int | None], Record]:
        """Return a function that makes a record of an element and its timestamp."""
        topic = self.topic
        return lambda element, timestamp: (topic, *element)


_FLUSH_ROWS = Option("sink.buffer-flush.max-rows", integer, default=0)
_FLUSH_INTERVAL = Option("sink.buffer-flush.interval", duration, default=0)
_Found = tuple[Format, TableOptions]


class KafkaFactory(TableFactory):
    """Makes tables of the records of topics."""

    identifier = "kafka"
    options = (
        SERVERS, TOPIC, TOPIC_PATTERN, KEY_FIELDS, KEY_PREFIX,
        VALUE_FIELDS, *READING, *WRITING,
    )  # type: ignore[assignment]  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        parts = _Parts.of(context, _value_format(options), _key_format(options))
        options.note(WRITING)
        options.note((GROUP,))
        return _TopicTable(_source_config(options), parts.decoders(context), parts.shape)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options = context.options
        parts = _Parts.of(context, _value_format(options), _key_format(options))
        options.note(READING)
        check_partitioner(options)
        encoders, shape = parts.encoders(context), parts.written_shape(context)
        return _TopicSink(_sink_config(options), encoders, shape, options[PARALLELISM])


class UpsertKafkaFactory(TableFactory):
    """Makes tables of topics whose records are the last state of their keys."""

    identifier = "upsert-kafka"
    options = (
        SERVERS, TOPIC, KEY_PREFIX, VALUE_FIELDS, PARALLELISM,
        GUARANTEE, TRANSACTIONAL_ID, _FLUSH_ROWS, _FLUSH_INTERVAL,
        BOUNDED_MODE, BOUNDED_OFFSETS, BOUNDED_TIMESTAMP, DISCOVERY,
    )  # type: ignore[assignment]  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options, parts = context.options, self._parts(context)
        options.note((*WRITING, GROUP, _FLUSH_ROWS, _FLUSH_INTERVAL))
        config = _source_config(options.with_default(STARTUP_MODE.key, "earliest-offset"))
        return _UpsertTable(config, parts.decoders(context), parts.shape)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options, parts = context.options, self._parts(context)
        options.note((*READING, _FLUSH_ROWS, _FLUSH_INTERVAL))
        config, encoders = _sink_config(options), parts.encoders(context)
        shape = parts.written_shape(context)
        return _UpsertSink(config, encoders, shape, options[PARALLELISM])

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
        given = options[KEY_FIELDS]
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
        both = options[VALUE_FIELDS] == "all"
        value = tuple(index for index in every if both or index not in key)
        prefix = options[KEY_PREFIX]
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
        self.changes = ChangeKinds.ALL
        self.emits_update_before = False

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
        pairs = changelog or encoders.value.accepts is not ChangeKinds.INSERT
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
        self.accepts = ChangeKinds.ALL
        self.needs_update_before = False


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
    stopping = stopping_rule(options)
    return KafkaSourceConfig(
        subscription(options),
        starting(options),
        stopping,
        bounded=stopping is not None,
        deserializer=UserFunction.of(ValueReader()),
        produced_type=Types.PICKLED_BYTE_ARRAY(),
        properties=properties(options),
    )


def _whole(config: KafkaSourceConfig, metadata: tuple[str, ...]) -> KafkaSourceConfig:
    reader = UserFunction.of(RecordReader(metadata))
    return replace(config, deserializer=reader, whole_records=True)


def _sink_config(options: TableOptions) -> KafkaSinkConfig:
    return KafkaSinkConfig(
        RowRecords(written_topic(options)),
        guarantee(options),
        options[TRANSACTIONAL_ID] or "",
        properties(options),
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
