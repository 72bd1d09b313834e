"""TO_CHANGELOG and FROM_CHANGELOG: changes as rows, and rows as changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._sql.binder.expressions import convert, invoke, unique_names
from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.errors import Span, ValidationError, at_place, invalid, not_yet
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Constant, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Aggregate,
    Correlate,
    Filter,
    FromChangelog,
    Node,
    Schema,
    ToChangelog,
    Union,
)
from pyflink_on_spark._sql.plan.signatures import TableFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.queries import SetOperator
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import Root

KINDS = {
    "INSERT": INSERT,
    "UPDATE_BEFORE": UPDATE_BEFORE,
    "UPDATE_AFTER": UPDATE_AFTER,
    "DELETE": DELETE,
}
CHANGELOG_FUNCTIONS = frozenset({"TO_CHANGELOG", "FROM_CHANGELOG"})
_PARAMETERS = ("INPUT", "OP", "OP_MAPPING", "ON_TIME", "UID")
_COLUMN = "op"
_UID = re.compile(r"[a-zA-Z_][a-zA-Z\-_0-9]*")
Codes = tuple[tuple[str, int], ...]
_PLAIN: Codes = tuple(KINDS.items())
_WRONG = "Invalid target mapping for argument 'op_mapping'. "
_COUNT = logical.BIGINT.with_nullable(False)
_SIDE = logical.BOOLEAN.with_nullable(False)
_REPEAT = TableFunction(
    "REPLICATE_ROWS",
    lambda types: ((), ()),
    lambda site: f"(() for _ in range({site.source(0)}))",
)
"""The kinds of changes by their names."""

"""Codes, and the kinds of changes that they stand for."""


def bind_changelog_function(
    call: syntax.Call, bind_query: Callable[[Any], Node], *, batch: bool
) -> Node:
    """Return the rows of ``TO_CHANGELOG(TABLE t, ...)`` or ``FROM_CHANGELOG(TABLE t, ...)``.

    Args:
        call: the call.
        bind_query: makes a node of a query.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: an argument is missing or wrong.
    """
    given = _by_name(call)
    if "ON_TIME" in given:
        not_yet(f"on_time of {call.name}", given["ON_TIME"].span, "Assign a watermark after it.")
    if "UID" in given:
        _check_uid(given["UID"])
    source = bind_query(_table_of(call, given.get("INPUT")).query)
    column = _column(given.get("OP"))
    mapping = given.get("OP_MAPPING")
    pairs = None if mapping is None else _constant_map(mapping)
    with at_place(call.span):
        if call.name.upper() == "TO_CHANGELOG":
            return to_changelog(source, column, pairs)
        return from_changelog(source, column, pairs, batch=batch)


def to_changelog(
    source: Node, column: str = _COLUMN, mapping: Mapping[str, str] | None = None
) -> Node:
    """Return the changes of a node as rows.

    Args:
        source: the node.
        column: the name of the column that has the kind of each change.
        mapping: the codes by the names of the kinds; changes of other kinds are left out.

    Raises:
        ValidationError: there is such a column, or there is no such kind.
    """
    if column in source.schema.names:
        raise ValidationError(f"Field names must be unique. Found duplicates: [{column}]")
    codes = _PLAIN if mapping is None else _codes_of_kinds(mapping)
    schema = Schema(
        (column, *source.schema.names),
        (logical.STRING, *(kind.plain() for kind in source.schema.types)),
    )
    return ToChangelog(schema, source, codes)


def from_changelog(
    source: Node,
    column: str = _COLUMN,
    mapping: Mapping[str, str] | None = None,
    *,
    batch: bool = False,
) -> Node:
    """Return the changes that rows stand for.

    Args:
        source: gives the rows.
        column: the column that has the code of each change.
        mapping: the names of kinds by codes.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: there is no such column or kind.
    """
    if batch:
        not_yet("FROM_CHANGELOG in batch mode", None, "Run the query in streaming mode.")
    names, types = source.schema.names, source.schema.types
    if column not in names:
        raise ValidationError(f"The op column '{column}' does not exist in the input schema.")
    place = names.index(column)
    if types[place].root not in {Root.VARCHAR, Root.CHAR}:
        raise ValidationError(
            f"The op column '{column}' must be of STRING type, but was '{types[place]}'."
        )
    codes = _PLAIN if mapping is None else _kinds_of_codes(mapping)
    kinds = {kind for _, kind in codes}
    if UPDATE_AFTER in kinds and UPDATE_BEFORE not in kinds:
        raise ValidationError(
            "The 'op_mapping' must include UPDATE_BEFORE for retract mode. Upsert mode (without "
            "UPDATE_BEFORE) is not supported in this version."
        )
    kept = [index for index in range(len(names)) if index != place]
    schema = Schema(
        unique_names(tuple(names[index] for index in kept)),
        tuple(types[index].plain() for index in kept),
    )
    return FromChangelog(schema, source, place, codes)


def _by_name(call: syntax.Call) -> dict[str, syntax.Expression]:
    given: dict[str, syntax.Expression] = {}
    for place, arg in enumerate(call.args):
        if isinstance(arg, syntax.NamedArgument):
            given[arg.name.upper()] = arg.value
        elif place < len(_PARAMETERS):
            given[_PARAMETERS[place]] = arg
    unknown = given.keys() - set(_PARAMETERS)
    if unknown or len(call.args) > len(_PARAMETERS) or "INPUT" not in given:
        raise invalid(
            f"No match found for function signature {call.name}(...): the arguments are "
            f"{', '.join(map(str.lower, _PARAMETERS))}",
            call.span,
        )
    return given


def _table_of(call: syntax.Call, data: Any) -> syntax.TableArgument:
    if isinstance(data, syntax.Subquery) and data.quantifier is syntax.Quantifier.SCALAR:
        data = syntax.TableArgument(data.query, span=data.span)
    if not isinstance(data, syntax.TableArgument):
        raise invalid(
            "Invalid argument value. Argument 'input' expects a table to be passed.", data.span
        )
    if data.partition_by or data.order_by:
        raise invalid(
            "Only tables with set semantics may be partitioned. Invalid PARTITION BY clause in "
            f"the 0-th operand of table function '{call.name.upper()}'",
            data.span,
        )
    return data


def _column(given: syntax.Expression | None) -> str:
    if given is None:
        return _COLUMN
    if not isinstance(given, syntax.Descriptor) or len(given.names) != 1:
        raise invalid(
            "The descriptor for argument 'op' must contain exactly one column name.", given.span
        )
    return str(given.names[0].parts[-1])


def _check_uid(given: syntax.Expression) -> None:
    text = given.value if isinstance(given, syntax.Literal) else None
    if not isinstance(text, str) or not _UID.fullmatch(text):
        raise invalid(
            "Invalid unique identifier for process table function. The `uid` argument must be a "
            "string literal that follows the pattern [a-zA-Z_][a-zA-Z-_0-9]*.",
            given.span,
        )


def _constant_map(given: syntax.Expression) -> dict[str, str]:
    """Return a map of constant texts; of equal keys the last one counts."""
    if isinstance(given, syntax.Call) and given.name == "MAP":
        constants = [arg.value for arg in given.args if isinstance(arg, syntax.Literal)]
        texts = [value for value in constants if isinstance(value, str)]
        if texts and len(texts) == len(given.args):
            return dict(zip(texts[::2], texts[1::2], strict=True))
    raise invalid("The 'op_mapping' argument must be a constant MAP literal.", given.span)


def _kind(name: str) -> int:
    found = KINDS.get(name)
    if found is None:
        raise ValidationError(
            f"{_WRONG}Unknown change operation: '{name}'. Valid values are: [{', '.join(KINDS)}]."
        )
    return found


def _codes_of_kinds(mapping: Mapping[str, str]) -> Codes:
    found: dict[int, str] = {}
    for names, code in mapping.items():
        for name in map(str.strip, names.split(",")):
            if (kind := _kind(name)) in found:
                raise ValidationError(f"{_WRONG}Duplicate change operation: '{name}'.")
            found[kind] = code
    return tuple((code, kind) for kind, code in found.items())


def _kinds_of_codes(mapping: Mapping[str, str]) -> Codes:
    found: dict[str, int] = {}
    for codes, name in mapping.items():
        for code in map(str.strip, codes.split(",")):
            if code in found:
                raise ValidationError(f"{_WRONG}Duplicate change operation code: '{code}'.")
            found[code] = _kind(name)
    return tuple(found.items())


@dataclass(frozen=True)
class _Sides:
    """Both inputs as one, with counts of the rows of each."""

    node: Aggregate
    left: Typed
    right: Typed


def set_operation(
    operator: SetOperator, left: Node, right: Node, *, every: bool, span: Span | None = None
) -> Node:
    """Return INTERSECT or EXCEPT of two nodes: rows are counted on both sides.

    Args:
        operator: which of them.
        left: the first node.
        right: the second node.
        every: whether equal rows count for themselves.
        span: where it is, for messages.

    Raises:
        ValidationError: the columns do not fit.
    """
    written = f"{operator.value} ALL" if every else operator.value
    sides = _sides(left, right, span, written)
    functions = builtin_functions()
    zero = Constant(_COUNT, 0)
    columns = sides.node.schema
    width = len(columns) - 2
    if not every:
        wanted = "=" if operator is SetOperator.EXCEPT else ">"
        condition = invoke(
            functions["AND"],
            [
                invoke(functions[">"], [sides.left, zero]),
                invoke(functions[wanted], [sides.right, zero]),
            ],
        )
        return _columns(Filter(columns, sides.node, condition), width)
    if operator is SetOperator.EXCEPT:
        count = invoke(functions["-"], [sides.left, sides.right])
    else:
        count = invoke(functions["LEAST"], [sides.left, sides.right])
    return _columns(Correlate(columns, sides.node, _REPEAT, (count,)), width)


def _sides(left: Node, right: Node, span: Span | None, written: str) -> _Sides:
    marked = _marked(left, is_left=True), _marked(right, is_left=False)
    union = union_all(*marked, span, written)
    width = len(left.schema)
    types = tuple(kind.plain() for kind in union.schema.types[:width])
    keys = tuple(InputRef(kind, index) for index, kind in enumerate(types))
    side = InputRef(_SIDE, width)
    functions = builtin_functions()
    count = functions["COUNT"]
    calls = tuple(
        AggregateInvocation(_COUNT, count, count.overloads[0], (), filter=condition)
        for condition in (side, invoke(functions["NOT"], [side]))
    )
    schema = Schema((*left.schema.names, "$left", "$right"), (*types, _COUNT, _COUNT))
    node = Aggregate(schema, union, keys, calls)
    return _Sides(node, InputRef(_COUNT, width), InputRef(_COUNT, width + 1))


def _marked(node: Node, *, is_left: bool) -> Node:
    columns: list[Typed] = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return project(node, [*columns, Constant(_SIDE, is_left)], (*node.schema.names, "$side"))


def _columns(node: Node, width: int) -> Node:
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types[:width])]
    return project(node, columns, node.schema.names[:width])


def union_all(left: Node, right: Node, span: Span | None, written: str = "UNION ALL") -> Node:
    """Return the rows of two nodes; columns get the type that both have in common.

    Args:
        left: the first node.
        right: the second node.
        span: where the second one is, for messages.
        written: the operator, for messages.

    Raises:
        ValidationError: the columns do not fit.
    """
    if len(left.schema) != len(right.schema):
        raise invalid(f"Column count mismatch in {written}", span)
    types = []
    for index, pair in enumerate(zip(left.schema.types, right.schema.types), 1):
        common = common_type(pair)
        if common is None:
            raise invalid(f"Type mismatch in column {index} of {written}", span)
        types.append(common)
    schema = Schema(left.schema.names, tuple(types))
    return Union(schema, (converted(left, schema), converted(right, schema)))


def converted(node: Node, schema: Schema) -> Node:
    """Return a node with its columns converted to others' types."""
    pairs = list(zip(node.schema.types, schema.types))
    if all(kind.same_values(wanted) for kind, wanted in pairs):
        return node
    columns = [convert(InputRef(kind, index), wanted) for index, (kind, wanted) in enumerate(pairs)]
    return project(node, columns, schema.names)
