"""The connector firehose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._connectors.kinesis.config import FirehoseSinkConfig
from pyflink_on_spark._connectors.kinesis.sink import FirehoseSink
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.plan.options import Option, integer, text
from pyflink_on_spark._sql.plan.ports import TableContext, TableFactory, TableSink, Writing
from pyflink_on_spark._sql.tables.connectors.keyed_records import EncodeRecords, RowShape
from pyflink_on_spark._sql.tables.connectors.kinesis import (
    BATCH_BYTES,
    BATCH_ELEMENTS,
    BATCH_TIME,
    BUFFERED,
    ENDPOINT,
    FAILS,
    FORMAT,
    IN_FLIGHT,
    REGION,
    TRUSTS_ALL,
    DataWriter,
    batching,
    client_properties,
)
from pyflink_on_spark._sql.tables.formats.format import Encoder, find_format

STREAM = Option("delivery-stream", text, required=True)
_BATCH_BYTES = Option(BATCH_BYTES.key, integer, default=4 * 1024 * 1024)
EVERY: tuple[Option[Any], ...] = (
    STREAM, FORMAT, REGION, ENDPOINT, TRUSTS_ALL, BATCH_ELEMENTS, IN_FLIGHT, BUFFERED,
    _BATCH_BYTES, BATCH_TIME, FAILS,
)  # fmt: skip
_LARGEST_RECORD = 1000 * 1024


class FirehoseFactory(TableFactory):
    """Makes tables of the records that a delivery stream receives."""

    identifier = "firehose"
    options = EVERY

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options, schema = context.options, context.schema.physical
        found, own = find_format(options, FORMAT.key)
        limits = batching(options, _BATCH_BYTES)
        config = FirehoseSinkConfig(
            stream=str(options[STREAM]),
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
