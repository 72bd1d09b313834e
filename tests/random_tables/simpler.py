"""Programs that are smaller than a given one; not all of them are sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.random_tables.expressions import COLUMN, is_literal, kind_of
from tests.random_tables.kinds import KINDS, NUMBERS
from tests.random_tables.operations import NUMBER, operation
from tests.random_tables.program import Node, Program, Relation, Table, used


def smaller(program: Program) -> Iterator[Program]:
    """Yield smaller programs, those first that are much smaller."""
    for change in (_outputs, _settings, _renamings, _rows, _parts, _columns):
        for made in change(program):
            yield used(made)


def _outputs(program: Program) -> Iterator[Program]:
    if len(program.outputs) > 1:
        for name in program.outputs:
            yield program.with_(outputs=(name,))
        return
    for relation in program.relations:
        if relation.name not in program.outputs:
            yield program.with_(outputs=(relation.name,))


def _settings(program: Program) -> Iterator[Program]:
    if program.settings:
        yield program.with_(settings={})
    if program.parallelism > 1:
        yield program.with_(parallelism=1)
    if program.how != "collect":
        yield program.with_(how="collect")


def _renamings(program: Program) -> Iterator[Program]:
    """Yield programs without one relation that only chooses columns, or joins one more input."""
    for place, relation in enumerate(program.relations):
        if relation.name in program.outputs:
            continue
        names = _names_below(relation)
        if names is None:
            continue
        rest = [_renamed(later, names) for later in program.relations[place + 1 :]]
        yield program.with_(relations=(*program.relations[:place], *rest))


def _names_below(relation: Relation) -> dict[str, str] | None:
    """Return the names that the columns of a relation, and itself, have in its input."""
    if relation.op != "select" or relation.parts["where"] is not None:
        return None
    items = relation.parts["items"]
    if any(node[0] != COLUMN for _, node in items):
        return None
    return {relation.name: relation.inputs[0], **{name: node[1] for name, node in items}}


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, Relation):
        return replace(
            value,
            inputs=_renamed(value.inputs, names),
            columns=_renamed(value.columns, names),
            parts=_renamed(value.parts, names),
        )
    if isinstance(value, dict):
        return {key: _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        literal = len(value) == 2 and isinstance(value[0], str) and value[0][1:] in KINDS
        return value if literal else [_renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def _rows(program: Program) -> Iterator[Program]:
    for place, table in enumerate(program.tables):
        for rows in _fewer(table):
            tables = list(program.tables)
            tables[place] = replace(table, rows=rows)
            yield program.with_(tables=tuple(tables))


def _fewer(table: Table) -> Iterator[list[list[Any]]]:
    rows = table.rows
    for size in (len(rows) // 2, len(rows) // 4, 1):
        for start in range(0, len(rows), size) if size else ():
            yield rows[:start] + rows[start + size :]


def _parts(program: Program) -> Iterator[Program]:
    for place, relation in enumerate(program.relations):
        for made in _smaller_relations(relation):
            relations = list(program.relations)
            relations[place] = made
            yield program.with_(relations=tuple(relations))


def _smaller_relations(relation: Relation) -> Iterator[Relation]:
    parts = relation.parts
    for name in ("where", "having", "extra", "partition", "sets"):
        if parts.get(name):
            yield replace(relation, parts={**parts, name: "" if name == "sets" else None})
    for name in ("items", "aggs"):
        found = parts.get(name, [])
        first = len(relation.columns) - len(found)
        for place in range(len(found)) if len(found) > 1 else ():
            kept = found[:place] + found[place + 1 :]
            columns = [c for n, c in enumerate(relation.columns) if n != first + place]
            yield replace(relation, columns=columns, parts={**parts, name: kept})
    for place, pair in enumerate(parts.get("on", ())):
        if isinstance(pair, list) and len(parts["on"]) > 1:
            on = parts["on"][:place] + parts["on"][place + 1 :]
            yield replace(relation, parts={**parts, "on": on})
    yield from _without_calls(relation)
    if relation.api == "table" and relation.op != "stream":
        yield replace(relation, api="sql")


def _without_calls(relation: Relation) -> Iterator[Relation]:
    """Yield relations with a smaller expression in one place."""
    parts = relation.parts
    for name in ("where", "having", "extra"):
        if parts.get(name):
            for node in _simpler(parts[name]):
                yield replace(relation, parts={**parts, name: node})
    if relation.op == "select":
        for place, (column, node) in enumerate(parts["items"]):
            for made in _simpler(node):
                items = list(parts["items"])
                items[place] = [column, made]
                yield replace(relation, parts={**parts, "items": items})
    for place, found in enumerate(parts.get("aggs", ())):
        for changed in _smaller_aggregates(found):
            aggs = list(parts["aggs"])
            aggs[place] = changed
            yield replace(relation, parts={**parts, "aggs": aggs})


def _smaller_aggregates(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if found["filter"]:
        yield {**found, "filter": None}
        for node in _simpler(found["filter"]):
            yield {**found, "filter": node}
    if found["distinct"]:
        yield {**found, "distinct": False}
    if found["of"]:
        for node in _simpler(found["of"]):
            yield {**found, "of": node}


def _simpler(node: Node) -> Iterator[Node]:
    """Yield smaller expressions of the same type."""
    if node[0] == COLUMN or is_literal(node):
        return
    kind = kind_of(node)
    for operand in node[1:]:
        if kind_of(operand) == kind or (kind == NUMBER and kind_of(operand) in NUMBERS):
            yield operand
    if kind in KINDS:
        yield [f"={kind}", None]
    for place, (operand, _) in enumerate(zip(node[1:], operation(node[0]).operands), 1):
        for made in _simpler(operand):
            yield [*node[:place], made, *node[place + 1 :]]


def _columns(program: Program) -> Iterator[Program]:
    """Yield programs without one column of a table, whose relations do not name it."""
    text = program.with_(tables=()).to_json()
    for place, table in enumerate(program.tables):
        for index, (name, _) in enumerate(table.columns):
            columns = table.columns[:index] + table.columns[index + 1 :]
            if not columns or f'"{name}"' in text or name == "ts":
                continue
            rows = [row[: index + 1] + row[index + 2 :] for row in table.rows]
            tables = list(program.tables)
            tables[place] = replace(table, columns=columns, rows=rows)
            yield program.with_(tables=tuple(tables))
