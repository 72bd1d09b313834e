"""Programs of which SQLite has all expressions, made of any programs."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.random_tables import lite
from tests.random_tables.expressions import COLUMN, column, is_literal, kind_of, to_lite
from tests.random_tables.kinds import INT, value
from tests.random_tables.program import FINAL, Node, Program, Relation, used


def plain(program: Program) -> Program:
    """Return a program with literals in place of the expressions that SQLite has not."""
    rng = Random(f"plain {program.seed}")
    relations = [_relation(each, rng) for each in program.relations]
    outputs = []
    for name in program.outputs:
        [relation] = [each for each in relations if each.name == name]
        relations.append(_shown(relation))
        outputs.append(relations[-1].name)
    return used(program.with_(relations=tuple(relations), outputs=tuple(outputs), order=FINAL))


def _shown(relation: Relation) -> Relation:
    """Return the columns whose values can be compared."""
    plain_kinds = [[name, kind.removesuffix(" NOT NULL")] for name, kind in relation.columns]
    columns = [pair for pair in plain_kinds if pair[1] in lite.ORDERED] or [["one", INT]]
    items = [[name, ["=INT", 1] if name == "one" else column(name, kind)] for name, kind in columns]
    parts = {"items": items, "where": None}
    return Relation(f"{relation.name}_s", "select", [relation.name], columns, parts)


def _relation(relation: Relation, rng: Random) -> Relation:
    parts = dict(relation.parts)
    for name in ("where", "having", "extra"):
        if parts.get(name) is not None:
            parts[name] = _expression(parts[name], rng)
    if relation.op == "select":
        parts["items"] = [[name, _expression(node, rng)] for name, node in parts["items"]]
    if "aggs" in parts:
        parts["aggs"] = [_aggregate(found, rng) for found in parts["aggs"]]
    return Relation(
        relation.name, relation.op, relation.inputs, relation.columns, parts, relation.api
    )


def _aggregate(found: dict[str, Any], rng: Random) -> dict[str, Any]:
    known = found["name"] in {"COUNT", "SUM", "MIN", "MAX", "AVG"}
    node = found["of"] if known else [f"={found['kind']}", None]
    return {
        **found,
        "name": found["name"] if known else "MAX",
        "of": None if node is None else _expression(node, rng),
        "filter": None if found["filter"] is None else _expression(found["filter"], rng),
    }


def _expression(node: Node, rng: Random) -> Node:
    if node[0] == COLUMN:
        return node
    kind = kind_of(node)
    if not is_literal(node):
        node = [node[0], *(_expression(operand, rng) for operand in node[1:])]
    try:
        to_lite(node)
    except LookupError:
        drawn = [f"={kind}", value(kind, rng)]
        return drawn if _is_known(drawn) else [f"={kind}", None]
    return node


def _is_known(node: Node) -> bool:
    try:
        to_lite(node)
    except LookupError:
        return False
    return True
