"""The connectors ``kinesis`` and ``kinesis-legacy``."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._connectors.kinesis.config import (
    KinesisSourceConfig,
    PartitionKeys,
    StreamsSinkConfig,
)
from pyflink_on_spark._connectors.kinesis.sink import StreamsSink
from pyflink_on_spark._connectors.kinesis.source import StreamsSource
from pyflink_on_spark._sql.codegen.rows import compile_value
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
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
from pyflink_on_spark._sql.tables.connectors.keyed_records import (
    DecodeRecords,
    EncodeRecords,
    RowShape,
)
from pyflink_on_spark._sql.tables.connectors.kinesis import options as kinesis
from pyflink_on_spark._sql.tables.connectors.kinesis.records import (
    METADATA,
    DataReader,
    DataWriter,
    PartitionKey,
    RecordReader,
)
from pyflink_on_spark._sql.tables.formats.format import DecodeOperator, Decoder, Encoder
from pyflink_on_spark._sql.tables.formats.registry import find_format
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType


class KinesisFactory(TableFactory):
    """Makes tables of the records of a data stream."""

    identifier = "kinesis"
    options = kinesis.EVERY

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options, schema = context.options, context.schema.physical
        found, own = find_format(options, kinesis.FORMAT.key)
        return _StreamTable(
            kinesis.stream_name(options),
            kinesis.source_properties(options),
            found.decoder(schema, own, context.time_zone),
            RowShape((), tuple(range(len(schema))), len(schema)),
        )

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        _check_metadata(context)
        options, schema = context.options, context.schema.physical
        found, own = find_format(options, kinesis.FORMAT.key)
        config = StreamsSinkConfig(
            stream=kinesis.stream_name(options),
            serializer=DataWriter(),
            fail_on_error=bool(options[kinesis.FAILS]),
            batching=kinesis.batching(options),
            properties=kinesis.client_properties(options),
            keys=kinesis.partition_keys(options, context.partition_by),
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
            as_pairs=changelog or self._encoder.accepts is not ModifyKinds.INSERT,
        )
        return Writing(StreamsSink(self._config), encode)


def _partition_key(context: TableContext) -> PartitionKey:
    schema, names = context.schema.physical, context.partition_by
    columns = []
    for index, name in enumerate(names):
        value = InputRef(schema.types[schema.names.index(name)], index)
        text = Conversion(logical.STRING, value)
        columns.append(compile_value(text, len(names), context.time_zone))
    delimiter = context.options[kinesis.DELIMITER]
    return PartitionKey(tuple(columns), str(delimiter))


def _check_metadata(context: TableContext) -> None:
    for column in context.schema.of_kind(ColumnKind.METADATA):
        if not column.virtual:
            raise ValidationError(
                f"The metadata column '{column.name}' cannot be written: declare it VIRTUAL."
            )
