"""Joins of two streams of rows, and lookups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._sql.codegen.program import Binding, Program
from pyflink_on_spark._sql.codegen.rows import compile_row, is_identity
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, Schema
from pyflink_on_spark._sql.plan.signatures import CallSite, TableFunction
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.ports import Lookup, Rows


_COUNT, _PARTNERS = 0, 1
_NONE: dict[object, Any] = {}


class HashableMap(dict[Any, Any]):
    """A value of MAP or MULTISET in a row that is the key of a dictionary."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))


def hashable(value: object) -> object:
    """Return a row, or another value, whose maps can be hashed."""
    if isinstance(value, tuple):
        return tuple(map(hashable, value))
    if isinstance(value, dict):
        return HashableMap((key, hashable(inner)) for key, inner in value.items())
    return value


class JoinOperator(KeyedProgramOperator):
    """Keeps the rows of both sides, and joins each row with those of the other side.

    Rows are kept by key, each with how often it is there and how many partners it has.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        outer: whether rows without partners are kept, for both sides.
        changelogs: whether the elements of a side are pairs of the kind and the row.
        null_keys: for each side a function that tells whether a key has NULL, or None.
        pairs: whether pairs of the kind and the row come out.
        ttl: after how long without a change (ms) the rows of a key are forgotten; 0 for never.
        maps: True for the sides whose rows hold values of MAP or MULTISET.
    """

    _only_pairs = True
    """True if the join emits only pairs of rows, unless rows are retracted or a side is outer."""

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        outer: tuple[bool, bool],
        changelogs: tuple[bool, bool],
        null_keys: tuple[Program | None, Program | None],
        pairs: bool,
        ttl: int = 0,
        maps: tuple[bool, bool] = (False, False),
    ) -> None:
        self._ttl, self._maps = ttl, maps
        self._condition, self._widths, self._outer = condition, widths, outer
        self._changelogs, self._null_keys, self._pairs = changelogs, null_keys, pairs

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        self._matches = self._load(self._condition, context)
        self._has_null = [self._load(program, context) for program in self._null_keys]
        self._sides = tuple(
            self._state(context, name, self._ttl, "map") for name in ("left", "right")
        )
        self._life = self._sides[0].time_to_live

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the two inputs."""
        return self._left, self._right

    def _left(self, elements: Iterator[object]) -> Iterator[Any]:
        return self._changes(elements, 0)

    def _right(self, elements: Iterator[object]) -> Iterator[object]:
        return self._changes(elements, 1)

    def _inner(self, elements: Iterator[Any], side: int) -> Iterator[object]:
        """Yield the pairs of rows that are only added; those without partners do not count."""
        own, others = self._sides[side], self._sides[1 - side]
        has_null, matches, note = self._has_null[side], self._matches, own.note
        find, kept = others.current.get, own.current
        for key, row in elements:
            if has_null is not None and has_null(row):
                continue
            for other, state in (find(key) or _NONE).items():
                if matches is not None and not (
                    matches(row, other) if side == 0 else matches(other, row)
                ):
                    continue
                pair = row + other if side == 0 else other + row
                if state[_COUNT] == 1:
                    yield pair
                else:
                    yield from repeat(pair, state[_COUNT])
            rows = kept.get(key)
            if rows is None:
                kept[key] = {row: [1, 0]}
            elif row in rows:
                rows[row][_COUNT] += 1
            else:
                rows[row] = [1, 0]
            note(key)

    def _changes(self, elements: Iterator[Any], side: int) -> Iterator[object]:
        if self._maps[side]:
            elements = ((key, hashable(element)) for key, element in elements)
        if self._only_pairs and not self._pairs and not self._ttl:
            yield from self._inner(elements, side)
            return
        changelog, has_null = self._changelogs[side], self._has_null[side]
        handle = self._handled(side)
        for key, element in elements:
            kind, row = element if changelog else (INSERT, element)
            alone = has_null is not None and has_null(row)
            changes = handle(key, kind, row, alone)
            if self._pairs:
                yield from changes
            else:
                for _, joined in changes:
                    yield joined

    def _handled(self, side: int) -> Callable[[Any, int, Any, bool], Iterator[Any]]:
        own, others = self._sides[side], self._sides[1 - side]
        counted, life = self._counts_partners(1 - side), self._life

        def handle(key: object, kind: int, row: Any, alone: bool) -> Iterator[Any]:
            rows: Any = None if alone else others.current.get(key)
            found = self._partners(rows, row, side)
            own.note(key)
            if found and counted:
                others.note(key)
                if life is not None:
                    rows.update((other, life.stamp(state)) for other, state in found)
            if kind & 1:
                self._remove(own.current, key, row)
                return self._taken_back(kind, row, found, side)
            self._add(own.current, key, row, sum(state[_COUNT] for _, state in found))
            return self._added(kind, row, found, side)

        return handle

    def _counts_partners(self, side: int) -> bool:
        """Return whether the rows of a side know how many partners they have."""
        return self._outer[side]

    def _added(self, kind: int, row: object, found: list[Any], side: int) -> Iterator[object]:
        outer, other_outer = self._outer[side], self._outer[1 - side]
        if outer and not found:
            yield INSERT, self._both(row, None, side)
        if other_outer:
            for other, state in found:
                if state[_PARTNERS] == 0:
                    yield from repeat((DELETE, self._both(None, other, side)), state[_COUNT])
                state[_PARTNERS] += 1
        shown = INSERT if outer or other_outer else kind
        for other, state in found:
            yield from repeat((shown, self._both(row, other, side)), state[_COUNT])

    def _taken_back(self, kind: int, row: Any, found: list[Any], side: int) -> Iterator[object]:
        outer, other_outer = self._outer[side], self._outer[1 - side]
        if outer and not found:
            yield DELETE, self._both(row, None, side)
        shown = DELETE if outer else kind
        for other, state in found:
            yield from repeat((shown, self._both(row, other, side)), state[_COUNT])
        if not other_outer:
            return
        for other, state in found:
            state[_PARTNERS] -= 1
            if state[_PARTNERS] == 0:
                yield from repeat((INSERT, self._both(None, other, side)), state[_COUNT])

    def _both(self, row: Any, other: Any, side: int) -> object:
        """Return two rows as one, the left one first; None stands for NULLs."""
        own = (None,) * self._widths[side] if row is None else row
        others = (None,) * self._widths[1 - side] if other is None else other
        return own + others if side == 0 else others + own

    def _partners(self, rows: dict[object, object] | None, row: Any, side: int) -> list[Any]:
        if not rows:
            return []
        matches, life = self._matches, self._life
        items: Iterable[Any] = rows.items()
        if life is not None:
            latest = life.latest_expired()
            items = [(other, state) for other, (stamp, state) in items if stamp > latest]
        if matches is None:
            return list(items)
        if side == 0:
            return [item for item in items if matches(row, item[0])]
        return [item for item in items if matches(item[0], row)]

    def _state_of(self, rows: dict[Any, Any], row: object) -> Any:
        """Return the state of a row; None if it is not there, or has expired."""
        state, life = rows.get(row), self._life
        if state is None or life is None:
            return state
        return state[1] if state[0] > life.latest_expired() else None

    def _add(self, groups: dict[Any, Any], key: Any, row: object, partners: int) -> None:
        rows = groups.get(key)
        if rows is None:
            rows = groups[key] = {}
        state = self._state_of(rows, row)
        if state is None:
            state = [1, partners]
        else:
            state[_COUNT] += 1
        rows[row] = state if self._life is None else self._life.stamp(state)

    def _remove(self, groups: dict[Any, Any], key: Any, row: object) -> None:
        rows = groups.get(key)
        state = None if rows is None else self._state_of(rows, row)
        if rows is None or state is None:
            return
        state[_COUNT] -= 1
        if state[_COUNT]:
            rows[row] = state if self._life is None else self._life.stamp(state)
            return
        del rows[row]
        if not rows:
            del groups[key]


class SemiJoinOperator(JoinOperator):
    """Gives the left rows that have partners, or those that have none.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        anti: whether rows without partners come out.
        changelogs: whether the elements of a side are pairs of the kind and the row.
        null_keys: for each side a function that tells whether a key has NULL, or None.
        pairs: whether pairs of the kind and the row come out.
        ttl: after how long without a change (ms) the rows of a key are forgotten; 0 for never.
        maps: True for the sides whose rows hold values of MAP or MULTISET.
    """

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        anti: bool,
        changelogs: tuple[bool, bool],
        null_keys: tuple[Program | None, Program | None],
        pairs: bool,
        ttl: int = 0,
        maps: tuple[bool, bool] = (False, False),
    ) -> None:
        outer = False, False
        self._only_pairs = False
        super().__init__(condition, widths, outer, changelogs, null_keys, pairs, ttl, maps)
        self._anti = anti

    def _counts_partners(self, side: int) -> bool:
        """Return whether the rows of a side know how many partners they have."""
        return side == 0

    def _added(self, kind: int, row: object, found: list[Any], side: int) -> Iterator[object]:
        if side == 0:
            if bool(found) is not self._anti:
                yield kind, row
            return
        shown = DELETE if self._anti else kind
        for other, state in found:
            if state[_PARTNERS] == 0:
                yield from repeat((shown, other), state[_COUNT])
            state[_PARTNERS] += 1

    def _taken_back(self, kind: int, row: object, found: list[Any], side: int) -> Iterator[object]:
        if side == 0:
            if bool(found) is not self._anti:
                yield kind, row
            return
        shown = INSERT if self._anti else kind
        for other, state in found:
            state[_PARTNERS] -= 1
            if state[_PARTNERS] == 0:
                yield from repeat((shown, other), state[_COUNT])


class BatchJoinOperator(Operator):
    """Joins the rows of both sides at the end.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        outer: whether rows without partners are kept, for both sides.
        null_keys: for each side a function that tells whether a key has NULL, or None.
    """

    emits_immutable = True

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        outer: tuple[bool, bool],
        null_keys: tuple[Program | None, Program | None],
    ) -> None:
        self._condition, self._widths = condition, widths
        self._outer, self._null_keys = outer, null_keys

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        self._matches: Callable[[object, object], object] = lambda left, right: True
        if self._condition is not None:
            self._matches = self._condition.load(context).function
        self._has_null = [
            None if program is None else program.load(context).function
            for program in self._null_keys
        ]
        self._lefts: list[Any] = []
        self._rights: dict[Any, list[Any]] = {}
        self._alone: list[Any] = []

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the two inputs."""
        return self._take_left, self._take_right

    def _take_left(self, elements: Iterator[object]) -> Iterator[object]:
        self._lefts += elements
        return iter(())

    def _take_right(self, elements: Iterator[Any]) -> Iterator[object]:
        has_null = self._has_null[1]
        for key, row in elements:
            if has_null is not None and has_null(row):
                self._alone.append(row)
            else:
                self._rights.setdefault(key, []).append([row, False])
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the pairs, and the rows without partners."""
        left_pad, right_pad = ((None,) * width for width in self._widths)
        for row, found in self._matched():
            for other in found:
                other[1] = True
                yield row + other[0]
            if not found and self._outer[0]:
                yield row + right_pad
        if self._outer[1]:
            for rows in self._rights.values():
                for row, joined in rows:
                    if not joined:
                        yield left_pad + row
            for row in self._alone:
                yield left_pad + row

    def _matched(self) -> Iterator[tuple[Any, list[Any]]]:
        """Yield the left rows, each with its partners."""
        has_null = self._has_null[0]
        for key, row in self._lefts:
            partners = () if has_null is not None and has_null(row) else self._rights.get(key, ())
            yield row, [other for other in partners if self._matches(row, other[0])]


class BatchSemiJoinOperator(BatchJoinOperator):
    """Gives the left rows that have partners, or those that have none, at the end.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        anti: whether rows without partners come out.
        null_keys: for each side a function that tells whether a key has NULL, or None.
    """

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        anti: bool,
        null_keys: tuple[Program | None, Program | None],
    ) -> None:
        super().__init__(condition, widths, (False, False), null_keys)
        self._anti = anti

    def end_input(self) -> Iterable[object]:
        """Yield the rows."""
        for row, found in self._matched():
            if bool(found) is not self._anti:
                yield row


def lookup_function(
    name: str,
    lookup: Lookup,
    columns: Sequence[Typed],
    schema: Schema,
    stored: int,
    key: frozenset[int] | None = None,
) -> TableFunction:
    """Return a function of the values of key columns.

    Args:
        name: the table's, for plans.
        lookup: finds the rows.
        columns: the columns of the result, over those that are stored.
        schema: their names and types.
        stored: how many columns are stored.
        key: the positions of the primary key in the result, if the key columns have all of it.
    """

    def code(site: CallSite) -> str:
        program = None
        if not is_identity(columns, stored):
            program = compile_row(columns, stored, site.time_zone)
        binding = LookupBinding(lookup, program)
        values = ", ".join(site.sources())
        return f"{site.bind(binding, 'lookup')}(({values},))"

    return TableFunction(
        f"lookup {name}",
        lambda types: (schema.names, schema.types),
        code,
        deterministic=False,
        looks_up=True,
        key=key,
    )


class LookupBinding(Binding):
    """Finds rows, and computes the columns that a table makes of them.

    Args:
        lookup: finds the rows.
        columns: makes a row of a stored one; None if they are the same.
    """

    def __init__(self, lookup: Lookup, columns: Program | None) -> None:
        self._lookup, self._columns = lookup, columns

    def load(self, context: OperatorContext | None) -> object:
        """Return the object that the code calls."""
        find = self._lookup.open(context)
        made = None if self._columns is None else self._columns.load(context).function

        def rows(key: tuple[object, ...]) -> Rows:
            if None in key:  # which is equal to nothing
                return ()
            found = find(key)
            return found if made is None else [made(row) for row in found]

        rows.find = find  # type: ignore[attr-defined]
        return rows

    def close(self, loaded: Any) -> None:
        """Release what finds the rows."""
        self._lookup.close(loaded.find)
