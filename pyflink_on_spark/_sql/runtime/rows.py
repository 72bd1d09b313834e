"""Operators that load programs, and work row by row or in bundles: watermarks, Calc, records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, overload

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark._runtime.operators.stateless import keyed_state_of
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.state.timers import KeyedTimers
from pyflink_on_spark._sql.codegen.program import EventClock, LoadedProgram, Program
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_BEFORE, Schema
from pyflink_on_spark._sql.types.external import from_python, nullable, row_converter, to_python
from pyflink_on_spark.common.types import Row, RowKind

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.state.keyed_state import KeyedRows
    from pyflink_on_spark.common.typeinfo import TypeInformation


Marks = Callable[[list[Any]], list[int]]
"""Gives the watermark (microseconds) of each element."""
_MICROS_PER_MILLI = 1000
_LOWEST = MIN_TIMESTAMP * _MICROS_PER_MILLI
_row = itemgetter(1)
KINDS = (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)


@dataclass(frozen=True)
class RowWatermarks:
    """Says which watermark follows each row.

    Args:
        program: a function of rows that returns the watermark (microseconds) of each, or None.
        changelog: whether elements are pairs of the kind and the row.
        whole_deletes: whether a row that is deleted has all its values, and not its key alone.
    """

    program: Program
    changelog: bool
    whole_deletes: bool = True

    def load(self, context: OperatorContext) -> Marks:
        """Compile the function."""
        find = self.program.load(context).function
        if not self.changelog:
            return lambda values: _known(find(values))
        if self.whole_deletes:
            return lambda values: _known(find(map(_row, values)))

        def of_pairs(values: list[Any]) -> list[int]:
            marks = iter(_known(find(row for kind, row in values if kind != DELETE)))
            return [_LOWEST if kind == DELETE else next(marks) for kind, _ in values]

        return of_pairs


class WatermarkOperator(AssignTimestamps):
    """The last operator of its chain: rows stay as they are, and the chain gets watermarks.

    Rows have no timestamps; a rowtime attribute is a column like others.

    Args:
        marks: say which watermark follows each row.
        idle_after: after how long without rows (ms) the stream holds others back no more; None
            for never.
        rhythm: how often a watermark is emitted.
    """

    emits_timestamps = False
    at_once = True
    emits_immutable = True

    def __init__(
        self,
        marks: RowWatermarks,
        idle_after: int | None,
        rhythm: WatermarkRhythm | None = None,
    ) -> None:
        # A watermark is as large as the largest timestamp, less one.
        super().__init__(None, 0, idle_after, rhythm)
        self._row_watermarks = marks

    def for_job(self, rhythm: WatermarkRhythm) -> WatermarkOperator:
        """Return the same with the job's rhythm."""
        return WatermarkOperator(self._row_watermarks, self.idle_after, rhythm)

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        super().open(context)
        self._marks = self._row_watermarks.load(context)

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the rows; ``advances`` checks them afterwards."""
        return elements

    def advances(self, values: list[object], emitted: int, most: int) -> Iterator[int]:
        """Note the watermarks of rows; yield after how many of them one is due."""
        marks, step = self._marks(values), self.rhythm.event_time
        if most and step is not None:
            limit = (max(emitted, 0) + step + 1) * _MICROS_PER_MILLI - 1
            for count, mark in enumerate(marks, 1):
                if mark > limit:
                    limit = mark - mark % _MICROS_PER_MILLI + (step + 1) * _MICROS_PER_MILLI - 1
                    self._note(mark)
                    yield count
                    most -= 1
                    if not most:
                        break
        self._note(max(marks))

    def _note(self, mark: int) -> None:
        if mark > _LOWEST:
            self._largest = max(self._largest, _time(mark))


class NoteTimes(Operator):
    """Rows stay as they are; the source that they come from gets to know their watermarks.

    The source has a watermark for each of its splits, and emits the smallest one. The operator ends
    its chain, so that what follows still works in slices of a bundle.

    Args:
        marks: say which watermark follows each row.
    """

    ends_chain = True
    emits_immutable = True

    def __init__(self, marks: RowWatermarks) -> None:
        self._row_watermarks = marks

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._note = context.split_times.note
        self._marks = self._row_watermarks.load(context)

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the rows."""
        return chain.from_iterable(self._noted(elements))

    def _noted(self, elements: Iterator[object]) -> Iterator[list[object]]:
        while values := list(islice(elements, BUNDLE_SIZE)):
            mark = max(self._marks(values))
            if mark > _LOWEST:
                self._note(_time(mark))
            yield values


def _known(marks: list[int | None]) -> list[int]:
    """Return watermarks with one before all times in place of None."""
    if None in marks:
        return [_LOWEST if mark is None else mark for mark in marks]
    return marks  # type: ignore[return-value]


def _time(mark: int) -> int:
    """Return the time (ms) that a watermark follows by one, as if rows had timestamps."""
    return mark // _MICROS_PER_MILLI + 1


class ProgramOperator(Operator):
    """Loads programs in ``open``, and closes them in the end."""

    emits_immutable = True

    _programs: tuple[LoadedProgram, ...] = ()

    @overload
    def _load(self, program: Program, context: OperatorContext) -> Callable[..., Any]: ...

    @overload
    def _load(self, program: None, context: OperatorContext) -> None: ...

    @overload
    def _load(
        self, program: Program | None, context: OperatorContext
    ) -> Callable[..., Any] | None: ...

    def _load(
        self, program: Program | None, context: OperatorContext
    ) -> Callable[..., object] | None:
        """Compile a program, if there is one, and return its function."""
        if program is None:
            return None
        loaded = program.load(context)
        self._programs = (*self._programs, loaded)
        return loaded.function

    def close(self) -> None:
        """Close the objects of the programs."""
        for loaded in self._programs:
            loaded.close()


class KeyedProgramOperator(ProgramOperator):
    """Keeps rows by key, which expire if they have a time to live."""

    keyed = True
    sorted_in_batch = False

    _states: tuple[KeyedRows, ...] = ()

    def _state(
        self, context: OperatorContext, name: str, ttl: int = 0, kind: str = "value"
    ) -> KeyedRows:
        """Return the rows of a state.

        Args:
            context: the operator's.
            name: of the state.
            ttl: after how long without a change (ms) something is forgotten; 0 for never.
            kind: what that is: ``value``, ``list`` or ``map``, as ``KeyedRows`` says.
        """
        rows = keyed_state_of(context).rows(name, ttl, kind)
        if ttl:
            self._states = (*self._states, rows)
        return rows

    def _timers(self, context: OperatorContext, *, event_time: bool = True) -> KeyedTimers:
        """Return the timers of event time, or of the clock."""
        timers = keyed_state_of(context).timers
        return KeyedTimers(timers.event if event_time else timers.processing)

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Remove some expired entries."""
        for rows in self._states:
            rows.check_some(now)
        return ()

    def next_processing_time(self) -> int | None:
        """Return None: expired entries can wait for the next element."""
        return None


@dataclass
class FunctionBundle:
    """The elements for which results are still to come.

    Args:
        size: how many elements complete it.
        milliseconds: how long after its first element it is complete.
    """

    size: int
    milliseconds: int
    elements: list[object] = field(default_factory=list)
    begun: int = 0

    def take(self) -> Iterator[object]:
        """Return its elements, and begin the next bundle."""
        elements, self.elements = self.elements, []
        return iter(elements)


class BundlingOperator(ProgramOperator):
    """Lets elements wait until a bundle of them is complete, and processes it at once.

    A bundle is complete at a barrier and at the end of the input as well. Watermarks between its
    elements come before its results, which have no times.

    Args:
        bundle: how large bundles are.
    """

    def __init__(self, bundle: FunctionBundle | None) -> None:
        self._bundle = bundle
        self._now: Callable[[], int] = int

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the results of the bundles that are complete."""
        bundle = self._bundle
        if bundle is None:
            yield from self.process_bundle(elements)
            return
        while True:
            part = list(islice(elements, bundle.size - len(bundle.elements)))
            if not part:
                return
            if not bundle.elements:
                bundle.begun = self._now()
            bundle.elements += part
            if len(bundle.elements) >= bundle.size:
                yield from self.process_bundle(bundle.take())

    def process_bundle(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the results of some elements."""
        raise NotImplementedError

    def finish_bundle(self) -> Iterable[object]:
        """Yield the results of the elements that wait."""
        if self._bundle is None or not self._bundle.elements:
            return ()
        return self.process_bundle(self._bundle.take())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Finish the bundle before the last watermark."""
        return self.finish_bundle() if watermark == MAX_WATERMARK else ()

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Finish a bundle that has waited long enough."""
        yield from super().advance_processing_time(now)
        bundle = self._bundle
        if bundle is None or now - bundle.begun < bundle.milliseconds:
            return
        yield from self.finish_bundle()

    def next_processing_time(self) -> int | None:
        """Return when the bundle has waited long enough."""
        bundle = self._bundle
        waits = bundle is not None and bundle.elements
        return bundle.begun + bundle.milliseconds if bundle is not None and waits else None

    def end_input(self) -> Iterable[Any]:
        """Finish the bundle."""
        return self.finish_bundle()

    def prepare_barrier(self) -> Iterable[object]:
        """Finish the bundle."""
        return self.finish_bundle()


class KeyedBundlingOperator(BundlingOperator, KeyedProgramOperator):
    """Lets elements with keys wait until a bundle of them is complete."""


class CalcOperator(Operator):
    """Runs a compiled generator function over its elements.

    Args:
        program: a function of an iterator that returns an iterator.
    """

    emits_immutable = True

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loaded: LoadedProgram | None = None

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._loaded = self._program.load(context)
        opened = (thing for _, thing in self._loaded.opened)
        self._clocks = [thing for thing in opened if isinstance(thing, EventClock)]
        self.advance_watermark(MIN_TIMESTAMP)

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the rows that are kept, with their new columns."""
        assert self._loaded is not None
        result: Iterator[object] = self._loaded.function(elements)
        return result

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Advance the watermark of the functions that use it."""
        for clock in self._clocks:
            clock.watermark = watermark
        return ()

    def close(self) -> None:
        """Close the objects of the function."""
        if self._loaded is not None:
            self._loaded.close()


class AsInserts(Operator):
    """Makes of each row a pair that says that it is inserted."""

    emits_immutable = True

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the pairs."""
        return zip(repeat(INSERT), elements)


class ChangesToRowsOperator(Operator):
    """Makes of each change a row that begins with the code of its kind.

    Args:
        codes: the codes by kind; changes of other kinds are left out.
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_immutable = True

    def __init__(self, codes: Mapping[int, str], changelog: bool) -> None:
        self._codes, self._changelog = dict(codes), changelog

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the rows."""
        codes = self._codes
        if self._changelog:
            return ((codes[kind], *row) for kind, row in elements if kind in codes)
        code = codes.get(INSERT)
        return iter(()) if code is None else ((code, *row) for row in elements)


class ChangesFromRowsOperator(Operator):
    """Makes of each row the change that one of its columns says.

    Args:
        column: the position of that column, which the changes have not.
        kinds: the kinds by code.
        changelog: whether the output is pairs of the kind and the row; else all are inserts.
        before: whether there are UPDATE_BEFORE rows in the output.
    """

    emits_immutable = True

    def __init__(
        self, column: int, kinds: Mapping[str, int], *, changelog: bool, before: bool
    ) -> None:
        self._column, self._kinds = column, dict(kinds)
        self._changelog, self._before = changelog, before

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes.

        Raises:
            TableError: from the iterator; a row has no code, or one that is not known.
        """
        column, after, kinds = self._column, self._column + 1, self._kinds
        changelog, before = self._changelog, self._before
        for row in elements:
            kind = kinds.get(row[column])
            if kind is None:
                raise self._wrong(row[column])
            changed = (*row[:column], *row[after:])
            if not changelog:
                yield changed
            elif before or kind != UPDATE_BEFORE:
                yield kind, changed

    def _wrong(self, code: str | None) -> TableError:
        if code is None:
            return TableError(
                "Received NULL op code. Every changelog row must carry an operation code."
            )
        known = ", ".join(self._kinds)
        return TableError(f"Received invalid op code '{code}'. Defined op codes are: [{known}].")


class KeyRowsOperator(Operator):
    """Makes of each element a pair of its key and itself.

    Args:
        program: a function of a row that returns its key.
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_pairs = True
    emits_immutable = True
    preserves_elements = True

    def __init__(self, program: Program, changelog: bool) -> None:
        self._program, self._changelog = program, changelog

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._key = self._program.load(context).function

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the pairs."""
        key = self._key
        if self._changelog:
            return ((key(element[1]), element) for element in elements)
        return ((key(row), row) for row in elements)


class DropUpdateBefore(Operator):
    """Leaves out the rows before updates where nobody needs them."""

    emits_immutable = True
    preserves_elements = True

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the other pairs of the kind and the row."""
        return (element for element in elements if element[0] != UPDATE_BEFORE)


class CheckNotNull(Operator):
    """Fails when NULL is written to a column that is NOT NULL.

    Args:
        columns: the positions and names of such columns.
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_immutable = True

    def __init__(self, columns: Sequence[tuple[int, str]], changelog: bool) -> None:
        self._columns, self._changelog = tuple(columns), changelog

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the elements.

        Raises:
            TableError: from the iterator; there is NULL where there must be none.
        """
        columns, changelog = self._columns, self._changelog
        for element in elements:
            row = element[1] if changelog else element
            for index, name in columns:
                if row[index] is None:
                    raise TableError(
                        f"Column '{name}' is NOT NULL, however, a null value is being written "
                        "into it. You can set job configuration 'table.exec.sink.not-null-"
                        "enforcer'='DROP' to suppress this exception and drop such records "
                        "silently."
                    )
            yield element


class ToRecords(Operator):
    """Makes Python objects of rows.

    Args:
        schema: the columns.
        changelog: whether elements are pairs of the kind and the row.
        names: the names of a Row's fields; None for tuples.
        rowtime: the position of the column that becomes the timestamp, or None for no timestamps.
        metadata: whether that column is only the timestamp, and no field of the object.
        flagged: whether elements become pairs of a bool, whether the row is added, and the row.
        already_typed: the type information of the objects.
        keeps_timestamps: whether objects have the timestamps that the rows came with.
    """

    fields: Schema | None = None
    """The fields of the objects with the types of SQL, where no type information was asked for."""

    def __init__(
        self,
        schema: Schema,
        changelog: bool,
        names: tuple[str, ...] | None,
        rowtime: int | None,
        *,
        metadata: bool = False,
        flagged: bool = False,
        already_typed: TypeInformation | None = None,
        keeps_timestamps: bool = False,
    ) -> None:
        self._schema, self._changelog, self._names = schema, changelog, names
        self._rowtime, self._flagged = rowtime, flagged
        self._metadata = metadata
        self._keeps_timestamps = keeps_timestamps
        self.already_typed = already_typed
        self.emits_timestamps = rowtime is not None

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._cursor = context.cursor
        self._convert = row_converter(self._fields(self._schema.types), to_python)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the objects."""
        if self._changelog or self._flagged:
            return self._of_changes(elements)
        return self._of_rows(elements)

    def _of_rows(self, rows: Iterator[Any]) -> Iterator[Any]:
        make, cursor = self._maker(), self._cursor
        rowtime, keeps = self._rowtime, self._keeps_timestamps
        for row in rows:
            record = make(row)
            received = cursor.timestamp
            if rowtime is not None:
                cursor.timestamp = row[rowtime] // _MICROS_PER_MILLI
            elif not keeps:
                cursor.timestamp = None
            yield record
            cursor.timestamp = received

    def _of_changes(self, elements: Iterator[Any]) -> Iterator[object]:
        make, cursor, rowtime = self._maker(), self._cursor, self._rowtime
        changelog, flagged = self._changelog, self._flagged
        for element in elements:
            kind, row = element if changelog else (0, element)
            record = make(row)
            if kind and self._names is not None:
                record.set_row_kind(KINDS[kind])
            received = cursor.timestamp
            cursor.timestamp = None if rowtime is None else row[rowtime] // _MICROS_PER_MILLI
            yield (kind & 1 == 0, record) if flagged else record
            cursor.timestamp = received

    def _fields(self, row: Any) -> Any:
        """Return the physical fields of a row, or of its types."""
        place = self._rowtime
        return row if place is None or not self._metadata else row[:place] + row[place + 1 :]

    def _maker(self) -> Callable[[Any], Any]:
        convert = self._convert
        if self._metadata:
            place, of_row = self._rowtime, convert

            def convert(row: Any) -> Any:
                if row[place] is None:
                    raise ValueError("The metadata column 'rowtime' of a row must not be NULL.")
                return of_row(self._fields(row))

        if self._names is None:
            return lambda row: tuple(convert(row))
        names = list(self._names)

        def make(row: Any) -> Row:
            record = Row(*convert(row))
            record.set_field_names(names)
            return record

        return make


class FromRecords(Operator):
    """Makes rows of Python objects.

    Args:
        schema: the columns of the objects, as their type has them.
        atomic: whether an object is the value of the only column.
        timestamp: whether a column with the timestamp of the element follows.
        changelog: whether objects have a kind, so that pairs of the kind and the row come out.
    """

    emits_immutable = True

    def __init__(
        self,
        schema: Schema,
        *,
        atomic: bool = False,
        timestamp: bool = False,
        changelog: bool = False,
    ) -> None:
        self._schema, self._atomic = schema, atomic
        self._timestamp, self._changelog = timestamp, changelog

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._cursor = context.cursor
        self._convert = row_converter(self._schema.types, from_python)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the rows."""
        rows = self._of_atoms(elements) if self._atomic else self._of_rows(elements)
        if self._timestamp:
            rows = self._with_timestamps(rows)
        return rows

    def _of_atoms(self, elements: Iterator[object]) -> Iterator[object]:
        convert = nullable(from_python(self._schema.types[0]))
        if convert is None:
            return zip(elements)
        return ((convert(value),) for value in elements)

    def _of_rows(self, elements: Iterator[Any]) -> Iterator[object]:
        convert = self._convert
        if not self._changelog:
            return (
                tuple(convert(record._values if type(record) is Row else record))
                for record in elements
            )
        return ((record._row_kind.value, tuple(convert(record._values))) for record in elements)

    def _with_timestamps(self, rows: Iterator[Any]) -> Iterator[object]:
        cursor, changelog = self._cursor, self._changelog
        for row in rows:
            timestamp = cursor.timestamp
            if timestamp is None:
                raise ValueError(
                    "Rowtime timestamp is not defined. Please make sure that a proper "
                    "TimestampAssigner is defined and the stream environment uses the EventTime "
                    "time characteristic."
                )
            column = (timestamp * _MICROS_PER_MILLI,)
            yield (row[0], row[1] + column) if changelog else row + column
