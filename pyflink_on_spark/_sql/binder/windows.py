"""Windows of time: table functions, and TUMBLE, HOP and SESSION in GROUP BY."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.expressions import Scope
from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Node, Schema, WindowKind, WindowTable
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

KINDS = {kind.value: kind for kind in WindowKind}


_PARAMETERS = {
    WindowKind.TUMBLE: ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    WindowKind.HOP: ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    WindowKind.CUMULATE: ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    WindowKind.SESSION: ("DATA", "TIMECOL", "GAP"),
}
_STEPS = {WindowKind.HOP: "SLIDE", WindowKind.CUMULATE: "STEP"}


def window_table(
    source: Node,
    kind: WindowKind,
    time: Typed,
    size: int,
    step: int = 0,
    offset: int = 0,
    partition: tuple[int, ...] | None = None,
    span: Span | None = None,
    *,
    batch: bool = False,
) -> WindowTable:
    """Return the rows of a node with the start, the end and the time of their windows.

    Args:
        source: the node.
        kind: of the windows.
        time: the time attribute.
        size: of the windows; of sessions the gap; microseconds.
        step: between the starts of windows, or the ends of cumulating ones; microseconds.
        offset: of all windows; microseconds.
        partition: the columns that sessions are apart by.
        span: where the time attribute is, for the message.
        batch: whether the query runs in batch mode, in which any timestamp will do.

    Raises:
        ValidationError: it is no time attribute, or the sizes do not fit.
    """
    if not isinstance(time, InputRef) or not _is_time(time.type, batch):
        raise invalid(
            f"The window function requires the timecol is a time attribute type, but is {time.type}"
            ".",
            span,
        )
    if kind is WindowKind.CUMULATE and size % step:
        raise invalid(
            "CUMULATE table function requires maxSize must be an integral multiple of step, "
            f"but got maxSize {size // 1000} ms and step {step // 1000} ms",
            span,
        )
    moment = logical.timestamp(3).with_nullable(False)
    attribute = replace(time.type, nullable=False, precision=3)
    names = (*source.schema.names, "window_start", "window_end", "window_time")
    types = (*source.schema.types, moment, moment, attribute)
    return WindowTable(
        Schema(names, types), source, kind, time.index, size, step, offset, partition
    )


def _is_time(kind: LogicalType, batch: bool) -> bool:
    return kind.time is not None or (batch and kind.root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ})


def bind_window_function(
    call: syntax.Call, bind_query: Callable[[Any], Node], *, batch: bool
) -> Node:
    """Return the rows of ``TABLE(TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL ...))``.

    Args:
        call: the call.
        bind_query: makes a node of a query.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: an argument is missing or wrong.
    """
    kind = KINDS[call.name.upper()]
    given = _by_name(call, _PARAMETERS[kind])
    data = given["DATA"]
    if isinstance(data, syntax.Subquery) and data.quantifier is syntax.Quantifier.SCALAR:
        data = syntax.TableArgument(data.query, span=data.span)
    if not isinstance(data, syntax.TableArgument):
        raise invalid(f"{call.name} needs a table: TABLE t", data.span)
    source = bind_query(data.query)
    scope = Scope.of(source.schema)
    time = given["TIMECOL"]
    if not isinstance(time, syntax.Descriptor) or len(time.names) != 1:
        raise invalid(f"{call.name} needs a column: DESCRIPTOR(c)", time.span)
    column = scope.resolve(time.names[0])
    partition = tuple(_column(scope, item) for item in data.partition_by)
    size = interval_of(given["GAP" if kind is WindowKind.SESSION else "SIZE"])
    step = interval_of(given[word]) if (word := _STEPS.get(kind)) else 0
    offset = interval_of(given["OFFSET"]) if "OFFSET" in given else 0
    return window_table(source, kind, column, size, step, offset, partition, time.span, batch=batch)


def _by_name(call: syntax.Call, parameters: Sequence[str]) -> dict[str, syntax.Expression]:
    given: dict[str, syntax.Expression] = {}
    for parameter, arg in zip(parameters, call.args):
        if isinstance(arg, syntax.NamedArgument):
            given[arg.name.upper()] = arg.value
        else:
            given[parameter] = arg
    required = [name for name in parameters if name != "OFFSET"]
    missing = [name for name in required if name not in given]
    if missing or len(call.args) > len(parameters) or given.keys() - set(parameters):
        raise invalid(
            f"No match found for function signature {call.name}(...): the arguments are "
            f"{', '.join(parameters)}",
            call.span,
        )
    return given


def _column(scope: Scope, item: syntax.Expression) -> int:
    if not isinstance(item, syntax.Name):
        raise invalid("PARTITION BY needs columns", item.span)
    column = scope.resolve(item)
    if not isinstance(column, InputRef):
        raise invalid("PARTITION BY needs columns", item.span)
    return column.index


def interval_of(node: syntax.Expression) -> int:
    """Return the microseconds of an interval that is a constant.

    Raises:
        ValidationError: the window is not valid.
    """
    if isinstance(node, syntax.Literal) and node.type.root is Root.INTERVAL_SECOND:
        return int(node.value)
    raise invalid("A window's size has to be an interval of days or less, as a constant", node.span)


# -- groups by windows ---------------------------------------------------------------------------


def group_window(node: object) -> WindowKind | None:
    """Return the kind of window that an item of GROUP BY asks for."""
    if isinstance(node, syntax.Call) and len(node.args) > 1:
        return KINDS.get(node.name.upper())
    return None


def bind_group_window(source: Node, node: syntax.Call, scope: Scope, *, batch: bool) -> WindowTable:
    """Return the rows of a node in the windows that an item of GROUP BY asks for.

    Args:
        source: the node.
        node: the item.
        scope: the columns.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: an argument is wrong.
    """
    kind = KINDS[node.name.upper()]
    if not isinstance(node.args[0], syntax.Name):
        raise invalid(
            "Window aggregate can only be defined over a time attribute column", node.span
        )
    time = scope.resolve(node.args[0])
    if not isinstance(time, InputRef) or not _is_time(time.type, batch):
        raise invalid(
            "Window aggregate can only be defined over a time attribute column, but "
            f"{time.type} encountered.",
            node.args[0].span,
        )
    sizes = [interval_of(arg) for arg in node.args[1:]]
    if kind is WindowKind.HOP:
        return window_table(source, kind, time, sizes[1], sizes[0], span=node.span, batch=batch)
    return window_table(source, kind, time, sizes[0], span=node.span, batch=batch)


def window_property(
    node: syntax.Call, windows: Sequence[tuple[syntax.Call, Typed, Typed, Typed]]
) -> Any:
    """Return the column that ``TUMBLE_START(...)`` and the like stand for, or None.

    Args:
        node: a call.
        windows: the items of GROUP BY, each with its columns of start, end and time.
    """
    kind, _, word = node.name.upper().partition("_")
    if kind not in KINDS or word not in {"START", "END", "ROWTIME", "PROCTIME"}:
        return None
    for call, start, end, time in windows:
        if call.name.upper() == kind and call.args == node.args:
            return {"START": start, "END": end}.get(word, time)
    raise invalid(
        f"Call to auxiliary group function '{node.name.upper()}' must have matching call to group "
        f"function '${kind}' in GROUP BY clause",
        node.span,
    )
