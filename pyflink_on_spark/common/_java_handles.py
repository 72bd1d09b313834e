"""Handles in the places where PyFlink holds Java objects."""

from __future__ import annotations

from typing import TypeVar

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported

T = TypeVar("T")


def refuse_java_object(value: object, call: str) -> None:
    """Raise if a value is an object of a Java virtual machine, or a class or package of one.

    Args:
        value: what the user gave.
        call: the call as the user wrote it.

    Raises:
        UnsupportedFlinkFeature: it is one.
    """
    if type(value).__module__.partition(".")[0] == "py4j":
        raise_unsupported(
            call,
            kind=Gap.NEVER,
            reason="a Java object has no meaning outside Flink's JVM",
            instead="Use the Python class or factory of the same name.",
        )


def own_handle(value: object, kind: type[T], call: str) -> T:
    """Return a value that a constructor was given in the place of a Java object.

    Args:
        value: what the constructor was given.
        kind: the class of this package that belongs there.
        call: the call as the user wrote it.

    Raises:
        UnsupportedFlinkFeature: it is a Java object.
        TypeError: it is anything else than a ``kind``.
    """
    refuse_java_object(value, call)
    if not isinstance(value, kind):
        raise TypeError(
            f"{call} takes a {kind.__name__}, not a {type(value).__name__}: "
            "make the object with its factory method"
        )
    return value
