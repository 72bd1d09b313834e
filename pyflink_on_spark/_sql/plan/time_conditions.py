"""Time bounds in conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
)
from pyflink_on_spark._sql.types.logical import Root, Time

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_MILLI = 1000


@dataclass(frozen=True)
class TimeBounds:
    """The bounds between the times of two rows that can be partners.

    Args:
        left: the position of the time attribute of the left rows.
        right: that of the right rows, among their columns.
        lower: the least that the right time is after the left time (microseconds).
        upper: the most.
        event_time: whether the attributes are event time.
        rest: what else the condition asks for.
    """

    left: int
    right: int
    lower: int
    upper: int
    event_time: bool
    rest: tuple[Typed, ...]


def time_bounds(condition: Typed | None, width: int) -> TimeBounds | None:
    """Return the bounds that a condition sets, or None unless there are both.

    Args:
        condition: over the columns of both sides.
        width: how many columns the left side has.
    """
    attributes: tuple[InputRef, InputRef] | None = None
    lower: list[int] = []
    upper: list[int] = []
    rest: list[Typed] = []
    for part in conjuncts(condition):
        found = [_distance(*each, width) for each in _comparisons(part)]
        if not found or any(
            each is None or (attributes is not None and each[0] != attributes) for each in found
        ):
            rest.append(part)
            continue
        for each in found:
            assert each is not None
            attributes, name, offset = each
            if name in {"=", ">=", ">"}:
                lower.append(offset + (_MILLI if name == ">" else 0))
            if name in {"=", "<=", "<"}:
                upper.append(offset - (_MILLI if name == "<" else 0))
    if attributes is None or not lower or not upper:
        return None
    left, right = attributes
    event_time = left.type.time is Time.ROWTIME
    return TimeBounds(
        left.index, right.index - width, max(lower), min(upper), event_time, tuple(rest)
    )


def _comparisons(part: Typed) -> Iterator[tuple[str, Typed, Typed]]:
    if not isinstance(part, Invocation):
        return
    name, args = part.function.name, part.args
    if name in _FLIPPED:
        yield name, args[0], args[1]
    elif name == "BETWEEN" and not part.symbols:
        yield ">=", args[0], args[1]
        yield "<=", args[0], args[2]


def _distance(
    name: str, one: Typed, two: Typed, width: int
) -> tuple[tuple[InputRef, InputRef], str, int] | None:
    """Return the attributes, and how the right one less the left one compares with a distance."""
    first, second = _moved(one), _moved(two)
    if first is None or second is None:
        return None
    (left, left_offset), (right, right_offset) = first, second
    if left.index >= width:
        left, left_offset, right, right_offset = right, right_offset, left, left_offset
    else:
        name = _FLIPPED[name]
    if left.index >= width or right.index < width or left.type.time is not right.type.time:
        return None
    return (left, right), name, left_offset - right_offset


def _moved(expression: Typed) -> tuple[InputRef, int] | None:
    """Return a time attribute and the amount added to it (microseconds)."""
    if isinstance(expression, InputRef):
        return None if expression.type.time is None else (expression, 0)
    if isinstance(expression, Conversion) and expression.type.root is expression.operand.type.root:
        return _moved(expression.operand)
    if not isinstance(expression, Invocation) or expression.function.name not in {"+", "-"}:
        return None
    operands: Sequence[Typed] = expression.args
    if expression.function.name == "+" and isinstance(operands[0], Constant):
        operands = operands[::-1]
    time, distance = operands
    if not isinstance(distance, Constant) or distance.type.root is not Root.INTERVAL_SECOND:
        return None
    below = _moved(time)
    if below is None or distance.value is None:
        return None
    sign = 1 if expression.function.name == "+" else -1
    return below[0], below[1] + sign * int(distance.value)
