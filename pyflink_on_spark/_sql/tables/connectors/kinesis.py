"""The connectors kinesis and firehose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kinesis.config import (
    Batching,
    FirehoseSinkConfig,
    KinesisSourceConfig,
    PartitionKeys,
    StreamsSinkConfig,
)
from pyflink_on_spark._connectors.kinesis.sink import FirehoseSink, StreamsSink
from pyflink_on_spark._connectors.kinesis.source import StreamsSource, start_of
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    one_of,
    text,
)
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
    Encode,
    Encoder,
    find_format,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.kinesis.config import ShardRecord
    from pyflink_on_spark.common import TypeInformation

_PARTITIONERS = {"random": PartitionKeys.RANDOM, "fixed": PartitionKeys.FIXED}
_ARN = re.compile(r"arn:[^:]+:kinesis:(?P<region>[^:]+):\d*:stream/(?P<stream>.+)")


def _word_of_aws(*values: str) -> Callable[[str], str]:
    """Read one of some words, in any case; AWS writes them in capitals."""
    read = one_of(*(value.lower() for value in values))
    return lambda value: read(value).upper()


_position = _word_of_aws("LATEST", "TRIM_HORIZON", "AT_TIMESTAMP")
_reader = _word_of_aws("POLLING", "EFO")

ARN = Option("stream.arn", text)
STREAM = Option("stream", text)
FORMAT = Option("format", text, required=True)
REGION = Option("aws.region", text)
ENDPOINT = Option("aws.endpoint", text)
TRUSTS_ALL = Option("aws.trust.all.certificates", boolean)
POSITION = Option("source.init.position", _position, default="LATEST")
TIMESTAMP = Option("source.init.timestamp", text)
TIMESTAMP_FORMAT = Option("source.init.timestamp.format", text)
READER = Option("source.reader.type", _reader, default="POLLING")
DISCOVERY = Option("source.shard.discovery.interval", duration, default=10_000)
MOST_RECORDS = Option("source.shard.get-records.max-record-count", integer, default=10_000)
OLD_POSITION = Option("scan.stream.initpos", _position, default="LATEST")
OLD_TIMESTAMP = Option("scan.stream.initpos-timestamp", text)
OLD_TIMESTAMP_FORMAT = Option("scan.stream.initpos-timestamp-format", text)
OLD_READER = Option("scan.stream.recordpublisher", _reader, default="POLLING")
OLD_DISCOVERY = Option("scan.shard.discovery.intervalmillis", integer, default=10_000)
OLD_MOST_RECORDS = Option("scan.shard.getrecords.maxrecordcount", integer, default=10_000)
OLD_INTERVAL = Option("scan.shard.getrecords.intervalmillis", integer, default=200)
PARTITIONER = Option("sink.partitioner", one_of(*_PARTITIONERS))
DELIMITER = Option("sink.partitioner-field-delimiter", text, default="|")
BATCH_ELEMENTS = Option("sink.batch.max-size", integer, default=500)
IN_FLIGHT = Option("sink.requests.max-inflight", integer, default=50)
BUFFERED = Option("sink.requests.max-buffered", integer, default=10_000)
BATCH_BYTES = Option("sink.flush-buffer.size", integer, default=5 * 1024 * 1024)
BATCH_TIME = Option("sink.flush-buffer.timeout", integer, default=5000)
FAILS = Option("sink.fail-on-error", boolean, default=False)

_OF_CLIENT = (REGION, ENDPOINT, TRUSTS_ALL)
_READING: tuple[Option[Any], ...] = (
    POSITION, TIMESTAMP, TIMESTAMP_FORMAT, READER, DISCOVERY, MOST_RECORDS,
)  # fmt: skip
_OLD_READING: tuple[Option[Any], ...] = (
    OLD_POSITION, OLD_TIMESTAMP, OLD_TIMESTAMP_FORMAT, OLD_READER, OLD_DISCOVERY, OLD_MOST_RECORDS,
    OLD_INTERVAL,
)  # fmt: skip
_WRITING = (PARTITIONER, DELIMITER, BATCH_ELEMENTS, IN_FLIGHT, BUFFERED, BATCH_BYTES, BATCH_TIME,
            FAILS)  # fmt: skip
EVERY: tuple[Option[Any], ...] = (
    ARN, STREAM, FORMAT, *_OF_CLIENT, *_READING, *_OLD_READING, *_WRITING,
)  # fmt: skip
"""All options, in the order of the documents."""

_PROPERTIES: dict[str, str] = {
    POSITION.key: "flink.stream.initpos",
    TIMESTAMP.key: "flink.stream.initpos.timestamp",
    TIMESTAMP_FORMAT.key: "flink.stream.initpos.timestamp.format",
    READER.key: "flink.stream.recordpublisher",
    DISCOVERY.key: "flink.shard.discovery.intervalmillis",
    MOST_RECORDS.key: "flink.shard.getrecords.maxrecordcount",
    OLD_POSITION.key: "flink.stream.initpos",
    OLD_TIMESTAMP.key: "flink.stream.initpos.timestamp",
    OLD_TIMESTAMP_FORMAT.key: "flink.stream.initpos.timestamp.format",
    OLD_READER.key: "flink.stream.recordpublisher",
    OLD_DISCOVERY.key: "flink.shard.discovery.intervalmillis",
    OLD_MOST_RECORDS.key: "flink.shard.getrecords.maxrecordcount",
    OLD_INTERVAL.key: "flink.shard.getrecords.intervalmillis",
}
_CREDENTIALS, _PROVIDER = "credentials.", "credentials.provider"


def stream_name(options: TableOptions) -> str:
    """Return the name of the table's stream.

    Raises:
        ValidationError: neither the stream nor its ARN is given, or both, or it is no ARN.
    """
    arn, name = options[ARN], options[STREAM]
    if arn is not None and name is not None:
        raise ValidationError(
            f"'{ARN.key}' and '{STREAM.key}' cannot be set together: an ARN names the stream."
        )
    if name is not None:
        return name
    if arn is None:
        raise ValidationError(
            "One or more required options are missing.\n\nMissing required options are:\n\n"
            f"{ARN.key}"
        )
    return _parsed(arn)["stream"]


def client_properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of AWS's client; the region is the ARN's if there is no other."""
    options.note(_OF_CLIENT)
    found = {}
    for key, value in options.beginning_with("aws.").items():
        # Tables leave out a part of the names that properties have.
        short = key.startswith(_CREDENTIALS) and not key.startswith(_PROVIDER)
        name = f"{_PROVIDER}.{key.removeprefix(_CREDENTIALS)}" if short else key
        found[f"aws.{name}"] = value
    arn = options[ARN]
    if arn is not None:
        found.setdefault(REGION.key, _parsed(arn)["region"])
    return found


def source_properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of the client and of a source.

    Raises:
        ValidationError: the time at which reading begins is missing or wrong.
    """
    options.note(_WRITING)
    own, begin = (_READING, TIMESTAMP) if options.has(ARN) else (_OLD_READING, OLD_TIMESTAMP)
    found = {_PROPERTIES[each.key]: str(options[each]) for each in own if options.has(each)}
    try:
        start_of(found)
    except ValueError as error:
        raise ValidationError(str(error).replace(_PROPERTIES[begin.key], begin.key)) from None
    return client_properties(options) | found


def batching(options: TableOptions, in_bytes: Option[int] = BATCH_BYTES) -> Batching:
    """Return when a sink sends its records.

    Args:
        options: those of the table.
        in_bytes: the option of the largest size of a request.

    Raises:
        ValidationError: the numbers contradict each other.
    """
    found = Batching(
        elements=_number(options, BATCH_ELEMENTS),
        in_bytes=_number(options, in_bytes),
        milliseconds=_number(options, BATCH_TIME),
        requests_in_flight=_number(options, IN_FLIGHT),
        buffered=_number(options, BUFFERED),
    )
    try:
        found.check()
    except ValueError as error:
        raise ValidationError(str(error)) from None
    return found


def partition_keys(options: TableOptions, partition_by: tuple[str, ...]) -> PartitionKeys:
    """Return the partition keys of records.

    Raises:
        ValidationError: there is a partitioner beside PARTITIONED BY.
    """
    options.note(_READING if options.has(ARN) else _OLD_READING)
    word = options[PARTITIONER]
    if not partition_by:
        return _PARTITIONERS[word or "random"]
    if word is not None:
        raise ValidationError(
            f"'{PARTITIONER.key}' cannot be set for a table with PARTITIONED BY: the values of "
            f"the columns {', '.join(partition_by)} are the partition key."
        )
    return PartitionKeys.OWN


def _number(options: TableOptions, option: Option[int]) -> int:
    value = options[option]
    assert value is not None
    return value


def _parsed(arn: str) -> re.Match[str]:
    found = _ARN.fullmatch(arn)
    if found is None:
        raise ValidationError(
            f"Invalid value for option '{ARN.key}': '{arn}': it is no ARN of a Kinesis stream, as "
            "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
        )
    return found


_MICROS_PER_MILLI = 1000
_ID = logical.varchar(128).with_nullable(False)

METADATA = {
    "timestamp": logical.timestamp_ltz(3).with_nullable(False),
    "shard-id": _ID,
    "sequence-number": _ID,
}
"""The metadata of a record, and their types."""

_READERS: dict[str, Callable[[ShardRecord], object]] = {
    "timestamp": lambda record: record.arrived * _MICROS_PER_MILLI,
    "shard-id": lambda record: record.shard,
    "sequence-number": lambda record: record.sequence_number,
}


@dataclass(frozen=True)
class DataReader:
    """Passes on the data of a record."""

    def _deserializer(self) -> Callable[[Any], object]:
        return lambda data: data

    def _produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()


@dataclass(frozen=True)
class RecordReader(DataReader):
    """Makes of a record no key, its data and some metadata.

    Args:
        metadata: the keys of the metadata.
    """

    metadata: tuple[str, ...]

    def _deserializer(self) -> Callable[[Any], object]:
        readers = [_READERS[key] for key in self.metadata]
        return lambda record: (None, record.data, tuple([each(record) for each in readers]))


@dataclass(frozen=True)
class DataWriter:
    """Takes the data of the results of ``EncodeRecords``."""

    def _serializer(self) -> Callable[[Any], Any]:
        return lambda element: element[1]


@dataclass(frozen=True)
class PartitionKey(Encoder):
    """Writes the values of columns as a partition key.

    Args:
        columns: what writes each as text.
        delimiter: what stands between two.
    """

    columns: tuple[Program, ...]
    delimiter: str

    def load(self) -> Encode:
        """Compile what writes the columns."""
        writers = [program.load(None).function for program in self.columns]
        delimiter = self.delimiter

        def encode(rows: Iterator[object]) -> Iterator[str]:
            for row in rows:
                yield delimiter.join([str(write(row)) for write in writers])

        return encode


class KinesisFactory(TableFactory):
    """Makes tables of the records of a data stream."""

    identifier = "kinesis"
    options = EVERY

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options, schema = context.options, context.schema.physical
        found, own = find_format(options, FORMAT.key)
        return _StreamTable(
            stream_name(options),
            source_properties(options),
            found.decoder(schema, own, context.time_zone),
            RowShape((), tuple(range(len(schema))), len(schema)),
        )

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        _check_metadata(context)
        options, schema = context.options, context.schema.physical
        found, own = find_format(options, FORMAT.key)
        config = StreamsSinkConfig(
            stream=stream_name(options),
            serializer=DataWriter(),
            fail_on_error=bool(options[FAILS]),
            batching=batching(options),
            properties=client_properties(options),
            keys=partition_keys(options, context.partition_by),
        )
        return _StreamSink(
            config,
            found.encoder(schema, own, context.time_zone),
            _partition_key(context),
            tuple(schema.names.index(name) for name in context.partition_by),
            len(schema),
        )


class LegacyKinesisFactory(KinesisFactory):
    """The same under the name that the connector before has in Flink."""

    identifier = "kinesis-legacy"


class _StreamTable(TableSource):
    def __init__(
        self, stream: str, properties: dict[str, str], decoder: Decoder, shape: RowShape
    ) -> None:
        self._stream, self._properties = stream, properties
        self._decoder, self._shape = decoder, shape
        self.changes = decoder.changes

    def metadata(self) -> Mapping[str, LogicalType]:
        return METADATA

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        if not metadata:
            return Reading(self._source(DataReader()), DecodeOperator(self._decoder))
        decode = DecodeRecords(None, self._decoder, self._shape)
        return Reading(self._source(RecordReader(metadata)), decode)

    def _source(self, reader: DataReader) -> StreamsSource:
        whole = isinstance(reader, RecordReader)
        config = KinesisSourceConfig((self._stream,), reader, self._properties, whole_records=whole)
        return StreamsSource(config)


class _StreamSink(TableSink):
    def __init__(
        self,
        config: StreamsSinkConfig,
        encoder: Encoder,
        key: PartitionKey,
        key_columns: tuple[int, ...],
        width: int,
    ) -> None:
        self._config, self._encoder, self._key = config, encoder, key
        self._shape = RowShape(key_columns, tuple(range(width)), width)
        self.accepts = encoder.accepts

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        encode = EncodeRecords(
            self._key if self._config.keys is PartitionKeys.OWN else None,
            self._encoder,
            self._shape,
            changelog=changelog,
            as_pairs=changelog or self._encoder.accepts is not ChangeKinds.INSERT,
        )
        return Writing(StreamsSink(self._config), encode)


def _partition_key(context: TableContext) -> PartitionKey:
    schema, names = context.schema.physical, context.partition_by
    columns = []
    for index, name in enumerate(names):
        value = InputRef(schema.types[schema.names.index(name)], index)
        text = Conversion(logical.STRING, value)
        columns.append(compile_value(text, len(names), context.time_zone))
    delimiter = context.options[DELIMITER]
    return PartitionKey(tuple(columns), str(delimiter))


def _check_metadata(context: TableContext) -> None:
    for column in context.schema.of_kind(ColumnKind.METADATA):
        if not column.virtual:
            raise ValidationError(
                f"The metadata column '{column.name}' cannot be written: declare it VIRTUAL."
            )


DELIVERY_STREAM = Option("delivery-stream", text, required=True)
_BATCH_BYTES = Option(BATCH_BYTES.key, integer, default=4 * 1024 * 1024)
OF_FIREHOSE: tuple[Option[Any], ...] = (
    DELIVERY_STREAM, FORMAT, REGION, ENDPOINT, TRUSTS_ALL, BATCH_ELEMENTS, IN_FLIGHT, BUFFERED,
    _BATCH_BYTES, BATCH_TIME, FAILS,
)  # fmt: skip
_LARGEST_RECORD = 1000 * 1024


class FirehoseFactory(TableFactory):
    """Makes tables of the records that a delivery stream receives."""

    identifier = "firehose"
    options = OF_FIREHOSE

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options, schema = context.options, context.schema.physical
        found, own = find_format(options, FORMAT.key)
        limits = batching(options, _BATCH_BYTES)
        config = FirehoseSinkConfig(
            stream=str(options[DELIVERY_STREAM]),
            serializer=DataWriter(),
            fail_on_error=bool(options[FAILS]),
            batching=replace(limits, element_bytes=_LARGEST_RECORD),
            properties=client_properties(options),
        )
        return _DeliverySink(config, found.encoder(schema, own, context.time_zone), len(schema))


class _DeliverySink(TableSink):
    def __init__(self, config: FirehoseSinkConfig, encoder: Encoder, width: int) -> None:
        self._config, self._encoder = config, encoder
        self._shape = RowShape((), tuple(range(width)), width)
        self.accepts = encoder.accepts

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        pairs = changelog or self.accepts is not ChangeKinds.INSERT
        encode = EncodeRecords(
            None, self._encoder, self._shape, changelog=changelog, as_pairs=pairs
        )
        return Writing(FirehoseSink(self._config), encode)
