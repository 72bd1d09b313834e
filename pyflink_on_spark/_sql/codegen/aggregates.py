"""The calls of aggregate functions of one node become Python source."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.rows import (
    ExpressionCompiler,
    Structure,
    repeated,
    structure,
)
from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, InputRef, Typed, walk
from pyflink_on_spark._sql.plan.signatures import AggregateCode, is_atom
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

_PLAIN = frozenset(
    {*logical.INTEGERS, *logical.CHARACTERS, *logical.BYTES_LIKE, *logical.DATETIMES}
)


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Return lines that are further to the right."""
    return [f"{'    ' * depth}{line}" for line in lines]


@dataclass
class _Slots:
    """The slots of an accumulator in which a call keeps its values.

    Args:
        call: the call.
        code: its code.
        first: its first slot.
        seen: the slot with the arguments so far, if only different ones count.
    """

    call: AggregateInvocation
    code: AggregateCode
    first: int
    seen: int | None

    def of(self, accumulator: str) -> list[str]:
        """Return the slots of an accumulator."""
        count = len(self.code.initial)
        return [f"{accumulator}[{self.first + index}]" for index in range(count)]


@dataclass(frozen=True)
class AggregatedRows:
    """The rows that are aggregated.

    Args:
        width: how many columns they have.
        time_zone: the session's, by name.
        retracting: whether rows are retracted; then elements are pairs of the kind and the row.
    """

    width: int
    time_zone: str
    retracting: bool


class _Filters:
    """The conditions of calls; one that several calls have is evaluated once for a row.

    Args:
        expressions: makes their source.
        calls: the calls.
    """

    def __init__(
        self, expressions: ExpressionCompiler, calls: Iterable[AggregateInvocation]
    ) -> None:
        self._expressions = expressions
        conditions = [call.filter for call in calls if call.filter is not None]
        self._repeated = repeated(conditions)
        self._names: dict[Structure, str] = {}

    def around(self, condition: Typed | None, lines: list[str]) -> list[str]:
        """Return statements that run under a condition; None for always."""
        if condition is None:
            return lines
        source = self._expressions.condition(condition)
        found = structure(condition)
        if found not in self._repeated:
            return [f"if {source}:", *indented(lines)]
        name = self._names.get(found)
        if name is not None:
            return [f"if {name}:", *indented(lines)]
        name = self._names[found] = f"filter{len(self._names)}"
        return [f"{name} = {source}", f"if {name}:", *indented(lines)]


class AggregateCompiler:
    """Makes the source of accumulators, which are lists.

    Args:
        calls: what is computed.
        rows: the rows.
        reserved: how many slots come first that are not those of calls.
    """

    def __init__(
        self, calls: Sequence[AggregateInvocation], rows: AggregatedRows, *, reserved: int
    ) -> None:
        columns = [f"row[{index}]" for index in range(rows.width)]
        self.expressions = ExpressionCompiler(columns, rows.time_zone)
        self._often = _used_often(calls)
        names = [f"col{i}" if i in self._often else column for i, column in enumerate(columns)]
        self._inputs = self.expressions.over(names)
        self._calls: list[_Slots] = []
        self.initial: list[str] = []
        for call in calls:
            types = [arg.type for arg in call.args]
            code = call.overload.code(self.expressions, types, call.type, rows.retracting)
            if rows.retracting and not code.reversible:
                not_yet(
                    f"{call.function.name} over rows that are retracted", None,
                    "Aggregate rows that are only added.",
                )  # fmt: skip
            seen = None
            if call.distinct:
                seen = reserved + len(self.initial)
                self.initial.append("{}")
            first = reserved + len(self.initial)
            self.initial += code.initial
            self._calls.append(_Slots(call, code, first, seen))

    @property
    def bindings(self) -> dict[str, object]:
        """The objects that the source refers to, by name."""
        return self.expressions.bindings

    def codes(self) -> Iterator[tuple[AggregateInvocation, AggregateCode]]:
        """Yield the calls, each with its code."""
        return ((slots.call, slots.code) for slots in self._calls)

    def values(self, accumulator: str = "acc") -> list[str]:
        """Return the source of the value of each call."""
        return [slots.code.value(slots.of(accumulator)) for slots in self._calls]

    def changes(self, *, retract: bool, accumulator: str = "acc") -> list[str]:
        """Return statements that add ``row`` to an accumulator, or take it back."""
        lines = [f"col{index} = row[{index}]" for index in self._often]
        filters = _Filters(self._inputs, [slots.call for slots in self._calls])
        for number, slots in enumerate(self._calls):
            change = self._change(slots, number, retract, accumulator)
            lines += filters.around(slots.call.filter, change)
        return lines or ["pass"]

    def counted_changes(self, count: str) -> list[str]:
        """Return statements that add ``row`` to ``acc`` or take it back, as ``kind`` says.

        Args:
            count: the source of the slot that counts rows.
        """
        return [
            "if kind & 1:",
            f"    {count} -= 1",
            *indented(self.changes(retract=True)),
            "else:",
            f"    {count} += 1",
            *indented(self.changes(retract=False)),
        ]

    def merges(self, accumulator: str, other: str) -> list[str]:
        """Return statements that add another accumulator to one."""
        lines: list[str] = []
        for slots in self._calls:
            if slots.seen is None:
                lines += slots.code.merge(slots.of(accumulator), slots.of(other))
            else:
                lines += self._distinct_merge(slots, accumulator, other)
        return lines or ["pass"]

    def _distinct_merge(self, slots: _Slots, accumulator: str, other: str) -> list[str]:
        seen = f"{accumulator}[{slots.seen}]"
        count = len(slots.call.args)
        args = ["item"] if count == 1 else [f"item[{index}]" for index in range(count)]
        add = slots.code.accumulate(slots.of(accumulator), args)
        return [
            f"for item, count in {other}[{slots.seen}].items():",
            f"    if item in {seen}: {seen}[item] += count",
            "    else:",
            f"        {seen}[item] = count",
            *indented(add, 2),
        ]

    def _change(self, slots: _Slots, number: int, retract: bool, accumulator: str) -> list[str]:
        call, code = slots.call, slots.code
        before, args, checks = self._arguments(call, number)
        if code.takes_null:
            checks = []
        change = code.retract if retract else code.accumulate
        lines = change(slots.of(accumulator), args)
        if slots.seen is not None:
            item = args[0] if len(args) == 1 else joined_tuple(args)
            lines = _distinct(f"{accumulator}[{slots.seen}]", item, lines, retract)
        if checks:
            lines = [f"if {' and '.join(checks)}:", *indented(lines)]
        return [*before, *lines]

    def _arguments(
        self, call: AggregateInvocation, number: int
    ) -> tuple[list[str], list[str], list[str]]:
        before, args, checks = [], [], []
        for index, arg in enumerate(call.args):
            source = self._inputs.value(arg)
            if not is_atom(source):
                name = f"x{number}_{index}"
                before.append(f"{name} = {source}")
                source = name
            args.append(source)
            if arg.type.nullable:
                checks.append(f"{source} is not None")
        return before, args, checks


def _used_often(calls: Iterable[AggregateInvocation]) -> list[int]:
    """Return the columns that stand in the calls more than once."""
    counts: Counter[int] = Counter()
    for call in calls:
        parts = call.args if call.filter is None else (*call.args, call.filter)
        for part in parts:
            counts.update(each.index for each in walk(part) if isinstance(each, InputRef))
    return sorted(index for index, count in counts.items() if count > 1)


def _distinct(seen: str, arg: str, lines: list[str], retract: bool) -> list[str]:
    if retract:
        return [
            f"if {seen}.get({arg}) == 1:",
            f"    del {seen}[{arg}]",
            *indented(lines),
            f"elif {arg} in {seen}: {seen}[{arg}] -= 1",
        ]
    return [
        f"if {arg} in {seen}: {seen}[{arg}] += 1",
        "else:",
        f"    {seen}[{arg}] = 1",
        *indented(lines),
    ]


def joined_tuple(sources: Sequence[str]) -> str:
    """Return the source of a tuple."""
    return f"({', '.join(sources)}{',' if len(sources) == 1 else ''})"


def compile_group_aggregate(
    keys: Sequence[Typed],
    calls: Sequence[AggregateInvocation],
    rows: AggregatedRows,
    *,
    before: bool,
    keeps_equal: bool,
    pairs: bool,
    bundled: bool,
) -> Program:
    """Return a generator function that updates groups.

    It is called with pairs of key and element, a dict of accumulators by key, and what notes a key
    whose accumulator has changed. An accumulator is the last result, the number of rows, and slots.

    Args:
        keys: the columns that the result begins with.
        calls: what is computed.
        rows: the rows.
        before: whether each update gets its UPDATE_BEFORE row.
        keeps_equal: whether an update comes also where nothing has changed.
        pairs: whether pairs of the kind and the row come out, and not rows.
        bundled: whether a group is updated after all of its rows, and not after each.
    """
    retracting = rows.retracting
    compiler = AggregateCompiler(calls, rows, reserved=2)
    made = joined_tuple(compiler.values())
    group = joined_tuple([compiler.expressions.value(key) for key in keys]) if keys else "()"
    create = f"[None, 0, {', '.join(compiler.initial)}]"
    lines = [
        "def run(pairs, groups, note):",
        "    get = groups.get",
        f"    for key, {'(kind, row)' if retracting else 'row'} in pairs:",
        "        acc = get(key)",
        "        if acc is None:",
        *(["            if kind & 1: continue"] if retracting else []),
        f"            acc = groups[key] = {create}",
    ]
    if bundled:
        lines.insert(1, "    changed = {}")
    change = compiler.counted_changes("acc[1]") if retracting else compiler.changes(retract=False)
    lines += indented(change, 2)
    if bundled:
        lines += ["        changed[key] = acc, row", "    for key, (acc, row) in changed.items():"]
    lines += ["        note(key)", "        old = acc[0]"]
    if retracting:
        lines += [
            "        if acc[1] <= 0:",
            "            del groups[key]",
            f"            if old is not None: yield 3, {group} + old",
            "            continue",
        ]
    lines += [
        f"        new = acc[0] = {made}",
        "        if old is None:",
        f"            yield {'0, ' if pairs else ''}{group} + new",
        f"        {'else' if keeps_equal else 'elif new != old'}:",
        f"            group = {group}",
        *(["            yield 1, group + old"] if before else []),
        *(["            yield 2, group + new"] if pairs else []),
    ]
    return Program("\n".join(lines) + "\n", "run", compiler.bindings)


@dataclass(frozen=True)
class MovedAccumulators:
    """The accumulators of Flink for certain calls, and how ours are made of them.

    Args:
        types: of the fields, without those that stand for views.
        distinct: the types of the arguments of which only different ones count: one for each view.
        program: returns two functions. ``slots(fields, seen)`` gives the number of rows and the
            slots, ``values(acc)`` gives the results of an accumulator.
        unknown: the first call whose accumulators are not known; None if all are.
    """

    types: list[LogicalType]
    distinct: list[LogicalType]
    program: Program
    unknown: str | None = None


def compile_moved_in(
    calls: Sequence[AggregateInvocation], rows: AggregatedRows, reserved: int
) -> MovedAccumulators:
    """Return how accumulators are made of those of Flink.

    Args:
        calls: what is computed.
        rows: the rows.
        reserved: how many slots of an accumulator come before those of calls.
    """
    compiler = AggregateCompiler(calls, rows, reserved=reserved)
    types: list[LogicalType] = []
    slots: list[str] = []
    counted: int | None = None
    views: dict[Structure, int] = {}
    unknown: str | None = None
    for call, code in compiler.codes():
        fields = code.fields_of_flink([arg.type for arg in call.args], call.type, rows.retracting)
        if fields is None or (call.distinct and (call.filter is not None or len(call.args) != 1)):
            unknown = unknown or str(call.function.name)
            continue
        if call.distinct:
            (arg,) = call.args
            slots.append(f"seen.get({views.setdefault(structure(arg), len(views))}, {{}})")
        elif not call.args and call.filter is None and call.function.name == "COUNT":
            counted = len(types)
        names = [f"fields[{len(types) + index}]" for index in range(len(fields))]
        slots += code.slots_of_flink(names)
        types += fields
    if rows.retracting and counted is None:
        counted = len(types)
        types.append(logical.BIGINT)
    number = f"fields[{counted}]" if rows.retracting else "0"
    lines = [
        "def slots(fields, seen):",
        f"    return [{', '.join([number, *slots])}]",
        "def values(acc):",
        f"    return {joined_tuple(compiler.values())}",
        "def parts():",
        "    return slots, values",
    ]
    program = Program("\n".join(lines) + "\n", "parts", compiler.bindings)
    different = {structure(call.args[0]): call.args[0].type for call in calls if call.distinct}
    return MovedAccumulators(types, list(different.values()), program, unknown)


def compile_batch_aggregate(
    keys: Sequence[Typed],
    calls: Sequence[AggregateInvocation],
    rows: AggregatedRows,
) -> Program:
    """Return two functions: one adds pairs of key and element to a dict, one makes rows of it."""
    retracting = rows.retracting
    compiler = AggregateCompiler(calls, rows, reserved=2)
    group = joined_tuple([compiler.expressions.value(key) for key in keys]) if keys else "()"
    change = indented(compiler.changes(retract=False), 2)
    if retracting:
        change = indented(compiler.counted_changes("acc[1]"), 2)
    lines = [
        "def add(pairs, groups):",
        "    get = groups.get",
        f"    for key, {'(kind, row)' if retracting else 'row'} in pairs:",
        "        acc = get(key)",
        "        if acc is None:",
        f"            acc = groups[key] = [{group}, 0, {', '.join(compiler.initial)}]",
        *change,
        "def empty():",
        f"    return [(), 0, {', '.join(compiler.initial)}]",
        "def rows(groups):",
        "    for acc in groups:",
        *(["        if acc[1] <= 0: continue"] if retracting else []),
        f"        yield acc[0] + {joined_tuple(compiler.values())}",
        "def parts():",
        "    return add, rows, empty",
    ]
    return Program("\n".join(lines) + "\n", "parts", compiler.bindings)


def compile_key(keys: Sequence[Typed], width: int, time_zone: str) -> Program:
    """Return a function of a row that returns its key: the same one in every process.

    One column of a simple type is the key itself, several are marshalled.
    """
    compiler = ExpressionCompiler([f"row[{index}]" for index in range(width)], time_zone)
    sources = [compiler.value(key) for key in keys]
    if not sources:
        source = "0"
    elif len(sources) == 1 and keys[0].type.root in _PLAIN:
        source = sources[0]
    else:
        source = f"dumps({joined_tuple(sources)}, 2)"
        compiler.bindings["dumps"] = marshal.dumps
    return Program(f"def key(row):\n    return {source}\n", "key", compiler.bindings)


def is_reversible(calls: Sequence[AggregateInvocation]) -> bool:
    """True if the accumulators of all calls can retract rows."""
    compiler = ExpressionCompiler([], "UTC")
    return all(
        call.overload.code(compiler, [arg.type for arg in call.args], call.type, True).reversible
        for call in calls
    )


def compile_frame(calls: Sequence[AggregateInvocation], rows: AggregatedRows) -> Program:
    """Return the parts of functions over a frame: ``create, add, retract, values``.

    ``retract`` is None if rows are never retracted.

    Args:
        calls: the functions.
        rows: the rows; those that leave the frame may be retracted.
    """
    compiler = AggregateCompiler(calls, rows, reserved=0)
    taken_back = ["    pass"]
    if rows.retracting:
        taken_back = indented(compiler.changes(retract=True))
    lines = [
        "def create():",
        f"    return [{', '.join(compiler.initial)}]",
        "def add(acc, row):",
        *indented(compiler.changes(retract=False)),
        "def retract(acc, row):",
        *taken_back,
        "def values(acc):",
        f"    return {joined_tuple(compiler.values())}",
        "def parts():",
        f"    return create, add, {'retract' if rows.retracting else 'None'}, values",
    ]
    return Program("\n".join(lines) + "\n", "parts", compiler.bindings)
