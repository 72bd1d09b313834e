"""PyFlink's connection to Flink's JVM, which does not exist on Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported


def _connects(signature: Callable[..., object]) -> object:
    return unsupported(
        signature,
        kind=Gap.NEVER,
        reason="it connects to Flink's JVM, which does not exist here",
        instead="Use the methods of the Python objects; what was written in Java, write in Python.",
    )


@_connects
def get_gateway() -> Any:
    """Return the connection to Flink's JVM. On Spark: raises."""


@_connects
def launch_gateway() -> Any:
    """Start Flink's JVM. On Spark: raises."""


@_connects
def import_flink_view(gateway: object) -> Any:
    """Make Flink's classes known to a connection. On Spark: raises."""


__getattr__ = missing_name(__name__, "It works with Flink's JVM, which does not exist here.")
