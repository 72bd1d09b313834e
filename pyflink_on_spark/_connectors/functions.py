"""Source functions and sink functions: their contexts, and the source and sink that call them."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from threading import get_ident
from typing import TYPE_CHECKING, Any, Self

from pyflink_on_spark._runtime.contract.connector import (
    OwnPositions,
    Sink,
    SinkWriter,
    Source,
    SourceReader,
)
from pyflink_on_spark._runtime.elements.bundle import (
    BUNDLE_SIZE,
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    Watermark,
)
from pyflink_on_spark._runtime.elements.immutability import (
    IMMUTABLE_TYPES,
    deserialize,
    is_immutable,
    serialize,
)
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, redistribute
from pyflink_on_spark._runtime.user_code import (
    FunctionCheckpoints,
    UserFunction,
    close_function,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.elements.bundle import Cursor
    from pyflink_on_spark._runtime.elements.time import Clock

CAPACITY = 2 * BUNDLE_SIZE
"""The number of items in the queue at which the function has to wait."""

LIMIT = 8 * BUNDLE_SIZE
"""The same while the function holds the checkpoint lock."""

Item = tuple[object, int | None] | Watermark | ChannelStatus
"""An element with its timestamp (ms, or None), or an event."""


class SourceCancelled(BaseException):
    """Ends a function that emits after ``cancel``, even if it catches ``Exception``."""


class EventQueue:
    """A bounded queue from one or several threads to one thread.

    ``put`` and ``take`` need no lock unless they wait.
    """

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._receiver_waits = False
        self._senders_waiting = 0
        self._unlimited = False
        self._cancelled = False

    def put(self, item: Item) -> None:
        """Add an item.

        Raises:
            SourceCancelled: the queue is cancelled.
        """
        if len(self._items) >= LIMIT:
            self._wait_below(LIMIT)
        if self._cancelled:
            raise SourceCancelled
        self._items.append(item)
        if self._receiver_waits:
            self._wake()

    def wait_for_room(self) -> None:
        """Wait while the queue is at its capacity."""
        if len(self._items) >= CAPACITY:
            self._wait_below(CAPACITY)
        if self._cancelled:
            raise SourceCancelled

    def preload(self, items: Iterable[Item]) -> None:
        """Add items before the function starts."""
        self._items.extend(items)

    def take(self, seconds: float) -> Bundle | Watermark | ChannelStatus | None:
        """Remove the next event, or the elements before it; None if nothing arrives in time."""
        if not self._items:
            self._wait_for_item(seconds)
        taken = self._next()
        if self._senders_waiting:
            self._wake()
        return taken

    def waiting(self) -> list[Item]:
        """Return the items in the queue."""
        return list(self._items)

    def set_unlimited(self, unlimited: bool) -> None:
        """Set whether senders never wait."""
        self._unlimited = unlimited
        self._wake()

    def cancel(self) -> None:
        """Make all waiting and later calls of senders raise."""
        self._cancelled = True
        self._wake()

    def _next(self) -> Bundle | Watermark | ChannelStatus | None:
        items = self._items
        values: list[object] = []
        timestamps: list[int | None] = []
        while items and len(values) < BUNDLE_SIZE:
            item = items[0]
            if type(item) is tuple:
                values.append(item[0])
                timestamps.append(item[1])
                items.popleft()
            elif values:
                break
            else:
                items.popleft()
                return item  # type: ignore[return-value]
        if not values:
            return None
        return Bundle(values, None if timestamps.count(None) == len(values) else timestamps)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _wait_below(self, size: int) -> None:
        with self._changed:
            self._senders_waiting += 1
            self._changed.wait_for(
                lambda: len(self._items) < size or self._unlimited or self._cancelled
            )
            self._senders_waiting -= 1

    def _wait_for_item(self, seconds: float) -> None:
        with self._changed:
            self._receiver_waits = True
            self._changed.wait_for(lambda: bool(self._items), seconds)
            self._receiver_waits = False


class CheckpointLock:
    """A reentrant lock for ``with``.

    A snapshot that wants the lock gets it next, so that a function that releases the lock only to
    acquire it again cannot delay snapshots. A function that releases the lock waits while the queue
    is at its capacity: at that moment its state and its emitted elements are consistent. A function
    never waits during a snapshot.

    Args:
        queue: the queue of the function.
    """

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._snapshot_next = False
        self._no_snapshot = threading.Event()

    def acquire(self) -> None:
        """Acquire the lock."""
        me = get_ident()
        if self._owner != me:
            self._lock.acquire()
            while self._snapshot_next:
                self._lock.release()
                self._no_snapshot.wait()
                self._lock.acquire()
            self._owner = me
        self._depth += 1

    def release(self) -> None:
        """Release the lock.

        Raises:
            RuntimeError: this thread does not hold the lock.
        """
        if self._owner != get_ident():
            raise RuntimeError("the checkpoint lock is not held by this thread")
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._lock.release()
            self._queue.wait_for_room()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    @contextlib.contextmanager
    def for_snapshot(self) -> Iterator[None]:
        """Hold the lock, with precedence over the function."""
        self._no_snapshot.clear()
        self._snapshot_next = True
        self._queue.set_unlimited(True)
        try:
            with self._lock:
                self._owner, self._depth = get_ident(), 1
                try:
                    yield
                finally:
                    self._owner, self._depth = None, 0
        finally:
            self._queue.set_unlimited(False)
            self._snapshot_next = False
            self._no_snapshot.set()


class FunctionSourceContext:
    """The argument of a source function's ``run``: takes the elements that the function emits.

    Args:
        queue: the queue to the subtask.
        lock: the checkpoint lock.
        batch: whether the job runs in BATCH mode, which ignores watermarks.
    """

    def __init__(self, queue: EventQueue, lock: CheckpointLock, batch: bool) -> None:
        self._queue, self._lock, self._batch = queue, lock, batch
        self._put = queue.put
        self._idle = False

    def collect(self, element: object) -> None:
        """Emit an element without a timestamp."""
        self._emit(element, None)

    def collect_with_timestamp(self, element: object, timestamp: int) -> None:
        """Emit an element with its timestamp (ms)."""
        self._emit(element, timestamp)

    def emit_watermark(self, timestamp: int) -> None:
        """Emit a watermark: no element at or before this time (ms) follows. No effect in BATCH."""
        if not isinstance(timestamp, int):
            raise TypeError(f"a watermark is a time in ms, not {timestamp!r}")
        if self._batch:
            return
        with self._lock:
            self._wake()
            self._queue.put(Watermark(timestamp))

    def mark_as_temporarily_idle(self) -> None:
        """Mark the source as idle until it emits again: it does not hold back watermarks."""
        if self._batch:
            return
        with self._lock:
            if not self._idle:
                self._idle = True
                self._queue.put(ChannelStatus(True))

    def get_checkpoint_lock(self) -> CheckpointLock:
        """Return the lock for ``with``; no snapshot is taken while a function holds it."""
        return self._lock

    def _emit(self, element: object, timestamp: int | None) -> None:
        if type(element) not in IMMUTABLE_TYPES and not is_immutable(element):
            element = deserialize(serialize(element))
        with self._lock:
            if self._idle:
                self._wake()
            self._put((element, timestamp))

    def _wake(self) -> None:
        if self._idle:
            self._idle = False
            self._queue.put(ChannelStatus(False))


class FunctionSinkContext:
    """The second argument of a sink function's ``invoke``.

    Args:
        cursor: has the timestamp of the element.
        clock: the processing time.
    """

    __slots__ = ("_clock", "_cursor", "watermark")

    def __init__(self, cursor: Cursor, clock: Clock) -> None:
        self._cursor, self._clock = cursor, clock
        self.watermark = MIN_TIMESTAMP

    def timestamp(self) -> int | None:
        """Return the timestamp of the element in ms, or None."""
        return self._cursor.timestamp

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self.watermark

    def current_processing_time(self) -> int:
        """Return the processing time in ms."""
        return self._clock.now()


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


class FunctionWriter(SinkWriter):
    """Calls a sink function.

    Args:
        function: a copy of the user's function.
        context: the context of the subtask.
    """

    def __init__(self, function: Any, context: OperatorContext) -> None:
        self._function = function
        self._sink_context = FunctionSinkContext(context.cursor, context.clock)
        self._checkpoints = FunctionCheckpoints(function, context)
        self._checkpoints.initialize()
        open_function(function, context.runtime_context)

    def write(self, elements: Iterator[object]) -> None:
        invoke, context = self._function.invoke, self._sink_context
        for value in elements:
            invoke(value, context)

    def advance_watermark(self, watermark: int) -> None:
        self._sink_context.watermark = watermark

    def prepare_commit(self) -> list[object]:
        self._function.finish()
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[object]:
        self._checkpoints.snapshot(checkpoint_id)
        return []

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._checkpoints.complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self._checkpoints.aborted(checkpoint_id)

    def close(self) -> None:
        close_function(self._function)


class FunctionSink(Sink):
    """Calls ``invoke`` of a function for each element.

    Args:
        function: the user's function.
    """

    def __init__(self, function: UserFunction) -> None:
        self._function = function

    def writer(self, context: OperatorContext) -> SinkWriter:
        return FunctionWriter(self._function.load(), context)
