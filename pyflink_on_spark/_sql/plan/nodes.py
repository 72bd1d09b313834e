"""Logical nodes of a plan, the columns of their rows, and the changes that they emit."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
)
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._sql.errors import Span
    from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath
    from pyflink_on_spark._sql.plan.ports import TableSink, TableSource
    from pyflink_on_spark._sql.plan.signatures import TableAggregateFunction, TableFunction
    from pyflink_on_spark._sql.syntax.statements import ConflictStrategy

# What stands for a row's kind beside the row; odd ones take a row back.
INSERT: Final = 0
UPDATE_BEFORE: Final = 1
UPDATE_AFTER: Final = 2
DELETE: Final = 3


class ChangeKinds(enum.Flag):
    """Kinds of changes."""

    INSERT = enum.auto()
    UPDATE = enum.auto()
    DELETE = enum.auto()

    ALL = INSERT | UPDATE | DELETE

    def describe(self) -> str:
        """Describe the changes besides inserts."""
        words = [word for kind, word in _WORDS.items() if kind in self]
        return f"{' and '.join(words) or 'insert'} changes"


_WORDS = {ChangeKinds.UPDATE: "update", ChangeKinds.DELETE: "delete"}


@dataclass(frozen=True)
class Schema:
    """The columns of a node's rows.

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


@dataclass(frozen=True, eq=False)
class ExternalRows:
    """A stream that a program has made, and how its elements become rows.

    Args:
        name: what plans and messages call it.
        edges: how the stream is read.
        operator: makes rows of elements; pairs of kind and row if there are any changes.
        changes: which changes there are.
        emits_update_before: whether each update has its UPDATE_BEFORE row.
        key: the positions of the primary key, if there is one.
        parallelism: of the operator; None for the job's.
        description: for messages.
        has_watermarks: whether it is said how its watermarks are made.
    """

    name: str
    edges: tuple[Edge, ...]
    operator: Operator
    changes: ChangeKinds = ChangeKinds.INSERT
    emits_update_before: bool = True
    key: tuple[int, ...] | None = None
    parallelism: int | None = None
    description: object = None
    has_watermarks: bool = False


@dataclass(frozen=True, eq=False)
class Node:
    """Gives rows.

    Args:
        schema: their columns.
    """

    schema: Schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that it reads."""
        return ()

    def describe(self) -> str:
        """Describe the node in one line."""
        return f"Logical{type(self).__name__}"


@dataclass(frozen=True, eq=False)
class TableScan(Node):
    """Reads a table of a connector: its physical columns, then the metadata that the table has.

    Args:
        path: the table.
        table: what the catalog has of it.
        source: the connector's.
        hints: options of the query for it.
    """

    path: ObjectPath
    table: CatalogTable
    source: TableSource
    hints: tuple[tuple[str, str], ...] = ()

    def describe(self) -> str:
        """Return which table it is."""
        return f"LogicalTableScan(table=[[{', '.join(self.path)}]])"


@dataclass(frozen=True, eq=False)
class ExternalScan(Node):
    """Reads rows outside of catalogs: a DataStream, or rows of the program.

    Args:
        rows: what it is.
    """

    rows: ExternalRows

    def describe(self) -> str:
        """Describe the scan."""
        return f"LogicalTableScan(table=[[{self.rows.name}]])"


@dataclass(frozen=True, eq=False)
class Values(Node):
    """Gives rows of constants.

    Args:
        rows: in the form that rows have inside a query.
    """

    rows: tuple[tuple[Any, ...], ...]

    def describe(self) -> str:
        """Return the rows."""
        return f"LogicalValues(tuples=[{list(self.rows[:3])}])"


ONE_ROW = Values(Schema((), ()), ((),))
"""The input of a query without FROM: one empty row."""


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """Makes rows of one other node's.

    Args:
        input: the other node.
    """

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The other node."""
        return (self.input,)


@dataclass(frozen=True, eq=False)
class Project(Unary):
    """Computes columns.

    Args:
        expressions: one for each column.
    """

    expressions: tuple[Typed, ...]

    def describe(self) -> str:
        """Return the columns."""
        columns = (f"{name}=[{item}]" for name, item in zip(self.schema.names, self.expressions))
        return f"LogicalProject({', '.join(columns)})"


def project(node: Node, columns: Sequence[Typed], names: tuple[str, ...]) -> Project:
    """Return a node that computes columns."""
    return Project(Schema(names, tuple(column.type for column in columns)), node, tuple(columns))


def renamed(node: Node, names: tuple[str, ...]) -> Node:
    """Return a node whose columns have other names."""
    if names == node.schema.names:
        return node
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return project(node, columns, names)


@dataclass(frozen=True, eq=False)
class Filter(Unary):
    """Keeps the rows for which a condition is TRUE.

    Args:
        condition: the condition.
    """

    condition: Typed

    def describe(self) -> str:
        """Return the condition."""
        return f"LogicalFilter(condition=[{self.condition}])"


@dataclass(frozen=True)
class RowWindow:
    """Windows of a number of rows, by the order in which the rows of a group come.

    Args:
        name: of the windows.
        time: the name of the processing time.
        size: how many rows a window has.
        step: after how many rows the next window begins; None if windows follow each other.
    """

    name: str
    time: str
    size: int
    step: int | None

    def __str__(self) -> str:
        kind = "Tumbling" if self.step is None else "Sliding"
        step = "" if self.step is None else f", {self.step}"
        return f"{kind}GroupWindow('{self.name}, {self.time}, {self.size}{step})"


@dataclass(frozen=True, eq=False)
class Aggregate(Unary):
    """Gives a row for each group of rows; its columns are the keys, then the calls.

    Args:
        keys: what the groups are made of; without any there is one group.
        calls: what is computed of each group.
        rows: windows of a number of rows, each of which is a group; None for whole groups.
    """

    keys: tuple[Typed, ...]
    calls: tuple[AggregateInvocation, ...]
    rows: RowWindow | None = None

    def describe(self) -> str:
        """Return the keys and the calls."""
        keys, calls = ", ".join(map(str, self.keys)), ", ".join(map(str, self.calls))
        return f"LogicalAggregate(group=[{{{keys}}}], calls=[{calls}])"


@dataclass(frozen=True, eq=False)
class Correlate(Unary):
    """Gives each row with those that a table function has for it.

    Args:
        function: the function.
        args: over the columns of a row.
        left: whether a row without partners is kept, with NULLs.
        condition: which pairs are kept; over the columns of both; None for all.
    """

    function: TableFunction
    args: tuple[Typed, ...]
    left: bool = False
    condition: Typed | None = None

    def describe(self) -> str:
        """Return the function."""
        args = ", ".join(map(str, self.args))
        return f"LogicalCorrelate(function=[{self.function.name}({args})], left=[{self.left}])"


@dataclass(frozen=True, eq=False)
class Join(Node):
    """Gives the pairs of rows of two nodes for which a condition is TRUE.

    Args:
        left: the first one.
        right: the second one.
        kind: which rows without partners are kept.
        condition: over the columns of both; None for all pairs.
    """

    left: Node
    right: Node
    kind: JoinKind
    condition: Typed | None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both nodes."""
        return self.left, self.right

    def describe(self) -> str:
        """Return the condition and the kind."""
        kind = self.kind.value.lower()
        return f"LogicalJoin(condition=[{self.condition}], joinType=[{kind}])"


@dataclass(frozen=True)
class SortKey:
    """The order of rows by one expression.

    Args:
        value: what is compared.
        ascending: from the smallest on.
        nulls_first: whether NULL comes first.
    """

    value: Typed
    ascending: bool = True
    nulls_first: bool = True

    def __str__(self) -> str:
        return f"{self.value} {'ASC' if self.ascending else 'DESC'}"


@dataclass(frozen=True, eq=False)
class Sort(Unary):
    """Gives rows in an order, or some of them.

    Args:
        keys: what the order is made of.
        offset: how many rows are left out first.
        fetch: how many rows are kept; None for all.
    """

    keys: tuple[SortKey, ...]
    offset: int = 0
    fetch: int | None = None

    def describe(self) -> str:
        """Return the order and the number of rows."""
        keys = ", ".join(map(str, self.keys))
        return f"LogicalSort(orderBy=[{keys}], offset=[{self.offset}], fetch=[{self.fetch}])"


@dataclass(frozen=True, eq=False)
class FlatAggregate(Unary):
    """Emits any number of rows for each group: the keys, then the results of a function.

    Args:
        keys: what the groups are made of.
        function: the function.
        args: its arguments, over the columns of the input.
    """

    keys: tuple[Typed, ...]
    function: TableAggregateFunction
    args: tuple[Typed, ...]

    def describe(self) -> str:
        """Return the function."""
        return f"LogicalTableAggregate(tableAggregate=[{self.function.name}])"


class WindowKind(enum.Enum):
    """Kinds of windows of time."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


@dataclass(frozen=True, eq=False)
class WindowTable(Unary):
    """Gives each row once for each of its windows; their start, end and time follow the columns.

    Args:
        kind: of the windows.
        time: the position of the time attribute.
        size: of the windows; of sessions the gap; microseconds.
        step: between the starts of windows, or the ends of cumulating ones; microseconds.
        offset: of all windows; microseconds.
        partition: the columns that sessions are apart by; None for those of the groups.
        single: whether a row has the session that it alone would make, since what follows merges
            sessions.
    """

    kind: WindowKind
    time: int
    size: int
    step: int = 0
    offset: int = 0
    partition: tuple[int, ...] | None = None
    single: bool = False

    @property
    def shape(self) -> tuple[object, ...]:
        """The properties in which windows of two inputs have to agree."""
        time = self.schema.types[self.time].time
        return self.kind, self.size, self.step, self.offset, time

    def describe(self) -> str:
        """Return the windows."""
        name = self.schema.names[self.time]
        return f"LogicalTableFunctionScan(invocation=[{self.kind.value}(DESCRIPTOR({name}))])"


@dataclass(frozen=True, eq=False)
class AssignWatermarks(Unary):
    """Makes watermarks, and a column the rowtime attribute.

    Args:
        column: the position of the rowtime attribute.
        watermark: what a watermark is computed by for each row; None if the input has watermarks.
    """

    column: int
    watermark: Typed | None

    def describe(self) -> str:
        """Return the column and the watermark."""
        name = self.schema.names[self.column]
        return f"LogicalWatermarkAssigner(rowtime=[{name}], watermark=[{self.watermark}])"


@dataclass(frozen=True, eq=False)
class Union(Node):
    """Gives the rows of several nodes; equal ones count for themselves.

    Args:
        nodes: at least two.
    """

    nodes: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes."""
        return self.nodes

    def describe(self) -> str:
        """Describe the union."""
        return "LogicalUnion(all=[true])"


@dataclass(frozen=True, eq=False)
class Sink(Unary):
    """Writes rows to a table of a connector.

    Args:
        path: the table.
        table: what the catalog has of it.
        sink: the connector's.
        span: where a SQL text names the table.
        conflict: what happens to rows with the same primary key, if the statement says it.
    """

    path: ObjectPath
    table: CatalogTable
    sink: TableSink
    span: Span | None = None
    conflict: ConflictStrategy | None = None

    def describe(self) -> str:
        """Return which table it is."""
        fields = ", ".join(self.schema.names)
        return f"LogicalSink(table=[{'.'.join(self.path)}], fields=[{fields}])"


@dataclass(frozen=True, eq=False)
class ExternalSink(Unary):
    """Hands rows to the program: as a DataStream, or as a result.

    Args:
        name: what messages call it.
        changes: which changes it takes; None for those that come.
        needs_update_before: whether the program reads UPDATE_BEFORE rows.
        key: the positions of the primary key, or nothing.
    """

    name: str
    changes: ChangeKinds | None
    needs_update_before: bool = True
    key: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return its name."""
        return f"LogicalSink(table=[{self.name}], fields=[{', '.join(self.schema.names)}])"


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all that it reads, directly or not."""
    yield node
    for each in node.inputs:
        yield from walk(each)


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


@dataclass(frozen=True, eq=False)
class ToChangelog(Unary):
    """Gives each change as a row, whose first column says its kind.

    Args:
        codes: what the first column has, and for which kinds; other changes are left out.
    """

    codes: tuple[tuple[str, int], ...]

    def describe(self) -> str:
        """Return the codes."""
        return f"LogicalTableFunctionScan(invocation=[TO_CHANGELOG({_told_codes(self.codes)})])"


@dataclass(frozen=True, eq=False)
class FromChangelog(Unary):
    """Gives the change that each row stands for, without the column that says its kind.

    Args:
        column: the position of that column.
        codes: what the column has, and for which kinds.
    """

    column: int
    codes: tuple[tuple[str, int], ...]

    def describe(self) -> str:
        """Return the codes."""
        return f"LogicalTableFunctionScan(invocation=[FROM_CHANGELOG({_told_codes(self.codes)})])"


def _told_codes(codes: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(code for code, _ in codes)


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


@dataclass(frozen=True)
class Frame:
    """The frame of rows around a row.

    Args:
        rows: whether the bounds count rows; else they are distances of the value in order.
        lower: where it begins, as a distance from the row: -1 is the row before; None for the
            first row.
        upper: where it ends, in the same way; None for the last row.
    """

    rows: bool = False
    lower: int | None = None
    upper: int | None = 0

    def __str__(self) -> str:
        unit = "ROWS" if self.rows else "RANGE"
        lower, upper = _bound(self.lower, "PRECEDING"), _bound(self.upper, "FOLLOWING")
        return f"{unit} BETWEEN {lower} AND {upper}"


def _bound(distance: int | None, unbounded: str) -> str:
    if distance is None:
        return f"UNBOUNDED {unbounded}"
    if distance == 0:
        return "CURRENT ROW"
    return f"{-distance} PRECEDING" if distance < 0 else f"{distance} FOLLOWING"


@dataclass(frozen=True, eq=False)
class Over(Unary):
    """Gives rows with the values of functions over the rows around them after their columns.

    Args:
        partition: which rows count together.
        keys: what the order is made of.
        frame: which rows count.
        calls: the functions.
    """

    partition: tuple[Typed, ...]
    keys: tuple[SortKey, ...]
    frame: Frame
    calls: tuple[AggregateInvocation, ...]

    def describe(self) -> str:
        """Return the order and the functions."""
        partition, keys = ", ".join(map(str, self.partition)), ", ".join(map(str, self.keys))
        calls = ", ".join(map(str, self.calls))
        return (
            f"LogicalOver(partitionBy=[{partition}], orderBy=[{keys}], window=[{self.frame}], "
            f"calls=[{calls}])"
        )


# -- windows of time ------------------------------------------------------------------------------

_WINDOW_COLUMNS = 3


def windows_of(node: Node) -> dict[int, tuple[WindowTable, int]]:
    """Return which columns of a node are the start (0), end (1) and time (2) of windows."""
    if isinstance(node, WindowTable):
        first = len(node.schema) - _WINDOW_COLUMNS
        return {first + index: (node, index) for index in range(_WINDOW_COLUMNS)}
    if isinstance(node, Filter | Over | Expand):
        return windows_of(node.input)
    if isinstance(node, Project):
        return _passed_on(node.expressions, windows_of(node.input))
    if isinstance(node, Aggregate):
        found = _passed_on(node.keys, windows_of(node.input))
        whole = {0, 1} <= {part for _, part in found.values()}
        sessions = any(window.kind is WindowKind.SESSION for window, _ in found.values())
        return found if whole and not sessions else {}
    if isinstance(node, Join) and window_join(node.left, node.right, node.condition) is not None:
        width = len(node.left.schema)
        right = {index + width: part for index, part in windows_of(node.right).items()}
        return windows_of(node.left) | right
    if isinstance(node, SemiJoin) and window_join(node.left, node.right, node.condition):
        return windows_of(node.left)
    return {}


def _passed_on(
    columns: Sequence[Typed], below: dict[int, tuple[WindowTable, int]]
) -> dict[int, tuple[WindowTable, int]]:
    return {
        index: below[item.index]
        for index, item in enumerate(columns)
        if isinstance(item, InputRef) and item.index in below
    }


@dataclass(frozen=True)
class WindowJoinKeys:
    """The windows of two nodes that a condition wants to be the same.

    Args:
        window: the windows.
        left: the position of the end of windows on the left.
        right: that on the right, among the columns there.
        rest: what else the condition asks for.
    """

    window: WindowTable
    left: int
    right: int
    rest: tuple[Typed, ...]


def window_join(left: Node, right: Node, condition: Typed | None) -> WindowJoinKeys | None:
    """Return the windows that a condition joins rows by, or None."""
    one, two, width = windows_of(left), windows_of(right), len(left.schema)
    if not one or not two:
        return None
    found: dict[int, tuple[int, int]] = {}
    rest: list[Typed] = []
    for part in conjuncts(condition):
        pair = _equal_columns(part, width)
        if pair is None or pair[0] not in one or pair[1] not in two:
            rest.append(part)
            continue
        (window, what), (other, same) = one[pair[0]], two[pair[1]]
        if what != same or window.shape != other.shape:
            rest.append(part)
        else:
            found[what] = pair
    if not {0, 1} <= found.keys():
        return None
    window, _ = one[found[1][0]]
    return WindowJoinKeys(window, *found[1], tuple(rest))


def _equal_columns(part: Typed, width: int) -> tuple[int, int] | None:
    if not isinstance(part, Invocation) or part.function.name != "=":
        return None
    one, two = part.args
    if not isinstance(one, InputRef) or not isinstance(two, InputRef):
        return None
    first, second = sorted((one.index, two.index))
    return (first, second - width) if first < width <= second else None
