"""Random programs with MATCH_RECOGNIZE, and what real PyFlink makes of them.

    python -m compat_tests.match_patterns

writes what is missing in ``match_patterns.json``: run it with an interpreter that has apache-flink.
"""

from __future__ import annotations

import json
import random
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent / "match_patterns.json"
SEEDS = 50
"""How many programs there are."""

COLUMNS = (
    "k INT, id INT, a BOOLEAN, b BOOLEAN, v INT, ts TIMESTAMP(3), "
    "WATERMARK FOR ts AS ts - INTERVAL '{}' SECOND"
)
FAILED = "fails"
"""Stands for the result of a program that fails, as Flink cannot skip to a row there is not."""

_QUANTIFIERS = ("", "", "", "?", "*", "+", "*?", "+?", "{2}", "{1,2}", "{2,3}?", "{0,2}", "{2,}",
                "{1,3}", "{0,2}?", "{3,}?")  # fmt: skip
_GREEDY = frozenset({"*", "+", "{1,2}", "{0,2}", "{2,}", "{1,3}"})
_LAST = ("", "", "", "+?", "*?", "{2}", "{1,2}?", "{2,}?", "?")
_OF_ROW = ("{x}.a", "{x}.b", "{x}.a OR {x}.b", "NOT {x}.b", "a", "TRUE", "{x}.v > 2", "{x}.v < 7")
_OF_MATCH = (
    "{x}.v >= LAST({x}.v, 1)", "{x}.v > LAST({y}.v)", "{x}.v > FIRST({y}.v)", "v > LAST(v, 1)",
    "{x}.v <> FIRST(v, 1)", "SUM({x}.v) < 15", "COUNT({y}.v) < 3", "AVG({y}.v) < {x}.v",
    "MAX(v) - MIN({x}.v) < 5", "{x}.a AND LAST({x}.b, 1) IS NOT TRUE", "COUNT(*) < 4",
    "{x}.v IS NULL OR {y}.v IS NOT NULL", "LAST({x}.v, 1) IS NULL OR {x}.v > LAST({x}.v, 1)",
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A query, and the rows that it reads.

    Args:
        query: over the table `m`.
        columns: of the table.
        rows: in the order in which they come.
        watermarks: whether a watermark follows each row.
    """

    query: str
    columns: str
    rows: list[tuple[Any, ...]]
    watermarks: bool


def program(seed: int, keys: int = 12) -> Program:
    """Returns the program of a seed, which is the same in every version of Python.

    Args:
        seed: of the random numbers.
        keys: how many keys there are.
    """
    chance = random.Random(seed)
    names = ["A", "B", "C", "D", "E"][: chance.choice([2, 2, 3, 3, 3, 4, 5])]
    parts = _quantifiers(chance, names)
    pattern = " ".join(name + part for name, part in zip(names, parts))
    definitions = _definitions(chance, names, parts)
    within = f"WITHIN INTERVAL '{chance.choice([1, 3, 5, 8])}' SECOND"
    measures = ", ".join(
        f"FIRST({name}.id) AS f{name}, LAST({name}.id) AS l{name}, COUNT({name}.id) AS n{name}"
        for name in names
    )
    query = (
        f"SELECT * FROM m MATCH_RECOGNIZE (PARTITION BY k ORDER BY "
        f"{chance.choice(['ts', 'ts', 'ts, v DESC, id'])} MEASURES {measures}, "
        f"SUM(v) AS total, LAST(v, 1) AS before ONE ROW PER MATCH "
        f"AFTER MATCH {_skip(chance, names)} PATTERN ({pattern}) "
        f"{within if chance.random() < 0.4 else ''} "
        f"DEFINE {', '.join(definitions or ['A AS TRUE'])})"
    )
    watermarks = chance.random() < 0.3
    delay = chance.choice([0, 2, 5]) if watermarks else 59
    return Program(query, COLUMNS.format(delay), _rows(chance, keys, delay), watermarks)


def _quantifiers(chance: random.Random, names: list[str]) -> list[str]:
    while True:
        parts = [chance.choice(_QUANTIFIERS) for _ in names[1:]] + [chance.choice(_LAST)]
        empty = all(part[:1] in {"?", "*"} or part[:3] == "{0," for part in parts)
        optional_after_greedy = any(
            after[:1] in {"?", "*"} and before in _GREEDY for before, after in pairwise(parts)
        )
        if not empty and not optional_after_greedy:
            return parts


def _definitions(chance: random.Random, names: list[str], parts: list[str]) -> list[str]:
    """Returns conditions, of which those after a greedy variable are seldom those before it."""
    found = []
    for number, (name, part) in enumerate(zip(names, parts)):
        condition = _condition(chance, name, names[: number + 1 + (chance.random() < 0.1)])
        if number == 0 or chance.random() < 0.3:
            condition = chance.choice(_OF_ROW).format(x=name)
        if part in _GREEDY:
            condition = chance.choice(("{x}.a", "{x}.a AND ({c})")).format(x=name, c=condition)
        elif number and parts[number - 1] in _GREEDY:
            condition = chance.choice(("NOT {x}.a", "NOT {x}.a", "NOT {x}.a AND ({c})", "{c}"))
            condition = condition.format(x=name, c=_condition(chance, name, names[: number + 1]))
        elif chance.random() < 0.2:
            continue
        found.append(f"{name} AS {condition}")
    return found


def _skip(chance: random.Random, names: list[str]) -> str:
    kinds = ["SKIP PAST LAST ROW", "SKIP TO NEXT ROW", "SKIP TO NEXT ROW", "SKIP TO FIRST {}",
             "SKIP TO LAST {}"]  # fmt: skip
    return chance.choice(kinds).format(chance.choice(names[1:]))


def _condition(chance: random.Random, name: str, others: list[str]) -> str:
    return chance.choice(_OF_ROW + _OF_MATCH).format(x=name, y=chance.choice(others))


def _rows(chance: random.Random, keys: int, delay: int) -> list[tuple[Any, ...]]:
    """Returns rows in any order, or, if watermarks come between, few that are late."""
    ordered = delay < 59
    found = []
    for key in range(keys):
        density, second = chance.random() * 0.7 + 0.2, 0
        for number in range(chance.randrange(4, 14)):
            second += chance.choice([0, 1, 1, 1, 2, 4])
            a, b = chance.random() < density, chance.random() < density
            v = chance.randrange(10) if chance.random() < 0.95 else None
            order, moment = chance.random(), second
            if ordered:
                back = chance.randrange(delay + 3) if chance.random() < 0.3 else 0
                order, moment = second, max(second - back, 0)
            found.append((order, key * 100 + number, key, a, b, v, moment))
    found.sort()
    return [
        (key, number, str(a).lower(), str(b).lower(), "" if v is None else v,
         f"2024-01-01 00:{second // 60:02}:{second % 60:02}")
        for _, number, key, a, b, v, second in found
    ]  # fmt: skip


def run(t_env: Any, folder: Path, made: Program) -> Any:
    """Runs a program, and returns its rows by key in the order in which they came, or `FAILED`."""
    from compat_tests.tables import csv_table, rows

    if made.watermarks:
        t_env.get_config().set("pipeline.auto-watermark-interval", "0 ms")
    t_env.execute_sql("DROP TABLE IF EXISTS m")
    lines = "".join(",".join(map(str, row)) + "\n" for row in made.rows)
    csv_table(t_env, folder, "m", made.columns, lines)
    try:
        found = rows(t_env.sql_query(made.query))
    except Exception as error:
        if "Could not skip to" not in str(error):
            raise
        return FAILED
    by_key: dict[str, list[list[Any]]] = {}
    for key, *rest in found:
        by_key.setdefault(str(key), []).append(rest)
    return {key: by_key[key] for key in sorted(by_key, key=int)}


def _record() -> None:
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    found = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(len(found), SEEDS):
            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(1)
            t_env = StreamTableEnvironment.create(env)
            found[str(seed)] = run(t_env, Path(folder), program(seed))
            lines = (f'"{key}": {json.dumps(result)}' for key, result in found.items())
            RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
