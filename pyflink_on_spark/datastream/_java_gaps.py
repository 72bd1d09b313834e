"""Marks the methods of the mirror whose only purpose is to hand out a Java object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, unsupported


def without_java_object(instead: str) -> Callable[[Any], unsupported]:
    """Return a decorator for a method that PyFlink has to reach a Java object.

    Args:
        instead: what a user can do now.
    """

    def mark(signature: object) -> unsupported:
        return unsupported(
            signature,
            kind=Gap.NEVER,
            reason="it has no Java object",
            instead=instead,
        )

    return mark
