"""Timestamps that files have in UTC, and tables in the time zone of the process."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable

import pyarrow as pa

_SECOND = 1_000_000


def in_zone(batch: pa.RecordBatch, columns: tuple[int, ...]) -> pa.RecordBatch:
    """Return a batch whose timestamps in UTC are local ones."""
    return _moved(batch, columns, _to_local)


def in_utc(batch: pa.RecordBatch, columns: tuple[int, ...]) -> pa.RecordBatch:
    """Return a batch whose local timestamps are in UTC."""
    return _moved(batch, columns, _to_utc)


def _moved(
    batch: pa.RecordBatch, columns: tuple[int, ...], move: Callable[[int], int]
) -> pa.RecordBatch:
    if not columns or (time.timezone == 0 and not time.daylight):
        return batch
    found = list(batch.columns)
    for index in columns:
        micros = found[index].view(pa.int64()).to_pylist()
        moved = [None if one is None else move(one) for one in micros]
        found[index] = pa.array(moved, pa.int64()).view(found[index].type)
    return pa.RecordBatch.from_arrays(found, schema=batch.schema)


def _to_local(micros: int) -> int:
    seconds, fraction = divmod(micros, _SECOND)
    local = datetime.datetime.fromtimestamp(seconds, datetime.UTC).astimezone()
    offset = local.utcoffset()
    assert offset is not None
    return (seconds + int(offset.total_seconds())) * _SECOND + fraction


def _to_utc(micros: int) -> int:
    seconds, fraction = divmod(micros, _SECOND)
    local = datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)
    return int(local.astimezone().timestamp()) * _SECOND + fraction
