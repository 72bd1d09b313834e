"""Rows of an exchange as Arrow's record batches."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pyflink_on_spark._runtime.task.exchange import ChannelRow, weight

ROW_SCHEMA = "subtask_id INT, channel INT, seq LONG, payload BINARY"
_ARROW_SCHEMA = pa.schema(
    [
        ("subtask_id", pa.int32()),
        ("channel", pa.int32()),
        ("seq", pa.int64()),
        ("payload", pa.binary()),
    ]
)
_BATCH_BYTES = 4 * 1024 * 1024


def rows_of_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[ChannelRow]:
    """Yield the rows that Spark hands over."""
    for batch in batches:
        subtask_ids, channels, seqs, payloads = batch.columns
        for index in range(batch.num_rows):
            yield ChannelRow(
                subtask_ids[index].as_py(),
                channels[index].as_py(),
                seqs[index].as_py(),
                payloads[index].as_py(),
            )


def batches_of_rows(rows: Iterator[ChannelRow]) -> Iterator[pa.RecordBatch]:
    """Yield rows as Spark takes them: few at a time, since each holds thousands of elements."""
    waiting: list[ChannelRow] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += weight(row) + 64
        if size >= _BATCH_BYTES:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(rows: list[ChannelRow]) -> pa.RecordBatch:
    columns = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), _ARROW_SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW_SCHEMA)
