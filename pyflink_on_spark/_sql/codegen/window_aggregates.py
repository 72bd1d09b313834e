"""Aggregates over windows that rows have, and over sessions."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.codegen.aggregates import (
    AggregateCompiler,
    AggregatedRows,
    indented,
    joined_tuple,
)
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Typed


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
    the end of the session, the number of rows if rows are taken back, and slots.

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
