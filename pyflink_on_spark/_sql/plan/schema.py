"""The columns of rows."""

from __future__ import annotations

from collections.abc import Iterable
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

    def projected(self, columns: Iterable[int]) -> Schema:
        """Return some of the columns.

        Args:
            columns: their positions, in the order in which the result has them.
        """
        kept = tuple(columns)
        return Schema(tuple(self.names[i] for i in kept), tuple(self.types[i] for i in kept))

    def __len__(self) -> int:
        return len(self.names)
