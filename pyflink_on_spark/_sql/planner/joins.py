"""Joins of two inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyflink_on_spark._graph.transformation import Edge
from pyflink_on_spark._sql.binder.conditions import all_of
from pyflink_on_spark._sql.binder.overloads import convert, invoke
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import compile_condition
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.expressions import (
    Invocation,
    Typed,
    conjuncts,
    input_refs,
    shifted,
)
from pyflink_on_spark._sql.plan.nodes import Join as LogicalJoin
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.calc import shown_expression
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told, told_rows, told_typed
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.batch_joins import BatchJoinOperator
from pyflink_on_spark._sql.runtime.joins import JoinOperator
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.coercion import comparable_type


@dataclass(frozen=True)
class JoinParts:
    """What partners have in common, and what else a condition asks for.

    Args:
        keys: pairs of what has to be equal, over the columns of the left and of the right side.
        rest: the rest of the condition, over the columns of both.
        widths: how many columns both sides have.
    """

    keys: Sequence[tuple[Typed, Typed]]
    rest: Typed | None
    widths: tuple[int, int]

    @property
    def parallelism(self) -> int | None:
        """One, if rows with all keys have to meet."""
        return None if self.keys else 1

    def edges(self, inputs: tuple[Stream, ...], translation: Translation) -> tuple[Edge, ...]:
        """Return the rows of both inputs with their keys, spread by them."""
        left, right = inputs
        one, two = self._sides()
        return (
            *keyed_edges(translation, left, one, self.widths[0]),
            *translation.at_port(keyed_edges(translation, right, two, self.widths[1]), 1),
        )

    def meaning(
        self, kind: str, nodes: tuple[PhysicalNode, ...], inputs: tuple[Columns, ...]
    ) -> Content:
        """Return what the rows that are kept of both sides mean.

        Args:
            kind: which rows without partners are kept.
            nodes: both sides.
            inputs: what their columns are made of.
        """
        left, right = inputs
        one, two = (told_rows(node.schema, columns) for node, columns in zip(nodes, inputs))
        rest = [] if self.rest is None else [told(self.rest, (*left, *right))]
        return {
            "type": kind,
            "condition": [
                *(f"{told_typed(a, left)} = {told_typed(b, right)}" for a, b in self.keys), *rest,
            ],
            "left columns": one,
            "right columns": two,
        }  # fmt: skip

    def programs(self, zone: str) -> tuple[Program | None, tuple[Program | None, Program | None]]:
        """Return the rest of the condition, and for each side whether a key has NULL."""
        condition = None
        if self.rest is not None:
            condition = compile_condition(self.rest, self.widths, zone)
        one, two = self._sides()
        return condition, (
            _null_check(one, self.widths[0], zone),
            _null_check(two, self.widths[1], zone),
        )

    def _sides(self) -> tuple[list[Typed], list[Typed]]:
        return [key for key, _ in self.keys], [key for _, key in self.keys]


class Join(PhysicalNode):
    """Gives the pairs of rows for which a condition is TRUE.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Join"

    def __init__(
        self, left: PhysicalNode, right: PhysicalNode, node: LogicalJoin, batch: bool
    ) -> None:
        super().__init__(node.schema, left, right)
        self.node, self._batch = node, batch
        self.widths = len(left.schema), len(right.schema)
        self.keys, self.rest = split_condition(node.condition, self.widths[0])

    @property
    def outer(self) -> tuple[bool, bool]:
        """Whether rows without partners are kept, for both sides."""
        kind = self.node.kind
        return kind in {JoinKind.LEFT, JoinKind.FULL}, kind in {JoinKind.RIGHT, JoinKind.FULL}

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows go when partners come to rows that had none."""
        if self._batch:
            return ModifyKinds.INSERT
        left, right = inputs
        changes = left | right
        if any(self.outer):
            changes = ModifyKinds.INSERT | ModifyKinds.DELETE | (changes & ModifyKinds.UPDATE)
        elif changes is not ModifyKinds.INSERT:
            changes |= ModifyKinds.DELETE
        return changes

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        left, right = inputs
        parts = JoinParts(self.keys, self.rest, self.widths)
        edges, parallelism = parts.edges(inputs, translation), parts.parallelism
        condition, nulls = parts.programs(translation.settings.time_zone)
        if self._batch:
            batch = BatchJoinOperator(condition, self.widths, self.outer, nulls)
            edges = translation.operator(self.name, edges, batch, parallelism=parallelism)
            return Stream(edges, changelog=False)
        changelogs = left.changelog, right.changelog
        operator = JoinOperator(
            condition,
            self.widths,
            self.outer,
            changelogs,
            nulls,
            self.changelog,
            translation.settings.state_ttl,
        )
        edges = translation.operator(self.name, edges, operator, parallelism=parallelism)
        return Stream(edges, self.changelog)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the kind, the condition and the columns of both sides."""
        parts = JoinParts(self.keys, self.rest, self.widths)
        kind = "INNER" if self.node.kind is JoinKind.CROSS else self.node.kind.value
        return {"kind": self.name, **parts.meaning(kind, self.inputs, inputs)}

    def details(self) -> dict[str, str]:
        """Return the kind and the condition."""
        condition = self.node.condition
        names = (*self.inputs[0].schema.names, *self.inputs[1].schema.names)
        shown = "true" if condition is None else shown_expression(condition, names)
        return {
            "joinType": f"{self.node.kind.value.title()}Join",
            "where": shown,
            "select": ", ".join(self.schema.names),
        }


def split_condition(
    condition: Typed | None, width: int
) -> tuple[list[tuple[Typed, Typed]], Typed | None]:
    """Return the pairs of columns that have to be equal, and the rest of a condition."""
    keys: list[tuple[Typed, Typed]] = []
    rest: list[Typed] = []
    for part in conjuncts(condition):
        pair = _equality(part, width)
        if pair is None:
            rest.append(part)
        else:
            keys.append(pair)
    return keys, all_of(rest)


def _equality(part: Typed, width: int) -> tuple[Typed, Typed] | None:
    if not isinstance(part, Invocation) or part.function.name != "=":
        return None
    one, two = part.args
    if _side(one, width) == 1 and _side(two, width) == 0:
        one, two = two, one
    if _side(one, width) != 0 or _side(two, width) != 1:
        return None
    common = comparable_type([one.type, two.type])
    if common is None:
        return None
    return convert(one, common), shifted(convert(two, common), -width)


def _side(expression: Typed, width: int) -> int | None:
    refs = input_refs(expression)
    if refs and all(index < width for index in refs):
        return 0
    return 1 if refs and all(index >= width for index in refs) else None


def _null_check(keys: Sequence[Typed], width: int, time_zone: str) -> Program | None:
    nullable = [key for key in keys if key.type.nullable]
    if not nullable:
        return None
    functions = builtin_functions().functions
    check = invoke(functions["IS NULL"], [nullable[0]])
    for key in nullable[1:]:
        check = invoke(functions["OR"], [check, invoke(functions["IS NULL"], [key])])
    return compile_condition(check, [width], time_zone)
