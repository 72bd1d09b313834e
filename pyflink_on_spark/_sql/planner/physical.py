"""Physical nodes, the meanings of their state, and how they become operators of a job's graph.

The texts are the same for queries that do the same: aliases and projections make no difference, nor
do filters, which say which rows count and not what is computed of them.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.own_frames import capture_call_site
from pyflink_on_spark._graph.stream_graph import Aligned, Edge, Transformation
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import Partitioner
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart, StateMeaning
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from pyflink_on_spark._sql.errors import QuerySettings
from pyflink_on_spark._sql.plan import nodes as logical
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Conversion,
    FieldAccess,
    InputRef,
    Invocation,
    Typed,
    is_deterministic,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Node, Schema, SortKey, WindowTable
from pyflink_on_spark._sql.planner.upsert_keys import UpsertKeys

if TYPE_CHECKING:
    from pyflink_on_spark._sql.errors import Span

_UNIQUE = (logical.Sink, logical.ExternalSink, logical.ExternalScan, logical.FlatAggregate)
Content = dict[str, Any]
"""The meaning of state, by keyword; ``kind`` comes first."""
Columns = tuple[str, ...]
"""The origin of each column of a node."""
_LONGEST = 400
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_DEFAULT = "default_catalog.default_database."


class GraphBuilder:
    """Adds operators to a job; what two nodes read is added once.

    Args:
        settings: the session's.
    """

    def __init__(self, settings: QuerySettings) -> None:
        self.settings = settings
        self.added: list[Transformation] = []
        self._streams: dict[PhysicalNode, RowStream] = {}
        self._origins: dict[PhysicalNode, Columns] = {}
        self._node: PhysicalNode | None = None
        self._call_site = capture_call_site()

    def translate(self, node: PhysicalNode) -> RowStream:
        """Return the stream of a node."""
        found = self._streams.get(node)
        if found is None:
            inputs = tuple(self.translate(source) for source in node.inputs)
            self._node = node
            found = self._streams[node] = node.translate(inputs, self)
        return found

    def origins(self, node: PhysicalNode) -> Columns:
        """Return the origin of each column of a node."""
        found = self._origins.get(node)
        if found is None:
            found = self._origins[node] = node.origins(tuple(map(self.origins, node.inputs)))
        return found

    def _meaning(self) -> StateMeaning | None:
        """Return the meaning of the state of the node in builder."""
        node = self._node
        if node is None or self.settings.batch:
            return None
        inputs = tuple(map(self.origins, node.inputs))
        return StateMeaning(node.meaning(inputs, self.settings.time_zone), tells_all=True)

    def read(
        self, name: str, source: Source, counterpart: Counterpart | None = None
    ) -> tuple[Edge, ...]:
        """Add a source, and return how its elements are read."""
        return self._add(
            name, None, (), source=source, parallel=source.parallel, counterpart=counterpart
        )

    def write(self, name: str, edges: Iterable[Edge], sink: Sink, **settings: object) -> None:
        """Add a sink."""
        (edge,) = self._add(name, None, tuple(edges), sink=sink, **settings)
        transformation = edge.upstream
        transformation.operator = SinkOperator(sink, transformation.number)

    def operator(
        self, name: str, edges: Iterable[Edge], operator: Operator, **settings: object
    ) -> tuple[Edge, ...]:
        """Add an operator, and return how its elements are read.

        Args:
            name: as metrics and messages show it.
            edges: what it reads.
            operator: what it does.
            settings: those of a Transformation that differ from the job's.
        """
        return self._add(name, operator, tuple(edges), **settings)

    def aligned(self, name: str, edges: Iterable[Edge], operator: Operator) -> tuple[Edge, ...]:
        """Add an operator with as many subtasks as its input, and return its elements."""
        return self._add(name, operator, tuple(edges), aligned=Aligned.INPUT)

    @staticmethod
    def partitioned(edges: Iterable[Edge], partitioner: Partitioner) -> tuple[Edge, ...]:
        """Return the same elements, spread in another way."""
        return tuple(
            Edge(edge.upstream, edge.type_info, partitioner, edge.side_tag) for edge in edges
        )

    @staticmethod
    def at_port(edges: Iterable[Edge], port: int) -> tuple[Edge, ...]:
        """Return the edges for a certain input of an operator."""
        return tuple(
            Edge(edge.upstream, edge.type_info, edge.partitioner, edge.side_tag, port)
            for edge in edges
        )

    def _add(
        self, name: str, operator: Operator | None, edges: tuple[Edge, ...], **settings: Any
    ) -> tuple[Edge, ...]:
        settings.setdefault("parallelism", self.settings.parallelism)
        if operator is None or operator.keyed:
            settings["state_meaning"] = self._meaning()
        transformation = Transformation(
            name=name, operator=operator, edges=edges, call_site=self._call_site, **settings
        )
        self.added.append(transformation)
        return (Edge(transformation),)


@dataclass(frozen=True)
class RowStream:
    """The output of a translated node: rows, or pairs of the row kind and the row.

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

    is_filtered_early: bool = False
    """True if Flink's planner drops rows of it that a filter holds back, and the filter, too."""

    def __init__(self, schema: Schema, *inputs: PhysicalNode) -> None:
        self.schema = schema
        self.inputs: tuple[PhysicalNode, ...] = inputs
        self.changes = ChangeKinds.INSERT
        """Which changes its rows are; set when changes are inferred."""
        self.emits_update_before = False
        """True if each update has its UPDATE_BEFORE row; set when changes are inferred."""

    @property
    def changelog(self) -> bool:
        """True if elements are pairs of the row kind and the row."""
        return self.changes is not ChangeKinds.INSERT

    # -- changes ---------------------------------------------------------------------------------

    def accepts(self, port: int) -> ChangeKinds:
        """Return which changes of an input it can deal with."""
        return ChangeKinds.ALL

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Return which changes it makes of certain changes of its inputs."""
        union = ChangeKinds.INSERT
        for changes in inputs:
            union |= changes
        return union

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """True if the node needs the UPDATE_BEFORE rows of an input.

        Args:
            port: which input.
            wanted: whether the node that reads this one wants to know it.
        """
        return wanted

    def can_emit_update_before(self) -> bool:
        """True if the node can emit UPDATE_BEFORE rows with its updates."""
        return True

    # -- upsert keys -----------------------------------------------------------------------------

    @cached_property
    def upsert_keys(self) -> UpsertKeys:
        """The keys by which updates and deletes tell which row they are of."""
        return self.derive_upsert_keys(tuple(source.upsert_keys for source in self.inputs))

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the upsert keys.

        Args:
            inputs: the keys of each input.
        """
        return None

    def upsert_keys_with(self, fixed: frozenset[int]) -> UpsertKeys:
        """Return the upsert keys of the rows that have one value in some columns.

        Args:
            fixed: the positions of the columns.
        """
        return self.upsert_keys

    # -- builder -----------------------------------------------------------------------------

    @abstractmethod
    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add operators, and return their output.

        Args:
            inputs: what the inputs have become.
            builder: adds operators.
        """

    # -- meaning of state -------------------------------------------------------------------------

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the origins of the columns: the unchanged ones of the inputs come first.

        Args:
            inputs: the same of each input.
        """
        before = tuple(column for columns in inputs for column in columns)[: len(self.schema)]
        return (*before, *(f"{self.name}.{name}" for name in self.schema.names[len(before) :]))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the meaning of the operator's state, for an operator with state.

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
        """Return the details that plans show, by keyword."""
        return {}

    def describe(self) -> str:
        """Describe the node in one line, as plans and messages show it."""
        parts = ", ".join(f"{key}=[{value}]" for key, value in self.details().items())
        return f"{self.name}({parts})"

    def describe_short(self) -> str:
        """Return the name in messages that refuse the changes of its input."""
        return f"StreamPhysical{self.name}"

    def __str__(self) -> str:
        return self.describe()


def walk(node: PhysicalNode) -> Iterator[PhysicalNode]:
    """Yield a node and all that it reads, directly or not."""
    yield node
    for each in node.inputs:
        yield from walk(each)


class Digests:
    """Gives nodes numbers; those that do the same have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._known: dict[Hashable, int] = {}

    def number(self, node: Node) -> int:
        """Return the number of a node."""
        found = self._numbers.get(node)
        if found is None:
            key: Hashable = (type(node), self._content(node))
            found = self._numbers[node] = self._known.setdefault(key, len(self._known))
        return found

    def _content(self, node: Node) -> Hashable:
        if isinstance(node, logical.TableScan):
            return node.path, id(node.table), node.hints, _shape(node.schema)
        values = [getattr(node, each.name) for each in fields(node)]
        if isinstance(node, _UNIQUE) or not all(map(_repeats, values)):
            return id(node)
        try:
            content = tuple(map(self._part, values))
            hash(content)
        except TypeError:
            return id(node)
        return content

    def _part(self, value: object) -> Hashable:
        if isinstance(value, Node):
            return self.number(value)
        if isinstance(value, Schema):
            return _shape(value)
        if isinstance(value, tuple):
            return tuple(map(self._part, value))
        found: Hashable = value
        return found


def _shape(schema: Schema) -> Hashable:
    return schema.names, schema.types, tuple(kind.time for kind in schema.types)


def _repeats(value: object) -> bool:
    """True for expressions that are deterministic."""
    if isinstance(value, Typed):
        return is_deterministic(value)
    if isinstance(value, AggregateInvocation):
        return all(map(_repeats, value.args)) and _repeats(value.filter)
    if isinstance(value, SortKey):
        return _repeats(value.value)
    return all(map(_repeats, value)) if isinstance(value, tuple) else True


def told(expression: Typed, columns: Columns) -> str:
    """Return an expression as a text.

    Args:
        expression: the expression.
        columns: of the rows that it is over.
    """
    done: list[str] = []
    todo: list[tuple[Typed, bool]] = [(expression, False)]
    while todo:
        part, ready = todo.pop()
        if part.operands and not ready:
            todo.append((part, True))
            todo += ((operand, False) for operand in reversed(part.operands))
            continue
        first = len(done) - len(part.operands)
        done[first:] = [shortened(_with(part, done[first:], columns))]
    return done[0]


def _with(part: Typed, operands: list[str], columns: Columns) -> str:
    if isinstance(part, InputRef):
        return columns[part.index]
    if isinstance(part, Invocation):
        name = part.function.name
        if len(operands) == 2 and not name[0].isalpha():
            return f"({operands[0]} {name} {operands[1]})"
        return f"{name}({', '.join([*part.symbols, *operands])})"
    if isinstance(part, Conversion):
        word = "TRY_CAST" if part.lenient else "CAST"
        return f"{word}({operands[0]} AS {part.type.text(nullability=False)})"
    if isinstance(part, FieldAccess):
        return f"{operands[0]}.{part.operand.type.names[part.index]}"
    return _ADDRESS.sub("", str(part))


def shortened(text: str) -> str:
    """Return a text that is not too long, and still not the same as another one."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}...#{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def told_typed(expression: Typed, columns: Columns) -> str:
    """Return an expression and its type."""
    return f"{told(expression, columns)} {expression.type}"


def told_all(expressions: Iterable[Typed], columns: Columns) -> list[str]:
    """Return expressions and their types."""
    return [told_typed(expression, columns) for expression in expressions]


def told_call(call: AggregateInvocation, columns: Columns) -> str:
    """Return a call of an aggregate function."""
    word = "DISTINCT " if call.distinct else ""
    args = ", ".join(told_all(call.args, columns)) or "*"
    condition = "" if call.filter is None else f" FILTER (WHERE {told(call.filter, columns)})"
    return shortened(f"{call.function.name}({word}{args}){condition}")


def told_calls(calls: Iterable[AggregateInvocation], columns: Columns) -> list[str]:
    """Return calls of aggregate functions, with the types of their values."""
    return [f"{told_call(call, columns)} AS {call.type}" for call in calls]


def told_order(keys: Iterable[SortKey], columns: Columns) -> list[str]:
    """Return the order of rows."""
    return [
        f"{told_typed(key.value, columns)} {'ASC' if key.ascending else 'DESC'} NULLS "
        f"{'FIRST' if key.nulls_first else 'LAST'}"
        for key in keys
    ]


def told_rows(schema: Schema, columns: Columns) -> list[str]:
    """Return the columns of rows that are kept whole, with their types."""
    return [f"{column} {kind}" for column, kind in zip(columns, schema.types)]


def told_changes(changelog: bool) -> str:
    """Return whether rows are only added."""
    return "added, updated, deleted" if changelog else "added"


def told_window(window: WindowTable, time: str, zone: str | None) -> str:
    """Return windows of time.

    Args:
        window: the windows.
        time: what their time attribute is made of.
        zone: the time zone that they are in; None where that makes no difference.
    """
    attribute = window.input.schema.types[window.time].time
    parts = [
        time if attribute is None else f"{time} {attribute.value}",
        *(
            f"{name} {value // 1000} ms"
            for name, value in (
                ("size", window.size),
                ("step", window.step),
                ("offset", window.offset),
            )
            if value
        ),
        *([] if zone is None else [f"in {zone}"]),
    ]
    return f"{window.kind.value}({', '.join(parts)})"


def grouped(calls: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Return the values of calls, of which there is one for each group."""
    by = ", ".join(keys)
    return [shortened(f"[{call} BY {by}]" if by else f"[{call}]") for call in calls]


def told_path(path: Sequence[str]) -> str:
    """Return the name of a table; of one without a name nothing that counts such tables."""
    return re.sub(r"\$\d+\*$", "*", ".".join(path).removeprefix(_DEFAULT))
