"""One marker for everything of PyFlink's API that does not work here, and why."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

from pyflink_on_spark._compat.call_site import capture_call_site
from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature


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

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise_unsupported(self.name, kind=self.kind, reason=self.reason, instead=self.instead)


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
