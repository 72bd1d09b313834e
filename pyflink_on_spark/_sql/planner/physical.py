"""The physical plan: how a query is carried out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyflink_on_spark._graph.transformation import Edge
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told_rows

if TYPE_CHECKING:
    from pyflink_on_spark._sql.errors import Span
    from pyflink_on_spark._sql.planner.translation import Translation


@dataclass(frozen=True)
class Stream:
    """What a node has become: a stream of rows, or of pairs of the kind and the row.

    Args:
        edges: how the next operator reads it; several for a union.
        changelog: whether elements are pairs.
    """

    edges: tuple[Edge, ...]
    changelog: bool


class PhysicalNode(ABC):
    """A step of a plan. Each knows which changes it makes and needs, and becomes operators.

    Args:
        schema: the columns of its rows.
        inputs: the nodes that it reads.
    """

    name: str = ""
    """As plans and messages show it, ``Calc`` for example."""

    span: Span | None = None
    """Where a SQL text says it, if messages are to tell."""

    def __init__(self, schema: Schema, *inputs: PhysicalNode) -> None:
        self.schema = schema
        self.inputs: tuple[PhysicalNode, ...] = inputs
        self.changes = ModifyKinds.INSERT
        """Which changes its rows are; set when changes are inferred."""
        self.before = False
        """Whether a row comes before each update as it was; set when changes are inferred."""

    @property
    def changelog(self) -> bool:
        """Whether its elements are pairs of the kind and the row."""
        return self.changes is not ModifyKinds.INSERT

    # -- changes ---------------------------------------------------------------------------------

    def accepts(self, port: int) -> ModifyKinds:
        """Return which changes of an input it can deal with."""
        return ModifyKinds.ALL

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Return which changes it makes of certain changes of its inputs."""
        union = ModifyKinds.INSERT
        for changes in inputs:
            union |= changes
        return union

    def needs_before(self, port: int, wanted: bool) -> bool:
        """Tell whether it needs to know what a row of an input was before an update.

        Args:
            port: which input.
            wanted: whether the node that reads this one wants to know it.
        """
        return wanted

    def can_give_before(self) -> bool:
        """Tell whether it can say what a row was before an update, if it makes updates."""
        return True

    # -- translation -----------------------------------------------------------------------------

    @abstractmethod
    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add operators, and return what they emit.

        Args:
            inputs: what the inputs have become.
            translation: adds operators.
        """

    # -- meaning of state -------------------------------------------------------------------------

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return what each column is made of: those of the inputs come first, as they were.

        Args:
            inputs: the same of each input.
        """
        before = tuple(column for columns in inputs for column in columns)[: len(self.schema)]
        return (*before, *(f"{self.name}.{name}" for name in self.schema.names[len(before) :]))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return what the state of its operator means, if its operator has any.

        Two queries may continue with each other's state if this is the same for both.

        Args:
            inputs: what the columns of each input are made of.
            time_zone: the session's, by name.
        """
        rows = [told_rows(node.schema, columns) for node, columns in zip(self.inputs, inputs)]
        return {
            "kind": self.name,
            **self.details(),
            **{f"input {port}": each for port, each in enumerate(rows, 1)},
        }

    # -- explanation -----------------------------------------------------------------------------

    def details(self) -> dict[str, str]:
        """Return what plans show of it, by keyword."""
        return {}

    def describe(self) -> str:
        """Return it in one line, as plans and messages show it."""
        parts = ", ".join(f"{key}=[{value}]" for key, value in self.details().items())
        return f"{self.name}({parts})"

    def describe_short(self) -> str:
        """Return what messages call it that refuse its input."""
        return f"StreamPhysical{self.name}"

    def __str__(self) -> str:
        return self.describe()


def walk(node: PhysicalNode) -> Iterator[PhysicalNode]:
    """Yield a node and all that it reads, directly or not."""
    yield node
    for each in node.inputs:
        yield from walk(each)
