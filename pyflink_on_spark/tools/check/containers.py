"""Lists and dicts of a script whose parts are known, such as the options of a table."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from pyflink_on_spark.tools.check.values import HOLE, PLAIN, UNKNOWN, Items, Pairs, Text, Value

_ValueOf = Callable[[ast.expr], Value]
_SAME_PARTS = {"list", "tuple", "sorted", "reversed", "copy", "deepcopy"}
_READS = {
    "items", "keys", "values", "get", "copy", "index", "count", "join", "format", "__contains__"
}  # fmt: skip


def literal(node: ast.List | ast.Tuple | ast.Dict, value_of: _ValueOf) -> Value:
    """The value of a list, tuple or dict that a script writes down.

    Args:
        node: the expression.
        value_of: returns what is known of a part.
    """
    if isinstance(node, ast.Dict):
        return _dict(node, value_of)
    if any(isinstance(part, ast.Starred) for part in node.elts):
        return PLAIN
    return Items(tuple(value_of(part) for part in node.elts))


def _dict(node: ast.Dict, value_of: _ValueOf) -> Value:
    known = Pairs(())
    for key, part in zip(node.keys, node.values, strict=True):
        if key is None:
            unpacked = value_of(part)
            if not isinstance(unpacked, Pairs):
                return PLAIN
            known = known.updated(unpacked)
        else:
            known = known.updated(Pairs(((value_of(key), value_of(part)),)))
    return known


def part(owner: Value, key: Value, index: ast.expr) -> Value:
    """The part of a list or dict at an index.

    Args:
        owner: the list or dict.
        key: the value of the index.
        index: the index in the script, for numbers.
    """
    if isinstance(owner, Pairs) and isinstance(key, Text):
        return dict(owner.pairs).get(key, UNKNOWN)
    if isinstance(owner, Items) and isinstance(index, ast.Constant | ast.UnaryOp):
        number = _number(index)
        if number is not None and -len(owner.parts) <= number < len(owner.parts):
            return owner.parts[number]
    return UNKNOWN


def _number(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return sign * node.value
    return None


def returned(owner: Value, node: ast.Call, value_of: _ValueOf) -> Value | None:
    """The list or dict that a call returns, of a method or of ``dict``, ``list``; or None.

    Args:
        owner: what the method is called on.
        node: the call.
        value_of: returns what is known of an expression.
    """
    if isinstance(node.func, ast.Name):
        return _made(node.func.id, node, value_of)
    if not isinstance(node.func, ast.Attribute):
        return None
    name = node.func.attr
    if isinstance(owner, Pairs):
        match name:
            case "items":
                return Items(tuple(Items(pair) for pair in owner.pairs))
            case "keys":
                return Items(tuple(key for key, _ in owner.pairs))
            case "values":
                return Items(tuple(value for _, value in owner.pairs))
            case "get" if node.args:
                found = part(owner, value_of(node.args[0]), node.args[0])
                default = value_of(node.args[1]) if len(node.args) > 1 else UNKNOWN
                return default if found == UNKNOWN else found
    return owner if isinstance(owner, Items | Pairs) and name == "copy" else None


def _made(name: str, node: ast.Call, value_of: _ValueOf) -> Value | None:
    if name == "dict" and len(node.args) <= 1:
        known = value_of(node.args[0]) if node.args else Pairs(())
        if not isinstance(known, Pairs) or any(word.arg is None for word in node.keywords):
            return None
        named = ((Text(word.arg or ""), value_of(word.value)) for word in node.keywords)
        return known.updated(Pairs(tuple(named)))
    if name in _SAME_PARTS and len(node.args) == 1:
        known = value_of(node.args[0])
        return known if isinstance(known, Items) or name == "deepcopy" else None
    return None


def changed(owner: Value, node: ast.Call, value_of: _ValueOf) -> Value | None:
    """The list or dict after one of its methods; None if the method changes nothing.

    Args:
        owner: what the method is called on.
        node: the call.
        value_of: returns what is known of an expression.
    """
    if not isinstance(node.func, ast.Attribute) or not isinstance(owner, Items | Pairs):
        return None
    name = node.func.attr
    if name in _READS:
        return None
    given = [value_of(argument) for argument in node.args]
    if isinstance(owner, Items) and name == "append" and len(given) == 1:
        return Items((*owner.parts, given[0]))
    if isinstance(owner, Items) and name == "extend" and len(given) == 1:
        return added(owner, given[0]) or PLAIN
    if isinstance(owner, Pairs) and name == "update":
        made = _made("dict", node, value_of)
        if isinstance(made, Pairs):
            return owner.updated(made)
    return PLAIN


def with_part(owner: Value, key: Value, value: Value) -> Value:
    """The list or dict once one of its parts is another.

    Args:
        owner: the list or dict.
        key: the value of the index.
        value: the new part.
    """
    if isinstance(owner, Pairs) and isinstance(key, Text):
        return owner.updated(Pairs(((key, value),)))
    return PLAIN if isinstance(owner, Items | Pairs) else owner


def added(left: Value, right: Value) -> Value | None:
    """The list that ``+`` makes, or the dict that ``|`` makes; None for other values."""
    if isinstance(left, Items) and isinstance(right, Items):
        return Items(left.parts + right.parts)
    if isinstance(left, Pairs) and isinstance(right, Pairs):
        return left.updated(right)
    return None


def iterated(value: Value) -> tuple[Value, ...] | None:
    """The parts that a loop over a value goes through; None if they are not known."""
    if isinstance(value, Pairs):
        return tuple(key for key, _ in value.pairs)
    return value.parts if isinstance(value, Items) else None


def compared(test: ast.expr, value_of: _ValueOf) -> bool | None:
    """True or False for a comparison of known texts; None for another test.

    Args:
        test: the comparison.
        value_of: returns what is known of an expression.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right = value_of(test.left), value_of(test.comparators[0])
    parts = right.parts if isinstance(right, Items) else (right,)
    if not all(isinstance(each, Text) and HOLE not in each.text for each in (left, *parts)):
        return None
    match test.ops[0]:
        case ast.Eq() if right == parts[0]:
            return left == right
        case ast.NotEq() if right == parts[0]:
            return left != right
        case ast.In() if isinstance(right, Items):
            return left in parts
        case ast.NotIn() if isinstance(right, Items):
            return left not in parts
    return None


def certainly_holds(tests: list[ast.expr], value_of: _ValueOf) -> bool:
    """True if a comprehension keeps a part: its tests ask only for a text that is there."""
    return all(any(value_of(name) != UNKNOWN for name in _asked(test)) for test in tests)


def _asked(test: ast.expr) -> Iterator[ast.Name]:
    match test:
        case ast.Name():
            yield test
        case ast.Compare(
            left=ast.Name() as name, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]
        ):
            yield name
