"""Rows that come from outside of any catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._graph.transformation import Edge
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.changes import ModifyKinds


@dataclass(frozen=True, eq=False)
class ExternalRows:
    """A stream that a program has made, and how its elements become rows.

    Args:
        name: what plans and messages call it.
        edges: how the stream is read.
        operator: makes rows of elements; pairs of kind and row if there are any changes.
        changes: which changes there are.
        before: whether a row comes before each update as it was.
        key: the positions of the primary key, if there is one.
        parallelism: of the operator; None for the job's.
        description: for messages.
    """

    name: str
    edges: tuple[Edge, ...]
    operator: Operator
    changes: ModifyKinds = ModifyKinds.INSERT
    before: bool = True
    key: tuple[int, ...] | None = None
    parallelism: int | None = None
    description: Any = None
