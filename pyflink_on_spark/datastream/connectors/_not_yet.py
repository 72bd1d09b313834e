"""Marks the classes of a connector that has no client yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from pyflink_on_spark._compat.unsupported import Gap, unsupported

C = TypeVar("C", bound=type)


def without_client(system: str) -> Callable[[C], C]:
    """Return a class decorator that makes the constructor and all methods raise the marker.

    The class keeps the names and signatures of PyFlink's. Functions whose class has a marker of
    its own for them keep that one.

    Args:
        system: the system that the connector would connect to.
    """

    def gap(function: Any) -> unsupported:
        return unsupported(
            function,
            kind=Gap.NOT_YET,
            reason=f"this package has no client for {system}",
            instead="Read and write files, and move them with a tool of that system.",
        )

    def mark(cls: C) -> C:
        for name, declared in list(vars(cls).items()):
            if inspect.isfunction(declared):
                setattr(cls, name, gap(declared))
            elif isinstance(declared, staticmethod) and inspect.isfunction(declared.__func__):
                setattr(cls, name, staticmethod(gap(declared.__func__)))
        return cls

    return mark
