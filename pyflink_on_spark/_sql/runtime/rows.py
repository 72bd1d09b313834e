"""Operators that load programs, and those that work row by row: Calc, keys, kinds of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, overload

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.stateless import keyed_state_of
from pyflink_on_spark._runtime.state.timers import KeyedTimers
from pyflink_on_spark._sql.codegen.program import EventClock, LoadedProgram, Program
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.changes import INSERT, UPDATE_BEFORE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.state.keyed_rows import KeyedRows


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

    def _load(self, program: Program | None, context: OperatorContext) -> Callable[..., Any] | None:
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

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Remove some expired entries."""
        for rows in self._states:
            rows.check_some(now)
        return ()


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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that are kept, with their new columns."""
        assert self._loaded is not None
        result: Iterator[Any] = self._loaded.function(elements)
        return result

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        key = self._key
        if self._changelog:
            return ((key(element[1]), element) for element in elements)
        return ((key(row), row) for row in elements)


class CheckNotNull(Operator):
    """Fails when NULL is written to a column that is NOT NULL.

    Args:
        columns: the positions and names of such columns.
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_immutable = True

    def __init__(self, columns: Sequence[tuple[int, str]], changelog: bool) -> None:
        self._columns, self._changelog = tuple(columns), changelog

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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
