"""Ways to run a query and to look at what came out."""

from __future__ import annotations

from typing import Any


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
    """Returns what a SQL expression is worth."""
    ((result,),) = query(t_env, f"SELECT {expression}")
    return result
