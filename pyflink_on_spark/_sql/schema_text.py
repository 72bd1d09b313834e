"""The columns of a plan, as ``print_schema`` shows them."""

from __future__ import annotations

from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.types.logical import LogicalType


def schema_text(node: Node) -> str:
    """Return the columns of a plan and their types, a line each."""
    schema = node.schema
    lines = [f"  `{name}` {column_text(kind)}" for name, kind in zip(schema.names, schema.types)]
    return "(\n" + ",\n".join(lines) + "\n)"


def column_text(kind: LogicalType) -> str:
    """Return the type of a column, with its time attribute."""
    return str(kind) if kind.time is None else f"{kind} *{kind.time.value}*"
