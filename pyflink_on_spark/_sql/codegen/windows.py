"""The windows of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.aggregates import indented
from pyflink_on_spark._sql.codegen.program import Binding, Program
from pyflink_on_spark._sql.codegen.window_aggregates import session_loop
from pyflink_on_spark._sql.plan.nodes import WindowKind, WindowTable
from pyflink_on_spark._sql.types.temporal import to_instant, to_local

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

NULL_TIME = "RowTime field should not be null, please convert it to a non-null long value."


class Clock(Binding):
    """Gives the subtask's clock, in microseconds."""

    def load(self, context: OperatorContext | None) -> Any:
        """Return a function of no arguments."""
        assert context is not None
        now = context.clock.now
        return lambda: now() * 1000


def window_times(
    position: int, zone: str | None, *, by_clock: bool
) -> tuple[list[str], str, dict[str, Any]]:
    """Return what finds the ``time`` of a ``row``, the time of a window by its ``end``, and names.

    The first are statements, the second is an expression, and both use the names.

    Args:
        position: of the time attribute.
        zone: the time zone that windows are in; None where that makes no difference.
        by_clock: whether the clock says when a row comes, and no column.
    """
    bindings: dict[str, Any] = {"now": Clock()} if by_clock else {}
    statements = [
        f"time = {'now()' if by_clock else f'row[{position}]'}",
        f"if time is None: raise ValueError({NULL_TIME!r})",
    ]
    if zone is None:
        return statements, "end - 1000", bindings
    bindings |= {"to_local": to_local, "to_instant": to_instant}
    statements.append(f"time = to_local(time, {zone!r})")
    return statements, f"to_instant(end - 1000, {zone!r})", bindings


def compile_session_rows(
    window: WindowTable, zone: str | None, *, by_clock: bool, changelog: bool
) -> Program:
    """Return the parts of a table of sessions: ``create, add, merge, extend, rows``.

    They are those of ``compile_session_aggregate``. An accumulator has nothing, the start and the
    end of the session, and its rows.

    Args:
        window: the sessions.
        zone: the time zone that windows are in; None where that makes no difference.
        by_clock: whether the clock says when a row comes, and no column.
        changelog: whether elements are pairs of the kind and the row.
    """
    found, moment, bindings = window_times(window.time, zone, by_clock=by_clock)
    made = "row + window"
    source = [
        "def create(row):",
        *(["    row = row[1]"] if changelog else []),
        *indented(found),
        f"    return [(), time, time + {window.size}, []]",
        "def add(acc, row):",
        "    acc[3].append(row)",
        "def merge(acc, other):",
        "    acc[3] += other[3]",
        *session_loop(
            [*found, f"start, end = time, time + {window.size}"],
            ["acc[3].append(element)"],
            changelog=changelog,
        ),
        "def rows(groups):",
        "    for _, start, end, found in groups:",
        f"        window = start, end, {moment}",
        f"        for {'kind, row' if changelog else 'row'} in found:",
        f"            yield {f'(kind, {made})' if changelog else made}",
        "def parts():",
        "    return create, add, merge, extend, rows",
    ]
    return Program("\n".join(source) + "\n", "parts", bindings)


def compile_windows(
    window: WindowTable, zone: str | None, *, by_clock: bool, changelog: bool
) -> Program:
    """Return a generator function over rows that adds the start, the end and the time of windows.

    Args:
        window: the windows.
        zone: the time zone that windows are in; None where that makes no difference.
        by_clock: whether the clock says when a row comes, and no column.
        changelog: whether elements are pairs of the kind and the row.
    """
    size, step, offset = window.size, window.step, window.offset
    found, moment, bindings = window_times(window.time, zone, by_clock=by_clock)
    loops = {
        WindowKind.TUMBLE: [f"start = time - (time - {offset}) % {size}", f"end = start + {size}"],
        WindowKind.HOP: [
            f"last = time - (time - {offset}) % {step}",
            f"for start in range(last, time - {size}, -{step}):",
            f"    end = start + {size}",
        ],
        WindowKind.CUMULATE: [
            f"start = time - (time - {offset}) % {size}",
            f"first = time - (time - start) % {step or 1} + {step}",
            f"for end in range(first, start + {size} + 1, {step or 1}):",
        ],
        WindowKind.SESSION: ["start = time", f"end = time + {size}"],
    }
    made = f"row + (start, end, {moment})"
    made = f"(kind, {made})" if changelog else made
    depth = 3 if window.kind in {WindowKind.HOP, WindowKind.CUMULATE} else 2
    source = [
        "def calc(rows):",
        f"    for {'kind, row' if changelog else 'row'} in rows:",
        *indented([*found, *loops[window.kind]], 2),
        f"{'    ' * depth}yield {made}",
    ]
    return Program("\n".join(source) + "\n", "calc", bindings)
