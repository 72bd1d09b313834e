"""State as data: reads checkpoints and savepoints without the job, writes and changes savepoints.

Example:
    ::

        from pyflink_on_spark.state import CheckpointContents, to_pandas

        contents = CheckpointContents("file:///savepoints/savepoint-1a2b3c-0123456789ab")
        for operator in contents.operators():
            print(operator.id, operator.size, [state.name for state in operator.states])
        for entry in contents.entries("counter", "count"):
            print(entry.key, entry.value)
        frame = to_pandas(contents, "counter", "count")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.checkpoints.contents import (
    CheckpointContents,
    OperatorSummary,
    SourceSummary,
    StateEntry,
    StateSummary,
)
from pyflink_on_spark._runtime.checkpoints.latest import latest_checkpoint
from pyflink_on_spark._runtime.checkpoints.safe_pickles import Opaque
from pyflink_on_spark._runtime.checkpoints.savepoint_writer import SavepointWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

__all__ = [
    "CheckpointContents",
    "Opaque",
    "OperatorSummary",
    "SavepointWriter",
    "SourceSummary",
    "StateEntry",
    "StateSummary",
    "latest_checkpoint",
    "to_pandas",
    "to_spark",
]


_COLUMNS = ["key", "namespace", "value"]


def to_pandas(contents: CheckpointContents, operator: str, state: str) -> pd.DataFrame:
    """Return a state as a DataFrame with the columns ``key``, ``namespace`` and ``value``.

    Args:
        contents: the checkpoint or savepoint.
        operator: the operator's id, or an unambiguous part of it.
        state: the state's name.

    Raises:
        CheckpointError: there is no such operator or state.
    """
    import pandas as pd

    return pd.DataFrame(_rows(contents, operator, state), columns=_COLUMNS)


def to_spark(
    spark: Any, contents: CheckpointContents, operator: str, state: str, schema: Any
) -> Any:
    """Return a state as a Spark DataFrame with the columns ``key``, ``namespace`` and ``value``.

    The state passes through the driver. The namespace is a text, None outside of windows.

    Args:
        spark: the SparkSession.
        contents: the checkpoint or savepoint.
        operator: the operator's id, or an unambiguous part of it.
        state: the state's name.
        schema: the columns in Spark's notation, for example ``"key string, namespace string, value
            bigint"``.

    Raises:
        CheckpointError: there is no such operator or state.
    """
    rows = [
        (key, None if namespace is None else repr(namespace), value)
        for key, namespace, value in _rows(contents, operator, state)
    ]
    return spark.createDataFrame(rows, schema)


def _rows(contents: CheckpointContents, operator: str, state: str) -> Iterator[tuple[Any, ...]]:
    return ((e.key, e.namespace, e.value) for e in contents.entries(operator, state))
