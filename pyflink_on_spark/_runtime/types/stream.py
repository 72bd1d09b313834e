"""Conversion of whole streams: a chunk at a time where values cannot change, else one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.types.codec import Codec, Convert, ConvertColumn, accept_null
from pyflink_on_spark._runtime.types.explanation import explain

_CHUNK = 1000


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


class StreamConverter:
    """Converts a stream; what comes before a bad value still comes out.

    Args:
        codec: the declared type's.
        collected: whether the values are delivered to ``execute_and_collect``.
    """

    def __init__(self, codec: Codec, *, collected: bool = False) -> None:
        self.codec = codec
        self._convert_one = one_by_one(codec, collected=collected)
        self._column = codec.column or codec.snapshot_column
        if collected and self._column is not None:
            self._column = _collecting(codec, self._column)
        self._snapshot = _explained(codec, codec.snapshot) if codec.column is None else None

    def __call__(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Return the converted elements."""
        if self._column is None:
            return map(self._convert_one, elements)
        return self._in_chunks(elements, self._column)

    def _in_chunks(self, elements: Iterator[Any], column: ConvertColumn) -> Iterator[Any]:
        elements = iter(elements) if self._snapshot is None else map(self._snapshot, elements)
        while True:
            chunk: list[Any] = []
            failure: BaseException | None = None
            try:
                chunk.extend(islice(elements, _CHUNK))
            except BaseException as error:  # noqa: BLE001 - what came before it goes out first
                failure = error
            if chunk:
                yield from _converted(chunk, column, self._convert_one)
            if failure is not None:
                raise failure
            if len(chunk) < _CHUNK:
                return


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
        converted = column(chunk)
        if len(converted) == len(chunk):  # a StopIteration would have ended it before
            return iter(converted)
    except Exception:  # noqa: BLE001 - a None, or a value that does not fit: find out which
        pass
    return map(convert_one, chunk)


def _collecting(codec: Codec, column: ConvertColumn) -> ConvertColumn:
    one = _collect(codec)
    if one is None:
        return column
    collect = accept_null(one)
    return lambda values: list(map(collect, column(values)))


def _collect(codec: Codec) -> Convert | None:
    return codec.collect_alone or codec.collect
