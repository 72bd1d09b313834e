"""Marks the classes of a connector that has no client yet."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._compat.unsupported import C, Gap, unsupported_class


def without_client(system: str) -> Callable[[C], C]:
    """Return a class decorator that makes the constructor and all methods raise the marker.

    Args:
        system: the system that the connector would connect to.
    """
    return unsupported_class(
        kind=Gap.NOT_YET,
        reason=f"this package has no client for {system}",
        instead="Read and write files, and move them with a tool of that system.",
    )
