"""Whether the Spark of a job is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STOPPED = "its SparkContext was stopped"
DIED = "Spark's Java process has ended"


def why_gone(session: SparkSession) -> str | None:
    """Return why nothing can run in a session any more; None if something can.

    PySpark tells it nowhere in public: its calls raise the same errors whatever has happened.
    """
    # PySpark has no public way to its Java context.
    java_context = session.sparkContext._jsc
    if java_context is None:
        return STOPPED
    try:
        return STOPPED if java_context.sc().isStopped() else None
    except Exception:  # noqa: BLE001 - py4j raises errors of many kinds
        return STOPPED if session.sparkContext._jsc is None else DIED
