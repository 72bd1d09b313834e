"""What a savepoint of Flink has of a source."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._runtime.moved_in.data_input import DataInput

Versioned = tuple[int, DataInput]
"""The version of a serializer of Flink, and what was written with it."""


@dataclass(frozen=True)
class FlinkSplits:
    """The splits of a source of Flink.

    Args:
        splits: those that readers have, as the source's serializer has written them.
        enumerator: what the enumerator keeps; None if there is nothing.
    """

    splits: tuple[Versioned, ...]
    enumerator: Versioned | None = None
