"""Rows for several sets of keys."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Unary


@dataclass(frozen=True, eq=False)
class Expand(Unary):
    """Gives each row once for each set of keys; after its columns the keys, and the set's number.

    Args:
        keys: all keys.
        sets: the positions of the keys of each set; the others are NULL in its rows.
    """

    keys: tuple[Typed, ...]
    sets: tuple[frozenset[int], ...]

    def describe(self) -> str:
        """Return the sets."""
        sets = ", ".join(str(sorted(each)) for each in self.sets)
        return f"LogicalExpand(keys=[{', '.join(map(str, self.keys))}], sets=[{sets}])"
