"""Parameters that older releases of PyFlink call by another name."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


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
