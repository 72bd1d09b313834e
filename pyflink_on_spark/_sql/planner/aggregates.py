"""Nodes that hold one value for each group: aggregates, and the last row of each key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._runtime.contract.plan import HashPartitioner
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.codegen.aggregates import (
    AggregatedRows,
    compile_batch_aggregate,
    compile_group_aggregate,
    compile_key,
)
from pyflink_on_spark._sql.codegen.rows import compile_row
from pyflink_on_spark._sql.functions.python.aggregates import AnyArguments
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Constant, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.plan.nodes import FlatAggregate as LogicalFlatAggregate
from pyflink_on_spark._sql.planner.calc import Calc, function_bundle, shown_expression
from pyflink_on_spark._sql.planner.moved_in import MovedGroups
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    grouped,
    told,
    told_all,
    told_call,
    told_calls,
    told_changes,
    told_rows,
)
from pyflink_on_spark._sql.planner.upsert_keys import UpsertKeys, fixed_columns, one_key
from pyflink_on_spark._sql.runtime.aggregates import (
    BatchAggregateOperator,
    FlatAggregateOperator,
    GroupAggregateOperator,
    NormalizeOperator,
)
from pyflink_on_spark._sql.runtime.rows import KeyRowsOperator


class GroupAggregate(PhysicalNode):
    """Gives a row for each group, and updates it.

    Args:
        schema: the columns: the keys, then the calls.
        source: the input.
        keys: what groups are made of.
        calls: what is computed.
        batch: whether rows come at the end only.
    """

    name = "GroupAggregate"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        keys: tuple[Typed, ...],
        calls: tuple[AggregateInvocation, ...],
        batch: bool,
    ) -> None:
        super().__init__(schema, source)
        self.keys, self.calls, self._batch = keys, calls, batch

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows are updated, as in Flink even if nothing is computed; they go as the input's do."""
        if self._batch:
            return ChangeKinds.INSERT
        changes = ChangeKinds.INSERT | ChangeKinds.UPDATE
        if inputs[0] is not ChangeKinds.INSERT:
            changes |= ChangeKinds.DELETE
        return changes

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the columns that groups are made of."""
        return self.upsert_keys_with(frozenset())

    def upsert_keys_with(self, fixed: frozenset[int]) -> UpsertKeys:
        """Return the columns of groups, less those that are the same in all groups."""
        fixed |= {at for at, key in enumerate(self.keys) if self._is_fixed(key)}
        return one_key(at for at in range(len(self.keys)) if at not in fixed)

    def _is_fixed(self, key: Typed) -> bool:
        """True if all rows have one value of a key."""
        (source,) = self.inputs
        while isinstance(source, Calc) and isinstance(key, InputRef):
            (below,) = source.inputs
            if source.projection is not None:
                key = source.projection[key.index]
            fixed = frozenset() if below.is_filtered_early else fixed_columns(source.condition)
            if isinstance(key, InputRef) and key.index in fixed:
                return True
            source = below
        return isinstance(key, Constant)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        settings = builder.settings
        width = len(self.inputs[0].schema)
        rows = AggregatedRows(width, settings.time_zone, source.changelog)
        keyed = keyed_edges(builder, source, self.keys, width)
        parallelism = None if self.keys else 1
        python = any(isinstance(call.overload, AnyArguments) for call in self.calls)
        if self._batch:
            program = compile_batch_aggregate(self.keys, self.calls, rows)
            batch = BatchAggregateOperator(program, row_of_nothing=not self.keys and not python)
            edges = builder.operator(self.name, keyed, batch, parallelism=parallelism)
            return RowStream(edges, changelog=False)
        ttl = settings.state_ttl
        program = compile_group_aggregate(
            self.keys,
            self.calls,
            rows,
            before=self.emits_update_before,
            keeps_equal=bool(ttl) and bool(self.calls),
            pairs=self.changelog,
            bundled=python,
        )
        bundle = function_bundle(settings) if python else None
        operator = GroupAggregateOperator(program, ttl, bundle)
        counterpart = Counterpart((self.name,), partial(MovedGroups, self.keys, self.calls, rows))
        edges = builder.operator(
            self.name, keyed, operator, parallelism=parallelism, counterpart=counterpart
        )
        return RowStream(edges, self.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the keys and the calls."""
        return group_origins(self.keys, self.calls, inputs[0])

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the calls, and whether rows are counted."""
        return group_meaning(self, self.keys, self.calls, inputs[0])

    def details(self) -> dict[str, str]:
        """Return the keys and the calls."""
        return aggregate_details(self, self.keys, self.calls)


def aggregate_details(
    node: PhysicalNode, keys: Sequence[Typed], calls: Sequence[AggregateInvocation]
) -> dict[str, str]:
    """Return the keys and calls as plans show them."""
    names = node.inputs[0].schema.names
    shown = [shown_expression(key, names) for key in keys]
    for call, name in zip(calls, node.schema.names[len(node.schema) - len(calls) :]):
        text = str(call)
        for index in range(len(names) - 1, -1, -1):
            text = text.replace(f"${index}", names[index])
        shown.append(f"{text} AS {name}")
    group = {"groupBy": ", ".join(shown[: len(keys)])} if keys else {}
    return {**group, "select": ", ".join(shown)}


def group_origins(
    keys: Sequence[Typed], calls: Sequence[AggregateInvocation], columns: Columns
) -> Columns:
    """Return the origins of the columns of groups: the keys, then the calls."""
    by = [told(key, columns) for key in keys]
    return (*by, *grouped((told_call(call, columns) for call in calls), by))


def group_meaning(
    node: PhysicalNode,
    keys: Sequence[Typed],
    calls: Sequence[AggregateInvocation],
    columns: Columns,
) -> Content:
    """Return the meaning of the accumulators of groups."""
    return {
        "kind": node.name,
        "keys": told_all(keys, columns),
        "aggregates": told_calls(calls, columns),
        "rows": told_changes(node.inputs[0].changelog),
    }


def keyed_edges(
    builder: GraphBuilder, stream: RowStream, keys: Sequence[Typed], width: int
) -> tuple[Edge, ...]:
    """Return the rows of a stream in pairs with their keys, spread by them."""
    program = compile_key(keys, width, builder.settings.time_zone)
    pairs = builder.aligned("Exchange", stream.edges, KeyRowsOperator(program, stream.changelog))
    return builder.partitioned(pairs, HashPartitioner())


class FlatAggregate(PhysicalNode):
    """Replaces the rows of groups.

    Args:
        source: the input.
        node: the logical node.
        batch: whether results come at the end only.
    """

    name = "GroupTableAggregate"

    def __init__(self, source: PhysicalNode, node: LogicalFlatAggregate, batch: bool) -> None:
        super().__init__(node.schema, source)
        self.node, self._batch = node, batch

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows come and go."""
        if self._batch:
            return ChangeKinds.INSERT
        return ChangeKinds.INSERT | ChangeKinds.DELETE

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        node, width = self.node, len(self.inputs[0].schema)
        zone = builder.settings.time_zone
        binding = node.function.binding([arg.type for arg in node.args], zone)
        operator = FlatAggregateOperator(
            binding,
            compile_row(node.args, width, zone),
            compile_row(node.keys, width, zone),
            source.changelog,
            None if self._batch else function_bundle(builder.settings),
            builder.settings.state_ttl,
        )
        edges = keyed_edges(builder, source, node.keys, width)
        parallelism = None if node.keys else 1
        return RowStream(
            builder.operator(self.name, edges, operator, parallelism=parallelism),
            self.changelog,
        )

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the origins of the keys, and of the function's results."""
        node, columns = self.node, inputs[0]
        by = [told(key, columns) for key in node.keys]
        args = ", ".join(told(arg, columns) for arg in node.args)
        given = (f"{node.function.name}({args}).{name}" for name in node.schema.names[len(by) :])
        return (*by, *grouped(given, by))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys and the function."""
        node, columns = self.node, inputs[0]
        args = ", ".join(told_all(node.args, columns))
        return {
            "kind": self.name,
            "keys": told_all(node.keys, columns),
            "function": f"{node.function.name}({args})",
            "gives": list(map(str, node.schema.types[len(node.keys) :])),
        }

    def details(self) -> dict[str, str]:
        """Return the keys and the function."""
        keys = ", ".join(map(str, self.node.keys))
        return {"groupBy": keys, "select": f"{self.node.function.name}(...)"}


class ChangelogNormalize(PhysicalNode):
    """Remembers the row of each key, so that updates have their UPDATE_BEFORE rows.

    Args:
        source: the input.
        key: the positions of the primary key.
    """

    name = "ChangelogNormalize"

    def __init__(self, source: PhysicalNode, key: tuple[int, ...]) -> None:
        super().__init__(source.schema, source)
        self.key = key

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """All changes."""
        return ChangeKinds.ALL

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """Return False: the node has the former rows."""
        return False

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the primary key."""
        return one_key(self.key)

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        keys = [InputRef(self.schema.types[index], index) for index in self.key]
        edges = keyed_edges(builder, source, keys, len(self.schema))
        operator = NormalizeOperator(self.emits_update_before, builder.settings.state_ttl)
        return RowStream(builder.operator(self.name, edges, operator), changelog=True)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the key and the columns."""
        columns = inputs[0]
        return {
            "kind": self.name,
            "keys": [f"{columns[index]} {self.schema.types[index]}" for index in self.key],
            "columns": told_rows(self.schema, columns),
        }

    def details(self) -> dict[str, str]:
        """Return the key."""
        return {"key": ", ".join(self.schema.names[index] for index in self.key)}
