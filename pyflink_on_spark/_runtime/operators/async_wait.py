"""The operator of ``AsyncDataStream``."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.stateless import RichFunctionOperator, keyed_rows

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.user_code import UserFunction


_SECONDS_TO_STOP = 5
_NONE = "cannot be none"
_NO_LIST = "should be of list type"


class EventLoop:
    """An asyncio event loop in a thread of its own.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    def run(self, callback: Callable[[], None]) -> None:
        """Have something called in the loop's thread."""
        self._loop.call_soon_threadsafe(callback)

    def stop(self) -> None:
        """Cancel what still runs, and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_SECONDS_TO_STOP)

    def _main(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.wait(tasks, timeout=_SECONDS_TO_STOP / 2))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


class Call:
    """All attempts for one element. Everything but ``results`` happens in the loop's thread.

    Args:
        function: the user's AsyncFunction.
        value: the element.
        timestamp: its timestamp in ms, or None.
        timeout: how long all attempts together may take, in ms; 0 for no limit.
        strategy: the user's AsyncRetryStrategy; None for a single attempt.
        finished: called with this call when its outcome is known.
    """

    __slots__ = (
        "_attempts",
        "_error",
        "_finished",
        "_function",
        "_next_attempt",
        "_result",
        "_strategy",
        "_task",
        "_timeout",
        "_timer",
        "done",
        "timestamp",
        "value",
    )

    def __init__(
        self,
        function: Any,
        value: object,
        timestamp: int | None,
        timeout: int,
        strategy: Any,
        finished: Callable[[Call], None],
    ) -> None:
        self._function, self.value, self.timestamp = function, value, timestamp
        self._timeout, self._strategy, self._finished = timeout, strategy, finished
        self._attempts = 0
        self._result: Any = None
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next_attempt: asyncio.TimerHandle | None = None
        self.done = False

    def start(self) -> None:
        """Make the first attempt."""
        if self._timeout > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._timeout / 1000, self._time_out)
        self._attempt()

    def results(self) -> Iterable[object]:
        """Return the results of the element, or raise the function's exception."""
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[no-any-return]

    def _attempt(self) -> None:
        self._attempts += 1
        self._task = asyncio.get_running_loop().create_task(self._invoke())

    async def _invoke(self) -> None:
        result, error = None, None
        try:
            result = await self._function.async_invoke(self.value)
        except BaseException as raised:  # noqa: BLE001 - also what would end the loop
            error = raised
        if not self.done:
            self._judge(result, error)

    def _judge(self, result: object, error: BaseException | None) -> None:
        """Finish, or make another attempt after a while."""
        try:
            delay = self._delay_of_retry(result, error)
        except BaseException as raised:  # noqa: BLE001 - it fails the job, not the loop
            delay, error = None, raised
        if delay is None:
            self._finish(result, error)
        else:
            loop = asyncio.get_running_loop()
            self._next_attempt = loop.call_later(delay / 1000, self._attempt)

    def _delay_of_retry(self, result: Any, error: BaseException | None) -> int | None:
        strategy = self._strategy
        if strategy is None:
            return None
        predicate = strategy.get_retry_predicate()
        if error is not None:
            judge, outcome = predicate.exception_predicate(), error
        else:
            judge, outcome = predicate.result_predicate(), result
        if judge is None or outcome is None or not judge(outcome):
            return None
        if not strategy.can_retry(self._attempts):
            return None
        return strategy.get_backoff_time_millis(self._attempts)  # type: ignore[no-any-return]

    def _time_out(self) -> None:
        """Let the user's ``timeout`` decide instead of the attempts."""
        self.done = True
        if self._next_attempt is not None:
            self._next_attempt.cancel()
        if self._task is not None:
            self._task.cancel()
        try:
            self._finish(self._function.timeout(self.value), None)
        except BaseException as error:  # noqa: BLE001 - it fails the job, not the loop
            self._finish(None, error)

    def _finish(self, result: object, error: BaseException | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if error is None and not isinstance(result, Iterable):
            error = RuntimeError(
                f"The result of AsyncFunction {_NONE if result is None else _NO_LIST}, "
                "please check the methods 'async_invoke' and 'timeout' of class "
                f"'{type(self._function)}'."
            )
        self._result, self._error = result, error
        self.done = True
        self._finished(self)


class CallsInOrder:
    """Calls whose results come in the order of the elements."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque()
        self._news: SimpleQueue[Call] = SimpleQueue()
        self.finished = self._news.put

    def __len__(self) -> int:
        """Return how many have not been given out."""
        return len(self._calls)

    def add(self, call: Call) -> None:
        """Take a call that is about to start."""
        self._calls.append(call)

    def ready(self) -> Call | None:
        """Give out the next call if it is done, else None."""
        return self._calls.popleft() if self._calls and self._calls[0].done else None

    def wait(self) -> Call:
        """Give out the next call once it is done."""
        while not self._calls[0].done:
            self._news.get()
        return self._calls.popleft()


class CallsAsReady:
    """Calls whose results come as they are there."""

    def __init__(self) -> None:
        self._in_flight = 0
        self._news: SimpleQueue[Call] = SimpleQueue()
        self.finished = self._news.put

    def __len__(self) -> int:
        """Return how many have not been given out."""
        return self._in_flight

    def add(self, call: Call) -> None:
        """Take a call that is about to start."""
        self._in_flight += 1

    def ready(self) -> Call | None:
        """Give out a call that is done, or None."""
        try:
            call = self._news.get_nowait()
        except Empty:
            return None
        self._in_flight -= 1
        return call

    def wait(self) -> Call:
        """Give out a call once one is done."""
        call = self._news.get()
        self._in_flight -= 1
        return call


class AsyncWaitOperator(RichFunctionOperator):
    """Calls ``async_invoke`` for several elements at a time.

    Calls stay in flight while other elements come. Only a watermark, the barrier of a checkpoint
    and the end of input wait until all calls are over: so results never overtake a watermark, in
    either order, and a snapshot has nothing of them.

    Args:
        function: the user's AsyncFunction.
        timeout: how long all attempts for an element may take together, in ms; 0 for no limit.
        capacity: how many elements may be in flight, those included whose results still wait.
        ordered: whether results come in the order of their elements, or as they are ready.
        retry_strategy: the user's AsyncRetryStrategy; None for a single attempt.
        keyed: whether the stream is keyed. Then elements are rows of key and value, as in PyFlink.
    """

    methods = ("async_invoke", "timeout")

    def __init__(
        self,
        function: UserFunction,
        timeout: int,
        capacity: int,
        ordered: bool,
        retry_strategy: UserFunction | None = None,
        keyed: bool = False,
    ) -> None:
        super().__init__(function)
        self._retry_strategy = retry_strategy
        self._timeout, self._capacity, self._ordered = timeout, capacity, ordered
        self.keyed = keyed
        self._event_loop: EventLoop | None = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function, start the event loop."""
        context.runtime_context.withhold_state()
        super().open(context)
        self._strategy = None if self._retry_strategy is None else self._retry_strategy.load()
        self._begin(context)

    def _begin(self, context: OperatorContext) -> None:
        self._calls = CallsInOrder() if self._ordered else CallsAsReady()
        self._event_loop = EventLoop(f"async of {context.task.task_name_with_subtasks}")

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the results for the elements."""
        if self.keyed:
            elements = keyed_rows(elements)
        cursor, capacity = self._cursor, self._capacity
        calls = self._calls
        for element in elements:
            timestamp = cursor.timestamp
            while len(calls) >= capacity:
                yield from self._results(calls.wait())
            self._start(element, timestamp, calls)
            while (call := calls.ready()) is not None:
                yield from self._results(call)
            cursor.timestamp = timestamp

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Yield the results that have come meanwhile."""
        return self._ready() if self._calls else ()

    def next_processing_time(self) -> int | None:
        """Return a time that is over while calls are in flight."""
        return 0 if self._calls else None

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the results of all elements before the watermark."""
        return self.prepare_barrier()

    def prepare_barrier(self) -> Iterable[object]:
        """Yield the results of all elements before the barrier."""
        return self._all() if self._calls else ()

    def close(self) -> None:
        """Cancel the calls in flight, close the function."""
        if self._event_loop is not None:
            self._event_loop.stop()
        super().close()

    def _ready(self) -> Iterator[object]:
        while (call := self._calls.ready()) is not None:
            yield from self._results(call)

    def _all(self) -> Iterator[object]:
        while self._calls:
            yield from self._results(self._calls.wait())

    def _start(
        self, value: object, timestamp: int | None, calls: CallsInOrder | CallsAsReady
    ) -> None:
        assert self._event_loop is not None
        call = Call(self._loaded, value, timestamp, self._timeout, self._strategy, calls.finished)
        calls.add(call)
        self._event_loop.run(call.start)

    def _results(self, call: Call) -> Iterator[object]:
        cursor, value = self._cursor, call.value  # noqa: F841 - a failure is traced to the value
        for result in call.results():
            cursor.timestamp = call.timestamp
            yield result
