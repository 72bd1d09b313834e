"""A program of tables as data: generated, rendered, shrunk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

Node = list[Any]
"""An expression: the name of an operation, and its operands. ``["$", name, type]`` is a column."""

EXACT, FINAL = "exact", "final"
"""Degrees to which results are fixed: each change in its order, or what is left of all changes."""


@dataclass(frozen=True)
class Table:
    """A source and what it holds.

    Args:
        name: of the table.
        columns: pairs of name and type.
        rows: a kind, as ``+I``, and then the values, in JSON's types.
        source: what the rows come from: files of ``json`` or ``debezium``, ``elements``, or a
            ``changelog``.
        delay: the seconds that the watermark lags, if ``ts`` is the table's rowtime.
    """

    name: str
    columns: list[list[str]]
    rows: list[list[Any]]
    source: str = "json"
    delay: int | None = None


@dataclass(frozen=True)
class Relation:
    """A view: an operation on tables and views before it.

    Args:
        name: of the view.
        op: the operation, one of those of ``rendering.py``.
        inputs: names.
        columns: pairs of name and type, of the result.
        parts: what the operation needs besides: expressions, words.
        api: whether it is ``sql`` or a chain of the Table API (``table``).
    """

    name: str
    op: str
    inputs: list[str]
    columns: list[list[str]]
    parts: dict[str, Any] = field(default_factory=dict)
    api: str = "sql"


@dataclass(frozen=True)
class Program:
    """A program.

    Args:
        seed: what it was made from.
        tables: sources, those of the program's world.
        relations: in the order in which they are made.
        outputs: names of relations.
        how: how results are taken: ``collect``, ``print`` of a statement set, ``stream``.
        mode: the name of a runtime mode.
        parallelism: of the environment.
        settings: of the configuration.
        order: how far results are fixed.
    """

    seed: int
    tables: tuple[Table, ...]
    relations: tuple[Relation, ...]
    outputs: tuple[str, ...]
    how: str = "collect"
    mode: str = "STREAMING"
    parallelism: int = 1
    settings: dict[str, str] = field(default_factory=dict)
    order: str = FINAL

    def to_json(self) -> str:
        """Return the program as one line."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    def with_(self, **changes: Any) -> Self:
        """Return a changed program."""
        return replace(self, **changes)


def from_json(text: str) -> Program:
    """Return the program that ``to_json`` wrote."""
    data = json.loads(text)
    data["tables"] = tuple(Table(**table) for table in data["tables"])
    data["relations"] = tuple(Relation(**relation) for relation in data["relations"])
    data["outputs"] = tuple(data["outputs"])
    return Program(**data)


def used(program: Program) -> Program:
    """Return a program without the tables and relations that its outputs do not need."""
    needed = set(program.outputs)
    relations: list[Relation] = []
    for relation in reversed(program.relations):
        if relation.name in needed:
            relations.insert(0, relation)
            needed.update(relation.inputs)
    tables = tuple(table for table in program.tables if table.name in needed)
    return replace(program, relations=tuple(relations), tables=tables)
