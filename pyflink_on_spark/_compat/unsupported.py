"""One marker for everything of PyFlink's API that does not work here, and why."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._compat.own_frames import capture_call_site

C = TypeVar("C", bound=type)

JAVA_CLASS = "a Java class has no meaning outside Flink's JVM"
JAVA_OBJECT = "in PyFlink its work is done by a Java object"


class Gap(enum.Enum):
    """Why something does not work: it will one day, or it never can."""

    NOT_YET = "not yet supported"
    NEVER = "never supported, because it needs Flink's JVM"


class unsupported:  # noqa: N801 - reads as a declaration in class bodies, like ``property``
    """A class attribute standing for a method that does not work here.

    On the class it yields itself, so that an inventory can find it; called it raises.

    Args:
        signature: a function with the method's parameters; its body is never run.
        kind: whether the gap can close.
        reason: why, as half a sentence.
        instead: what a user can do now.
    """

    def __init__(self, signature: Any, *, kind: Gap, reason: str, instead: str) -> None:
        self.__wrapped__ = signature
        self.__doc__ = signature.__doc__
        self.kind, self.reason, self.instead = kind, reason, instead
        self.name = signature.__qualname__.removesuffix(".__init__")

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise_unsupported(self.name, kind=self.kind, reason=self.reason, instead=self.instead)


def unsupported_class(
    *, kind: Gap, reason: str, instead: str, known_as: str | None = None
) -> Callable[[C], C]:
    """Return a class decorator that makes the constructor and all methods raise the one error.

    The class keeps the names and signatures of PyFlink's. Functions whose class has a marker of
    its own for them keep that one.

    Args:
        kind: whether the gap can close.
        reason: why, as half a sentence.
        instead: what a user can do now.
        known_as: the class that users call the methods of, if that is a subclass.
    """

    def gap(function: Any) -> unsupported:
        found = unsupported(function, kind=kind, reason=reason, instead=instead)
        if known_as is not None:
            found.name = f"{known_as}.{function.__name__}"
        return found

    def mark(cls: C) -> C:
        for name, declared in list(vars(cls).items()):
            if name == "__init__":
                setattr(cls, name, _constructor(declared, gap(declared)))
            elif inspect.isfunction(declared):
                setattr(cls, name, gap(declared))
            elif isinstance(declared, staticmethod) and inspect.isfunction(declared.__func__):
                setattr(cls, name, staticmethod(gap(declared.__func__)))
        return cls

    return mark


def _constructor(declared: Any, marker: unsupported) -> object:
    """Return a constructor that calls a marker; a function, since that is what tools look for."""

    @functools.wraps(declared)
    def __init__(_self: object, *_args: object, **_named: object) -> None:  # noqa: N807 - it is one
        marker()

    __init__.marker = marker  # type: ignore[attr-defined]
    return __init__


def marker_of(declared: object) -> unsupported | None:
    """Return the marker that a member of a class is, or calls; None if there is none."""
    declared = getattr(declared, "__func__", declared)
    found = declared if isinstance(declared, unsupported) else getattr(declared, "marker", None)
    return found if isinstance(found, unsupported) else None


def refuse_java(call: str, *, instead: str, reason: str = JAVA_CLASS) -> NoReturn:
    """Raise the one error for a call that names a class of Java's, or an object of one.

    Args:
        call: the call as the user wrote it.
        instead: what a user can do now.
        reason: why, as half a sentence.

    Raises:
        UnsupportedFlinkFeature: always.
    """
    raise_unsupported(call, kind=Gap.NEVER, reason=reason, instead=instead)


def raise_unsupported(call: str, *, kind: Gap, reason: str, instead: str) -> NoReturn:
    """Raise the one error for a call that does not work here.

    Args:
        call: the call as the user wrote it, for example ``env.add_jars("x.jar")``.
        kind: whether the gap can close.
        reason: why, as half a sentence.
        instead: what a user can do now.

    Raises:
        UnsupportedFlinkFeature: always.
    """
    raise UnsupportedFlinkFeature(
        f"{call} is {kind.value}: {reason}. {instead} (called at {capture_call_site()})"
    )
