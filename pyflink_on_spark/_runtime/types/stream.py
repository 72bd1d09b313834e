"""Conversion of whole streams: a chunk at a time where values cannot change, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.types.codec import (
    Codec,
    ConversionError,
    Convert,
    ConvertColumn,
    NullPart,
    NullValueError,
    Part,
    accept_null,
    error_class_for,
)

_LONGEST_REPR = 120


def explain(codec: Codec, value: object, cause: BaseException) -> ConversionError:
    """Return the error for a value that a function emitted."""
    return _explain(codec, value, cause, "convert", "parts")


def explain_source(codec: Codec, value: object, cause: BaseException) -> ConversionError:
    """Return the error for a value that was given to ``from_collection``."""
    return _explain(codec, value, cause, "source", "source_parts")


def _explain(
    codec: Codec, value: object, cause: BaseException, converter: str, parts: str
) -> ConversionError:
    part, cause = _culprit(Part("", codec, value, codec.nullable), cause, converter, parts)
    where = f"{part.codec.name} at {part.step}" if part.step else codec.name
    what = f"expected {where}, got {type(part.value).__name__} {bounded_repr(part.value)}"
    whole = f"; the declared type is {codec.name}, the value {bounded_repr(value)}"
    message = f"{what}: {_reason(part, cause)}{whole if part.step else ''}"
    if isinstance(cause, ConversionError):
        error_class = type(cause)
    else:
        error_class = NullValueError if _is_null(part, cause) else error_class_for(cause)
    return error_class(message)


def _is_null(part: Part, cause: BaseException) -> bool:
    """True for a None with which PyFlink fails in Java, or with the TypeError of a number."""
    return isinstance(cause, NullPart) or (
        part.value is None and not (part.step and isinstance(cause, AttributeError))
    )


def _reason(part: Part, cause: BaseException) -> str:
    if part.value is None:
        return "None is allowed in the fields of a ROW and in streams without a declared type"
    return str(cause)


def _culprit(
    part: Part, cause: BaseException, converter: str, parts: str
) -> tuple[Part, BaseException]:
    """Return the innermost part that cannot be converted, with its path from the outside."""
    for inner in _parts_of(part, parts):
        if inner.value is None and inner.nullable:
            continue
        convert: Callable[[Any], Any] = getattr(inner.codec, converter)
        try:
            convert(inner.value)
        except Exception as error:  # noqa: BLE001 - this one is looked for
            if isinstance(error, NullPart) and inner.unfit_is_null:
                continue
            deeper = inner._replace(step=part.step + inner.step)
            return _culprit(deeper, error, converter, parts)
    return part, cause


def _parts_of(part: Part, parts: str) -> Iterable[Part]:
    try:
        return list(getattr(part.codec, parts)(part.value))
    except Exception:  # noqa: BLE001 - the value itself is the culprit then
        return ()


def bounded_repr(value: object) -> str:
    """Return a value's repr, cut to a length that fits a message."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a broken repr must not hide the error
        text = f"<{type(value).__name__}, whose repr fails: {error}>"
    return text if len(text) <= _LONGEST_REPR else f"{text[: _LONGEST_REPR - 3]}..."


_CHUNK = 1000


def one_by_one(codec: Codec, *, collected: bool = False) -> Convert:
    """Return a function that converts one value, and explains what is wrong with it.

    Args:
        codec: the declared type's.
        collected: whether the value is delivered to ``execute_and_collect``.
    """
    convert, nullable = codec.convert, codec.nullable
    collect = _collect(codec) if collected else None

    def convert_one(value: object) -> object:
        if value is None and nullable:
            return None
        try:
            converted = convert(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain(codec, value, cause) from None
        return converted if collect is None else collect(converted)

    return convert_one


class StreamConverter:
    """Converts a stream; the values before a bad value are emitted.

    Args:
        codec: the declared type's.
        collected: whether the values are delivered to ``execute_and_collect``.
    """

    def __init__(self, codec: Codec, *, collected: bool = False) -> None:
        self.codec = codec
        self.one = one_by_one(codec, collected=collected)
        """Converts one value."""
        self.changes_results = collected and _collect(codec) is not None
        """True if a converted value has another form for ``execute_and_collect``."""
        self._column = codec.column or codec.snapshot_column
        if collected and self._column is not None:
            self._column = _collecting(codec, self._column)
        self._snapshot = _explained(codec, codec.snapshot) if codec.column is None else None

    def __call__(self, elements: Iterator[object]) -> Iterator[object]:
        """Return the converted elements."""
        if self._column is None:
            return map(self.one, elements)
        return self._in_chunks(elements, self._column)

    def _in_chunks(self, elements: Iterator[object], column: ConvertColumn) -> Iterator[object]:
        elements = iter(elements) if self._snapshot is None else map(self._snapshot, elements)
        while True:
            chunk: list[object] = []
            failure: BaseException | None = None
            try:
                chunk.extend(islice(elements, _CHUNK))
            except BaseException as error:  # noqa: BLE001 - what came before it goes out first
                failure = error
            if chunk:
                yield from _converted(chunk, column, self.one)
            if failure is not None:
                raise failure
            if len(chunk) < _CHUNK:
                return


def _explained(codec: Codec, snapshot: Convert | None) -> Convert | None:
    if snapshot is None:
        return None

    def explained(value: object) -> object:
        try:
            return snapshot(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain(codec, value, cause) from None

    return explained


def _converted(
    chunk: list[object], column: ConvertColumn, convert_one: Convert
) -> Iterator[object]:
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
