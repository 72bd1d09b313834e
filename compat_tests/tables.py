"""Ways to run a query and to look at what came out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pyflink.table.udf import udf

twice = udf(lambda i: i * 2, ["BIGINT"], "BIGINT")
"""A function that SQL finds by its name."""


def rows(table: Any) -> list[tuple[Any, ...]]:
    """Runs a table and returns its rows as tuples, in the order they came."""
    with table.execute().collect() as results:
        return [tuple(row) for row in results]


def changes(table: Any) -> list[tuple[Any, ...]]:
    """Runs a table and returns its changes: tuples of the kind, as `+I`, and the values."""
    with table.execute().collect() as results:
        return [(str(row.get_row_kind()), *row) for row in results]


def query(t_env: Any, text: str) -> list[tuple[Any, ...]]:
    """Runs a query and returns its rows as tuples, in the order they came."""
    return rows(t_env.sql_query(text))


def value(t_env: Any, expression: str) -> Any:
    """Return the value of a SQL expression."""
    ((result,),) = query(t_env, f"SELECT {expression}")
    return result


def check_values(t_env: Any, expected: dict[str, Any], source: str = "") -> None:
    """Computes expressions in one query, and compares their values."""
    text = f"SELECT {', '.join(expected)}"
    (found,) = query(t_env, f"{text} FROM {source}" if source else text)
    assert dict(zip(expected, found)) == expected


def last(t_env: Any, text: str) -> list[tuple[Any, ...]]:
    """Returns the rows of a query that are left after all changes, in order of their text."""
    kept: Counter[tuple[Any, ...]] = Counter()
    for kind, *row in changes(t_env.sql_query(text)):
        kept[tuple(row)] += 1 if kind[0] == "+" else -1
    return sorted(kept.elements(), key=repr)


def create_letters(t_env: Any) -> None:
    """Creates the table `t` of letters `k`, one of which is NULL, and numbers `v`."""
    from pyflink.table import DataTypes

    values = [("a", 1), ("b", 2), ("a", 3), (None, 4), ("b", 5)]
    fields = [DataTypes.FIELD("k", DataTypes.STRING()), DataTypes.FIELD("v", DataTypes.INT())]
    t_env.create_temporary_view("t", t_env.from_elements(values, DataTypes.ROW(fields)))


def csv_table(t_env: Any, folder: Path, name: str, columns: str, lines: str) -> None:
    """Creates a table of some lines of CSV, in which an empty field is NULL."""
    path = folder / f"{name}.csv"
    path.write_text(lines)
    t_env.execute_sql(
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
        "'format' = 'csv', 'csv.null-literal' = '')"
    )


def listed_statements(path: Path) -> list[tuple[str, list[str]]]:
    """Returns the statements of a file, each with the lines that are indented after it."""
    found: list[tuple[str, list[str]]] = []
    for line in path.read_text().splitlines():
        if line.startswith("    "):
            found[-1][1].append(line.removeprefix("    "))
        else:
            found.append((line, []))
    return found
