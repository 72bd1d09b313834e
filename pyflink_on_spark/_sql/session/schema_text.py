"""The columns of a plan or a table, as ``print_schema`` shows them."""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._sql.plan.catalog_objects import Column
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.types.logical import LogicalType


def resolved_text(lines: Iterable[str]) -> str:
    """Return columns, watermarks and constraints, a line each."""
    return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"


def column_line(column: Column) -> str:
    """Return the name and type of a column, and what else is to be said of it."""
    extras = column_extras(column)
    line = f"`{column.name}` {column_text(column.type)}"
    if extras is not None:
        line += f" {extras}"
    return line if column.comment is None else f"{line} COMMENT '{column.comment}'"


def column_extras(column: Column) -> str | None:
    """Return where the values of a column come from; None for a physical one."""
    if column.kind is ColumnKind.COMPUTED:
        return f"AS {column.text}"
    if column.kind is ColumnKind.METADATA:
        source = "" if column.metadata_key is None else f" FROM '{column.metadata_key}'"
        return f"METADATA{source}{' VIRTUAL' if column.virtual else ''}"
    return None


def watermark_line(column: str, kind: LogicalType, expression: str) -> str:
    """Return how a table makes watermarks."""
    return f"WATERMARK FOR `{column}`: {kind} AS {expression}"


def key_line(name: str, columns: Iterable[str]) -> str:
    """Return the primary key of a table."""
    listed = ", ".join(f"`{column}`" for column in columns)
    return f"CONSTRAINT `{name}` PRIMARY KEY ({listed}) NOT ENFORCED"


def column_text(kind: LogicalType) -> str:
    """Return the type of a column, with its time attribute."""
    return str(kind) if kind.time is None else f"{kind} *{kind.time.value}*"
