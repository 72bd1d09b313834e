"""Functions of rows: values, conditions, whole rows, orders; and constants, folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import total_ordering
from operator import itemgetter
from typing import Any

from pyflink_on_spark._sql.codegen.expressions import ExpressionCompiler, repeated
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    FieldAccess,
    InputRef,
    Invocation,
    Typed,
    input_refs,
    is_deterministic,
)
from pyflink_on_spark._sql.plan.nodes import SortKey
from pyflink_on_spark._sql.plan.signatures import CallSite, TableFunction, is_atom
from pyflink_on_spark._sql.types import logical

_PICK = "def calc(rows):\n    return map(pick, rows)\n"


def compile_calc(
    condition: Typed | None,
    projection: Sequence[Typed] | None,
    width: int,
    time_zone: str,
    *,
    changelog: bool,
) -> Program:
    """Return a generator function over rows that keeps some of them and computes new ones.

    Args:
        condition: which rows are kept; None for all.
        projection: the columns of a new row; None to leave rows as they are.
        width: how many columns rows have.
        time_zone: the session's, by name.
        changelog: whether elements are pairs of a row's kind and the row.
    """
    used = [] if condition is None else [condition]
    pattern, columns = _pattern([*used, *(projection or ())], width)
    whole = projection is None
    if whole:
        pattern, columns = "row", [f"row[{index}]" for index in range(width)]
    compiler = ExpressionCompiler(columns, time_zone, repeated([*used, *(projection or ())]))
    if condition is None and not changelog and projection is not None:
        picked = [item.index for item in projection if isinstance(item, InputRef)]
        if 1 < len(picked) == len(projection):
            return Program(_PICK, "calc", {"pick": itemgetter(*picked)})
    lines = []
    if condition is not None:
        lines.append(f"if {compiler.condition(condition)}:")
    made = "row" if projection is None else _tuple(compiler.value(item) for item in projection)
    made = f"kind, {made}" if changelog else made
    lines.append(f"{'    ' if lines else ''}yield {made}")
    target = f"kind, {_nested(pattern)}" if changelog else pattern
    if compiler.kept:
        lines.insert(0, " = ".join([*compiler.kept.values(), "..."]))
    body = "\n        ".join(lines)
    source = f"def calc(rows):\n    for {target} in rows:\n        {body}\n"
    return Program(source, "calc", compiler.bindings)


def compile_expand(
    keys: Sequence[Typed],
    sets: Sequence[frozenset[int]],
    width: int,
    time_zone: str,
    *,
    changelog: bool,
) -> Program:
    """Return a generator function that gives each row once for each set of keys.

    Args:
        keys: all keys.
        sets: the positions of the keys of each set.
        width: how many columns rows have.
        time_zone: the session's, by name.
        changelog: whether elements are pairs of a row's kind and the row.
    """
    compiler = ExpressionCompiler([f"row[{index}]" for index in range(width)], time_zone)
    lines = [
        "def expand(rows):",
        f"    for {'kind, row' if changelog else 'row'} in rows:",
        *(f"        k{index} = {compiler.value(key)}" for index, key in enumerate(keys)),
    ]
    for number, each in enumerate(sets):
        values = [f"k{index}" if index in each else "None" for index in range(len(keys))]
        made = f"row + {_tuple([*values, str(number)])}"
        lines.append(f"        yield {f'(kind, {made})' if changelog else made}")
    return Program("\n".join(lines) + "\n", "expand", compiler.bindings)


def compile_row(expressions: Sequence[Typed], width: int, time_zone: str) -> Program:
    """Return a function of a row that returns a tuple of values."""
    compiler = ExpressionCompiler([f"row[{index}]" for index in range(width)], time_zone)
    made = _tuple(compiler.value(expression) for expression in expressions)
    return Program(f"def row(row):\n    return {made}\n", "row", compiler.bindings)


def compile_value(expression: Typed, width: int, time_zone: str) -> Program:
    """Return a function of a row that returns one value."""
    compiler = ExpressionCompiler([f"row[{index}]" for index in range(width)], time_zone)
    source = f"def value(row):\n    return {compiler.value(expression)}\n"
    return Program(source, "value", compiler.bindings)


def compile_values(expression: Typed, width: int, time_zone: str) -> Program:
    """Return a function of rows that returns a list with one value of each."""
    pattern, columns = _pattern([expression], width)
    compiler = ExpressionCompiler(columns, time_zone)
    source = f"def values(rows):\n    return [{compiler.value(expression)} for {pattern} in rows]\n"
    return Program(source, "values", compiler.bindings)


def compile_condition(condition: Typed, widths: Sequence[int], time_zone: str) -> Program:
    """Return a function of one or more rows that is true if a condition is TRUE for them.

    Args:
        condition: over the columns of all rows, one row after the other.
        widths: how many columns each row has.
        time_zone: the session's, by name.
    """
    names = [f"row{number}" for number in range(len(widths))]
    columns = [f"{name}[{index}]" for name, width in zip(names, widths) for index in range(width)]
    compiler = ExpressionCompiler(columns, time_zone)
    made = compiler.condition(condition)
    source = f"def condition({', '.join(names)}):\n    return {made}\n"
    return Program(source, "condition", compiler.bindings)


def _pattern(expressions: Iterable[Typed], width: int) -> tuple[str, list[str]]:
    """Return the target of a loop over rows, and the source of each column.

    Taking all columns apart at once is faster, unless only a few of many are used.
    """
    used: set[int] = set()
    for expression in expressions:
        used |= input_refs(expression)
    if not width or len(used) * 3 < width or not used:
        return "row", [f"row[{index}]" for index in range(width)]
    names = [f"c{index}" if index in used else "_" for index in range(width)]
    return _comma(names), names


def _nested(pattern: str) -> str:
    return f"({pattern})" if "," in pattern else pattern


def _tuple(sources: Iterable[str]) -> str:
    return f"({_comma(list(sources))})"


def _comma(sources: list[str]) -> str:
    return ", ".join(sources) + ("," if len(sources) == 1 else "")


def is_identity(projection: Sequence[Typed], width: int) -> bool:
    """True for a projection that leaves rows unchanged."""
    return len(projection) == width and all(
        isinstance(item, InputRef) and item.index == index for index, item in enumerate(projection)
    )


def compile_correlate(
    function: TableFunction,
    args: Sequence[Typed],
    condition: Typed | None,
    width: int,
    added: int,
    time_zone: str,
    *,
    left: bool,
    changelog: bool,
) -> Program:
    """Return a generator function over rows that gives each row with those of a function.

    Args:
        function: the function.
        args: over the columns of a row.
        condition: which pairs are kept; over the columns of both; None for all.
        width: how many columns rows have.
        added: how many columns the function gives.
        time_zone: the session's, by name.
        left: whether a row without partners is kept, with NULLs.
        changelog: whether elements are pairs of the kind and the row.
    """
    columns = [f"row[{index}]" for index in range(width)]
    compiler = ExpressionCompiler(
        columns + [f"other[{index}]" for index in range(added)], time_zone
    )
    site = CallSite(compiler, logical.NULL, args, strict=False)
    rows = function.code(site)
    wrap = (lambda source: f"(kind, {source})") if changelog else (lambda source: source)
    lines = [
        "def calc(rows):",
        f"    for {'kind, row' if changelog else 'row'} in rows:",
        *(["        found = False"] if left else []),
        f"        for other in {rows}:",
    ]
    if condition is not None:
        lines.append(f"            if not {compiler.condition(condition)}: continue")
    lines += [
        *(["            found = True"] if left else []),
        f"            yield {wrap('row + other')}",
    ]
    if left:
        lines.append(f"        if not found: yield {wrap(f'row + {(None,) * added!r}')}")
    return Program("\n".join(lines) + "\n", "calc", compiler.bindings)


def nulls_low(value: object) -> object:
    """Return a value in a form in which NULL is less than anything else, in its parts too."""
    if value is None:
        return (0,)
    return (1, tuple(map(nulls_low, value)) if type(value) is tuple else value)


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
    if key.value.type.children:
        value = f"{compiler.bind(nulls_low, 'nulls_low')}({source})"
    if not key.ascending:
        if key.value.type.root in _NUMBERS:
            value = f"-{source}"
        else:
            value = f"{compiler.bind(Descending, 'Descending')}({value})"
    if not key.value.type.nullable:
        return value
    null, other = ("(0,)", "1") if key.nulls_first else ("(2,)", "1")
    return f"({null} if {source} is None else ({other}, {value}))"


_LARGEST_CONSTANT = 64 * 1024


def folded(expression: Typed, time_zone: str) -> Typed:
    """Return an expression with its constant parts evaluated.

    What fails stays as it is, and fails when the query runs. Long texts would burden the plan.

    Raises:
        TableError: a constant FLOAT or DOUBLE is divided by zero, which Flink's planner refuses.
    """
    operands = expression.operands
    if operands:
        expression = expression.with_operands(
            tuple(folded(operand, time_zone) for operand in operands)
        )
    if not isinstance(expression, Invocation | Conversion | FieldAccess):
        return expression
    if not all(isinstance(operand, Constant) for operand in expression.operands):
        return expression
    if isinstance(expression, Invocation) and not expression.function.foldable:
        return expression
    if not is_deterministic(expression):
        return expression
    _check_divisor(expression)
    try:
        value = compile_value(expression, 0, time_zone).load().function(())
    except Exception:  # noqa: BLE001 - whatever it is, it belongs to the run
        return expression
    if isinstance(value, str | bytes) and len(value) > _LARGEST_CONSTANT:
        return expression
    return Constant(expression.type.with_nullable(expression.type.nullable or value is None), value)


def _check_divisor(expression: Typed) -> None:
    if not isinstance(expression, Invocation) or expression.function.name != "/":
        return
    divisor = expression.args[1]
    if expression.type.root in logical.APPROXIMATE and getattr(divisor, "value", None) == 0:
        raise TableError("Division by zero")
