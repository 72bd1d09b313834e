"""Tests, compiled into a chain's code, of values against declared types; values of known types.

Code that this package compiles for a job contains them. A test is quick and may be wrong in one
direction: where it is false, the whole conversion decides.

An element that its declared type has been applied to, a number between constants, and the sum of
two such numbers need no test, or only one of a bound. Only exact types are known: not what a class
of a user may do in their place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyflink_on_spark._runtime.types.converters import codec_of
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    Types,
    basic_type_of,
    key_type_of,
    value_type_of,
)
from pyflink_on_spark.common.types import Row

Bind = Callable[[str, object], str]
"""Gives an object a name that compiled code can use; the argument is what the name begins with."""
_EXACT = {
    BasicType.STRING: "str",
    BasicType.BOOLEAN: "bool",
    BasicType.DOUBLE: "float",
    BasicType.BIG_INT: "int",
}
_NOTHING: Facts = {}
_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_MOST_BITS = 256
_LONGEST = (1 << 63) - 1
_OF_FLOATS = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv)
_Bounds = tuple[int, int]


def unchanged_test(
    type_info: object, value: str, parts: Sequence[str] = (), facts: Facts = _NOTHING
) -> str | None:
    """Write a test that is true only for immutable values which their type's conversion keeps.

    Args:
        type_info: the declared type.
        value: the expression of the value.
        parts: the variables with its items, if it is a tuple for sure.
        facts: what is known without a test.

    Returns:
        The test, or None for a type of which no value is known to be such.
    """
    if isinstance(type_info, BasicTypeInfo):
        return _basic_test(basic_type_of(type_info), value, facts)
    if isinstance(type_info, TupleTypeInfo):
        fields = type_info.get_field_types()
        items = parts if len(parts) == len(fields) else _items(value, len(fields))
        tests = [unchanged_test(*each, facts=facts) for each in zip(fields, items, strict=True)]
        return _tuple_test(value, tests, items is parts)
    return None


def unchanged_fields_test(type_info: Any, fields: Sequence[str]) -> str | None:
    """Write a test that is true only if the fields of a row are values that their types keep.

    Args:
        type_info: the declared type of the rows.
        fields: the expressions of the fields; each may be None.

    Returns:
        The test, or None for a type that is no such row.
    """
    tests = [
        (field, unchanged_test(kind, field))
        for kind, field in zip(type_info.get_field_types(), fields, strict=True)
    ]
    if not tests or any(test is None for _, test in tests):
        return None
    return " and ".join(f"({field} is None or {test})" for field, test in tests)


def plain_key_test(type_info: object, key: str, facts: Facts = _NOTHING) -> str | None:
    """Write a test that is true only for texts and whole numbers which their type keeps.

    Args:
        type_info: the declared type of the keys.
        key: the expression of the key.
        facts: what is known without a test.

    Returns:
        The test, or None for other types.
    """
    if not isinstance(type_info, BasicTypeInfo):
        return None
    plain = basic_type_of(type_info) in _BITS or _EXACT.get(basic_type_of(type_info)) in (
        "str",
        "int",
    )
    return _basic_test(basic_type_of(type_info), key, facts) if plain else None


def stored_test(
    type_info: object,
    value: str,
    bind: Bind,
    parts: Sequence[str] = (),
    kept: Sequence[str] = (),
    facts: Facts = _NOTHING,
) -> str | None:
    """Write a test that is true only for values that a state of a declared type keeps as they are.

    The test looks at the last element of a list or a map only: those before were tested when they
    came.

    Args:
        type_info: the declared type.
        value: the expression of the value.
        bind: names what the test uses.
        parts: the variables with its items, if it is a tuple for sure.
        kept: those of them that the state has had; what cannot change is not tested again.
        facts: what is known without a test.

    Returns:
        The test, or None for a type of which no value is known to be such.
    """
    if isinstance(type_info, PickledBytesTypeInfo):
        return "True"
    if isinstance(type_info, BasicTypeInfo):
        if value in kept:
            return "True"
        if basic_type_of(type_info) is BasicType.FLOAT:
            return f"type({value}) is float"
        return _basic_test(basic_type_of(type_info), value, facts)
    if isinstance(type_info, TupleTypeInfo):
        fields = type_info.get_field_types()
        items = parts if len(parts) == len(fields) else _items(value, len(fields))
        return _tuple_test(value, _stored_items(fields, items, bind, kept, facts), items is parts)
    if isinstance(type_info, RowTypeInfo):
        return _row_test(type_info, value, bind, parts, facts)
    if isinstance(type_info, ListTypeInfo):
        if type_info.elem_type == Types.BYTE():  # such a list is an object of type bytes
            return f"type({value}) is bytes"
        element = stored_test(type_info.elem_type, f"{value}[-1]", bind)
        of_elements = f"not {value}" if element is None else f"(not {value} or {element})"
        return f"type({value}) is list and {of_elements}"
    if isinstance(type_info, MapTypeInfo):
        return f"{bind('map_fits', _map_test(type_info))}({value})"
    return None


def _items(values: str, count: int) -> list[str]:
    return [f"{values}[{index}]" for index in range(count)]


def _stored_items(
    types: Sequence[object],
    items: Sequence[str],
    bind: Bind,
    kept: Sequence[str] = (),
    facts: Facts = _NOTHING,
) -> list[str | None]:
    return [
        stored_test(*each, bind, kept=kept, facts=facts) for each in zip(types, items, strict=True)
    ]


def is_literal(expression: str) -> bool:
    """True for the expression of a number, a text, bytes, a truth value or None."""
    return isinstance(ast.parse(expression, mode="eval").body, ast.Constant)


def _basic_test(basic_type: BasicType, value: str, facts: Facts) -> str | None:
    test = _test_of_variable(basic_type, value, facts)
    return str(eval(test)) if test and is_literal(value) else test  # noqa: S307 - of this module


def _test_of_variable(basic_type: BasicType, value: str, facts: Facts) -> str | None:
    known = facts.get(value)
    if basic_type in _BITS:
        limit = 1 << (_BITS[basic_type] - 1)
        if known is None or known.kind is not int:
            # Python compares twice in less time than it compares in a chain.
            return f"type({value}) is int and {value} <= {limit - 1} and {value} >= {-limit}"
        upper = [f"{value} <= {limit - 1}"] if known.high >= limit else []
        lower = [f"{value} >= {-limit}"] if known.low < -limit else []
        return " and ".join(upper + lower) or "True"
    exact = _EXACT.get(basic_type)
    if known is not None and known.kind.__name__ == exact:
        return "True"
    return None if exact is None else f"type({value}) is {exact}"


def _tuple_test(value: str, items: list[str | None], is_such: bool) -> str | None:
    """Write the test of a tuple of the tests of its items, which may be one of as many for sure."""
    known = [item for item in items if item is not None and item != "True"]
    if None in items:
        return None
    kind = [] if is_such else [f"type({value}) is tuple", f"len({value}) == {len(items)}"]
    return " and ".join([*kind, *known]) or "True"


def _row_test(
    type_info: RowTypeInfo, value: str, bind: Bind, parts: Sequence[str], facts: Facts
) -> str | None:
    """Write the test of a row; of its fields only, if ``parts`` are just these for sure."""
    fields = type_info.get_field_types()
    known = parts if len(parts) == len(fields) else ()
    items = _stored_items(
        fields, known or _items(f"{value}._values", len(fields)), bind, facts=facts
    )
    if None in items:
        return None
    if known:
        return " and ".join(item for item in items if item not in (None, "True")) or "True"
    names = bind("names", list(type_info.get_field_names()))
    return " and ".join([
        f"type({value}) is {bind('Row', Row)}",
        f"({value}._names is None or {value}._names == {names})",
        f"len({value}._values) == {len(items)}",
        *(item for item in items if item is not None and item != "True"),
    ])  # fmt: skip


def _map_test(type_info: MapTypeInfo) -> Callable[[Any], bool]:
    names: dict[str, object] = {}
    key, value = (
        stored_test(part, name, named_in(names)) or "False"
        for part, name in ((key_type_of(type_info), "key"), (value_type_of(type_info), "value"))
    )
    last_fits: Callable[[object, object], bool] = eval(  # noqa: S307 - the text is of this module
        f"lambda key, value: {key} and (value is None or {value})", names
    )

    def fits(entries: object) -> bool:
        return type(entries) is dict and (
            not entries or last_fits(*next(reversed(entries.items())))
        )

    return fits


def named_in(names: dict[str, object]) -> Bind:
    """Make the function that names objects in a namespace of compiled code."""

    def bind(name: str, thing: object) -> str:
        name = f"{name}{len(names)}"
        names[name] = thing
        return name

    return bind


class Certainty(NamedTuple):
    """The exact type of a value, and for an int its bounds, which are included."""

    kind: type
    low: int = 0
    high: int = 0


Facts = Mapping[str, Certainty]
"""The certainties of expressions, by their text."""


def declared_certainty(type_info: object, in_tuple: bool = False) -> Certainty | None:
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
    return Certainty(int, low, high) if low <= high else _EXACT_TYPES.get(codec.name)


_EXACT_TYPES = {"Double": Certainty(float), "Boolean": Certainty(bool)}


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
