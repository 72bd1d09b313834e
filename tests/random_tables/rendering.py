"""A program as source of Python."""

from __future__ import annotations

import re
from typing import Any

from tests.random_tables.aggregates import aggregate_python, aggregate_sql, typed_sql
from tests.random_tables.expressions import to_python, to_sql
from tests.random_tables.program import Program, Relation

_PYTHON = re.compile(r"\b((?:py|pd)_\w+)\b")


def script(program: Program) -> str:
    """Return a program as a script that either engine runs."""
    return (
        "from tests.random_tables.program import from_json\n"
        "from tests.random_tables.running import run_here\n\n"
        f"PROGRAM = r'''{program.to_json()}'''\n\n"
        f"{definitions(program)}\n\n"
        "print(run_here(from_json(PROGRAM)))\n"
    )


def definitions(program: Program) -> str:
    """Return the function that makes the views, given an environment with the tables."""
    lines = [line for relation in program.relations for line in statements(program, relation)]
    body = "".join(f"    {line}\n" for line in lines)
    return (
        "from pyflink.table import DataTypes\n"
        "from pyflink.table.expressions import *\n\n\n"
        f"def build(t_env):\n{body or '    pass'}\n"
    )


def python_functions(program: Program) -> list[str]:
    """Return the names of the Python functions that a program calls."""
    return sorted(set(_PYTHON.findall(definitions(program))))


def statements(program: Program, relation: Relation) -> list[str]:
    """Return the statements that make a view."""
    if relation.op == "stream":
        return _through_stream(relation)
    if relation.api == "table":
        return [f"t_env.create_temporary_view({relation.name!r}, {fluent(relation)})"]
    return [
        f't_env.create_temporary_view({relation.name!r}, t_env.sql_query("""{sql(relation)}"""))'
    ]


def nested(program: Program, name: str) -> str:
    """Return a view as one query, with subqueries in place of views; all of them must be SQL."""
    by_name = {relation.name: relation for relation in program.relations}
    if name not in by_name:
        return f"`{name}`"
    relation = by_name[name]
    inputs = [f"{nested(program, each)}" for each in relation.inputs]
    return f"({sql(relation, inputs)})"


def sql(relation: Relation, inputs: list[str] | None = None) -> str:
    """Return the query of a relation, whose inputs are views or other queries."""
    return _SQL[relation.op](relation, inputs or [f"`{name}`" for name in relation.inputs])


def _list(names: Any, prefix: str = "") -> str:
    return ", ".join(f"{prefix}`{name}`" for name in names)


def _select(relation: Relation, inputs: list[str]) -> str:
    items = ", ".join(f"{to_sql(node)} AS `{name}`" for name, node in relation.parts["items"])
    where = relation.parts["where"]
    return f"SELECT {items} FROM {inputs[0]}{f' WHERE {to_sql(where)}' if where else ''}"


def _group(relation: Relation, inputs: list[str]) -> str:
    keys, aggs = relation.parts["keys"], relation.parts["aggs"]
    names = [name for name, _ in relation.columns]
    items = [f"`{k}` AS `{n}`" for k, n in zip(keys, names)]
    items += [
        f"{typed_sql(a, aggregate_sql(a))} AS `{n}`" for a, n in zip(aggs, names[len(keys) :])
    ]
    text = f"SELECT {', '.join(items)} FROM {inputs[0]}"
    if keys:
        grouped = _list(keys)
        text += (
            f" GROUP BY {relation.parts['sets']}({grouped})"
            if relation.parts["sets"]
            else f" GROUP BY {grouped}"
        )
    having = relation.parts["having"]
    return f"SELECT * FROM ({text}) WHERE {to_sql(having)}" if having else text


def _join(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    on = " AND ".join(f"l.`{a}` = r.`{b}`" for a, b in parts["on"])
    if parts["extra"]:
        on += f" AND {to_sql(parts['extra'])}"
    return _joined(relation, inputs, on)


def _joined(relation: Relation, inputs: list[str], on: str) -> str:
    left, right = inputs
    join = f"{left} AS l {relation.parts['kind']} JOIN {right} AS r"
    return f"SELECT {_sides(relation)} FROM {join} ON {on}"


def _sides(relation: Relation) -> str:
    return ", ".join(
        f"{side}.`{column}` AS `{name}`"
        for (side, column), (name, _) in zip(relation.parts["items"], relation.columns)
    )


def _semi(relation: Relation, inputs: list[str]) -> str:
    left, right = relation.parts["on"]
    kind = relation.parts["kind"]
    if "IN" in kind.split():
        where = f"l.`{left}` {kind} (SELECT `{right}` FROM {inputs[1]} AS r)"
    else:
        where = f"{kind} (SELECT * FROM {inputs[1]} AS r WHERE l.`{left}` = r.`{right}`)"
    return f"SELECT * FROM {inputs[0]} AS l WHERE {where}"


def _set(relation: Relation, inputs: list[str]) -> str:
    pairs = relation.parts["pairs"]
    names = [name for name, _ in relation.columns]
    sides = [
        ", ".join(f"`{pair[side]}` AS `{name}`" for pair, name in zip(pairs, names))
        for side in (0, 1)
    ]
    left, right = (f"SELECT {side} FROM {each}" for side, each in zip(sides, inputs))
    return f"{left} {relation.parts['kind']} {right}"


def _distinct(relation: Relation, inputs: list[str]) -> str:
    return f"SELECT DISTINCT * FROM {inputs[0]}"


def _by(order: list[list[str]]) -> str:
    return ", ".join(f"`{name}` {direction}" for name, direction in order)


def _partition(keys: list[str]) -> str:
    return f"PARTITION BY {_list(keys)} " if keys else ""


def _rank(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    number = relation.columns[-1][0] if parts["number"] else "rn"
    over = f"{_partition(parts['keys'])}ORDER BY {_by(parts['order'])}"
    names = _list(name for name, _ in relation.columns)
    return (
        f"SELECT {names} FROM (SELECT *, ROW_NUMBER() OVER ({over}) AS "
        f"`{number}` FROM {inputs[0]}) WHERE `{number}` <= {parts['most']}"
    )


def _dedup(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    order = f"`{parts['time']}` {'DESC' if parts['last'] else 'ASC'}"
    over = f"{_partition(parts['keys'])}ORDER BY {order}"
    return (
        f"SELECT {_list(parts['names'])} FROM (SELECT *, ROW_NUMBER() OVER ({over}) AS rn "
        f"FROM {inputs[0]}) WHERE rn = 1"
    )


def _limit(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    return f"SELECT * FROM {inputs[0]} ORDER BY {_by(parts['order'])} LIMIT {parts['most']}"


def _lateral(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    call = (
        f"LATERAL TABLE({parts['function']}(`{parts['argument']}`)) AS u({_list(parts['names'])})"
    )
    join = f"LEFT JOIN {call} ON TRUE" if parts["left"] else f"CROSS JOIN {call}"
    return f"SELECT * FROM {inputs[0]} AS l {join}"


def _unnest(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    call = f"UNNEST(l.`{parts['column']}`) AS u({_list(parts['names'])})"
    join = f"LEFT JOIN {call} ON TRUE" if parts["left"] else f"CROSS JOIN {call}"
    return f"SELECT * FROM {inputs[0]} AS l {join}"


def _scalar(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    return (
        f"SELECT *, (SELECT {parts['call']}(`{parts['column']}`) FROM {inputs[1]} AS r) AS "
        f"`{parts['name']}` FROM {inputs[0]} AS l"
    )


def _over(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    over = f"{_partition(parts['keys'])}ORDER BY {_by(parts['order'])} {parts['frame']}"
    names = [name for name, _ in relation.columns[len(parts["names"]) :]]
    items = [f"`{name}`" for name in parts["names"]]
    items += [
        f"{typed_sql(a, f'{aggregate_sql(a)} OVER w')} AS `{n}`"
        for a, n in zip(parts["aggs"], names)
    ]
    return f"SELECT {', '.join(items)} FROM {inputs[0]} WINDOW w AS ({over})"


def _window(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    names = [name for name, _ in relation.columns]
    items = [f"window_start AS `{names[0]}`", f"window_end AS `{names[1]}`"]
    items += [f"`{k}` AS `{n}`" for k, n in zip(parts["keys"], names[2:])]
    rest = names[2 + len(parts["keys"]) :]
    items += [f"{typed_sql(a, aggregate_sql(a))} AS `{n}`" for a, n in zip(parts["aggs"], rest)]
    by = _list(["window_start", "window_end", *parts["keys"]])
    return f"SELECT {', '.join(items)} FROM {_tvf(parts, inputs[0])} GROUP BY {by}"


def _tvf(parts: dict[str, Any], table: str) -> str:
    partition = f" PARTITION BY {_list(parts['partition'])}" if parts.get("partition") else ""
    return f"TABLE({parts['window']}(TABLE {table}{partition}, DESCRIPTOR(ts), {parts['sizes']}))"


def _interval(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    on = " AND ".join(f"l.`{a}` = r.`{b}`" for a, b in parts["on"])
    on += (
        f" AND l.ts BETWEEN r.ts - INTERVAL '{parts['low']}' SECOND"
        f" AND r.ts + INTERVAL '{parts['high']}' SECOND"
    )
    return _joined(relation, inputs, on)


def _window_join(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    on = " AND ".join(f"l.`{a}` = r.`{b}`" for a, b in parts["on"])
    on += " AND l.window_start = r.window_start AND l.window_end = r.window_end"
    return (
        f"SELECT {_sides(relation)} FROM (SELECT * FROM {_tvf(parts, inputs[0])}) AS l "
        f"{parts['kind']} JOIN (SELECT * FROM {_tvf(parts, inputs[1])}) AS r ON {on}"
    )


_SQL = {
    "select": _select,
    "group": _group,
    "join": _join,
    "semi": _semi,
    "set": _set,
    "distinct": _distinct,
    "rank": _rank,
    "dedup": _dedup,
    "limit": _limit,
    "lateral": _lateral,
    "unnest": _unnest,
    "scalar": _scalar,
    "over": _over,
    "window": _window,
    "interval": _interval,
    "window_join": _window_join,
}


def fluent(relation: Relation) -> str:
    """Return a relation as a chain of the Table API."""
    return _FLUENT[relation.op](
        relation, [f"t_env.from_path({name!r})" for name in relation.inputs]
    )


def _fluent_select(relation: Relation, inputs: list[str]) -> str:
    where = relation.parts["where"]
    items = ", ".join(
        f"{to_python(node)}.alias({name!r})" for name, node in relation.parts["items"]
    )
    filtered = f".filter({to_python(where)})" if where else ""
    return f"{inputs[0]}{filtered}.select({items})"


def _fluent_group(relation: Relation, inputs: list[str]) -> str:
    keys, aggs, having = (relation.parts[part] for part in ("keys", "aggs", "having"))
    names = [name for name, _ in relation.columns]
    items = [f"col({k!r}).alias({n!r})" for k, n in zip(keys, names)]
    items += [f"{aggregate_python(a)}.alias({n!r})" for a, n in zip(aggs, names[len(keys) :])]
    grouped = f".group_by({', '.join(f'col({k!r})' for k in keys)})" if keys else ""
    filtered = f".filter({to_python(having)})" if having else ""
    return f"{inputs[0]}{grouped}.select({', '.join(items)}){filtered}"


def _fluent_join(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    method = {"INNER": "join", "LEFT": "left_outer_join", "RIGHT": "right_outer_join",
              "FULL": "full_outer_join"}[parts["kind"]]  # fmt: skip
    on = " & ".join(f"(col({a!r}) == col({b!r}))" for a, b in parts["on"])
    if parts["extra"]:
        on += f" & {to_python(parts['extra'])}"
    items = ", ".join(
        f"col({column!r}).alias({name!r})"
        for (_, column), (name, _) in zip(parts["items"], relation.columns)
    )
    return f"{inputs[0]}.{method}({inputs[1]}, {on}).select({items})"


def _fluent_set(relation: Relation, inputs: list[str]) -> str:
    names = [name for name, _ in relation.columns]
    sides = []
    for side in (0, 1):
        pairs = zip(relation.parts["pairs"], names)
        items = ", ".join(f"col({pair[side]!r}).alias({name!r})" for pair, name in pairs)
        sides.append(f"{inputs[side]}.select({items})")
    kind = relation.parts["kind"].lower().replace("except", "minus").replace(" ", "_")
    return f"{sides[0]}.{kind}({sides[1]})"


def _fluent_limit(relation: Relation, inputs: list[str]) -> str:
    order = ", ".join(f"col({n!r}).{d.lower()}" for n, d in relation.parts["order"])
    return f"{inputs[0]}.order_by({order}).fetch({relation.parts['most']})"


def _fluent_lateral(relation: Relation, inputs: list[str]) -> str:
    parts = relation.parts
    names = ", ".join(map(repr, parts["names"]))
    call = f"call({parts['function']!r}, col({parts['argument']!r})).alias({names})"
    return f"{inputs[0]}.{'left_outer_' if parts['left'] else ''}join_lateral({call})"


_FLUENT = {
    "select": _fluent_select,
    "group": _fluent_group,
    "join": _fluent_join,
    "set": _fluent_set,
    "limit": _fluent_limit,
    "lateral": _fluent_lateral,
}


def _through_stream(relation: Relation) -> list[str]:
    [name] = relation.inputs
    if relation.parts["how"] == "changelog":
        stream = f"t_env.to_changelog_stream(t_env.from_path({name!r}))"
        made = f"t_env.from_changelog_stream({stream})"
    else:
        stream = f"t_env.to_data_stream(t_env.from_path({name!r}))"
        made = f"t_env.from_data_stream({stream})"
    return [f"t_env.create_temporary_view({relation.name!r}, {made})"]
