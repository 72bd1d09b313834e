"""What rows are ordered by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import total_ordering
from typing import Any

from pyflink_on_spark._sql.codegen.expressions import ExpressionCompiler
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.nodes import SortKey
from pyflink_on_spark._sql.plan.signatures import is_atom
from pyflink_on_spark._sql.types import logical

_NUMBERS = frozenset({*logical.NUMERIC, *logical.DATETIMES, *logical.INTERVALS})


@total_ordering
class Descending:
    """Compares in the other direction.

    Args:
        value: what is compared.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Descending) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


def compile_sort_key(keys: Sequence[SortKey], width: int, time_zone: str) -> Program:
    """Return a function of a row that returns what compares as the order wants.

    Args:
        keys: what the order is made of.
        width: how many columns rows have.
        time_zone: the session's, by name.
    """
    compiler = ExpressionCompiler([f"row[{index}]" for index in range(width)], time_zone)
    lines = ["def key(row):"]
    parts = []
    for number, key in enumerate(keys):
        source = compiler.value(key.value)
        if not is_atom(source):
            lines.append(f"    k{number} = {source}")
            source = f"k{number}"
        parts.append(_compared(compiler, key, source))
    lines.append(f"    return ({''.join(part + ', ' for part in parts)})")
    return Program("\n".join(lines) + "\n", "key", compiler.bindings)


def _compared(compiler: ExpressionCompiler, key: SortKey, source: str) -> str:
    value = source
    if not key.ascending:
        if key.value.type.root in _NUMBERS:
            value = f"-{source}"
        else:
            value = f"{compiler.bind(Descending, 'Descending')}({source})"
    if not key.value.type.nullable:
        return value
    null, other = ("(0,)", "1") if key.nulls_first else ("(2,)", "1")
    return f"({null} if {source} is None else ({other}, {value}))"
