"""State as data: reads what a checkpoint or savepoint holds, without the job that wrote it.

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

from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.checkpoints.contents import (
    CheckpointContents,
    OperatorSummary,
    SourceSummary,
    StateEntry,
    StateSummary,
)
from pyflink_on_spark._runtime.checkpoints.safe_pickles import Opaque

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CheckpointContents",
    "Opaque",
    "OperatorSummary",
    "SourceSummary",
    "StateEntry",
    "StateSummary",
    "to_pandas",
]


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

    rows = [(e.key, e.namespace, e.value) for e in contents.entries(operator, state)]
    return pd.DataFrame(rows, columns=["key", "namespace", "value"])
