"""TO_CHANGELOG and FROM_CHANGELOG: changes as rows, and rows as changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pyflink_on_spark._sql.binder.expressions import unique_names
from pyflink_on_spark._sql.errors import ValidationError, at_place, invalid, not_yet
from pyflink_on_spark._sql.plan.nodes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    FromChangelog,
    Node,
    Schema,
    ToChangelog,
)
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root

KINDS = {
    "INSERT": INSERT,
    "UPDATE_BEFORE": UPDATE_BEFORE,
    "UPDATE_AFTER": UPDATE_AFTER,
    "DELETE": DELETE,
}
"""The kinds of changes by their names."""
CHANGELOG_FUNCTIONS = frozenset({"TO_CHANGELOG", "FROM_CHANGELOG"})
_PARAMETERS = ("INPUT", "OP", "OP_MAPPING", "ON_TIME", "UID")
_COLUMN = "op"
_UID = re.compile(r"[a-zA-Z_][a-zA-Z\-_0-9]*")
Codes = tuple[tuple[str, int], ...]
"""Codes, and the kinds of changes that they stand for."""
_PLAIN: Codes = tuple(KINDS.items())
_WRONG = "Invalid target mapping for argument 'op_mapping'. "


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
