"""Tables and results as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.session.commands import cell_texts


def schema_html(schema: Schema) -> str:
    """Return the names and types of columns as a table of HTML."""
    rows = [[name, str(kind)] for name, kind in zip(schema.names, schema.types)]
    return _table(["column", "type"], rows)


def rows_html(
    schema: Schema, rows: Iterable[Sequence[object]], time_zone: str, *, note: str = ""
) -> str:
    """Return rows as a table of HTML.

    Args:
        schema: the columns.
        rows: their values.
        time_zone: the session's, by name.
        note: a line below the table; none if it is empty.
    """
    texts = cell_texts(schema, time_zone)
    cells = [["NULL" if v is None else text(v) for text, v in zip(texts, row)] for row in rows]
    below = f"<p>{escape(note)}</p>" if note else ""
    return _table(list(schema.names), cells) + below


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"
