"""The state of Flink's operators of tables, as the operators here have it.

Each class knows how Flink's operator lays out its state, and compares the types of all columns
before anything is taken over.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyflink_on_spark._runtime.contract.state_meaning import (
    FlinkStates,
    Given,
    StateLayout,
    TableState,
    Taken,
)
from pyflink_on_spark._runtime.state.snapshot import StateMeta
from pyflink_on_spark._sql.codegen.aggregates import (
    AggregatedRows,
    MovedAccumulators,
    compile_key,
    compile_moved_in,
)
from pyflink_on_spark._sql.codegen.rows import compile_row, compile_sort_key
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import SortKey, WindowKind
from pyflink_on_spark._sql.planner.physical import Columns
from pyflink_on_spark._sql.types.logical import LogicalType

ROW = "row of a table"
_MICROS = 1000
_COUNT = "BIGINT"
_RAW = "RAW"
_OF_TABLE = re.compile(r"([^()\[\] ]+)\.[^()\[\] ]+#(\d+)")
_NO_WATERMARK = -(1 << 63)


def row_text(types: Iterable[LogicalType | str]) -> str:
    """Return the type of a row as savepoints of Flink are shown to have it."""
    return f"{ROW}({', '.join(map(_type_text, types))})" if types else ROW


def _type_text(kind: LogicalType | str) -> str:
    return kind if isinstance(kind, str) else kind.text(nullability=False)


def in_doubt(types: Sequence[LogicalType], columns: Columns) -> str | None:
    """Return the type of columns whose order in Flink is in doubt; None if there are none.

    Flink may have the columns of rows in another order, which no type gives away where several
    columns have one type. Those of one table are in the order of the table in any case.

    Args:
        types: of the columns.
        columns: what they are made of.
    """
    places: dict[str, tuple[str, int]] = {}
    for kind, column in zip(map(_type_text, types), columns):
        plain = _OF_TABLE.fullmatch(column)
        table, place = (plain[1], int(plain[2])) if plain else (column, -1)
        if kind in places:
            before = places[kind]
            if place < 0 or before[1] < 0 or before[0] != table or before[1] >= place:
                return kind
        places[kind] = table, place
    return None


class _Keyed(TableState):
    """The common part: keys, and the comparison of layouts.

    Args:
        keys: what rows are grouped by.
        time_zone: the session's, by name.
    """

    name = ""
    """The name of the state here."""
    kind = "value"

    def __init__(self, keys: Sequence[Typed], time_zone: str) -> None:
        types = [key.type for key in keys]
        self._key_text = row_text(types)
        places = [InputRef(kind, index) for index, kind in enumerate(types)]
        self._key: Callable[[Any], Any] = compile_key(places, len(types), time_zone).load().function

    def refusal(self, found: FlinkStates) -> str | None:
        """Compare the keys and the states."""
        if found.key != self._key_text:
            return f"its keys are {found.key}, and those of the job are {self._key_text}"
        return self._refusal(found)

    @abstractmethod
    def _refusal(self, found: FlinkStates) -> str | None:
        """Say what differs in the states, whose keys are right; None if nothing does."""

    def metas(self, found: FlinkStates) -> Mapping[str, StateMeta]:
        """Return the only state."""
        stamped = any(layout.stamped for layout in found.layouts.values())
        return {self.name: StateMeta(self.kind, stamped)}


_OTHER_KEYS = "its rows have other keys than those that the job computes"


def _doubtful(kind: str | None) -> str | None:
    if kind is None:
        return None
    return f"it keeps several columns of the type {kind}, which Flink may have in another order"


def _differs(found: FlinkStates, **wanted: StateLayout) -> str | None:
    """Say how states differ from those that are wanted, stamps aside."""
    for name, layout in found.layouts.items():
        expected = wanted.get(name.replace("-", "_"))
        if expected is None:
            return f"its state {name!r} has no counterpart here"
        if (layout.kind, layout.types) != (expected.kind, expected.types):
            return f"its state {name!r} is a {layout}, and that of the job is a {expected}"
    return None


class _Aggregates(_Keyed):
    """Accumulators of aggregate functions.

    Args:
        keys: what rows are grouped by.
        calls: what is computed.
        rows: the rows.
        reserved: how many slots of an accumulator come before those of calls.
    """

    _state = ""

    def __init__(
        self,
        keys: Sequence[Typed],
        calls: Sequence[AggregateInvocation],
        rows: AggregatedRows,
        reserved: int,
    ) -> None:
        super().__init__(keys, rows.time_zone)
        self._moved: MovedAccumulators = compile_moved_in(calls, rows, reserved)
        self._slots: Callable[..., list[object]]
        self._values: Callable[..., Any]
        if not self._moved.unknown:
            self._slots, self._values = self._moved.program.load().function()

    def _refusal(self, found: FlinkStates) -> str | None:
        moved = self._moved
        if moved.unknown:
            return f"the accumulators of {moved.unknown} have another form here"
        wanted: list[LogicalType | str] = [*moved.types]
        given = found.layouts.get(self._state)
        views = [_RAW] * len(moved.distinct)
        if given is not None and given.types == (row_text([*wanted, _COUNT, *views]),):
            wanted.append(_COUNT)  # of windows that overlap Flink counts the rows
        layouts = {self._state_key(): StateLayout("value", (row_text([*wanted, *views]),))}
        for index, kind in enumerate(moved.distinct):
            layouts[f"distinctAcc_{index}"] = StateLayout("map", (_type_text(kind), _COUNT))
            layouts[f"distinctAcc_{index}_null_state"] = StateLayout("value", (_COUNT,))
        return _differs(found, **layouts)

    def _state_key(self) -> str:
        return self._state.replace("-", "_")

    def taken(self, found: FlinkStates, entries: Iterable[Given]) -> Iterator[Taken]:
        """Put the views of different values into the accumulators that they belong to."""
        different: dict[object, dict[int, dict[object, int]]] = {}
        kept: list[Given] = []
        for state, key, namespace, value in entries:
            if state == self._state:
                kept.append((state, key, namespace, value))
            elif isinstance(value, dict) and state.startswith("distinctAcc_"):
                number = int(state.removeprefix("distinctAcc_"))
                view = different.setdefault((key, namespace), {}).setdefault(number, {})
                stamped = found.layouts[state].stamped
                view.update({item: count[1] if stamped else count for item, count in value.items()})
        stamped = found.layouts[self._state].stamped if kept else False
        for _, key, namespace, value in kept:
            stamp, fields = value if stamped else (None, value)
            seen = different.get((key, namespace), {})
            entry = self._entry(found, key, namespace, self._slots(fields, seen))
            place = self._namespace(namespace)
            yield self.name, place, self._key(key), entry if stamp is None else (stamp, entry)

    def _namespace(self, namespace: object) -> object:
        return None

    @abstractmethod
    def _entry(
        self, found: FlinkStates, key: object, namespace: object, slots: list[object]
    ) -> list[object]:
        """Return an entry of ours, of the accumulators in Flink's."""


class MovedGroups(_Aggregates):
    """The accumulators of ``GROUP BY``."""

    name = "groups"
    _state = "accState"

    def __init__(
        self, keys: Sequence[Typed], calls: Sequence[AggregateInvocation], rows: AggregatedRows
    ) -> None:
        super().__init__(keys, calls, rows, 2)

    def _entry(
        self, found: FlinkStates, key: object, namespace: object, slots: list[object]
    ) -> list[object]:
        entry = [None, slots[0], *slots[1:]]
        entry[0] = self._values(entry)
        return entry


class MovedSlices(_Aggregates):
    """The accumulators of slices of windows.

    Args:
        keys: what rows are grouped by, besides windows.
        calls: what is computed.
        rows: the rows.
        window: the kind of the windows.
        by_clock: whether the clock ends the windows.
    """

    name = "slices"
    _state = "window-aggs"

    def __init__(
        self,
        keys: Sequence[Typed],
        calls: Sequence[AggregateInvocation],
        rows: AggregatedRows,
        window: WindowKind,
        *,
        by_clock: bool,
    ) -> None:
        super().__init__(keys, calls, rows, 3 if rows.retracting else 2)
        self._retracting, self._window, self._by_clock = rows.retracting, window, by_clock

    def _refusal(self, found: FlinkStates) -> str | None:
        if self._window is WindowKind.CUMULATE:
            return "cumulating windows keep the rows of their slices in another place here"
        if self._by_clock:
            return "it does not say which of its windows the clock has ended"
        return super()._refusal(found)

    def _namespace(self, namespace: Any) -> object:
        return namespace * _MICROS

    def _entry(
        self, found: FlinkStates, key: Any, namespace: object, slots: list[Any]
    ) -> list[object]:
        watermark = _NO_WATERMARK if found.watermark is None else found.watermark
        counted = slots[:1] if self._retracting else []
        return [tuple(key), (watermark + 1) * _MICROS, *counted, *slots[1:]]


_FIRST_ROWS = "data-state-with-append"


class MovedFirstRows(_Keyed):
    """The first rows of keys.

    Flink's rows may have columns at their end that only the rest of the query needs.

    Args:
        keys: which rows are together.
        order: the order.
        types: of the columns.
        columns: what these are made of.
        time_zone: the session's, by name.
    """

    name = "rows"
    kind = "list"

    def __init__(
        self,
        keys: Sequence[Typed],
        order: Sequence[SortKey],
        types: Sequence[LogicalType],
        columns: Columns,
        time_zone: str,
    ) -> None:
        super().__init__(keys, time_zone)
        self._doubt = in_doubt(types, columns)
        self._key_of_row = compile_key(keys, len(types), time_zone).load().function
        self._order, self._columns = row_text(key.value.type for key in order), types
        values = [key.value for key in order]
        self._sort_key = compile_row(values, len(types), time_zone).load().function
        compared = compile_sort_key(order, len(types), time_zone)
        self._compared: Callable[[Any], Any] = compared.load().function

    def _refusal(self, found: FlinkStates) -> str | None:
        given = found.layouts.get(_FIRST_ROWS)
        rows = f"list({row_text(self._columns)})"
        if given is not None and len(given.types) == 2 and given.types[1].startswith(rows[:-2]):
            text = given.types[1].removeprefix(rows[:-2])
            rows = given.types[1] if text == "))" or text.startswith(", ") else rows
        layout = StateLayout("map", (self._order, rows))
        return _differs(found, data_state_with_append=layout) or _doubtful(self._doubt)

    def taken(self, found: FlinkStates, entries: Iterable[Given]) -> Iterator[Taken]:
        """Put the rows in order.

        Raises:
            ValueError: a row is not in the place where the order puts it.
        """
        width = len(self._columns)
        for state, key, _, value in entries:
            stamped = found.layouts[state].stamped
            rows: list[Any] = []
            for place, piece in value.items():
                stamp, piece = piece if stamped else (None, piece)
                found_rows = [(self._compared(row), row[:width]) for row in piece or ()]
                if any(self._sort_key(row) != place for _, row in found_rows):
                    raise ValueError("its rows are in another order than that of the job")
                if any(self._key_of_row(row) != self._key(key) for _, row in found_rows):
                    raise ValueError(_OTHER_KEYS)
                rows += [(stamp, row) for row in found_rows] if stamped else found_rows
            rows.sort(key=(lambda item: item[1][0]) if stamped else (lambda item: item[0]))
            yield self.name, None, self._key(key), rows


class MovedOnlyRow(_Keyed):
    """The row of each key, of a query that removes duplicates.

    Args:
        keys: which rows are together.
        types: of the columns.
        columns: what these are made of.
        seen: whether Flink only knows that there was a row.
        time_zone: the session's, by name.
    """

    name = "rows"

    def __init__(
        self,
        keys: Sequence[Typed],
        types: Sequence[LogicalType],
        columns: Columns,
        seen: bool,
        time_zone: str,
    ) -> None:
        super().__init__(keys, time_zone)
        self._seen, self._doubt = seen, None if seen else in_doubt(types, columns)
        self._key_of_row = compile_key(keys, len(types), time_zone).load().function
        self._layout = StateLayout("value", ("boolean",) if seen else (row_text(types),))

    def _refusal(self, found: FlinkStates) -> str | None:
        return _differs(found, deduplicate_state=self._layout) or _doubtful(self._doubt)

    def taken(self, found: FlinkStates, entries: Iterable[Given]) -> Iterator[Taken]:
        """Keep the rows.

        Raises:
            ValueError: a row does not belong to its key.
        """
        for state, key, _, value in entries:
            stamp, row = value if found.layouts[state].stamped else (None, value)
            row = () if self._seen else row
            if row and self._key_of_row(row) != self._key(key):
                raise ValueError(_OTHER_KEYS)
            yield self.name, None, self._key(key), row if stamp is None else (stamp, row)


_SIDES = {"left-records": "left", "right-records": "right"}
_COUNTED, _PARTNERED = "int", "tuple(int, int)"


class MovedJoin(_Keyed):
    """The rows of both sides of a join.

    Flink's rows may have columns at their end that only the condition needs.

    Args:
        keys: pairs of what has to be equal, over the columns of both sides.
        types: of the columns of both sides.
        columns: what these are made of.
        partners: for both sides whether each row has the number of its partners.
        time_zone: the session's, by name.
        only_keys: whether nothing of the right rows matters but their keys.
    """

    kind = "map"

    def __init__(
        self,
        keys: Sequence[tuple[Typed, Typed]],
        types: tuple[Sequence[LogicalType], Sequence[LogicalType]],
        columns: tuple[Columns, Columns],
        partners: tuple[bool, bool],
        time_zone: str,
        *,
        only_keys: bool = False,
    ) -> None:
        self._only_keys = only_keys
        left = [key for key, _ in keys]
        super().__init__(left, time_zone)
        self._partners = partners
        sides = left, [key for _, key in keys]
        self._columns = [list(map(_type_text, side)) for side in types]
        self._doubts = list(map(in_doubt, types, columns))
        self._key_of_row = [
            compile_key(side, len(kinds), time_zone).load().function
            for side, kinds in zip(sides, types)
        ]

    def metas(self, found: FlinkStates) -> Mapping[str, StateMeta]:
        """Return the states of both sides."""
        stamped = any(layout.stamped for layout in found.layouts.values())
        return {name: StateMeta("map", stamped) for name in _SIDES.values()}

    def _refusal(self, found: FlinkStates) -> str | None:
        for name, layout in found.layouts.items():
            if name not in _SIDES:
                return f"its state {name!r} has no counterpart here"
            side = list(_SIDES).index(name)
            columns = self._columns[side]
            if side == 1 and self._has_only_keys(layout):
                continue
            if self._row_of(layout, columns) is not self._partners[side]:
                counted = " and its partners" if self._partners[side] else ""
                return (
                    f"its state {name!r} is a {layout}, and the job keeps {row_text(columns)}"
                    f"{counted}"
                )
            if self._doubts[side] is not None:
                return _doubtful(self._doubts[side])
        return None

    def _has_only_keys(self, layout: StateLayout) -> bool:
        return self._only_keys and layout.kind == "map" and layout.types[0] == self._key_text

    def _row_of(self, layout: StateLayout, columns: Sequence[str]) -> bool | None:
        """Return whether each row has the number of its partners; None for other rows."""
        texts = {"value": layout.types[:1], "map": layout.types}.get(layout.kind, ())
        beginning = row_text(columns)[:-1]

        def is_row(text: str) -> bool:
            return text == f"{beginning})" or text.startswith(f"{beginning}, ")

        if len(texts) == 2 and is_row(texts[0]) and texts[1] in (_COUNTED, _PARTNERED):
            return texts[1] == _PARTNERED
        last = texts[-1] if texts else ""
        if last.startswith(f"tuple({ROW}") and last.endswith(", int)"):
            return True if is_row(last.removeprefix("tuple(").removesuffix(", int)")) else None
        return False if is_row(last) else None

    def taken(self, found: FlinkStates, entries: Iterable[Given]) -> Iterator[Taken]:
        """Keep the rows, each with its number and that of its partners.

        Raises:
            ValueError: a row does not belong to its key.
        """
        for state, key, _, value in entries:
            side = list(_SIDES).index(state)
            layout, width, key_of = found.layouts[state], len(self._columns[side]), self._key(key)
            rows: dict[object, object] = {}
            for row, counts in _rows_of(layout, value):
                stamp, counts = counts if layout.stamped else (None, counts)
                row, counts = _with_counts(row, counts)
                if side == 1 and self._has_only_keys(layout):
                    rows[row] = list(counts) if stamp is None else (stamp, list(counts))
                    continue
                row = row[:width]
                if self._key_of_row[side](row) != key_of:
                    raise ValueError(_OTHER_KEYS)
                rows[row] = list(counts) if stamp is None else (stamp, list(counts))
            yield _SIDES[state], None, key_of, rows


def _rows_of(layout: StateLayout, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield rows, or None where a row is in what belongs to it, and what belongs to them."""
    if layout.kind == "value":
        yield None, value
    elif layout.types[1] in (_COUNTED, _PARTNERED):
        yield from value.items()
    else:
        yield from ((None, found) for found in value.values())


def _with_counts(row: object, counts: object) -> tuple[Any, tuple[int, int]]:
    """Return a row, how often it is there, and how many partners it has."""
    if row is not None:
        return row, counts if isinstance(counts, tuple) else (counts, 0)
    if isinstance(counts, tuple) and len(counts) == 2 and isinstance(counts[0], tuple):
        return counts[0], (1, counts[1])
    return counts, (1, 0)
