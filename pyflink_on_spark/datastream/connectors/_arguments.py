"""Checks of the arguments of builders, at the call and not in the running job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pyflink_on_spark._compat.arguments import refuse_java_object

T = TypeVar("T")


def argument(value: object, kind: type[T], call: str) -> T:
    """Return a checked argument of a builder's method.

    Args:
        value: the argument.
        kind: the expected class. ``int`` does not include bool.
        call: the call as a user writes it.

    Raises:
        UnsupportedFlinkFeature: the argument is a Java object.
        TypeError: the argument is not a ``kind``.
    """
    refuse_java_object(value, call)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{call} takes {kind.__name__}, not {type(value).__name__}")
    return value


def properties_argument(properties: Any, call: str) -> dict[str, str]:
    """Return a copy of the properties of a client, whose keys and values are str.

    Raises:
        TypeError: the argument is not a dict of str. The message contains no value, which may be a
            password.
    """
    for key, value in argument(properties, Mapping, call).items():  # type: ignore[type-abstract]
        if not isinstance(key, str):
            raise TypeError(f"{call} takes a dict of str, not the key {key!r}")
        if not isinstance(value, str):
            raise TypeError(
                f"{call} takes a dict of str; {key!r} is set to a {type(value).__name__}: "
                "write it as a str"
            )
    return dict(properties)


def require(condition: object, text: str) -> None:
    """Raise ValueError with a text if a condition is false."""
    if not condition:
        raise ValueError(text)
