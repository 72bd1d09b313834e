"""Arguments of the mirror: parameters of other names in older releases, and no Java objects."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TypeVar

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported

F = TypeVar("F", bound=Callable[..., object])


def renamed(**names: str) -> Callable[[F], F]:
    """Return a decorator for a method that also takes keyword arguments by their former names.

    Args:
        names: the parameters' names, each with its former one: ``output_type="result_type"``.
            The decorated method has the former ones as ``__former_names__``.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def with_former_names(*args: object, **kwargs: object) -> object:
            for name, former in names.items():
                if former in kwargs:
                    _rename(function.__qualname__, kwargs, name, former)
            return function(*args, **kwargs)

        with_former_names.__former_names__ = frozenset(names.values())  # type: ignore[attr-defined]
        return with_former_names  # type: ignore[return-value]

    return decorate


def _rename(call: str, kwargs: dict[str, object], name: str, former: str) -> None:
    if name in kwargs:
        raise TypeError(f"{call}() got {name!r} and its former name {former!r}")
    warnings.warn(
        f"the parameter {former!r} of {call} is called {name!r} now",
        DeprecationWarning,
        stacklevel=3,
    )
    kwargs[name] = kwargs.pop(former)


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
