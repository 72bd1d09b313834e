"""Functions of rows, in which expressions stand once: values, conditions, whole rows, orders."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import total_ordering
from operator import itemgetter
from typing import Any

from pyflink_on_spark._sql.codegen.casts import cast
from pyflink_on_spark._sql.codegen.program import Part, Program
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    FieldAccess,
    Heights,
    InputRef,
    Invocation,
    Typed,
    input_refs,
    is_deterministic,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import SortKey
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Nulls, TableFunction, is_atom
from pyflink_on_spark._sql.types import logical

PART_HEIGHT = 32
"""How high an expression of one function is. Python compiles no more than some 90 nested ones."""

Structure = Hashable
"""Equal for two expressions that always have the same value for the same row."""


def structure(expression: Typed) -> Structure:
    """Return a value that is equal for expressions with equal results."""
    kind = expression.type
    if isinstance(expression, Constant):
        # 0.0 equals -0.0, and 1 equals TRUE.
        return Constant, kind, repr(expression.value)
    parts = tuple(map(structure, expression.operands))
    if isinstance(expression, Invocation):
        return kind, expression.function, expression.overload, expression.symbols, parts
    if isinstance(expression, Conversion):
        return Conversion, kind, expression.lenient, parts
    if isinstance(expression, InputRef | FieldAccess):
        return type(expression), kind, expression.index, parts
    return type(expression), id(expression)


def repeated(expressions: Iterable[Typed]) -> frozenset[Structure]:
    """Return the structures of the calls that several expressions, or parts of them, have.

    A call inside one that is repeated is not, unless it stands elsewhere as well. Functions of the
    user are called as often as the query says. High expressions are left out: their parts are in
    several functions.
    """
    counts: Counter[Structure] = Counter()
    heights = Heights()
    for expression in expressions:
        if heights.of(expression) < PART_HEIGHT:
            _count(expression, counts)
    return frozenset(found for found, count in counts.items() if count > 1)


def _count(expression: Typed, counts: Counter[Structure]) -> None:
    if isinstance(expression, Invocation | Conversion) and _can_be_kept(expression):
        found = structure(expression)
        counts[found] += 1
        if counts[found] > 1:
            return
    for operand in expression.operands:
        _count(operand, counts)


def _can_be_kept(expression: Typed) -> bool:
    return is_deterministic(expression) and all(
        part.function.foldable for part in walk(expression) if isinstance(part, Invocation)
    )


_CALL = re.compile(r"\w\(")
_WRITTEN = frozenset({int, str, bool, bytes, type(None)})


class ExpressionCompiler:
    """Makes the source of one function's expressions.

    The source is one Python expression each time. It assigns to names of its own, so it has to be
    inside a function. Of a high expression the lower parts become functions of their own.

    Args:
        columns: the source of each column of the input.
        time_zone: the session's, by name.
        repeated: the structures of the parts whose values are kept for the rest of the row. The
            function sets ``kept`` to ``...`` before each row.
    """

    def __init__(
        self,
        columns: list[str],
        time_zone: str = "UTC",
        repeated: frozenset[Structure] = frozenset(),
    ) -> None:
        self._columns = columns
        self.time_zone = time_zone
        self.bindings: dict[str, object] = {}
        self._repeated = repeated
        self.kept: dict[Structure, str] = {}
        """The names of the values that are kept, by the structures of what they are of."""
        self._names = itertools.count(1)
        self._heights = Heights()
        self.whole: Typed | None = None
        """The expression of which this compiler makes a function, if it is a part."""

    def bind(self, thing: object, hint: str) -> str:
        """Make an object known to the code, and return its name there."""
        for name, bound in self.bindings.items():
            if bound is thing:
                return name
        name = hint if hint not in self.bindings else f"{hint}_{len(self.bindings)}"
        self.bindings[name] = thing
        return name

    def temporary(self) -> str:
        """Return a name that nothing else has."""
        return f"t{next(self._names)}"

    def over(self, columns: list[str]) -> ExpressionCompiler:
        """Return a compiler of expressions over other columns, for the same function."""
        other = ExpressionCompiler(columns, self.time_zone)
        other.bindings, other._names = self.bindings, self._names
        other._heights = self._heights
        return other

    def value(self, expression: Typed) -> str:
        """Return the source of an expression's value."""
        if isinstance(expression, InputRef):
            return self._columns[expression.index]
        if isinstance(expression, Constant):
            return self._constant(expression.value)
        if isinstance(expression, FieldAccess):
            return self._field(expression)
        if self._is_part(expression):
            return self._part(expression, ExpressionCompiler.value)
        if self._repeated:
            return self._once(expression)
        return self._computed(expression)

    def _is_part(self, expression: Typed) -> bool:
        """True for an expression that is compiled as a function of its own."""
        return expression is not self.whole and self._heights.of(expression) % PART_HEIGHT == 0

    def _part(self, expression: Typed, make: Callable[[ExpressionCompiler, Typed], str]) -> str:
        """Return a call of a function that has the source of an expression.

        Args:
            expression: the expression.
            make: makes the source.
        """
        used = sorted(input_refs(expression))
        columns = list(self._columns)
        for index in used:
            columns[index] = f"c{index}"
        inner = self.over(columns)
        inner.whole = expression
        name = f"part_{len(self.bindings)}"
        self.bindings[name] = None  # takes the name
        parameters = ", ".join(columns[index] for index in used)
        source = f"\ndef {name}({parameters}):\n    return {make(inner, expression)}\n"
        self.bindings[name] = Part(source)
        return f"{name}({', '.join(self._columns[index] for index in used)})"

    def _once(self, expression: Typed) -> str:
        """Return source that computes a value that is not known yet, and keeps a repeated one."""
        source = self._computed(expression)
        found = structure(expression)
        if found not in self._repeated or _CALL.search(source) is None:
            return source
        name = self.kept.setdefault(found, f"k{len(self.kept)}")
        return f"({name} if {name} is not ... else ({name} := {source}))"

    def _computed(self, expression: Typed) -> str:
        site, code = self._site(expression)
        source = code(site)
        checks = [f"{tested} is {sentinel}" for tested, sentinel in site.checks]
        if checks:
            source = f"None if {' or '.join(checks)} else {source}"
        return source if is_atom(source) else f"({source})"

    def condition(self, expression: Typed) -> str:
        """Return source that is true in Python if, and only if, an expression is TRUE."""
        if self._is_part(expression):
            return self._part(expression, ExpressionCompiler.condition)
        if isinstance(expression, Invocation) and expression.overload.condition is not None:
            site = self._call_site(expression, strict=False)
            source = expression.overload.condition(site)
        elif isinstance(expression, Invocation) and expression.overload.nulls is not Nulls.CALLED:
            site = self._call_site(expression, strict=True)
            source = expression.overload.code(site)
        else:
            return self.value(expression)
        checks = [f"{tested} is not {sentinel}" for tested, sentinel in site.checks]
        return f"({' and '.join([*checks, source])})"

    def _site(self, expression: Typed) -> tuple[CallSite, Code]:
        if isinstance(expression, Conversion):
            code, strict = cast(expression)
            return CallSite(self, expression.type, expression.operands, strict=strict), code
        assert isinstance(expression, Invocation)
        overload = expression.overload
        return self._call_site(expression, overload.nulls is not Nulls.CALLED), overload.code

    def _call_site(self, call: Invocation, strict: bool) -> CallSite:
        return CallSite(self, call.type, call.args, call.symbols, strict)

    def _constant(self, value: object) -> str:
        if type(value) in _WRITTEN or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self.bind(value, "constant")

    def _field(self, access: FieldAccess) -> str:
        row = self.value(access.operand)
        if not access.operand.type.nullable:
            return f"{row}[{access.index}]"
        if is_atom(row):
            return f"(None if {row} is None else {row}[{access.index}])"
        name = self.temporary()
        return f"(None if ({name} := {row}) is None else {name}[{access.index}])"


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
