"""SQLite as a second oracle, which shares no code with either engine: what is left in the end."""

from __future__ import annotations

import datetime
import json
import re
import sqlite3
from typing import Any

from tests.random_programs.outcome import Outcome, canonical
from tests.random_tables.aggregates import aggregate_lite
from tests.random_tables.expressions import to_lite
from tests.random_tables.kinds import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
)
from tests.random_tables.program import Program, Relation, Table
from tests.random_tables.running import left

_TEXTS = {DATE: datetime.date, TIME: datetime.time, TIMESTAMP: datetime.datetime}
"""Types whose values have the order of their texts."""
_NUMBERS = {SMALLINT, INT, BIGINT, FLOAT, DOUBLE}
ORDERED = {STRING, BOOLEAN, *_NUMBERS, *_TEXTS}


def outcome(program: Program) -> Outcome:
    """Return the outcome of a program in SQLite.

    Raises:
        LookupError: SQLite has not all that the program needs.
    """
    with sqlite3.connect(":memory:") as database:
        database.execute("PRAGMA case_sensitive_like = ON")
        for table in program.tables:
            _create(database, table)
        for relation in program.relations:
            names = ", ".join(f'"{name}"' for name, _ in relation.columns)
            database.execute(
                f'CREATE VIEW "{relation.name}" ({names}) AS '
                f"{_query(relation, streamed=program.mode != 'BATCH')}"
            )
        return Outcome(tuple(_results(database, program, name) for name in program.outputs))


def _create(database: sqlite3.Connection, table: Table) -> None:
    names = [f'"{name}"' for name, _ in table.columns]
    database.execute(f"CREATE TABLE {table.name} ({', '.join(names)})")
    rows = [[_stored(value) for value in row] for row in _left(table)]
    marks = ", ".join("?" * len(names))
    database.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)


def _left(table: Table) -> list[list[Any]]:
    """Return the rows that are left of a table's changes."""
    rows: list[list[Any]] = []
    for kind, *values in table.rows:
        if kind[0] == "+":
            rows.append(values)
        else:
            rows.remove(values)
    return rows


def _stored(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _results(database: sqlite3.Connection, program: Program, name: str) -> tuple[str, ...]:
    [relation] = [each for each in program.relations if each.name == name]
    kinds = [kind.removesuffix(" NOT NULL") for _, kind in relation.columns]
    if not set(kinds) <= ORDERED:
        raise LookupError(kinds)
    rows = database.execute(f'SELECT * FROM "{name}"')
    shown = ("+I(" + ", ".join(map(_shown, kinds, row)) + ")" for row in rows)
    return tuple(left(shown))


def _shown(kind: str, value: Any) -> str:
    if value is None:
        return canonical(None)
    if kind in _TEXTS:
        return canonical(_TEXTS[kind].fromisoformat(value))
    made = {BOOLEAN: bool, FLOAT: float, DOUBLE: float, STRING: str}.get(kind, int)
    return canonical(made(value))


def _query(relation: Relation, *, streamed: bool) -> str:
    inputs = [f'"{name}"' for name in relation.inputs]
    if relation.op == "group":
        return _group(relation, inputs, streamed=streamed)
    make = _QUERIES.get(relation.op)
    if make is None:
        raise LookupError(relation.op)
    return make(relation, inputs)


def _list(names: Any, prefix: str = "") -> str:
    return ", ".join(f'{prefix}"{name}"' for name in names)


def _orderable(relation: Relation, names: list[str], known: dict[str, str]) -> None:
    if not {known[name].removesuffix(" NOT NULL") for name in names} <= ORDERED:
        raise LookupError(f"an order of {relation.name}")


def _select(relation: Relation, inputs: list[str]) -> str:
    python = relation.api == "table"
    items = ", ".join(to_lite(node, python=python) for _, node in relation.parts["items"])
    where = relation.parts["where"]
    chosen = f" WHERE {to_lite(where, python=python)}" if where else ""
    return f"SELECT {items} FROM {inputs[0]}{chosen}"


def _group(relation: Relation, inputs: list[str], *, streamed: bool) -> str:
    """Return a query of groups; the group of all rows is not there without rows in a stream."""
    keys, aggs, having = (relation.parts[part] for part in ("keys", "aggs", "having"))
    if relation.parts["sets"]:
        raise LookupError(relation.parts["sets"])
    python = relation.api == "table"
    items = [f'"{key}"' for key in keys] + [_aggregate(a, python=python) for a in aggs]
    names = [name for name, _ in relation.columns]
    named = ", ".join(f'{item} AS "{name}"' for item, name in zip(items, names))
    grouped = f"GROUP BY {_list(keys)}" if keys else "HAVING COUNT(*) > 0" if streamed else ""
    text = f"SELECT {named} FROM {inputs[0]} {grouped}"
    return f"SELECT * FROM ({text}) WHERE {to_lite(having, python=python)}" if having else text


def _aggregate(found: dict[str, Any], over: str = "", *, python: bool = False) -> str:
    """Return an aggregate; those of short numbers are converted as SQLite does not."""
    nothing = found["of"] is not None and to_lite(found["of"]) == "NULL"
    short = found["kind"] == SMALLINT and found["name"] == "SUM"
    if not nothing and (short or found["kind"] not in ORDERED):
        raise LookupError(found["kind"])
    return aggregate_lite(found, over, python=python)


def _join(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    on = " AND ".join(f'l."{a}" = r."{b}"' for a, b in parts["on"])
    if parts["extra"]:
        on += f" AND {to_lite(parts['extra'], python=relation.api == 'table')}"
    return _both(relation, *inputs, on)


def _both(relation: Relation, one: str, other: str, on: str) -> str:
    items = ", ".join(f'{side}."{column}"' for side, column in relation.parts["items"])
    kind = relation.parts["kind"]
    return f"SELECT {items} FROM {one} AS l {kind} JOIN {other} AS r ON {on}"


def _semi(relation: Relation, inputs: list[str]) -> str:
    one, other = relation.parts["on"]
    kind = relation.parts["kind"]
    if "IN" in kind.split():
        where = f'l."{one}" {kind} (SELECT r."{other}" FROM {inputs[1]} AS r)'
    else:
        where = f'{kind} (SELECT * FROM {inputs[1]} AS r WHERE l."{one}" = r."{other}")'
    return f"SELECT * FROM {inputs[0]} AS l WHERE {where}"


def _set(relation: Relation, inputs: list[str]) -> str:
    if relation.parts["kind"] in {"INTERSECT ALL", "EXCEPT ALL"}:
        raise LookupError(relation.parts["kind"])
    sides = [_list(pair[side] for pair in relation.parts["pairs"]) for side in (0, 1)]
    one, other = (f"SELECT {side} FROM {each}" for side, each in zip(sides, inputs))
    return f"{one} {relation.parts['kind']} {other}"


def _distinct(relation: Relation, inputs: list[str]) -> str:
    return f"SELECT DISTINCT * FROM {inputs[0]}"


def _by(order: list[list[str]]) -> str:
    return ", ".join(f'"{name}" {direction}' for name, direction in order)


def _partition(keys: list[str]) -> str:
    return f"PARTITION BY {_list(keys)} " if keys else ""


def _rank(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    known = dict(relation.columns)
    _orderable(relation, [name for name, _ in parts["order"]], known)
    over = f"{_partition(parts['keys'])}ORDER BY {_by(parts['order'])}"
    number = ', "rn"' if parts["number"] else ""
    return (
        f"SELECT {_list(parts['names'])}{number} FROM (SELECT *, ROW_NUMBER() OVER ({over}) "
        f'AS "rn" FROM {inputs[0]}) WHERE "rn" <= {parts["most"]}'
    )


def _limit(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    _orderable(relation, [name for name, _ in parts["order"]], dict(relation.columns))
    order = _by(parts["order"])
    if relation.api == "table":  # Flink's Table API takes NULL for the largest value
        order = order.replace("ASC", "ASC NULLS LAST").replace("DESC", "DESC NULLS FIRST")
    return f"SELECT * FROM {inputs[0]} ORDER BY {order} LIMIT {parts['most']}"


def _same(relation: Relation, inputs: list[str]) -> str:
    return f"SELECT * FROM {inputs[0]}"


_UPTO = "(SELECT 0 AS v UNION ALL SELECT 1 UNION ALL SELECT 2)"


def _lateral(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    if parts["function"] != "py_upto":
        raise LookupError(parts["function"])
    kind = "LEFT" if parts["left"] else "INNER"
    return (
        f"SELECT l.*, u.v FROM {inputs[0]} AS l {kind} JOIN {_UPTO} AS u "
        f'ON u.v < coalesce(l."{parts["argument"]}", 0)'
    )


_ELEMENTS = {1: "u.value", 2: "u.key, u.value"}


def _unnest(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    width = len(parts["names"])
    of_rows = width == 2 and relation.columns[-2][1] == INT
    items = "u.value ->> 0, u.value ->> 1" if of_rows else _ELEMENTS[width]
    kind = "LEFT" if parts["left"] else "INNER"
    return (
        f"SELECT l.*, {items} FROM {inputs[0]} AS l {kind} JOIN "
        f'json_each(l."{parts["column"]}") AS u ON TRUE'
    )


def _over(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    if not parts["frame"].startswith("ROWS"):
        raise LookupError(parts["frame"])
    _orderable(relation, [name for name, _ in parts["order"]], dict(relation.columns))
    aggs = [_aggregate(a, "OVER w") for a in parts["aggs"]]
    over = f"{_partition(parts['keys'])}ORDER BY {_by(parts['order'])} {parts['frame']}"
    items = ", ".join([*(f'"{name}"' for name in parts["names"]), *aggs])
    return f"SELECT {items} FROM {inputs[0]} WINDOW w AS ({over})"


def _window(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    keys = [f'"{key}"' for key in parts["keys"]]
    items = [*_BOUNDS, *keys, *(_aggregate(a) for a in parts["aggs"])]
    by = ", ".join([*_BOUNDS, *keys])
    return f"SELECT {', '.join(items)} FROM {_windows(parts, inputs[0])} GROUP BY {by}"


_BOUNDS = [f"""datetime("{name}", 'unixepoch')""" for name in ("$start", "$end")]
_SECONDS = re.compile(r"INTERVAL '(\d+)' SECOND")


def _windows(parts: dict[str, Any], table: str) -> str:
    """Return a query of a table's rows with the seconds when their windows start and end."""
    sizes = [int(size) for size in _SECONDS.findall(parts["sizes"])]
    seconds = "CAST(strftime('%s', ts) AS INTEGER)"
    if parts["window"] == "TUMBLE":
        size, offset = [*sizes, 0][:2]
        found = [(f"({seconds} - {offset}) / {size} * {size} + {offset}", size)]
    elif parts["window"] == "HOP":
        slide, size = sizes
        found = [
            (f"{seconds} / {slide} * {slide} - {n * slide}", size) for n in range(size // slide)
        ]
    elif parts["window"] == "CUMULATE":
        step, most = sizes
        found = [(f"{seconds} / {most} * {most}", size) for size in range(step, most + 1, step)]
    else:
        raise LookupError(parts["window"])
    selects = (
        f'SELECT *, {start} AS "$start", {start} + {size} AS "$end" FROM {table} '
        f"WHERE ts IS NOT NULL AND {seconds} < {start} + {size}"
        for start, size in found
    )
    return f"({' UNION ALL '.join(selects)})"


def _window_join(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    left_, right = (_windows(parts, each) for each in inputs)
    on = " AND ".join(f'l."{a}" = r."{b}"' for a, b in [*parts["on"], ["$start"] * 2, ["$end"] * 2])
    return _both(relation, left_, right, on)


def _interval(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    on = " AND ".join(f'l."{a}" = r."{b}"' for a, b in parts["on"])
    one, other = (f"CAST(strftime('%s', {side}.ts) AS INTEGER)" for side in "lr")
    on += f" AND {one} BETWEEN {other} - {parts['low']} AND {other} + {parts['high']}"
    return _both(relation, *inputs, on)


_QUERIES = {
    "stream": _same,
    "lateral": _lateral,
    "unnest": _unnest,
    "over": _over,
    "window": _window,
    "window_join": _window_join,
    "interval": _interval,
    "select": _select,
    "join": _join,
    "semi": _semi,
    "set": _set,
    "distinct": _distinct,
    "rank": _rank,
    "limit": _limit,
}
