"""Operators with two inputs, one of which may be broadcast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Process
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, noting, timed
from pyflink_on_spark._runtime.operators.process import (
    BroadcastElementContext,
    BroadcastOnTimerContext,
    ElementContext,
    KeyedElementContext,
    OtherKeyedElementContext,
    ReadOnlyContext,
    TimeDomains,
    TimerContext,
    TimerDrivenOperator,
)
from pyflink_on_spark._runtime.operators.stateless import RichFunctionOperator, keyed_state_of
from pyflink_on_spark._runtime.state.backend import NO_KEY
from pyflink_on_spark._runtime.state.timers import BroadcastTimerService

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.user_code import UserFunction


class _CoFunctionOperator(RichFunctionOperator):
    """Calls one of two methods, depending on the input.

    Args:
        function: the user's.
        keyed: whether elements of both inputs are pairs of key and value.
    """

    def __init__(self, function: UserFunction, keyed: bool) -> None:
        super().__init__(function)
        self.keyed = keyed

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        self._backend = keyed_state_of(context) if self.keyed else None
        super().open(context)

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the two inputs."""
        return self._first, self._second

    def _first(self, elements: Iterator[object]) -> Iterator[object]:
        return self._called(elements, getattr(self._loaded, self.methods[0]))

    def _second(self, elements: Iterator[object]) -> Iterator[object]:
        return self._called(elements, getattr(self._loaded, self.methods[1]))

    def _called(
        self, elements: Iterator[object], call: Callable[[object], object]
    ) -> Iterator[object]:
        raise NotImplementedError

    def _values(self, elements: Iterator[object]) -> Iterator[object]:
        return elements if self._backend is None else self._values_of_pairs(elements)

    def _values_of_pairs(self, pairs: Iterator[Any]) -> Iterator[object]:
        backend = self._backend
        assert backend is not None
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield value


class CoMapOperator(_CoFunctionOperator):
    """Calls ``map1`` or ``map2`` for each element; None gives no element."""

    methods = ("map1", "map2")

    def _called(
        self, elements: Iterator[object], call: Callable[[object], object]
    ) -> Iterator[object]:
        for value in self._values(elements):
            result = call(value)
            if result is not None:
                yield result


class CoFlatMapOperator(_CoFunctionOperator):
    """Calls ``flat_map1`` or ``flat_map2`` for each element; a false result emits nothing."""

    methods = ("flat_map1", "flat_map2")

    def _called(
        self, elements: Iterator[object], call: Callable[[object], Any]
    ) -> Iterator[object]:
        for value in self._values(elements):
            results = call(value)
            if results:
                yield from results


class CoProcessOperator(TimerDrivenOperator):
    """Calls ``process_element1`` or ``process_element2`` for each element, and ``on_timer``.

    Args:
        function: the user's CoProcessFunction or KeyedCoProcessFunction.
        keyed: whether elements of both inputs are pairs of key and value.
        time_domains: the members of the enum TimeDomain, for event time and for processing time.
    """

    methods = ("process_element1", "process_element2", "on_timer")

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the two inputs."""
        return self._first, self._second

    def _make_contexts(self, context: OperatorContext) -> None:
        cursor, service = context.cursor, self._timer_service
        if self.keyed:
            self._element_context: object = KeyedElementContext(cursor, service, self._backend)
            self._timer_context = TimerContext(cursor, service, self._backend)
        else:
            self._element_context = ElementContext(cursor, service)

    def _first(self, elements: Iterator[object]) -> Iterator[object]:
        return self._called(elements, self._loaded.process_element1)

    def _second(self, elements: Iterator[object]) -> Iterator[object]:
        return self._called(elements, self._loaded.process_element2)

    def _called(
        self, elements: Iterator[object], call: Callable[[object, object], object]
    ) -> Iterator[object]:
        for_each = self._for_each_pair if self.keyed else self._for_each
        return for_each(elements, call, self._element_context)


class BroadcastProcessOperator(TimerDrivenOperator):
    """Calls ``process_element`` or ``process_broadcast_element``, and ``on_timer``.

    The second input is the broadcast one; it has no keys. In BATCH all of it comes first.

    Args:
        function: the user's BroadcastProcessFunction or KeyedBroadcastProcessFunction.
        keyed: whether elements of the first input are pairs of key and value.
        state_descriptors: a tuple of the MapStateDescriptors of the broadcast states.
        time_domains: the members of the enum TimeDomain, for event time and for processing time.
    """

    methods = ("process_element", "process_broadcast_element", "on_timer")
    unkeyed_inputs = (1,)

    def __init__(
        self,
        function: UserFunction,
        keyed: bool,
        state_descriptors: UserFunction,
        time_domains: TimeDomains,
    ) -> None:
        super().__init__(function, keyed, time_domains)
        self._state_descriptors = state_descriptors

    def descriptors(self) -> Iterable[Any]:
        """Load the descriptors of the broadcast states."""
        found: Iterable[object] = self._state_descriptors.load()
        return found

    def open(self, context: OperatorContext) -> None:
        """Load and open the function."""
        for descriptor in self.descriptors():
            context.operator_state.broadcast_state(descriptor)
        self._held: list[object] = []
        self._held_timestamps: list[int | None] = []
        self._holds = context.task.batch and not self.keyed
        super().open(context)

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the other input and the broadcast input."""
        return self._other, self._broadcast

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the results of due timers; in BATCH also the elements held until the end."""
        if self._holds and watermark == MAX_WATERMARK:
            return chain(self._released(), super().advance_watermark(watermark))
        return super().advance_watermark(watermark)

    def _make_contexts(self, context: OperatorContext) -> None:
        cursor, service, state = context.cursor, self._timer_service, context.operator_state
        keyless = BroadcastTimerService(self._timers) if self.keyed else service
        self._broadcast_context = BroadcastElementContext(state, cursor, keyless)
        if self.keyed:
            keyed = cursor, service, self._backend
            self._other_context: object = OtherKeyedElementContext(state, *keyed)
            self._timer_context = BroadcastOnTimerContext(state, *keyed)
        else:
            self._other_context = ReadOnlyContext(state, cursor, service)

    def _other(self, elements: Iterator[object]) -> Iterator[object]:
        call = self._loaded.process_element
        if self.keyed:
            return self._for_each_pair(elements, call, self._other_context)
        if self._holds:
            self._held.extend(noting(elements, self._cursor, self._held_timestamps))
            return iter(())
        return self._for_each(elements, call, self._other_context)

    def _broadcast(self, elements: Iterator[object]) -> Iterator[object]:
        call = self._loaded.process_broadcast_element
        if self.keyed:
            elements = self._without_key(elements)
        return self._for_each(elements, call, self._broadcast_context)

    def _without_key(self, elements: Iterator[object]) -> Iterator[object]:
        for value in elements:
            self._backend.key = NO_KEY
            yield value

    def _released(self) -> Iterator[object]:
        held = timed(self._held, self._held_timestamps, self._cursor)
        self._held, self._held_timestamps = [], []
        return self._for_each(held, self._loaded.process_element, self._other_context)
