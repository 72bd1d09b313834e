"""The source that runs a source function."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.functions.context import (
    CheckpointLock,
    EventQueue,
    FunctionSourceContext,
    Item,
    SourceCancelled,
)
from pyflink_on_spark._runtime.contract.connector import OwnPositions, Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, redistribute
from pyflink_on_spark._runtime.user_code.user_function import (
    FunctionCheckpoints,
    UserFunction,
    close_function,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


@dataclass(slots=True)
class FunctionPosition:
    """The position of the function of one subtask. Picklable.

    Args:
        subtask: the index of the subtask.
        returned: whether ``run`` has returned; it is then not called again.
        state: the state of the function.
        waiting: the items that the function has emitted before this state, and that ``poll`` has
            not returned.
    """

    subtask: int
    returned: bool
    state: OperatorSnapshot = field(default_factory=OperatorSnapshot)
    waiting: list[Item] = field(default_factory=list)


class SealedPosition:
    """A position that later changes of the function's objects do not affect.

    Unpickled, it is a FunctionPosition again.

    Args:
        position: the position, which must not change during this call.
    """

    __slots__ = ("_content",)

    def __init__(self, position: FunctionPosition) -> None:
        self._content = serialize(position)

    def __reduce__(self) -> tuple[object, ...]:
        return deserialize, (self._content,)


def share_of(
    positions: Sequence[FunctionPosition], subtask: int, parallelism: int
) -> FunctionPosition:
    """Return the position from which a subtask resumes.

    With another parallelism every function runs again, unless all have returned. Waiting elements
    are then distributed without watermarks, which are only valid for the function that has emitted
    them.

    Args:
        positions: the positions of all former subtasks.
        subtask: the index of the subtask.
        parallelism: the present number of subtasks.
    """
    known = sorted(positions, key=attrgetter("subtask"))
    if len(known) == parallelism:
        state = redistribute([position.state for position in known], parallelism)[subtask]
        return FunctionPosition(subtask, known[subtask].returned, state, known[subtask].waiting)
    running = [position.state for position in known if not position.returned]
    waiting: list[Item] = [
        item
        for position in known[subtask::parallelism]
        for item in position.waiting
        if type(item) is tuple
    ]
    state = redistribute(running, parallelism)[subtask]
    return FunctionPosition(subtask, not running, state, waiting)


_log = logging.getLogger(__name__)
_SECONDS_TO_WAIT = 0.01
_SECONDS_TO_STOP = 5


class FunctionReader(SourceReader):
    """Runs the source function of one subtask.

    Args:
        function: the user's function.
        restored: the positions of all subtasks, or None.
        context: the context of the subtask.
    """

    def __init__(
        self,
        function: UserFunction,
        restored: Sequence[FunctionPosition] | None,
        context: OperatorContext,
    ) -> None:
        task = context.task
        position = FunctionPosition(task.subtask_index, returned=False)
        if restored:
            position = (
                restored[0]
                if isinstance(restored, OwnPositions)
                else share_of(restored, task.subtask_index, task.parallelism)
            )
        self.ended = position.returned and not position.waiting
        self._position: FunctionPosition | SealedPosition = position
        self._context = context
        context.operator_state.restore(position.state)
        self._queue = EventQueue()
        self._queue.preload(position.waiting)
        self._lock = CheckpointLock(self._queue)
        self._function: Any = None
        self._error: Exception | None = None
        self._returned = position.returned
        self._cancelled = False
        self._stop_at = 0
        self._thread: threading.Thread | None = None
        self._checkpoints: FunctionCheckpoints | None = None
        if not self._returned:
            self._open(function.load())

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        if self.ended:
            return None
        if self._thread is None and not self._returned and not self._cancelled:
            self._start()
        thread, silent = self._thread, self._returned or self._thread is None
        if thread is not None and not silent and self._is_late():
            _log.warning("%s still runs after cancel(); the job does not wait for it", thread.name)
            self.ended = True
            return None
        event = self._queue.take(0 if silent else _SECONDS_TO_WAIT)
        if event is None and silent:
            if self._error is not None:
                raise self._error
            self.ended = True
            self._position = self._now()
        return event

    def stop(self) -> bool:
        """Cancel the function; elements that it emits until it returns are still emitted.

        A job that resumes from the next snapshot runs the function again. If the function does not
        return in time, its remaining elements are part of that snapshot.
        """
        if not self._returned:
            self._cancelled = True
            self._stop_at = self._context.clock.now() + 1000 * _SECONDS_TO_STOP
            if self._thread is not None:
                self._cancel(self._function)
        return True

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Take the position at a moment when the function does not hold the lock."""
        with self._lock.for_snapshot():
            if self._checkpoints is not None:
                self._checkpoints.snapshot(checkpoint_id)
            # The function may change its state as soon as the lock is released.
            self._position = SealedPosition(self._now())

    def snapshot(self) -> list[FunctionPosition | SealedPosition]:
        """Return the position at the latest ``prepare_checkpoint``."""
        return [self._position]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the function."""
        if self._checkpoints is not None:
            with self._lock.for_snapshot():
                self._checkpoints.complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the function."""
        if self._checkpoints is not None:
            with self._lock.for_snapshot():
                self._checkpoints.aborted(checkpoint_id)

    def close(self) -> None:
        """Cancel the function if it runs, then close it."""
        function, self._function = self._function, None
        if function is None:
            return
        with contextlib.ExitStack() as last_first:
            last_first.callback(close_function, function)
            if self._thread is not None and self._thread.is_alive():
                last_first.callback(self._wait_for_the_end)
                last_first.callback(self._queue.cancel)
                if not self._cancelled:
                    self._cancel(function)

    def _open(self, function: object) -> None:
        self._checkpoints = FunctionCheckpoints(function, self._context)
        self._checkpoints.initialize()
        self._function = function
        open_function(function, self._context.runtime_context)

    def _start(self) -> None:
        name = f"source of {self._context.task.task_name_with_subtasks}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _is_late(self) -> bool:
        return self._cancelled and self._context.clock.now() >= self._stop_at

    def _cancel(self, function: Any) -> None:
        """Cancel the function, which may acquire the lock: the queue is not emptied meanwhile."""
        self._queue.set_unlimited(True)
        try:
            function.cancel()
        finally:
            self._queue.set_unlimited(False)

    def _now(self) -> FunctionPosition:
        return FunctionPosition(
            self._context.task.subtask_index,
            returned=self._returned and not self._cancelled and self._error is None,
            state=self._context.operator_state.snapshot(),
            waiting=self._queue.waiting(),
        )

    def _run(self) -> None:
        context = FunctionSourceContext(self._queue, self._lock, self._context.task.batch)
        try:
            self._function.run(context)
        except SourceCancelled:
            pass
        except Exception as error:  # noqa: BLE001 - the subtask's thread raises it
            self._error = error
        except BaseException as error:  # noqa: BLE001 - it ends this thread, not the worker
            self._error = RuntimeError(f"run() ended with {error!r}")
            self._error.__cause__ = error
        finally:
            self._returned = True

    def _wait_for_the_end(self) -> None:
        assert self._thread is not None
        self._thread.join(_SECONDS_TO_STOP)
        if self._thread.is_alive():
            _log.warning("%s still runs after cancel(); the thread is abandoned", self._thread.name)


class FunctionSource(Source):
    """Runs a function with ``run(context)`` and ``cancel()`` in each subtask.

    Args:
        function: the user's function.
        bounded: whether ``run`` returns without a call of ``cancel``.
        parallel: whether the source may have more than one subtask.
    """

    timestamped = True

    def __init__(self, function: UserFunction, *, bounded: bool, parallel: bool) -> None:
        self._function = function
        self.bounded = bounded
        self.parallel = parallel

    def splits(self, parallelism: int) -> list[object]:
        """Return one split for each subtask, without content."""
        return list(range(parallelism))

    def reader(
        self,
        splits: Sequence[object],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> SourceReader:
        return FunctionReader(self._function, restored, context)
