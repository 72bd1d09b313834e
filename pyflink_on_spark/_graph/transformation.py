"""The record of the mirror: one transformation for each call that adds an operator."""

from __future__ import annotations

import enum
import itertools
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.call_site import CallSite
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.flink_tables import Counterpart
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.partitioners import Partitioner
from pyflink_on_spark._runtime.contract.state_meaning import StateMeaning

_numbers = itertools.count(1)


class Chaining(enum.Enum):
    """The chaining of an operator to the one before it."""

    ALWAYS = "always"
    HEAD = "head"
    NEVER = "never"


class Aligned(enum.Enum):
    """The source of an added operator's parallelism: the operator before or after it."""

    INPUT = "input"
    READER = "reader"


@dataclass(frozen=True, eq=False)
class Edge:
    """The input of an operator.

    Args:
        upstream: the transformation that emits it.
        type_info: the declared type of the elements; None if there is none.
        partitioner: how elements are spread; None to forward, or to rebalance where the
            parallelism changes.
        side_tag: the side output it is; None for the main output.
        port: which input of the reading operator it feeds.
        collected: whether the elements go to the driver's program, and not to another function.
        united: whether a union lies between, also one of a single stream: PyFlink fuses no Python
            functions across it.
        unfused: whether PyFlink fuses no Python functions that lead directly to it, since what is
            collected is a union or a partitioning, and no operator.
    """

    upstream: Transformation
    type_info: Any = None
    partitioner: Partitioner | None = None
    side_tag: str | None = None
    port: int = 0
    collected: bool = False
    united: bool = False
    unfused: bool = False


@dataclass(eq=False)
class Transformation:
    """One operator of the user's program. Only the mirror may still change its settings.

    Args:
        name: as in the execution plan.
        operator: what it does; None for a source.
        edges: what it reads.
        parallelism: None for the job's default.
        call_site: where the user added it.
        type_info: the declared type of what it emits, or None.
        python: whether PyFlink runs it in its Python worker: such operators, one directly after the
            other, hand elements over without applying declared types.
        source: where it reads from, if it is a source.
        sink: where it writes to, if it is a sink.
        single: whether Flink has one subtask of it, and so names its task for itself where the
            operator before it has several.
        state_meaning: what the state means, if whoever adds the operator knows.
        counterpart: the operator of Flink whose state it takes over, if it is one of tables.
    """

    name: str
    operator: Operator | None
    edges: tuple[Edge, ...]
    parallelism: int | None
    call_site: CallSite | None
    type_info: Any = None
    python: bool = False
    source: Source | None = None
    sink: Sink | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    uid_hash: str | None = None
    description: str | None = None
    chaining: Chaining = Chaining.ALWAYS
    slot_sharing_group: str | None = None
    parallel: bool = True
    aligned: Aligned | None = None
    single: bool = False
    state_meaning: StateMeaning | None = None
    counterpart: Counterpart | None = None
    side_types: dict[str, Any] = field(default_factory=dict)
    """The declared type of each side output that something reads, by its id."""
    number: int = field(default_factory=lambda: next(_numbers))
