"""Conversion of whole streams: a chunk at a time where values cannot change, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.types.codec import Codec, Convert, ConvertColumn, accept_null
from pyflink_on_spark._runtime.types.explanation import explain

_CHUNK = 1000

ConvertStream = Callable[[Iterator[Any]], Iterator[Any]]


def one_by_one(codec: Codec, *, collected: bool = False) -> Convert:
    """Return a function that converts one value, and explains what is wrong with it.

    Args:
        codec: the declared type's.
        collected: whether the value is delivered to ``execute_and_collect``.
    """
    convert, nullable = codec.convert, codec.nullable
    collect = _collect(codec) if collected else None

    def convert_one(value: Any) -> Any:
        if value is None and nullable:
            return None
        try:
            converted = convert(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain(codec, value, cause) from None
        return converted if collect is None else collect(converted)

    return convert_one


def stream_converter(codec: Codec, *, collected: bool = False) -> ConvertStream:
    """Return a function that converts a stream; what comes before a bad value still comes out.

    Args:
        codec: the declared type's.
        collected: whether the values are delivered to ``execute_and_collect``.
    """
    convert_one = one_by_one(codec, collected=collected)
    column = codec.column or codec.snapshot_column
    if column is None:
        return lambda elements: map(convert_one, elements)
    if collected:
        column = _collecting(codec, column)
    snapshot = _explained(codec, codec.snapshot) if codec.column is None else None

    def convert_stream(elements: Iterator[Any]) -> Iterator[Any]:
        elements = iter(elements) if snapshot is None else map(snapshot, elements)
        while True:
            chunk: list[Any] = []
            failure: Exception | None = None
            try:
                chunk.extend(islice(elements, _CHUNK))
            except Exception as error:  # noqa: BLE001 - what came before it goes out first
                failure = error
            if chunk:
                yield from _converted(chunk, column, convert_one)
            if failure is not None:
                raise failure
            if len(chunk) < _CHUNK:
                return

    return convert_stream


def _explained(codec: Codec, snapshot: Convert | None) -> Convert | None:
    if snapshot is None:
        return None

    def explained(value: Any) -> Any:
        try:
            return snapshot(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain(codec, value, cause) from None

    return explained


def _converted(chunk: list[Any], column: ConvertColumn, convert_one: Convert) -> Iterator[Any]:
    try:
        return iter(column(chunk))
    except Exception:  # noqa: BLE001 - a None, or a value that does not fit: find out which
        return map(convert_one, chunk)


def _collecting(codec: Codec, column: ConvertColumn) -> ConvertColumn:
    one = _collect(codec)
    if one is None:
        return column
    collect = accept_null(one)
    return lambda values: list(map(collect, column(values)))


def _collect(codec: Codec) -> Convert | None:
    return codec.collect_alone or codec.collect
