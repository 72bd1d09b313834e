"""Operators around function objects: their life, their part in checkpoints, keyed state."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.own_frames import user_traceback
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.user_code.function_checkpoints import FunctionCheckpoints
from pyflink_on_spark._runtime.user_code.user_function import (
    UserFunction,
    close_function,
    describe,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


_log = logging.getLogger(__name__)


class UdfOperator(Operator):
    """The base of operators with a user function, which may take part in checkpoints."""

    _checkpoints: FunctionCheckpoints | None = None
    _opened: bool = False
    _task: str = ""

    def snapshot_state(self, checkpoint_id: int) -> None:
        """Have the function save its state."""
        if self._checkpoints is not None:
            self._checkpoints.snapshot(checkpoint_id)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint is complete."""
        if self._checkpoints is not None:
            self._checkpoints.complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint was aborted."""
        if self._checkpoints is not None:
            self._checkpoints.aborted(checkpoint_id)

    def _open_function(self, function: Any, context: OperatorContext) -> None:
        """Give a function its state, then open it."""
        if not context.opens_functions:
            return
        self._task = context.task.task_name_with_subtasks
        checkpoints = FunctionCheckpoints(function, context)
        checkpoints.initialize()
        open_function(function, context.runtime_context)
        self._checkpoints, self._opened = checkpoints, True

    def _close_function(self, function: Any) -> None:
        """Close a function; as in PyFlink no job fails because that fails."""
        try:
            close_function(function)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - others have to be closed as well
            if self._opened:
                _log.error(
                    "close() of %s failed in the task %r; the job continues, as in PyFlink:\n%s",
                    describe(function),
                    self._task,
                    user_traceback(error).rstrip(),
                )


class RichFunctionOperator(UdfOperator):
    """Loads a function object, opens it, and closes it in the end.

    Args:
        function: the user's.
    """

    methods: tuple[str, ...] = ()
    """The methods of the function that the operator calls for elements and timers."""

    def __init__(self, function: UserFunction) -> None:
        self._function = function
        self._loaded: Any = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._context = context
        self._cursor = context.cursor
        self._loaded = self._function.load()
        self._open_function(self._loaded, context)

    def close(self) -> None:
        """Close the function."""
        if self._loaded is not None:
            self._close_function(self._loaded)


class KeyedFunctionOperator(RichFunctionOperator):
    """A function object on a keyed stream."""

    keyed = True

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._backend = keyed_state_of(context)
        super().open(context)


def keyed_state_of(context: OperatorContext) -> KeyedStateBackend:
    """Return the keyed state that an operator on a keyed stream has."""
    if context.keyed_state is None:
        raise ValueError(f"{context.task.task_name}: there is no keyed state")
    return context.keyed_state


class KeyedMapOperator(KeyedFunctionOperator):
    """Calls ``map`` for each element."""

    methods = ("map",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the result for each element."""
        backend, call = self._backend, self._loaded.map
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield call(value)


class KeyedFlatMapOperator(KeyedFunctionOperator):
    """Calls ``flat_map`` for each element."""

    methods = ("flat_map",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the results for each element."""
        backend, call = self._backend, self._loaded.flat_map
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield from call(value)


class KeyedFilterOperator(KeyedFunctionOperator):
    """Calls ``filter`` for each element."""

    methods = ("filter",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements that pass."""
        backend, passes = self._backend, self._loaded.filter
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            if passes(value):
                yield value
