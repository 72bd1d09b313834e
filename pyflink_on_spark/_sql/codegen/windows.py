"""The windows of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.aggregates import (
    AggregateCompiler,
    AggregatedRows,
    indented,
    joined_tuple,
)
from pyflink_on_spark._sql.codegen.program import Binding, Program
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Typed
from pyflink_on_spark._sql.plan.nodes import WindowKind, WindowTable
from pyflink_on_spark._sql.types.temporal import to_instant, to_local

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


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
) -> tuple[list[str], str, dict[str, object]]:
    """Return statements that set ``time``, an expression of ``end`` for a window's time, and names.

    The first are statements, the second is an expression, and both use the names.

    Args:
        position: of the time attribute.
        zone: the time zone that windows are in; None where that makes no difference.
        by_clock: whether the clock says when a row comes, and no column.
    """
    bindings: dict[str, object] = {"now": Clock()} if by_clock else {}
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


def compile_window_aggregate(
    keys: Sequence[Typed],
    end: Typed,
    calls: Sequence[AggregateInvocation],
    rows: AggregatedRows,
) -> Program:
    """Return the parts of a window aggregate.

    ``add(pairs, use, watermark, late)`` adds rows to the accumulators of their windows, of which
    ``use(end)`` gives the dict by key and what notes a key; rows of windows that the watermark
    (microseconds) has passed are dropped, with a call of ``late()``. ``rows(accumulators)`` makes
    the results.

    Args:
        keys: the columns that the result begins with.
        end: the end of a row's window.
        calls: what is computed.
        rows: the rows.
    """
    retracting = rows.retracting
    compiler = AggregateCompiler(calls, rows, reserved=2 if retracting else 1)
    group = joined_tuple([compiler.expressions.value(key) for key in keys])
    slots = ["0", *compiler.initial] if retracting else compiler.initial
    change = compiler.counted_changes("acc[1]") if retracting else compiler.changes(retract=False)
    lines = [
        "def add(pairs, use, watermark, late):",
        "    current = groups = None",
        f"    for key, {'(kind, row)' if retracting else 'row'} in pairs:",
        f"        end = {compiler.expressions.value(end)}",
        "        if end - 1000 <= watermark:",
        "            late()",
        "            continue",
        "        if end != current:",
        "            current, (groups, note) = end, use(end)",
        "        acc = groups.get(key)",
        "        if acc is None:",
        f"            acc = groups[key] = [{', '.join([group, *slots])}]",
        *indented(change, 2),
        "        note(key)",
        "def rows(groups):",
        "    for acc in groups:",
        *(["        if acc[1] == 0: continue"] if retracting else []),
        f"        yield acc[0] + {joined_tuple(compiler.values())}",
        "def parts():",
        "    return add, rows",
    ]
    return Program("\n".join(lines) + "\n", "parts", compiler.bindings)


def compile_row_window_aggregate(
    keys: Sequence[Typed], calls: Sequence[AggregateInvocation], rows: AggregatedRows
) -> Program:
    """Return a generator function that gives the results of windows of a number of rows.

    ``run(pairs, groups, note, size, step)`` begins a window with each row that ``step`` rows
    separate from the beginning of the one before. The state of a key is how many rows have come
    since that, and the accumulators of the windows that have begun, each of which counts its rows.

    Args:
        keys: the columns that the result begins with.
        calls: what is computed.
        rows: the rows. If they are retracted, an accumulator also has how many there are left.
    """
    retracting = rows.retracting
    compiler = AggregateCompiler(calls, rows, reserved=2 if retracting else 1)
    change = compiler.counted_changes("acc[1]") if retracting else compiler.changes(retract=False)
    slots = ", ".join(["0", *(["0"] if retracting else []), *compiler.initial])
    group = joined_tuple([compiler.expressions.value(key) for key in keys]) if keys else "()"
    result = f"{group} + {joined_tuple(compiler.values())}"
    condition = "if acc[1]: " if retracting else ""
    lines = [
        "def run(pairs, groups, note, size, step):",
        f"    for key, {'(kind, row)' if retracting else 'row'} in pairs:",
        "        state = groups.get(key)",
        "        if state is None:",
        "            state = groups[key] = [0, []]",
        "        came, begun = state",
        "        if came == 0:",
        f"            begun.append([{slots}])",
        "        state[0] = (came + 1) % step",
        "        for acc in begun:",
        "            acc[0] += 1",
        *indented(change, 3),
        "        note(key)",
        "        if begun and begun[0][0] == size:",
        "            acc = begun.pop(0)",
        f"            {condition}yield {result}",
    ]
    return Program("\n".join(lines) + "\n", "run", compiler.bindings)


def session_loop(times: Sequence[str], change: Sequence[str], *, changelog: bool) -> list[str]:
    """Return the source of ``extend(pairs, sessions, note, place)``.

    It adds each row to the only session of its key, late or not, and leaves a row that belongs to
    another one, or to several, to ``place(key, element)``.

    Args:
        times: statements that find the ``start`` and the ``end`` of a row's own session.
        change: statements that add ``row`` to ``acc``.
        changelog: whether elements are pairs of the kind and the row.
    """
    return [
        "def extend(pairs, sessions, note, place):",
        "    get = sessions.get",
        "    for key, element in pairs:",
        "        found = get(key)",
        "        if found is not None and len(found) == 1:",
        f"            {'kind, row' if changelog else 'row'} = element",
        *indented(times, 3),
        "            acc = found[0]",
        "            if acc[1] <= end and start <= acc[2]:",
        "                if start < acc[1]: acc[1] = start",
        "                if end > acc[2]: acc[2] = end",
        *indented(change, 4),
        "                note(key)",
        "                continue",
        "        place(key, element)",
    ]


def compile_session_aggregate(
    keys: Sequence[Typed | None],
    start: Typed,
    end: Typed,
    calls: Sequence[AggregateInvocation],
    rows: AggregatedRows,
) -> Program:
    """Return the parts of an aggregate over sessions: ``create, add, merge, extend, rows``.

    ``extend`` is described at ``session_loop``. An accumulator is the row of keys, the start and
    the end of the session, the number of rows if rows are retracted, and slots.

    Args:
        keys: the columns that the result begins with; the names ``start`` and ``end`` stand for
            those of the session.
        start: the start of a row's own session.
        end: the end of it.
        calls: what is computed.
        rows: the rows.
    """
    retracting = rows.retracting
    compiler = AggregateCompiler(calls, rows, reserved=4 if retracting else 3)
    value = compiler.expressions.value
    known: list[str] = []
    result: list[str] = []
    for key in keys:
        if key is not None and key == start:
            result.append("acc[1]")
        elif key is not None and key == end:
            result.append("acc[2]")
        elif key is None:
            result.append("acc[2] - 1000")
        else:
            result.append(f"acc[0][{len(known)}]")
            known.append(value(key))
    made = joined_tuple([*result, *compiler.values()])
    own = joined_tuple(known) if known else "()"
    slots = ["0", *compiler.initial] if retracting else compiler.initial
    taken = ["    kind, row = row"] if retracting else []
    change = compiler.counted_changes("acc[3]") if retracting else compiler.changes(retract=False)
    lines = [
        "def create(row):",
        *taken,
        f"    return [{', '.join([own, value(start), value(end), *slots])}]",
        "def add(acc, row):",
        *taken,
        *indented(change),
        "def merge(acc, other):",
        *(["    acc[3] += other[3]"] if retracting else []),
        *indented(compiler.merges("acc", "other")),
        *session_loop([f"start, end = {value(start)}, {value(end)}"], change, changelog=retracting),
        "def rows(groups):",
        "    for acc in groups:",
        *(["        if acc[3] == 0: continue"] if retracting else []),
        f"        yield {made}",
        "def parts():",
        "    return create, add, merge, extend, rows",
    ]
    return Program("\n".join(lines) + "\n", "parts", compiler.bindings)


@dataclass(frozen=True)
class Slices:
    """Windows that are made of slices of equal length.

    Args:
        kind: of the windows.
        time: the position of the time attribute.
        size: of the windows, microseconds.
        step: between the ends of windows, microseconds.
        offset: of all windows, microseconds.
        by_clock: whether the clock says when a row comes, and no column.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    kind: WindowKind
    time: int
    size: int
    step: int
    offset: int
    by_clock: bool
    zone: str | None

    @property
    def length(self) -> int:
        """The length of a slice, in microseconds."""
        return gcd(self.size, self.step)

    def first_end(self, end: int) -> int:
        """Return the end of the first window that has the slice that ends somewhere."""
        return end + (self.offset + self.size - end) % self.step

    def first_slice(self, end: int) -> int:
        """Return the end of the first slice of the cumulating window that ends somewhere."""
        return end - 1 - (end - 1 - self.offset) % self.size + self.step

    def start_of(self, end: str) -> str:
        """Return the source of the start of the window that ends somewhere."""
        if self.kind is WindowKind.CUMULATE:
            return f"{end} - 1 - ({end} - 1 - {self.offset}) % {self.size}"
        return f"{end} - {self.size}"


def compile_slices(
    keys: Sequence[Typed | int],
    slices: Slices,
    calls: Sequence[AggregateInvocation],
    rows: AggregatedRows,
) -> Program:
    """Return the parts of a window aggregate: ``add, merged, carried, rows``.

    ``add(pairs, use, reached, late)`` adds rows to the accumulators of their slices, of which
    ``use(end)`` gives the dict by key and what notes a key; rows of which the watermark
    (microseconds) has passed all windows are dropped, with a call of ``late()``.
    ``merged(groups, others, end)`` adds the accumulators of a slice to those of a window.
    ``carried(groups, others)`` puts those of a slice after those of the first one of a window
    that cumulates.
    ``rows(groups, end)`` makes the results of a window. An accumulator knows up to where windows
    have ended with it, so that none ends twice after a restart.

    Args:
        keys: the columns that the result begins with: 0, 1 and 2 stand for the start, the end and
            the time of the window.
        slices: the windows.
        calls: what is computed.
        rows: the rows. If they are retracted, an accumulator counts them, and a group without
            rows gives no result.

    Raises:
        NotImplementedError: the accumulators of a function cannot be merged.
    """
    retracting = rows.retracting
    compiler = AggregateCompiler(calls, rows, reserved=3 if retracting else 2)
    change = compiler.counted_changes("acc[2]") if retracting else compiler.changes(retract=False)
    value = compiler.expressions.value
    group = joined_tuple([value(key) for key in keys if not isinstance(key, int)] or [])
    found, moment, bindings = window_times(slices.time, slices.zone, by_clock=slices.by_clock)
    length, last = slices.length, ""
    if slices.kind is WindowKind.HOP:
        last = f" - {length} - (end - {length} - {slices.offset}) % {slices.step} + {slices.size}"
    if slices.kind is WindowKind.CUMULATE:
        last = f" - 1 - (end - 1 - {slices.offset}) % {slices.size} + {slices.size}"
    slots = "".join(f", {each}" for each in (["0"] if retracting else []) + compiler.initial)
    merge = indented(compiler.merges("acc", "other"), 2)
    if retracting:
        merge.insert(0, "        acc[2] += other[2]")
    result, place = [], 0
    for key in keys:
        if isinstance(key, int):
            result.append(("start", "end", "time")[key])
        else:
            result.append(f"acc[0][{place}]")
            place += 1
    lines = [
        "def add(pairs, use, reached, late):",
        "    current = groups = get = None",
        f"    for key, {'(kind, row)' if retracting else 'row'} in pairs:",
        *indented(found, 2),
        f"        end = time - (time - {slices.offset}) % {length} + {length}",
        "        if end != current:",
        f"            if end{last} - 1000 <= reached:",
        "                late()",
        "                continue",
        "            current, (groups, note) = end, use(end)",
        "            get = groups.get",
        "        acc = get(key)",
        "        if acc is None:",
        f"            acc = groups[key] = [{group or '()'}, reached + 1000{slots}]",
        *indented(change, 2),
        "        note(key)",
        "def merged(groups, others, end):",
        "    for key, other in others.items():",
        "        if other[1] >= end: continue",
        "        other[1] = end",
        "        others[key] = other",
        "        acc = groups.get(key)",
        "        if acc is None:",
        f"            acc = groups[key] = [other[0], 0{slots}]",
        *merge,
        "def carried(groups, others):",
        "    for key, other in others.items():",
        "        acc = groups.get(key)",
        "        if acc is None:",
        "            groups[key] = other",
        "            continue",
        *merge,
        "def rows(groups, end):",
        f"    start, time = {slices.start_of('end')}, {moment}",
        "    for acc in groups.values():",
        f"        if acc[1] >= end{' or acc[2] == 0' if retracting else ''}: continue",
        *(["        acc[1] = end"] if slices.kind is WindowKind.CUMULATE else []),
        f"        yield {joined_tuple([*result, *compiler.values()])}",
        "def parts():",
        "    return add, merged, carried, rows",
    ]
    return Program("\n".join(lines) + "\n", "parts", {**compiler.bindings, **bindings})
