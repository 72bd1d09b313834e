"""Expressions with every name resolved and every type known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.types.coercion import MAX_DIGITS
from pyflink_on_spark._sql.types.logical import NUMERIC, LogicalType, Root, decimal

if TYPE_CHECKING:
    from pyflink_on_spark._sql.plan.signatures import (
        AggregateFunction,
        AggregateOverload,
        Overload,
        ScalarFunction,
    )


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression.

    Args:
        type: what its values are.
    """

    type: LogicalType

    @property
    def operands(self) -> tuple[Typed, ...]:
        """The expressions that it is made of."""
        return ()

    def with_operands(self, operands: tuple[Typed, ...]) -> Typed:
        """Return the same with other operands."""
        return self


@dataclass(frozen=True, slots=True)
class InputRef(Typed):
    """A column of the input.

    Args:
        index: its position; over two inputs the second one's columns follow the first one's.
    """

    index: int

    def __str__(self) -> str:
        return f"${self.index}"


@dataclass(frozen=True, slots=True)
class OuterRef(Typed):
    """A column of the query around a query.

    Args:
        index: its position there.
    """

    index: int

    def __str__(self) -> str:
        return f"$cor.{self.index}"


@dataclass(frozen=True, slots=True)
class Constant(Typed):
    """A value.

    Args:
        value: in the form that values have inside a query.
    """

    value: Any

    def __hash__(self) -> int:
        try:
            return hash((self.type, self.value))
        except TypeError:  # a map is a dict
            return hash((self.type, repr(self.value)))

    def __str__(self) -> str:
        return "NULL" if self.value is None else repr(self.value)


@dataclass(frozen=True, slots=True)
class Invocation(Typed):
    """A function of other expressions, each converted to the type of the parameter.

    Args:
        function: the function.
        overload: which form of it.
        args: the arguments.
        symbols: keywords among them.
    """

    function: ScalarFunction
    overload: Overload
    args: tuple[Typed, ...]
    symbols: tuple[str, ...] = ()

    @property
    def operands(self) -> tuple[Typed, ...]:
        """The arguments."""
        return self.args

    def with_operands(self, operands: tuple[Typed, ...]) -> Typed:
        """Return the same function of other arguments."""
        return replace(self, args=operands)

    def __str__(self) -> str:
        args = [str(arg) for arg in self.args]
        name = self.function.name
        if len(args) == 2 and not name[0].isalpha():
            return f"({args[0]} {name} {args[1]})"
        return f"{name}({', '.join([*self.symbols, *args])})"


@dataclass(frozen=True, slots=True)
class Conversion(Typed):
    """A ``CAST``, the user's or one that the types of a function ask for.

    Args:
        operand: what is converted.
        lenient: whether what cannot be converted is NULL.
    """

    operand: Typed
    lenient: bool = False

    @property
    def operands(self) -> tuple[Typed, ...]:
        """The converted expression."""
        return (self.operand,)

    def with_operands(self, operands: tuple[Typed, ...]) -> Typed:
        """Return the same conversion of another expression."""
        return replace(self, operand=operands[0])

    def __str__(self) -> str:
        word = "TRY_CAST" if self.lenient else "CAST"
        return f"{word}({self.operand} AS {self.type.text(nullability=False)})"


@dataclass(frozen=True, slots=True)
class FieldAccess(Typed):
    """A field of a row.

    Args:
        operand: the row.
        index: the field's position.
    """

    operand: Typed
    index: int

    @property
    def operands(self) -> tuple[Typed, ...]:
        """The row."""
        return (self.operand,)

    def with_operands(self, operands: tuple[Typed, ...]) -> Typed:
        """Return the same field of another row."""
        return replace(self, operand=operands[0])

    def __str__(self) -> str:
        return f"{self.operand}.{self.operand.type.names[self.index]}"


@dataclass(frozen=True, slots=True)
class AggregateInvocation:
    """A call of an aggregate function over the rows of a group.

    Args:
        type: what its value is.
        function: the function.
        overload: which form of it.
        args: over the columns of the input.
        distinct: whether equal arguments count once.
        filter: which rows count; None for all.
    """

    type: LogicalType
    function: AggregateFunction
    overload: AggregateOverload
    args: tuple[Typed, ...]
    distinct: bool = False
    filter: Typed | None = None

    def __str__(self) -> str:
        word = "DISTINCT " if self.distinct else ""
        args = ", ".join(map(str, self.args)) or "*"
        condition = "" if self.filter is None else f" FILTER {self.filter}"
        return f"{self.function.name}({word}{args}){condition}"


def walk(expression: Typed) -> Iterator[Typed]:
    """Yield an expression and everything that it is made of, each before its operands."""
    todo = [expression]
    while todo:
        part = todo.pop()
        yield part
        todo.extend(reversed(part.operands))


class Heights:
    """The heights of expressions: 1 for one without operands. Each is computed once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Typed]] = {}

    def of(self, expression: Typed) -> int:
        """Return the height of an expression."""
        known = self._known
        todo = [expression]
        while todo:
            part = todo[-1]
            if id(part) in known:
                todo.pop()
                continue
            missing = [operand for operand in part.operands if id(operand) not in known]
            if missing:
                todo += missing
                continue
            height = 1 + max((known[id(operand)][0] for operand in part.operands), default=0)
            known[id(part)] = height, part  # the expression has to live as long as its id counts
            todo.pop()
        return known[id(expression)][0]


def input_refs(expression: Typed) -> set[int]:
    """Return the positions of the columns that an expression uses."""
    return {part.index for part in walk(expression) if isinstance(part, InputRef)}


def rewrite(expression: Typed, change: Callable[[Typed], Typed | None]) -> Typed:
    """Return an expression in which parts are replaced, from the whole to the parts.

    Args:
        expression: the expression.
        change: what a part becomes, or None to look into it.
    """
    changed = change(expression)
    if changed is not None:
        return changed
    operands = expression.operands
    if not operands:
        return expression
    return expression.with_operands(tuple(rewrite(part, change) for part in operands))


def substitute(expression: Typed, columns: tuple[Typed, ...]) -> Typed:
    """Return an expression with what its columns are computed from in place of them."""
    return rewrite(
        expression, lambda part: columns[part.index] if isinstance(part, InputRef) else None
    )


def shifted(expression: Typed, distance: int) -> Typed:
    """Return an expression over columns that are so many positions further on."""
    return rewrite(
        expression,
        lambda part: (
            replace(part, index=part.index + distance) if isinstance(part, InputRef) else None
        ),
    )


def is_deterministic(expression: Typed) -> bool:
    """True for an expression that always has the same value for the same row."""
    return all(
        part.function.deterministic for part in walk(expression) if isinstance(part, Invocation)
    )


def conjuncts(condition: Typed | None) -> list[Typed]:
    """Return the parts that all have to be TRUE for a condition to be TRUE."""
    if condition is None:
        return []
    if isinstance(condition, Invocation) and condition.function.name == "AND":
        return [part for arg in condition.args for part in conjuncts(arg)]
    return [condition]


def convert(expression: Typed, target: LogicalType) -> Typed:
    """Return an expression of another type; NULL stays NULL."""
    target = target.with_nullable(expression.type.nullable).plain()
    if isinstance(expression, Constant) and expression.value is None:
        return Constant(target.with_nullable(True), None)
    if expression.type.same_values(target):
        return expression
    return Conversion(target, expression)


def with_all_digits(expression: Typed) -> Typed:
    """Return a constant that is cast to DECIMAL as the DECIMAL that it was written as.

    Anything else stays as it is, and so does a constant that may not fit.
    """
    number = expression
    while isinstance(number, Conversion) and not number.lenient and _is_decimal(number):
        number = number.operand
    if number is expression or not isinstance(number, Constant) or number.type.root not in NUMERIC:
        return expression
    value = Decimal(str(number.value))
    if _is_decimal(number):
        value = value.scaleb(-(number.type.scale or 0))
    target = expression.type
    scale = len(f"{value:f}".partition(".")[2])
    unscaled = int(value.scaleb(scale))
    digits = max(len(str(abs(unscaled))), scale)
    whole_digits = (target.precision or 0) - (target.scale or 0)
    if digits > MAX_DIGITS or abs(value) >= 10**whole_digits - 1:
        return expression
    return Constant(decimal(digits, scale).with_nullable(target.nullable), unscaled)


def _is_decimal(expression: Typed) -> bool:
    return expression.type.root is Root.DECIMAL
