"""What is raised when a value does not fit its declared type: also the built-in of PyFlink."""

from __future__ import annotations

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
