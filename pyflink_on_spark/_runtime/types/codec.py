"""The codec of a declared type: how its values are checked and converted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyflink_on_spark._compat.errors import PUBLIC_MODULE, PyFlinkOnSparkError


class ConversionError(PyFlinkOnSparkError):
    """A value does not fit its declared type; the text says which part of it, and why."""

    __module__ = PUBLIC_MODULE


class ConversionTypeError(ConversionError, TypeError):
    """A part of the value has the wrong Python type."""

    __module__ = PUBLIC_MODULE


class ConversionAttributeError(ConversionError, AttributeError):
    """A part of the value has the wrong Python type, where PyFlink misses an attribute."""

    __module__ = PUBLIC_MODULE


class ConversionOverflowError(ConversionError, OverflowError):
    """A number is too large for its declared type."""

    __module__ = PUBLIC_MODULE


class ConversionValueError(ConversionError, ValueError):
    """A part of the value has the right Python type, but cannot be kept."""

    __module__ = PUBLIC_MODULE


class NullValueError(ConversionTypeError):
    """None where the declared type has no null; Flink dies of a NullPointerException there."""

    __module__ = PUBLIC_MODULE


class NullPart(TypeError):
    """Inside a converter: the value is None, or Flink would read it as null."""


def plain_error(error: ConversionError) -> Exception:
    """Return the same as an error of Python's own kind."""
    kinds = (TypeError, AttributeError, OverflowError, ValueError)
    return next(kind for kind in (*kinds, Exception) if isinstance(error, kind))(str(error))


def error_class_for(cause: BaseException) -> type[ConversionError]:
    """Return the error of this package that is also the built-in kind of the cause."""
    kinds: tuple[tuple[type[BaseException], type[ConversionError]], ...] = (
        (NullPart, NullValueError),
        (TypeError, ConversionTypeError),
        (AttributeError, ConversionAttributeError),
        (OverflowError, ConversionOverflowError),
        (ValueError, ConversionValueError),
        (ArithmeticError, ConversionValueError),
    )
    for kind, error_class in kinds:
        if isinstance(cause, kind):
            return error_class
    return ConversionError


Convert = Callable[[Any], Any]
ConvertColumn = Callable[[Sequence[Any]], Sequence[Any]]


class Part(NamedTuple):
    """A part of a value, for messages.

    Args:
        step: the path to it from the value around it.
        codec: its declared type's.
        value: the part.
        nullable: whether it may be None there.
        unfit_is_null: whether a collection's value that does not fit becomes None there.
    """

    step: str
    codec: Codec
    value: Any
    nullable: bool
    unfit_is_null: bool = False


def _no_parts(_: Any) -> Iterable[Part]:
    return ()


@dataclass(frozen=True)
class Codec:
    """The conversions of a declared type's values. No function here takes None.

    Args:
        name: the type's text.
        convert: a value as it comes out of a boundary; raises what PyFlink raises.
        text: a converted value as Java writes it.
        source: a value of ``from_collection`` as it enters the job; raises ``NullPart`` for what
            Flink would turn into null.
        column: many values at once, given back as they are when all of them already have their
            converted form; None when values can be changed by the user and have to be copied.
        snapshot: a copy of a value that the user cannot change any more; None when that takes a
            whole conversion.
        snapshot_column: many snapshots at once, converted in place.
        collect: a converted value as ``execute_and_collect`` delivers it; None when it is the same.
        collect_alone: the same where the value is not part of another; None when it is the same.
        ints: the least and the greatest int that ``convert`` returns as it is; the first is greater
            when there is none.
        nullable: whether a stream of this type may hold None.
        null_in_tuple: whether a tuple's field of this type may hold None after a function.
        parts: what the value consists of, for messages.
        source_parts: the same for a value of ``from_collection``.
    """

    name: str
    convert: Convert
    text: Callable[[Any], str]
    source: Convert
    column: ConvertColumn | None = None
    snapshot: Convert | None = None
    snapshot_column: ConvertColumn | None = None
    collect: Convert | None = None
    collect_alone: Convert | None = None
    ints: tuple[int, int] = (1, 0)
    nullable: bool = False
    null_in_tuple: bool = False
    parts: Callable[[Any], Iterable[Part]] = _no_parts
    source_parts: Callable[[Any], Iterable[Part]] = _no_parts


def accept_null(convert: Convert) -> Convert:
    """Return a converter that also takes None, and returns it."""

    def convert_or_null(value: Any) -> Any:
        return None if value is None else convert(value)

    return convert_or_null


def null_if_unfit(source: Convert) -> Convert:
    """Return a source converter that makes None of what Flink turns into null."""

    def convert_or_null(value: Any) -> Any:
        if value is None:
            return None
        try:
            return source(value)
        except NullPart:
            return None

    return convert_or_null


_READ_AS_NULL = frozenset(("builtins", "collections", "datetime", "decimal"))


def unfit(value: Any, name: str) -> TypeError:
    """Return the error for a value of ``from_collection`` that has the wrong Python type.

    Flink reads such a value as null when it knows its Python type at all.
    """
    kind = type(value)
    if value is None or kind.__module__ in _READ_AS_NULL:
        return NullPart(
            f"Flink reads {kind.__name__} as a null of type {name}, and none may be here"
        )
    return TypeError(f"{kind.__name__} cannot be read as {name}")


def column_of_type(exact_type: type, convert: Convert) -> ConvertColumn:
    """Return a column converter for types whose values are fine when they have one exact type."""
    expected = {exact_type}

    def convert_column(values: Sequence[Any]) -> Sequence[Any]:
        return values if set(map(type, values)) == expected else list(map(convert, values))

    return convert_column
