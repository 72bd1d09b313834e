"""What all process functions have in common that may have timers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.function_contexts import TimerContext
from pyflink_on_spark._runtime.operators.process import IS_TAG, AnyProcessOperator, Call
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._runtime.state.timers import KeyedTimerService, NonKeyedTimerService

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.user_code.user_function import UserFunction

TimeDomains = tuple[Any, Any]
"""What ``time_domain()`` returns for event-time and for processing-time timers."""


class TimerDrivenOperator(AnyProcessOperator):
    """A process function; on a keyed stream it has ``on_timer``.

    Args:
        function: the user's.
        keyed: whether it is on a keyed stream.
        time_domains: the members of the enum TimeDomain, for event time and for processing time.
    """

    _timer_context: TimerContext
    _backend: Any
    """Keyed state, on a keyed stream."""
    _waiting: Sequence[int] = ()
    """When processing-time timers are due that may fire between two elements."""

    def __init__(self, function: UserFunction, keyed: bool, time_domains: TimeDomains) -> None:
        super().__init__(function)
        self.keyed = keyed
        self.emits_timestamps = keyed
        self._event_domain, self._processing_domain = time_domains

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._timer_service: KeyedTimerService | NonKeyedTimerService
        if self.keyed:
            self._backend = backend = keyed_state_of(context)
            self._timers = backend.timers
            self._event_times = backend.timers.event.times
            if not context.task.batch:
                self._waiting = backend.timers.processing.times
            self._timer_service = KeyedTimerService(backend.timers, backend)
        else:
            self._timer_service = NonKeyedTimerService(context.clock)
        self._make_contexts(context)
        super().open(context)

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield what comes out of the timers that are due."""
        if isinstance(self._timer_service, NonKeyedTimerService):
            self._timer_service.watermark = watermark
            return ()
        self._timers.watermark = watermark
        times = self._event_times
        if not times or times[0] > watermark:
            return ()
        return self._for_each_timer(self._timers.due_by_watermark(watermark), self._event_domain)

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield what comes out of the timers that are due."""
        if not self.keyed:
            return ()
        earliest = self._timers.next_processing_time()
        if earliest is None or earliest > now:
            return ()
        return self._for_each_timer(self._timers.due_by_clock(now), self._processing_domain)

    def _make_contexts(self, context: OperatorContext) -> None:
        """Make what the function's methods get; the timer service is there."""
        raise NotImplementedError

    def _for_each_pair(self, pairs: Iterator[Any], call: Call, context: Any) -> Iterator[Any]:
        backend: KeyedStateBackend = self._backend
        side_output, waiting = self._context.side_output, self._waiting
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            if waiting:
                yield from self._due_before_element()
            results = call(value, context)
            if results:
                for result in results:
                    if type(result) is tuple and len(result) == 2 and IS_TAG[type(result[0])]:
                        side_output(result[0].tag_id, result[1])
                    else:
                        yield result

    def _due_before_element(self) -> Iterator[Any]:
        """Yield what comes out of timers that the clock has passed; leave the element as it was."""
        backend, cursor = self._backend, self._cursor
        key, timestamp = backend.key, cursor.timestamp
        yield from self.advance_processing_time(self._timers.clock.now())
        backend.key, cursor.timestamp = key, timestamp

    def _for_each_timer(self, due: Iterator[Any], domain: Any) -> Iterator[Any]:
        backend: KeyedStateBackend = self._backend
        context: TimerContext = self._timer_context
        side_output, cursor = self._context.side_output, self._cursor
        on_timer = self._loaded.on_timer
        for time, backend.key, _ in due:
            context.time, context.domain = time, domain
            cursor.timestamp = time
            for result in on_timer(time, context):
                cursor.timestamp = time
                if type(result) is tuple and len(result) == 2 and IS_TAG[type(result[0])]:
                    side_output(result[0].tag_id, result[1])
                else:
                    yield result
