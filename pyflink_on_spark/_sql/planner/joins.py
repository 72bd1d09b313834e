"""Joins of two inputs."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.binder.overloads import convert, invoke
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.compiler.rows import compile_condition
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.operators.joins import BatchJoinOperator, JoinOperator
from pyflink_on_spark._sql.plan.expressions import (
    Invocation,
    Typed,
    input_refs,
    shifted,
)
from pyflink_on_spark._sql.plan.nodes import Join as LogicalJoin
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.calc import shown_expression
from pyflink_on_spark._sql.planner.changes import StateDelta
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.coercion import comparable_type


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
        self.keys, self.rest = _split(node.condition, self.widths[0])

    @property
    def outer(self) -> tuple[bool, bool]:
        """Whether rows without partners are kept, for both sides."""
        kind = self.node.kind
        return kind in {JoinKind.LEFT, JoinKind.FULL}, kind in {JoinKind.RIGHT, JoinKind.FULL}

    def produces(self, inputs: tuple[StateDelta, ...]) -> StateDelta:
        """Rows go when partners come to rows that had none."""
        if self._batch:
            return StateDelta.INSERT
        left, right = inputs
        changes = left | right
        if any(self.outer):
            changes = StateDelta.INSERT | StateDelta.DELETE | (changes & StateDelta.UPDATE)
        elif changes is not StateDelta.INSERT:
            changes |= StateDelta.DELETE
        return changes

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        zone = translation.settings.time_zone
        left, right = inputs
        own = [key for key, _ in self.keys], [key for _, key in self.keys]
        edges = (
            *keyed_edges(translation, left, own[0], self.widths[0]),
            *translation.at_port(keyed_edges(translation, right, own[1], self.widths[1]), 1),
        )
        condition = None
        if self.rest is not None:
            condition = compile_condition(self.rest, self.widths, zone)
        nulls = (
            _null_check(own[0], self.widths[0], zone),
            _null_check(own[1], self.widths[1], zone),
        )
        parallelism = None if self.keys else 1
        if self._batch:
            batch = BatchJoinOperator(condition, self.widths, self.outer, nulls)
            edges = translation.operator(self.name, edges, batch, parallelism=parallelism)
            return Stream(edges, changelog=False)
        changelogs = left.changelog, right.changelog
        operator = JoinOperator(
            condition, self.widths, self.outer, changelogs, nulls, self.changelog
        )
        edges = translation.operator(self.name, edges, operator, parallelism=parallelism)
        return Stream(edges, self.changelog)

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


def check_join(left: PhysicalNode, node: LogicalJoin) -> None:
    """Refuse joins that Flink refuses.

    Raises:
        TableError: an outer join without an equality.
    """
    keys, _ = _split(node.condition, len(left.schema))
    if node.kind not in {JoinKind.INNER, JoinKind.CROSS} and not keys:
        raise TableError(
            f"{node.kind.value.title()} outer joins need an equality of columns of both tables"
        )


def _split(condition: Typed | None, width: int) -> tuple[list[tuple[Typed, Typed]], Typed | None]:
    """Return the pairs of columns that have to be equal, and the rest of a condition."""
    keys: list[tuple[Typed, Typed]] = []
    rest: list[Typed] = []
    for part in conjuncts(condition):
        pair = _equality(part, width)
        if pair is None:
            rest.append(part)
        else:
            keys.append(pair)
    if not rest:
        return keys, None
    together = rest[0]
    for part in rest[1:]:
        together = invoke(builtin_functions().functions["AND"], [together, part])
    return keys, together


def conjuncts(condition: Typed | None) -> list[Typed]:
    """Return the parts that all have to be TRUE for a condition to be TRUE."""
    if condition is None:
        return []
    if isinstance(condition, Invocation) and condition.function.name == "AND":
        return [part for arg in condition.args for part in conjuncts(arg)]
    return [condition]


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
