"""Random aggregates, and how they are written."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.random_tables.expressions import (
    Columns,
    column,
    expression,
    kind_of,
    predicate,
    to_lite,
    to_python,
    to_sql,
)
from tests.random_tables.kinds import (
    BIGINT,
    COMPARABLE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
)

Aggregate = dict[str, Any]
_SUMMED = [SMALLINT, INT, BIGINT, DOUBLE, DECIMAL]
_MEASURED = [k for k in COMPARABLE if k not in {"BYTES", "BOOLEAN"}]
_LITE = {SMALLINT, INT, BIGINT, DOUBLE, STRING}


def aggregates(
    rng: Random,
    columns: Columns,
    *,
    batch: bool,
    ordered: bool,
    over: bool = False,
    window: bool = False,
) -> list[Aggregate]:
    """Return some aggregates.

    Args:
        rng: what chooses.
        columns: those that there are.
        batch: whether the program runs in BATCH mode.
        ordered: whether their rows have a fixed order and are never taken back.
        over: whether they are with OVER.
        window: whether they are of a window.
    """
    if not over and (batch or not window) and rng.random() < 0.1:
        return [_python(rng, columns, batch=batch)]
    found = []
    for _ in range(rng.randint(1, 3)):
        made = _aggregate(rng, columns, ordered=ordered)
        made["distinct"] = (
            made["name"] in {"COUNT", "SUM"}
            and made["of"] is not None
            and not over
            and rng.random() < 0.2
        )
        if not over and rng.random() < 0.15:
            made["filter"] = predicate(rng, [c for c in columns if c[0] != "ts"], 1)
        found.append(made)
    return found


def _python(rng: Random, columns: Columns, *, batch: bool) -> Aggregate:
    name, kind = ("pd_sum", BIGINT) if batch else ("py_total", STRING)
    argument = expression(rng, INT, columns, 0)
    return {"name": name, "of": argument, "kind": kind, "distinct": False, "filter": None}


def _aggregate(rng: Random, columns: Columns, *, ordered: bool) -> Aggregate:
    names = ["COUNT", "COUNT", "SUM", "SUM", "MIN", "MAX", "AVG"]
    if ordered:
        names += ["LISTAGG", "FIRST_VALUE", "LAST_VALUE"]
    name = rng.choice(names)
    kinds = {"SUM": _SUMMED, "AVG": _SUMMED, "LISTAGG": [STRING]}.get(name, _MEASURED)
    fitting = [
        (n, k.removesuffix(" NOT NULL"))
        for n, k in columns
        if k.removesuffix(" NOT NULL") in kinds and n != "ts"
    ]
    if name == "COUNT" and (not fitting or rng.random() < 0.5):
        return {"name": name, "of": None, "kind": BIGINT, "filter": None}
    if fitting and rng.random() < 0.85:
        argument = column(*rng.choice(fitting))
    else:
        kind = rng.choice([k for k in kinds if k != FLOAT])
        argument = expression(rng, kind, [c for c in columns if c[0] != "ts"], 1)
    kind = BIGINT if name == "COUNT" else kind_of(argument)
    return {"name": name, "of": argument, "kind": kind, "filter": None}


def aggregate_sql(found: Aggregate) -> str:
    """Return an aggregate as Flink's SQL."""
    inner = "*" if found["of"] is None else to_sql(found["of"])
    text = f"{found['name']}({'DISTINCT ' if found['distinct'] else ''}{inner})"
    if found["filter"] is not None:
        text += f" FILTER (WHERE {to_sql(found['filter'])})"
    return text


def typed_sql(found: Aggregate, text: str) -> str:
    """Return an aggregate's SQL with the type that the generator takes it to have."""
    return f"CAST({text} AS {found['kind']})" if found["kind"] in {DECIMAL, SMALLINT} else text


def aggregate_python(found: Aggregate) -> str:
    """Return an aggregate as source of the Table API."""
    if found["name"].startswith("py_"):
        return f"call({found['name']!r}, {to_python(found['of'])})"
    if found["of"] is None:
        return "lit(1).count"
    inner = to_python(found["of"])
    text = f"{inner}.{found['name'].lower()}{'.distinct' if found['distinct'] else ''}"
    if found["kind"] == DECIMAL:
        return f"{text}.cast(DataTypes.DECIMAL(10, 2))"
    return f"{text}.cast(DataTypes.SMALLINT())" if found["kind"] == SMALLINT else text


def aggregate_lite(found: Aggregate, over: str = "", *, python: bool = False) -> str:
    """Return an aggregate as SQLite's SQL.

    Args:
        found: the aggregate.
        over: what follows each call.
        python: whether its argument is one of the Table API.

    Raises:
        LookupError: SQLite has no such aggregate.
    """
    if found["name"] not in {"COUNT", "SUM", "MIN", "MAX", "AVG"}:
        raise LookupError(found["name"])
    where = "" if found["filter"] is None else f" FILTER (WHERE {to_lite(found['filter'])})"
    where += f" {over}" if over else ""
    if found["of"] is None:
        return f"COUNT(*){where}"
    inner = ("DISTINCT " if found["distinct"] else "") + to_lite(found["of"], python=python)
    if found["name"] == "AVG":
        return f"(SUM({inner}){where} / COUNT({inner}){where})"
    return f"{found['name']}({inner}){where}"
