"""Operators that run compiled programs, with and without the state of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._runtime.state.keyed_timers import KeyedTimers
from pyflink_on_spark._sql.codegen.program import LoadedProgram, Program

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.state.keyed_rows import KeyedRows


class ProgramOperator(Operator):
    """Loads programs in ``open``, and closes them in the end."""

    frozen = True

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
        """Close what the programs hold."""
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
        """Remove some of what has expired."""
        for rows in self._states:
            rows.check_some(now)
        return ()
