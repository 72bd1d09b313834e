"""Aggregates over windows, of which each row is added to one slice only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from pyflink_on_spark._sql.codegen.aggregates import (
    AggregateCompiler,
    AggregatedRows,
    indented,
    joined_tuple,
)
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.windows import window_times
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Typed
from pyflink_on_spark._sql.plan.nodes import WindowKind


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
        """How long a slice is, microseconds."""
        return gcd(self.size, self.step)

    def first_end(self, end: int) -> int:
        """Return the end of the first window that has the slice that ends somewhere."""
        return end + (self.offset + self.size - end) % self.step

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
    """Return the parts of a window aggregate: ``add, merged, rows``.

    ``add(pairs, use, reached, late)`` adds rows to the accumulators of their slices, of which
    ``use(end)`` gives the dict by key and what notes a key; rows of which the watermark
    (microseconds) has passed all windows are dropped, with a call of ``late()``.
    ``merged(groups, others, end, ended)`` adds the accumulators of a slice to those of a window,
    or, without an end, to those of another slice.
    ``rows(groups, end)`` makes the results of a window. An accumulator knows up to where windows
    have ended with it, so that none ends twice after a restart.

    Args:
        keys: the columns that the result begins with: 0, 1 and 2 stand for the start, the end and
            the time of the window.
        slices: the windows.
        calls: what is computed.
        rows: the rows. If they are taken back, an accumulator counts them, and a group without
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
        "def merged(groups, others, end, ended):",
        "    for key, other in others.items():",
        "        if end is not None:",
        "            if other[1] >= end: continue",
        "            other[1] = end",
        "            others[key] = other",
        "        acc = groups.get(key)",
        "        if acc is None:",
        f"            acc = groups[key] = [other[0], ended{slots}]",
        *(["        acc[2] += other[2]"] if retracting else []),
        *indented(compiler.merges("acc", "other"), 2),
        "def rows(groups, end):",
        f"    start, time = {slices.start_of('end')}, {moment}",
        "    for acc in groups.values():",
        f"        if acc[1] >= end{' or acc[2] == 0' if retracting else ''}: continue",
        f"        yield {joined_tuple([*result, *compiler.values()])}",
        "def parts():",
        "    return add, merged, rows",
    ]
    return Program("\n".join(lines) + "\n", "parts", {**compiler.bindings, **bindings})
