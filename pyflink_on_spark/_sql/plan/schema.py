"""The columns of rows."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._sql.types.logical import LogicalType


@dataclass(frozen=True)
class Schema:
    """The columns of what a node of a plan gives.

    Args:
        names: of the columns, each different from all others.
        types: of the columns.
    """

    names: tuple[str, ...]
    types: tuple[LogicalType, ...]

    def __len__(self) -> int:
        return len(self.names)
