"""Which columns are the start, the end and the time of windows, and which joins compare windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyflink_on_spark._sql.plan.expand import Expand
from pyflink_on_spark._sql.plan.expressions import InputRef, Invocation, Typed, conjuncts
from pyflink_on_spark._sql.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Node,
    Project,
    WindowKind,
    WindowTable,
)
from pyflink_on_spark._sql.plan.over import Over

_COLUMNS = 3


def windows_of(node: Node) -> dict[int, tuple[WindowTable, int]]:
    """Return which columns of a node are the start (0), end (1) and time (2) of windows."""
    if isinstance(node, WindowTable):
        first = len(node.schema) - _COLUMNS
        return {first + index: (node, index) for index in range(_COLUMNS)}
    if isinstance(node, Filter | Over | Expand):
        return windows_of(node.input)
    if isinstance(node, Project):
        return _passed_on(node.expressions, windows_of(node.input))
    if isinstance(node, Aggregate):
        found = _passed_on(node.keys, windows_of(node.input))
        whole = {0, 1} <= {part for _, part in found.values()}
        sessions = any(window.kind is WindowKind.SESSION for window, _ in found.values())
        return found if whole and not sessions else {}
    if isinstance(node, Join) and window_join(node.left, node.right, node.condition) is not None:
        width = len(node.left.schema)
        right = {index + width: part for index, part in windows_of(node.right).items()}
        return windows_of(node.left) | right
    return {}


def _passed_on(
    columns: Sequence[Typed], below: dict[int, tuple[WindowTable, int]]
) -> dict[int, tuple[WindowTable, int]]:
    return {
        index: below[item.index]
        for index, item in enumerate(columns)
        if isinstance(item, InputRef) and item.index in below
    }


@dataclass(frozen=True)
class WindowJoinKeys:
    """The windows of two nodes that a condition wants to be the same.

    Args:
        window: the windows.
        left: the position of the end of windows on the left.
        right: that on the right, among the columns there.
        rest: what else the condition asks for.
    """

    window: WindowTable
    left: int
    right: int
    rest: tuple[Typed, ...]


def window_join(left: Node, right: Node, condition: Typed | None) -> WindowJoinKeys | None:
    """Return the windows that a condition joins rows by, or None."""
    one, two, width = windows_of(left), windows_of(right), len(left.schema)
    if not one or not two:
        return None
    found: dict[int, tuple[int, int]] = {}
    rest: list[Typed] = []
    for part in conjuncts(condition):
        pair = _equal_columns(part, width)
        if pair is None or pair[0] not in one or pair[1] not in two:
            rest.append(part)
            continue
        (window, what), (other, same) = one[pair[0]], two[pair[1]]
        if what != same or window.shape != other.shape:
            rest.append(part)
        else:
            found[what] = pair
    if not {0, 1} <= found.keys():
        return None
    window, _ = one[found[1][0]]
    return WindowJoinKeys(window, *found[1], tuple(rest))


def _equal_columns(part: Typed, width: int) -> tuple[int, int] | None:
    if not isinstance(part, Invocation) or part.function.name != "=":
        return None
    one, two = part.args
    if not isinstance(one, InputRef) or not isinstance(two, InputRef):
        return None
    first, second = sorted((one.index, two.index))
    return (first, second - width) if first < width <= second else None
