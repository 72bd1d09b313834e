"""The meaning of operators' state, in texts over the columns of the source tables.

The texts are the same for queries that do the same: aliases and projections make no difference, nor
do filters, which say which rows count and not what is computed of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Conversion,
    FieldAccess,
    InputRef,
    Invocation,
    Typed,
)
from pyflink_on_spark._sql.plan.nodes import Schema, SortKey, WindowTable

Content = dict[str, Any]
"""The meaning of state, by keyword; ``kind`` comes first."""
Columns = tuple[str, ...]
"""The origin of each column of a node."""

_LONGEST = 400
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_DEFAULT = "default_catalog.default_database."


def told(expression: Typed, columns: Columns) -> str:
    """Return an expression as a text.

    Args:
        expression: the expression.
        columns: of the rows that it is over.
    """
    done: list[str] = []
    todo: list[tuple[Typed, bool]] = [(expression, False)]
    while todo:
        part, ready = todo.pop()
        if part.operands and not ready:
            todo.append((part, True))
            todo += ((operand, False) for operand in reversed(part.operands))
            continue
        first = len(done) - len(part.operands)
        done[first:] = [shortened(_with(part, done[first:], columns))]
    return done[0]


def _with(part: Typed, operands: list[str], columns: Columns) -> str:
    if isinstance(part, InputRef):
        return columns[part.index]
    if isinstance(part, Invocation):
        name = part.function.name
        if len(operands) == 2 and not name[0].isalpha():
            return f"({operands[0]} {name} {operands[1]})"
        return f"{name}({', '.join([*part.symbols, *operands])})"
    if isinstance(part, Conversion):
        word = "TRY_CAST" if part.lenient else "CAST"
        return f"{word}({operands[0]} AS {part.type.text(nullability=False)})"
    if isinstance(part, FieldAccess):
        return f"{operands[0]}.{part.operand.type.names[part.index]}"
    return _ADDRESS.sub("", str(part))


def shortened(text: str) -> str:
    """Return a text that is not too long, and still not the same as another one."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}...#{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def told_typed(expression: Typed, columns: Columns) -> str:
    """Return an expression and its type."""
    return f"{told(expression, columns)} {expression.type}"


def told_all(expressions: Iterable[Typed], columns: Columns) -> list[str]:
    """Return expressions and their types."""
    return [told_typed(expression, columns) for expression in expressions]


def told_call(call: AggregateInvocation, columns: Columns) -> str:
    """Return a call of an aggregate function."""
    word = "DISTINCT " if call.distinct else ""
    args = ", ".join(told_all(call.args, columns)) or "*"
    condition = "" if call.filter is None else f" FILTER (WHERE {told(call.filter, columns)})"
    return shortened(f"{call.function.name}({word}{args}){condition}")


def told_calls(calls: Iterable[AggregateInvocation], columns: Columns) -> list[str]:
    """Return calls of aggregate functions, with the types of their values."""
    return [f"{told_call(call, columns)} AS {call.type}" for call in calls]


def told_order(keys: Iterable[SortKey], columns: Columns) -> list[str]:
    """Return the order of rows."""
    return [
        f"{told_typed(key.value, columns)} {'ASC' if key.ascending else 'DESC'} NULLS "
        f"{'FIRST' if key.nulls_first else 'LAST'}"
        for key in keys
    ]


def told_rows(schema: Schema, columns: Columns) -> list[str]:
    """Return the columns of rows that are kept whole, with their types."""
    return [f"{column} {kind}" for column, kind in zip(columns, schema.types)]


def told_changes(changelog: bool) -> str:
    """Return whether rows are only added."""
    return "added, updated, deleted" if changelog else "added"


def told_window(window: WindowTable, time: str, zone: str | None) -> str:
    """Return windows of time.

    Args:
        window: the windows.
        time: what their time attribute is made of.
        zone: the time zone that they are in; None where that makes no difference.
    """
    attribute = window.input.schema.types[window.time].time
    parts = [
        time if attribute is None else f"{time} {attribute.value}",
        *(
            f"{name} {value // 1000} ms"
            for name, value in (
                ("size", window.size),
                ("step", window.step),
                ("offset", window.offset),
            )
            if value
        ),
        *([] if zone is None else [f"in {zone}"]),
    ]
    return f"{window.kind.value}({', '.join(parts)})"


def grouped(calls: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Return the values of calls, of which there is one for each group."""
    by = ", ".join(keys)
    return [shortened(f"[{call} BY {by}]" if by else f"[{call}]") for call in calls]


def told_path(path: Sequence[str]) -> str:
    """Return the name of a table; of one without a name nothing that counts such tables."""
    return re.sub(r"\$\d+\*$", "*", ".".join(path).removeprefix(_DEFAULT))
