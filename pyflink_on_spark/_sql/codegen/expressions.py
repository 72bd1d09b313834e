"""Finds the parts of a row's expressions that stand in them more than once."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable

from pyflink_on_spark._sql.codegen.casts import cast
from pyflink_on_spark._sql.codegen.program import Part
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
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Nulls, is_atom

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
