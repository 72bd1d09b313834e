"""An exception of a function fails the job, also one with a meaning to Python itself.

Python ends a loop at a StopIteration and closes a generator with a GeneratorExit. Raised by
mistake in a user's function, by a bare `next()` for one, neither may pass for the end of the input.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pyflink.common import Time, Types
from pyflink.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
)
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult

from compat_tests.pacing import timed
from compat_tests.running import collect
from compat_tests.windowing import add_times, keyed_by_first, session, tumbling

ELEMENTS = [("k", 1), ("k", 2), ("k", 3), ("k", 4), ("k", 5)]
BAD = ("k", 3)
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
SIDE = OutputTag("side", Types.STRING())


class EndsTheWorker(BaseException):
    """Not an Exception, like those that end a process."""


RAISED = {
    "StopIteration": StopIteration,
    "GeneratorExit": GeneratorExit,
    "StopAsyncIteration": StopAsyncIteration,
    "KeyError": KeyError,
    "CancelledError": asyncio.CancelledError,
    "SystemExit": SystemExit,
    "EndsTheWorker": EndsTheWorker,
}


class Fault:
    """Raises an exception for one element.

    Args:
        kind: the exception.
        bad: the element for which it does so.
    """

    def __init__(self, kind: type[BaseException], bad: Any = BAD) -> None:
        self.kind, self.bad = kind, bad

    def __call__(self, value: Any) -> Any:
        if value == self.bad:
            raise self.kind("on purpose")
        return value


def pairs(env: Any) -> Any:
    return env.from_collection(ELEMENTS)


def keyed(env: Any) -> Any:
    return pairs(env).key_by(lambda v: v[0])


def windows(env: Any, size: int = 10) -> Any:
    return keyed_by_first(timed(pairs(env))).window(tumbling(size))


# -- functions that each have one method -----------------------------------------------------------


def of_class(base: type, method: str, fault: Fault) -> Any:
    """An object of a function class whose method calls a fault with its first argument."""

    def called(self: Any, value: Any, *others: Any) -> Any:
        return self.fault(value)

    made = type(f"Faulty{base.__name__}", (base,), {method: called})()
    made.fault = fault
    return made


class FaultyProcess(ProcessFunction):
    def __init__(self, fault):
        self.fault = fault

    def process_element(self, value, ctx):
        return [self.fault(value)]


class FaultyGenerator(ProcessFunction):
    def __init__(self, fault):
        self.fault = fault

    def process_element(self, value, ctx):
        yield value
        yield SIDE, "seen"
        yield self.fault(value)


class FaultyKeyedProcess(KeyedProcessFunction):
    def __init__(self, fault):
        self.fault = fault

    def process_element(self, value, ctx):
        return [self.fault(value)]


class FaultyTimer(KeyedProcessFunction):
    def __init__(self, fault):
        self.fault = fault

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        return [self.fault(("k", timestamp))]


class FaultyTimerGenerator(FaultyTimer):
    def on_timer(self, timestamp, ctx):
        yield timestamp
        yield self.fault(("k", timestamp))


class FaultyState(KeyedProcessFunction):
    """A function inside a state."""

    def __init__(self, fault, aggregates):
        self.fault, self.aggregates = fault, aggregates

    def open(self, runtime_context):
        if self.aggregates:
            descriptor = AggregatingStateDescriptor(
                "sum",
                FaultyAggregate(self.fault, "add"),
                Types.TUPLE([Types.INT(), Types.INT()]),
            )
            self.state = runtime_context.get_aggregating_state(descriptor)
        else:
            descriptor = ReducingStateDescriptor(
                "last", lambda a, b: self.fault(b), Types.TUPLE([Types.STRING(), Types.INT()])
            )
            self.state = runtime_context.get_reducing_state(descriptor)

    def process_element(self, value, ctx):
        self.state.add(value)
        yield value


class FaultyBoth(CoProcessFunction):
    def __init__(self, fault):
        self.fault = fault

    def process_element1(self, value, ctx):
        return [self.fault(value)]

    def process_element2(self, value, ctx):
        return [self.fault(value)]


class FaultyKeyedBoth(KeyedCoProcessFunction):
    def __init__(self, fault):
        self.fault = fault

    def process_element1(self, value, ctx):
        return [self.fault(value)]

    def process_element2(self, value, ctx):
        return [self.fault(value)]


class FaultyCoMap(CoMapFunction):
    def __init__(self, fault):
        self.fault = fault

    def map1(self, value):
        return self.fault(value)

    def map2(self, value):
        return self.fault(value)


class FaultyCoFlatMap(CoFlatMapFunction):
    def __init__(self, fault):
        self.fault = fault

    def flat_map1(self, value):
        return [self.fault(value)]

    def flat_map2(self, value):
        return [self.fault(value)]


class FaultyElements(BroadcastProcessFunction):
    def __init__(self, fault, other):
        self.fault, self.other = fault, other

    def process_element(self, value, ctx):
        return [self.fault(value)]

    def process_broadcast_element(self, value, ctx):
        self.other(value)


class FaultyKeyedElements(KeyedBroadcastProcessFunction):
    def __init__(self, fault, other):
        self.fault, self.other = fault, other

    def process_element(self, value, ctx):
        return [self.fault(value)]

    def process_broadcast_element(self, value, ctx):
        self.other(value)


class FaultyAsync(AsyncFunction):
    def __init__(self, fault):
        self.fault = fault

    async def async_invoke(self, value):
        return [self.fault(value)]


class FaultyTimeout(FaultyAsync):
    async def async_invoke(self, value):
        await asyncio.sleep(60)

    def timeout(self, value):
        return [self.fault(BAD)]


# -- windows ---------------------------------------------------------------------------------------


class FaultyAggregate(AggregateFunction):
    """Sums up times; one of its methods raises."""

    def __init__(self, fault, method):
        self.fault, self.method = fault, method

    def check(self, method, value):
        if method == self.method:
            self.fault(value)

    def create_accumulator(self):
        self.check("create_accumulator", BAD)
        return 0, 0

    def add(self, value, accumulator):
        self.check("add", value)
        return accumulator[0] + value[1], 0

    def get_result(self, accumulator):
        self.check("get_result", BAD)
        return accumulator

    def merge(self, acc_a, acc_b):
        self.check("merge", BAD)
        return acc_a[0] + acc_b[0], 0


class FaultyWindowFunction(ProcessWindowFunction):
    def __init__(self, fault):
        self.fault = fault

    def process(self, key, context, elements):
        return [self.fault(element) for element in elements]


class FaultyWindowGenerator(FaultyWindowFunction):
    def process(self, key, context, elements):
        for element in elements:
            yield self.fault(element)


class FaultyClear(ProcessWindowFunction):
    def __init__(self, fault):
        self.fault = fault

    def process(self, key, context, elements):
        yield key

    def clear(self, context):
        self.fault(BAD)


class FaultyApply(WindowFunction):
    def __init__(self, fault):
        self.fault = fault

    def apply(self, key, window, inputs):
        return [self.fault(element) for element in inputs]


class FaultyTrigger(Trigger):
    def __init__(self, fault, method):
        self.fault, self.method = fault, method

    def check(self, method, value, result):
        if method == self.method:
            self.fault(value)
        return result

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        return self.check("on_element", element, TriggerResult.CONTINUE)

    def on_event_time(self, time, window, ctx):
        return self.check("on_event_time", BAD, TriggerResult.FIRE)

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        self.check("on_merge", BAD, None)

    def clear(self, window, ctx):
        self.check("clear", BAD, None)


class FaultyAssigner(GlobalWindows):
    def __init__(self, fault):
        self.fault = fault

    def assign_windows(self, element, timestamp, context):
        self.fault(element)
        return super().assign_windows(element, timestamp, context)


def faulty_timestamps(env: Any, fault: Fault) -> Any:
    from pyflink.common import WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner

    class Assigner(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return fault(value)[1]

    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return pairs(env).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Assigner()))


def connected(env: Any, with_key: bool) -> Any:
    first, second = env.from_collection([("k", 0)]), pairs(env)
    if with_key:
        first, second = keyed_by_first(first), keyed_by_first(second)
    return first.connect(second)


def with_broadcast(env: Any, function: Any) -> Any:
    rules = env.from_collection(ELEMENTS).rebalance().broadcast(RULES)
    if isinstance(function, KeyedBroadcastProcessFunction):
        return keyed(env).connect(rules).process(function)
    return pairs(env).rebalance().connect(rules).process(function)


def waiting(env: Any, function: Any, ordered: bool) -> Any:
    wait = AsyncDataStream.ordered_wait if ordered else AsyncDataStream.unordered_wait
    seconds = 1 if isinstance(function, FaultyTimeout) else 20
    return wait(pairs(env), function, Time.seconds(seconds), 10)


def fine(value: Any) -> Any:
    return value


KINDS = {
    "map": lambda env, f: pairs(env).map(f),
    "MapFunction": lambda env, f: pairs(env).map(of_class(MapFunction, "map", f)),
    "map between maps": lambda env, f: pairs(env).map(fine).map(f).map(fine),
    "map after a typed one": lambda env, f: (
        pairs(env).map(fine, Types.TUPLE([Types.STRING(), Types.INT()])).rebalance().map(f)
    ),
    "flat_map": lambda env, f: pairs(env).flat_map(lambda v: [f(v)]),
    "FlatMapFunction": lambda env, f: pairs(env).flat_map(
        of_class(FlatMapFunction, "flat_map", f)
    ),
    "flat_map, generator": lambda env, f: pairs(env).flat_map(lambda v: (f(w) for w in [v])),
    "filter": lambda env, f: pairs(env).filter(f),
    "FilterFunction": lambda env, f: pairs(env).filter(of_class(FilterFunction, "filter", f)),
    "key selector": lambda env, f: pairs(env).key_by(f).map(fine),
    "typed key selector": lambda env, f: (
        pairs(env).key_by(lambda v: f(v)[1], Types.INT()).map(fine)
    ),
    "KeySelector": lambda env, f: (
        pairs(env).key_by(of_class(KeySelector, "get_key", f)).map(fine)
    ),
    "keyed map": lambda env, f: keyed(env).map(f),
    "keyed flat_map": lambda env, f: keyed(env).flat_map(lambda v: [f(v)]),
    "keyed filter": lambda env, f: keyed(env).filter(f),
    "reduce": lambda env, f: keyed(env).reduce(lambda a, b: f(b)),
    "ReduceFunction": lambda env, f: keyed(env).reduce(
        of_class(ReduceFunction, "reduce", Fault(f.kind, ("k", 1)))
    ),
    "process": lambda env, f: pairs(env).process(FaultyProcess(f)),
    "process, generator": lambda env, f: pairs(env).process(FaultyGenerator(f)),
    "keyed process": lambda env, f: keyed(env).process(FaultyKeyedProcess(f)),
    "on_timer": lambda env, f: keyed_by_first(timed(pairs(env))).process(FaultyTimer(f)),
    "on_timer, generator": lambda env, f: (
        keyed_by_first(timed(pairs(env))).process(FaultyTimerGenerator(f))
    ),
    "reducing state": lambda env, f: keyed(env).process(FaultyState(f, False)),
    "aggregating state": lambda env, f: keyed(env).process(FaultyState(f, True)),
    "co_map": lambda env, f: connected(env, False).map(FaultyCoMap(f)),
    "co_flat_map": lambda env, f: connected(env, False).flat_map(FaultyCoFlatMap(f)),
    "co_process": lambda env, f: connected(env, False).process(FaultyBoth(f)),
    "keyed co_map": lambda env, f: connected(env, True).map(FaultyCoMap(f)),
    "keyed co_flat_map": lambda env, f: connected(env, True).flat_map(FaultyCoFlatMap(f)),
    "keyed co_process": lambda env, f: connected(env, True).process(FaultyKeyedBoth(f)),
    "beside a broadcast": lambda env, f: with_broadcast(env, FaultyElements(f, fine)),
    "broadcast": lambda env, f: with_broadcast(env, FaultyElements(fine, f)),
    "keyed beside a broadcast": lambda env, f: with_broadcast(env, FaultyKeyedElements(f, fine)),
    "broadcast to keys": lambda env, f: with_broadcast(env, FaultyKeyedElements(fine, f)),
    "window reduce": lambda env, f: windows(env).reduce(lambda a, b: f(b)),
    "window create_accumulator": lambda env, f: windows(env).aggregate(
        FaultyAggregate(f, "create_accumulator")
    ),
    "window add": lambda env, f: windows(env).aggregate(FaultyAggregate(f, "add")),
    "window get_result": lambda env, f: windows(env).aggregate(FaultyAggregate(f, "get_result")),
    "window process": lambda env, f: windows(env).process(FaultyWindowFunction(f)),
    "window process, generator": lambda env, f: windows(env).process(FaultyWindowGenerator(f)),
    "window clear": lambda env, f: windows(env).process(FaultyClear(f)),
    "window apply": lambda env, f: windows(env).apply(FaultyApply(f)),
    "window_all": lambda env, f: (
        timed(pairs(env)).window_all(tumbling(10)).reduce(lambda a, b: f(b))
    ),
    "count window": lambda env, f: keyed(env).count_window(2).reduce(lambda a, b: f(("k", 3))),
    "session": lambda env, f: (
        keyed_by_first(timed(pairs(env))).window(session(5)).reduce(lambda a, b: f(b))
    ),
    "trigger on_element": lambda env, f: (
        windows(env).trigger(FaultyTrigger(f, "on_element")).reduce(add_times)
    ),
    "trigger on_event_time": lambda env, f: (
        windows(env).trigger(FaultyTrigger(f, "on_event_time")).reduce(add_times)
    ),
    "trigger clear": lambda env, f: (
        windows(env).trigger(FaultyTrigger(f, "clear")).reduce(add_times)
    ),
    "trigger on_merge": lambda env, f: (
        keyed_by_first(timed(pairs(env)))
        .window(session(5))
        .trigger(FaultyTrigger(f, "on_merge"))
        .reduce(add_times)
    ),
    "window assigner": lambda env, f: keyed(env).window(FaultyAssigner(f)).reduce(add_times),
    "timestamp assigner": faulty_timestamps,
    "timestamp assigner and map": lambda env, f: faulty_timestamps(env, f).map(fine),
}  # fmt: skip
ASYNC = {
    "async, in order": lambda env, f: waiting(env, FaultyAsync(f), True),
    "async, as ready": lambda env, f: waiting(env, FaultyAsync(f), False),
    "async timeout": lambda env, f: waiting(env, FaultyTimeout(f), True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_that_ends_a_loop(env, kind):
    with pytest.raises(Exception, match="StopIteration: on purpose"):
        collect(KINDS[kind](env, Fault(StopIteration)))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_that_closes_a_generator(env, kind):
    with pytest.raises(Exception, match="GeneratorExit: on purpose"):
        collect(KINDS[kind](env, Fault(GeneratorExit)))


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("kind", ["map", "filter", "process, generator", "window process"])
def test_errors_of_all_sorts(env, kind, error):
    with pytest.raises(Exception, match=rf"{error}: '?on purpose"):
        collect(KINDS[kind](env, Fault(RAISED[error])))


@pytest.mark.parametrize("error", ["StopIteration", "StopAsyncIteration", "KeyError"])
@pytest.mark.parametrize("kind", ASYNC)
def test_errors_of_asynchronous_functions(env, kind, error):
    with pytest.raises(Exception, match=error):
        collect(ASYNC[kind](env, Fault(RAISED[error])))


@pytest.mark.pyflink_bug("the job never ends, or ends with another error", run=False)
@pytest.mark.parametrize("error", ["GeneratorExit", "CancelledError", "SystemExit"])
@pytest.mark.parametrize("kind", ASYNC)
def test_errors_that_end_an_event_loop(env, kind, error):
    with pytest.raises(Exception, match=rf"{error}: on purpose"):
        collect(ASYNC[kind](env, Fault(RAISED[error])))
