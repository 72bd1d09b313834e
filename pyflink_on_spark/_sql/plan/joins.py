"""Joins that give the rows of one side, or that follow versions of a table."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.syntax.queries import JoinKind


@dataclass(frozen=True, eq=False)
class TwoInputs(Node):
    """Makes rows of two nodes'.

    Args:
        left: the first one.
        right: the second one.
    """

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both nodes."""
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class SemiJoin(TwoInputs):
    """Gives the rows of a node that have a partner in another one, or those that have none.

    Args:
        condition: over the columns of both; None for all pairs.
        anti: whether those without a partner come out.
    """

    condition: Typed | None
    anti: bool

    def describe(self) -> str:
        """Return the condition and the kind."""
        kind = "anti" if self.anti else "semi"
        return f"LogicalJoin(condition=[{self.condition}], joinType=[{kind}])"


@dataclass(frozen=True, eq=False)
class TemporalJoin(TwoInputs):
    """Gives each row with the version that another table had at its time.

    Args:
        time: the position of the time attribute of the rows.
        version: the position of the time attribute of the versions; None if they are looked up.
        kind: INNER, or LEFT to keep rows without a version.
        condition: over the columns of both.
    """

    time: int
    version: int | None
    kind: JoinKind
    condition: Typed | None

    def describe(self) -> str:
        """Return the condition and the kind."""
        kind = self.kind.value.lower()
        return f"LogicalTemporalJoin(condition=[{self.condition}], joinType=[{kind}])"
