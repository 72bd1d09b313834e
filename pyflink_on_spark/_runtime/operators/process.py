"""Process functions, with timers and without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.immutability import unwrap_key
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.operators.stateless import RichFunctionOperator, keyed_state_of
from pyflink_on_spark._runtime.state.timers import KeyedTimerService, NonKeyedTimerService

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.user_code import UserFunction


if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.bundle import Cursor
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.operator_state import OperatorState
    from pyflink_on_spark._runtime.state.timers import (
        BroadcastTimerService,
        KeyedTimerService,
        NonKeyedTimerService,
    )

    TimerService = KeyedTimerService | BroadcastTimerService | NonKeyedTimerService


class ElementContext:
    """For an element of a stream without key.

    Args:
        cursor: has the element's timestamp.
        timer_service: tells the time.
    """

    __slots__ = ("_cursor", "_timer_service")

    def __init__(self, cursor: Cursor, timer_service: TimerService) -> None:
        self._cursor = cursor
        self._timer_service = timer_service

    def __getattr__(self, name: str) -> object:
        if name == "get_current_key":
            raise AttributeError(
                "there is no get_current_key() here: the element has no key. Call key_by() before "
                "this operator; elements of a broadcast stream never have one"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def timer_service(self) -> TimerService:
        """Return the service that has the current time and registers timers."""
        return self._timer_service

    def timestamp(self) -> int:
        """Return the element's timestamp in ms; -2**63 if it has none."""
        timestamp = self._cursor.timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp


class KeyedElementContext(ElementContext):
    """For an element of a keyed stream.

    Args:
        cursor: has the element's timestamp.
        timer_service: tells the time and registers timers.
        backend: knows the current key.
    """

    __slots__ = ("_backend",)

    def __init__(
        self, cursor: Cursor, timer_service: TimerService, backend: KeyedStateBackend
    ) -> None:
        super().__init__(cursor, timer_service)
        self._backend = backend

    def get_current_key(self) -> object:
        """Return the element's key."""
        return unwrap_key(self._backend.key)


class TimerContext(KeyedElementContext):
    """For a timer."""

    __slots__ = ("domain", "time")

    time: int
    domain: object

    def timestamp(self) -> int:
        """Return the timer's time in ms."""
        return self.time

    def time_domain(self) -> object:
        """Return whether it is an event-time or a processing-time timer."""
        return self.domain


class _WithBroadcastState:
    """Adds the times of the base class of broadcast functions' contexts, and broadcast state.

    Args:
        operator_state: has the broadcast states.
        context: the arguments of the other base class.
    """

    _timer_service: TimerService

    def __init__(self, operator_state: OperatorState, *context: object) -> None:
        super().__init__(*context)
        self._operator_state = operator_state

    def current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._timer_service.current_processing_time()

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self._timer_service.current_watermark()


class _ReadingBroadcastState(_WithBroadcastState):
    def get_broadcast_state(self, state_descriptor: object) -> object:
        """Return a broadcast state for reading."""
        return self._operator_state.broadcast_state(state_descriptor).read_only()


class BroadcastElementContext(_WithBroadcastState, ElementContext):
    """For an element of the broadcast stream."""

    def get_broadcast_state(self, state_descriptor: object) -> object:
        """Return a broadcast state for reading and writing."""
        return self._operator_state.broadcast_state(state_descriptor)


class ReadOnlyContext(_ReadingBroadcastState, ElementContext):
    """For an element of the other stream, without key."""


class OtherKeyedElementContext(_ReadingBroadcastState, KeyedElementContext):
    """For an element of the other stream, with key."""


class BroadcastOnTimerContext(_ReadingBroadcastState, TimerContext):
    """For a timer of a function with broadcast state."""


Call = Callable[[object, object], Any]


class _TagTypes(dict[type, bool]):
    """A cache of the classes that are OutputTags: those with the attribute ``_is_output_tag``."""

    def __missing__(self, kind: type) -> bool:
        answer = self[kind] = getattr(kind, "_is_output_tag", False)
        return answer


IS_TAG = _TagTypes()


class AnyProcessOperator(RichFunctionOperator):
    """Calls methods that give back nothing, or something to iterate over.

    A result ``(tag, value)`` goes to a side output.
    """

    def _for_each(
        self, elements: Iterator[object], call: Call, context: object
    ) -> Iterator[object]:
        side_output = self._context.side_output
        for value in elements:
            results = call(value, context)
            if results:
                for result in results:
                    if type(result) is tuple and len(result) == 2 and IS_TAG[type(result[0])]:
                        side_output(result[0].tag_id, result[1])
                    else:
                        yield result


class ProcessOperator(AnyProcessOperator):
    """Calls ``process_element`` for each element of a stream without key.

    Args:
        function: the user's ProcessFunction.
    """

    methods = ("process_element",)

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        head = context.head_state
        timers = None if head is None else head.timers
        self._timer_service = NonKeyedTimerService(context.clock, timers)
        self._element_context = ElementContext(context.cursor, self._timer_service)
        super().open(context)

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the results for each element."""
        return self._for_each(elements, self._loaded.process_element, self._element_context)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Note the event time."""
        self._timer_service.watermark = watermark
        return ()


TimeDomains = tuple[object, object]
"""The values of ``time_domain()`` for event-time and for processing-time timers."""


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

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the results of the timers that are due."""
        if isinstance(self._timer_service, NonKeyedTimerService):
            self._timer_service.watermark = watermark
            return ()
        self._timers.watermark = watermark
        times = self._event_times
        if not times or times[0] > watermark:
            return ()
        return self._for_each_timer(self._timers.due_by_watermark(watermark), self._event_domain)

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Yield the results of the timers that are due."""
        if not self.keyed:
            return ()
        earliest = self._timers.next_processing_time()
        if earliest is None or earliest > now:
            return ()
        return self._for_each_timer(self._timers.due_by_clock(now), self._processing_domain)

    def next_processing_time(self) -> int | None:
        """Return when the first timer is due."""
        return self._timers.next_processing_time() if self.keyed else None

    def _make_contexts(self, context: OperatorContext) -> None:
        """Make the contexts of the function's methods; the timer service exists."""
        raise NotImplementedError

    def _for_each_pair(self, pairs: Iterator[Any], call: Call, context: Any) -> Iterator[object]:
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

    def _due_before_element(self) -> Iterator[object]:
        """Yield the results of timers that the clock has passed; then restore key and timestamp."""
        backend, cursor = self._backend, self._cursor
        key, timestamp = backend.key, cursor.timestamp
        yield from self.advance_processing_time(self._timers.clock.now())
        backend.key, cursor.timestamp = key, timestamp

    def _for_each_timer(self, due: Iterator[Any], domain: object) -> Iterator[object]:
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


class KeyedProcessOperator(FusableOperator, TimerDrivenOperator):
    """Calls ``process_element`` for each element, and ``on_timer``.

    Args:
        function: the user's KeyedProcessFunction.
        time_domains: the members of the enum TimeDomain, for event time and for processing time.
    """

    keyed = True
    takes_pairs = True
    emits_itself = True
    methods = ("process_element", "on_timer")

    def __init__(self, function: UserFunction, time_domains: TimeDomains) -> None:
        super().__init__(function, True, time_domains)

    def write_lines(self, code: LoopCode) -> None:
        """Call the function with the element, and emit its results."""
        backend, bind = self._backend, code.bind
        value, result, results = code.value, code.new_value(), code.new_value()
        call, context = bind("process_element", self._loaded.process_element), self._element_context
        checked, waiting = bind("checked", backend.checked_per_record), self._waiting
        code.add(f"{bind('backend', backend)}.key = {code.key}")
        code.add(f"if {checked}: {bind('check', backend.check_record)}()")
        if waiting != ():
            due = bind("due_before_element", self._due_before_element)
            code.add(f"if {bind('waiting', waiting)}: yield from {due}()")
        code.add(f"{results} = {call}({value}, {bind('context', context)})")
        code.add(f"if {results}:")
        code.add(f" for {result} in {results}:")
        tag = f"{bind('IS_TAG', IS_TAG)}[type({result}[0])]"
        code.add(f"  if type({result}) is tuple and len({result}) == 2 and {tag}:")
        side_output = bind("side_output", self._context.side_output)
        code.add(f"   {side_output}({result}[0].tag_id, {result}[1])")
        code.add(f"  else: yield {result}")

    def _make_contexts(self, context: OperatorContext) -> None:
        cursor, service = context.cursor, self._timer_service
        self._element_context = KeyedElementContext(cursor, service, self._backend)
        self._timer_context = TimerContext(cursor, service, self._backend)
