"""The splits of Flink's sources: those that readers have, and what enumerators keep."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.contract.connector import FlinkSplits
from pyflink_on_spark._runtime.moved_in.data_input import DataInput
from pyflink_on_spark.flink_state.metadata import FlinkOperator
from pyflink_on_spark.flink_state.state_headers import StateHeader

READER_STATE = "SourceReaderState"
_COORDINATOR = 1


def splits_of(
    operator: FlinkOperator, lists: list[tuple[int, StateHeader, str, list[Any]]], path: str
) -> FlinkSplits:
    """Take the splits of a source out of its operator's state.

    Args:
        operator: the operator of the source.
        lists: its state without keys.
        path: the savepoint, for errors.

    Raises:
        CheckpointError: they are damaged.
    """
    where = f"{path}: the source {operator.uid or operator.name!r}"
    splits = tuple(
        _versioned(DataInput(element, where))
        for _, state, _, elements in lists
        if state.name == READER_STATE
        for element in elements
    )
    if operator.coordinator is None:
        return FlinkSplits(splits)
    data = DataInput(operator.coordinator, f"{where}, its enumerator")
    version = data.integer()
    if version != _COORDINATOR:
        raise data.refused(f"the state of an enumerator of version {version} is not known", 0)
    return FlinkSplits(splits, _versioned(data))


def _versioned(data: DataInput) -> tuple[int, DataInput]:
    """Read a version, and what was written with it."""
    version = data.integer()
    length = data.count("bytes")
    base = data.offset(data.position)
    return version, DataInput(data.take(length), data.where, base)
