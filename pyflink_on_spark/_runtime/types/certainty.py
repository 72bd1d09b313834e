"""Types of values that compiled code knows without a test.

An element that its declared type has been applied to, a number between constants, and the sum of
two such numbers need no test, or only one of a bound. Only exact types are known: not what a class
of a user may do in their place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark.common.typeinfo import BasicTypeInfo

_MOST_BITS = 256
_LONGEST = (1 << 63) - 1


class Certainty(NamedTuple):
    """The exact type of a value, and for an int its bounds, which are included."""

    kind: type
    low: int = 0
    high: int = 0


Facts = Mapping[str, Certainty]
"""The certainties of expressions, by their text."""


def declared_certainty(type_info: Any, in_tuple: bool = False) -> Certainty | None:
    """Return the certainty of a value that a stream's conversion to its type has returned.

    Args:
        type_info: the declared type.
        in_tuple: whether the value is the field of a tuple of such a type.
    """
    if not isinstance(type_info, BasicTypeInfo):
        return None
    codec = codec_of(type_info)
    if codec.nullable or (in_tuple and codec.null_in_tuple):
        return None
    low, high = codec.ints
    return Certainty(int, low, high) if low <= high else _EXACT.get(codec.name)


_EXACT = {"Double": Certainty(float), "Boolean": Certainty(bool)}


def narrower(one: Certainty, other: Certainty | None) -> Certainty:
    """Combine two things that are known of one value."""
    if other is None or one.kind is not int or other.kind is not int:
        return one
    return Certainty(int, max(one.low, other.low), min(one.high, other.high))


def certainty_of(expression: str, facts: Facts) -> Certainty | None:
    """Return the certainty of the value of an expression, if it has one.

    Args:
        expression: without side effects; names of builtins mean these.
        facts: the certainties of its parts.
    """
    found = facts.get(expression)
    return found or _Reader(facts).read(ast.parse(expression, mode="eval").body)


class _Reader:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def read(self, node: ast.expr) -> Certainty | None:
        found = self._facts.get(ast.unparse(node))
        read = None if found else _READERS.get(type(node))
        result = found or (read and read(self, node))
        if result and result.kind is int and max(-result.low, result.high) >> _MOST_BITS:
            return None
        return result

    def constant(self, node: ast.Constant) -> Certainty | None:
        if type(node.value) is int:
            return Certainty(int, node.value, node.value)
        kind = type(node.value)
        return Certainty(kind) if kind in (float, str, bool) else None

    def text(self, node: ast.JoinedStr) -> Certainty | None:
        # One part alone is what its __format__ returns, perhaps of a subclass.
        return Certainty(str) if len(node.values) > 1 else None

    def comparison(self, node: ast.Compare) -> Certainty | None:
        if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return Certainty(bool)
        known = all(map(self.read, (node.left, *node.comparators)))
        return Certainty(bool) if known and len(node.ops) == 1 else None

    def sign(self, node: ast.UnaryOp) -> Certainty | None:
        if isinstance(node.op, ast.Not):
            return Certainty(bool)
        value = self.read(node.operand)
        if value is None or value.kind is not int:
            return value if value and value.kind is float else None
        if isinstance(node.op, ast.USub):
            return Certainty(int, -value.high, -value.low)
        return Certainty(int, ~value.high, ~value.low)

    def call(self, node: ast.Call) -> Certainty | None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        values = list(map(self.read, node.args))
        if name == "len":
            return Certainty(int, 0, _LONGEST)
        if name == "str" and len(values) == 1 and values[0] is not None:
            return Certainty(str)
        ints = [each for each in values if each is not None and each.kind is int]
        if len(ints) < max(len(values), 1):
            return None
        if name == "abs":
            return Certainty(int, 0, max(-ints[0].low, ints[0].high, 0))
        if name in ("min", "max") and len(ints) > 1:
            choose: Callable[..., int] = min if name == "min" else max
            lows, highs = (each.low for each in ints), (each.high for each in ints)
            return Certainty(int, choose(lows), choose(highs))
        return None

    def operation(self, node: ast.BinOp) -> Certainty | None:
        left, right = self.read(node.left), self.read(node.right)
        if left is None or right is None:
            return None
        if left.kind is int and right.kind is int:
            bounds = _OF_INTS.get(type(node.op))
            found = bounds and bounds(left, right)
            return Certainty(int, *found) if found else None
        numbers = {left.kind, right.kind} <= {int, float}
        return Certainty(float) if numbers and type(node.op) in _OF_FLOATS else None


_READERS: dict[type, Callable[[_Reader, Any], Certainty | None]] = {
    ast.Constant: _Reader.constant,
    ast.JoinedStr: _Reader.text,
    ast.Compare: _Reader.comparison,
    ast.UnaryOp: _Reader.sign,
    ast.Call: _Reader.call,
    ast.BinOp: _Reader.operation,
}
_OF_FLOATS = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv)

_Bounds = tuple[int, int]


def _products(one: Certainty, other: Certainty) -> _Bounds:
    ends = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    return min(ends), max(ends)


def _bits_of_both(one: Certainty, other: Certainty) -> _Bounds:
    limits = [each.high for each in (one, other) if each.low >= 0]
    return (0, min(limits)) if limits else _bits(one, other)


def _bits(one: Certainty, other: Certainty) -> _Bounds:
    ends = (one.low, one.high, other.low, other.high)
    size = max((~end if end < 0 else end).bit_length() for end in ends)
    return -(1 << size) if min(one.low, other.low) < 0 else 0, (1 << size) - 1


_OF_INTS: dict[type, Callable[[Certainty, Certainty], _Bounds | None]] = {
    ast.Add: lambda one, other: (one.low + other.low, one.high + other.high),
    ast.Sub: lambda one, other: (one.low - other.high, one.high - other.low),
    ast.Mult: _products,
    ast.FloorDiv: lambda one, _: (-max(-one.low, one.high), max(-one.low, one.high)),
    ast.Mod: lambda _, other: (min(other.low + 1, 0), max(other.high - 1, 0)),
    ast.BitAnd: _bits_of_both,
    ast.BitOr: _bits,
    ast.BitXor: _bits,
    ast.RShift: lambda one, _: (min(one.low, 0), max(one.high, 0)),
}
