"""Why a value does not fit its declared type, found by looking at it part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyflink_on_spark._runtime.types.codec import Codec, Part
from pyflink_on_spark._runtime.types.errors import (
    ConversionError,
    NullPart,
    NullValueError,
    error_class_for,
)

_LONGEST_REPR = 120


def explain(codec: Codec, value: Any, cause: BaseException) -> ConversionError:
    """Return the error for a value that a function emitted."""
    return _explain(codec, value, cause, "convert", "parts")


def explain_source(codec: Codec, value: Any, cause: BaseException) -> ConversionError:
    """Return the error for a value that was given to ``from_collection``."""
    return _explain(codec, value, cause, "source", "source_parts")


def _explain(
    codec: Codec, value: Any, cause: BaseException, converter: str, parts: str
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
    """Whether it is a None where PyFlink fails in Java, or with the TypeError of a number."""
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


def bounded_repr(value: Any) -> str:
    """Return a value's repr, cut to a length that fits a message."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a broken repr must not hide the error
        text = f"<{type(value).__name__}, whose repr fails: {error}>"
    return text if len(text) <= _LONGEST_REPR else f"{text[: _LONGEST_REPR - 3]}..."
