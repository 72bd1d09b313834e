"""Wrong calls of a program fail as they do in PyFlink, and say why.

A program's wrong call fails where it stands. What can be known in a running function only fails the
job.
"""

from __future__ import annotations

from typing import Any

import pytest
from pyflink.common import Configuration, Duration, Row, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeExecutionMode,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

from compat_tests.pacing import timed
from compat_tests.running import collect
from compat_tests.windowing import (
    Average,
    Contents,
    add_times,
    keyed_by_first,
    ms,
    session,
    sliding,
    tumbling,
)

LOWEST = -(2**63)
PAIRS = [("a", 1), ("a", 5), ("b", 30)]
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


def pairs(env: Any) -> Any:
    return env.from_collection(PAIRS)


def keyed(env: Any) -> Any:
    return keyed_by_first(timed(pairs(env)))


class Using(KeyedProcessFunction):
    """Gets something in open(), and does something with it for each element."""

    def __init__(self, get, use=lambda state, ctx: None):
        self.get, self.use = get, use

    def open(self, runtime_context):
        self.state = self.get(runtime_context)

    def process_element(self, value, ctx):
        yield repr(self.use(self.state, ctx))

    def on_timer(self, timestamp, ctx):
        yield repr((timestamp, ctx.timestamp()))


def use_state(env, get, use=lambda state, ctx: None):
    return collect(env.from_collection([1]).key_by(lambda v: "k").process(Using(get, use)))


# -- state -----------------------------------------------------------------------------------------

STATES = {
    "value": lambda c: c.get_state(ValueStateDescriptor("s", Types.INT())),
    "list": lambda c: c.get_list_state(ListStateDescriptor("s", Types.INT())),
    "map": lambda c: c.get_map_state(MapStateDescriptor("s", Types.INT(), Types.INT())),
    "reducing": lambda c: c.get_reducing_state(
        ReducingStateDescriptor("s", lambda a, b: a + b, Types.INT())
    ),
    "aggregating": lambda c: c.get_aggregating_state(
        AggregatingStateDescriptor("s", Average(), Types.TUPLE([Types.INT(), Types.INT()]))
    ),
}


@pytest.mark.parametrize("kind", STATES)
def test_state_on_a_stream_without_key(env, kind):
    class Wants(MapFunction):
        def open(self, runtime_context):
            STATES[kind](runtime_context)

        def map(self, value):
            return value

    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collect(env.from_collection([1]).map(Wants()))


def test_state_in_a_process_function_without_key(env):
    class Wants(ProcessFunction):
        def open(self, runtime_context):
            STATES["value"](runtime_context)

        def process_element(self, value, ctx):
            yield value

    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collect(env.from_collection([1]).process(Wants()))


@pytest.mark.parametrize("read", [
    lambda c: STATES["value"](c).value(),
    lambda c: list(STATES["map"](c).items()),
    lambda c: STATES["reducing"](c).get(),
], ids=["value", "map", "reducing"])  # fmt: skip
def test_state_is_read_where_there_is_no_key(env, read):
    with pytest.raises(Exception, match=r"\S"):
        use_state(env, read)


def test_one_name_for_two_types(env):
    def both(context):
        context.get_state(ValueStateDescriptor("s", Types.INT()))
        context.get_state(ValueStateDescriptor("s", Types.STRING()))

    with pytest.raises(Exception, match="State name corrupted: s"):
        use_state(env, both)


def test_one_name_for_two_kinds(env):
    def both(context):
        STATES["value"](context)
        STATES["list"](context)

    with pytest.raises(Exception, match="The state name 's' is already in use and not a"):
        use_state(env, both)


@pytest.mark.parametrize("method", ["get_list_state", "get_map_state", "get_reducing_state"])
def test_a_descriptor_of_another_kind(env, method):
    descriptor = ValueStateDescriptor("s", Types.INT())
    with pytest.raises(Exception, match=r"TypeError|AttributeError"):
        use_state(env, lambda context: getattr(context, method)(descriptor))


def test_functions_of_descriptors():
    with pytest.raises(TypeError, match="ReduceFunction or a callable"):
        ReducingStateDescriptor("s", 5, Types.INT())
    with pytest.raises(TypeError, match="AggregateFunction"):
        AggregatingStateDescriptor("s", lambda a, b: a, Types.INT())


def declared(type_info: Any) -> Any:
    return lambda context: context.get_state(ValueStateDescriptor("s", type_info))


@pytest.mark.parametrize(("type_info", "value", "error"), [
    (Types.INT(), "x", "an integer is required"),
    (Types.LONG(), "5", "an integer is required"),
    (Types.INT(), 2**40, "OverflowError"),
    (Types.INT(), None, "an integer is required|NullValueError"),
    (Types.STRING(), None, "AttributeError|NullValueError"),
    (Types.BOOLEAN(), "x", "an integer is required"),
    (Types.STRING(), 5, "'int' object has no attribute 'encode'"),
    (Types.TUPLE([Types.INT(), Types.STRING()]), [1, "a"], "TypeError"),
    (Types.TUPLE([Types.INT(), Types.STRING()]), Row(1, "a"), "TypeError"),
    (Types.TUPLE([Types.INT(), Types.STRING()]), (1, 2), "AttributeError"),
    (Types.ROW([Types.INT()]), (1,), "AttributeError"),
    (Types.LIST(Types.INT()), (1, 2), "TypeError"),
    (Types.LIST(Types.INT()), [1, "x"], "TypeError"),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": "b"}, "TypeError"),
])  # fmt: skip
def test_a_value_without_the_declared_type(env, type_info, value, error):
    with pytest.raises(Exception, match=error):
        use_state(env, declared(type_info), lambda state, ctx: state.update(value))


@pytest.mark.parametrize(("kind", "use"), [
    ("list", lambda state, ctx: state.add("x")),
    ("list", lambda state, ctx: state.add_all([1, "x"])),
    ("list", lambda state, ctx: state.update([1, "x"])),
    ("list", lambda state, ctx: state.add(None)),
    ("map", lambda state, ctx: state.put("x", 1)),
    ("map", lambda state, ctx: state.put(1, "x")),
    ("map", lambda state, ctx: state.put_all([(1, "x")])),
    ("map", lambda state, ctx: state.put(None, 1)),
    ("reducing", lambda state, ctx: state.add("x")),
    ("reducing", lambda state, ctx: state.add(None)),
])  # fmt: skip
def test_a_part_without_the_declared_type(env, kind, use):
    with pytest.raises(Exception, match=r"an integer is required|TypeError|NullValueError"):
        use_state(env, STATES[kind], use)


def test_an_accumulator_without_the_declared_type(env):
    def get(context):
        descriptor = AggregatingStateDescriptor("s", Average(), Types.INT())
        return context.get_aggregating_state(descriptor)

    with pytest.raises(Exception, match="an integer is required"):
        use_state(env, get, lambda state, ctx: state.add(("k", 1)))


def test_values_that_only_look_different_stay_while_they_are_in_the_cache(env):
    def use(state, ctx):
        state.update(0.1)
        return state.value()

    assert use_state(env, declared(Types.FLOAT()), use) == ["0.1"]


@pytest.mark.parametrize(("type_info", "value", "kept"), [
    (Types.INT(), -2.9, "-2"),
    (Types.INT(), True, "1"),
    (Types.FLOAT(), 0.1, "0.10000000149011612"),
    (Types.DOUBLE(), 7, "7.0"),
    (Types.TUPLE([Types.INT()]), (1, "more"), "(1,)"),
    (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 0.1}, "{'a': 0.10000000149011612}"),
    (Types.PICKLED_BYTE_ARRAY(), {"a": (0.1, None)}, "{'a': (0.1, None)}"),
])  # fmt: skip
def test_without_a_cache_values_come_back_as_their_type_has_them(env, type_info, value, kept):
    configuration = Configuration()
    configuration.set_string("python.state.cache-size", "0")
    env.configure(configuration)

    def use(state, ctx):
        state.update(value)
        return state.value()

    assert use_state(env, declared(type_info), use) == [kept]


# -- broadcast state -------------------------------------------------------------------------------


def run_broadcast(env, function):
    rules = env.from_collection([("a", 1)]).rebalance().broadcast(RULES)
    elements = env.from_collection([1])
    if isinstance(function, KeyedBroadcastProcessFunction):
        return collect(elements.key_by(lambda v: v).connect(rules).process(function))
    return collect(elements.rebalance().connect(rules).process(function))


def set_item(state):
    state["a"] = 1


@pytest.mark.parametrize("write", [
    lambda state: state.put("a", 1),
    lambda state: state.put_all([("a", 1)]),
    lambda state: state.remove("a"),
    set_item,
], ids=["put", "put_all", "remove", "brackets"])  # fmt: skip
def test_the_element_side_writes_broadcast_state(env, write):
    class Writes(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            write(ctx.get_broadcast_state(RULES))
            yield value

        def process_broadcast_element(self, value, ctx):
            pass

    with pytest.raises(Exception, match=r"no attribute|does not support item assignment"):
        run_broadcast(env, Writes())


def test_broadcast_values_without_the_declared_type(env):
    class Puts(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield value

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(5, 1)

    with pytest.raises(Exception, match="'int' object has no attribute 'encode'"):
        run_broadcast(env, Puts())


def test_a_broadcast_state_is_a_map(env):
    class Asks(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.get_broadcast_state(ValueStateDescriptor("rules", Types.INT()))

        def process_broadcast_element(self, value, ctx):
            pass

    with pytest.raises(TypeError, match="must be MapStateDescriptor"):
        env.from_collection([1]).broadcast(ValueStateDescriptor("rules", Types.INT()))
    with pytest.raises(Exception, match=r"AttributeError|TypeError"):
        run_broadcast(env, Asks())


def test_a_timer_for_a_broadcast_element(env):
    class Registers(KeyedBroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield value

        def process_broadcast_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(5)

        def on_timer(self, timestamp, ctx):
            yield timestamp

    with pytest.raises(Exception, match=r"\S"):
        run_broadcast(env, Registers())


# -- timers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "error"), [
    ("register_event_time_timer", "Register timers is only supported on a keyed stream"),
    ("register_processing_time_timer", "Register timers is only supported on a keyed stream"),
    ("delete_event_time_timer", "Deleting timers is only supported on a keyed stream"),
    ("delete_processing_time_timer", "Deleting timers is only supported on a keyed stream"),
])  # fmt: skip
def test_timers_on_a_stream_without_key(env, method, error):
    class Wants(ProcessFunction):
        def process_element(self, value, ctx):
            getattr(ctx.timer_service(), method)(5)
            yield value

    with pytest.raises(Exception, match=error):
        collect(env.from_collection([1]).process(Wants()))


@pytest.mark.parametrize("time", ["x", None, 2**63])
def test_timers_at_no_time(env, time):
    def use(state, ctx):
        ctx.timer_service().register_event_time_timer(time)

    with pytest.raises(Exception, match=r"\S"):
        use_state(env, lambda context: None, use)


@pytest.mark.parametrize(("time", "at"), [(5.7, 5), (True, 1), (-5, -5)])
def test_times_of_timers_are_whole_numbers(env, time, at):
    def use(state, ctx):
        ctx.timer_service().register_event_time_timer(time)

    stream = timed(env.from_collection([("a", 1)])).key_by(lambda v: v[0])
    results = collect(stream.process(Using(lambda context: None, use)))
    assert results == ["None", repr((at, at))]


# -- functions and keys ----------------------------------------------------------------------------


def test_functions_of_the_wrong_kind(env):
    stream = pairs(env)
    with pytest.raises(TypeError, match="MapFunction or a callable"):
        stream.map(5)
    with pytest.raises(TypeError, match="FilterFunction or a callable"):
        stream.filter(5)
    with pytest.raises(TypeError, match="ReduceFunction or a callable"):
        keyed(env).reduce(5)
    with pytest.raises(TypeError, match="KeySelector or a callable"):
        stream.key_by("f0")
    with pytest.raises(TypeError, match="KeyedProcessFunction is required"):
        keyed(env).process(ProcessFunction)


def test_a_key_selector_that_fails(env):
    def fails(value):
        raise ValueError("no key for this")

    with pytest.raises(Exception, match="ValueError: no key for this"):
        collect(pairs(env).key_by(fails).reduce(add_times))


def test_a_key_without_the_declared_type(env):
    with pytest.raises(Exception, match="an integer is required"):
        collect(pairs(env).key_by(lambda v: v[0], Types.INT()).reduce(add_times))


def test_a_key_that_cannot_be_pickled(env):
    def key(value):
        import threading

        return threading.Lock()

    with pytest.raises(Exception, match=r"cannot pickle '_thread.lock' object"):
        collect(pairs(env).key_by(key).reduce(add_times))


@pytest.mark.parametrize("key", [
    lambda v: [v[0]], lambda v: {v[0]: 1}, lambda v: {v[0]},
], ids=["list", "dict", "set"])  # fmt: skip
def test_keys_need_not_be_hashable(env, key):
    results = collect(pairs(env).key_by(key).reduce(add_times))
    assert results == [("a", 1), ("a", 6), ("b", 30)]


# -- windows without timestamps --------------------------------------------------------------------

NO_TIMESTAMP = r"Record has Java Long.MIN_VALUE timestamp \(= no timestamp marker\)"


@pytest.mark.parametrize("build", [
    lambda s: keyed_by_first(s).window(tumbling(10)).process(Contents()),
    lambda s: keyed_by_first(s).window(sliding(10, 5)).process(Contents()),
    lambda s: keyed_by_first(s).window(tumbling(10)).reduce(add_times),
    lambda s: keyed_by_first(s).window(tumbling(10)).aggregate(Average()),
    lambda s: s.window_all(tumbling(10)).reduce(add_times),
    lambda s: keyed_by_first(keyed_by_first(s).count_window(2).reduce(add_times))
    .window(tumbling(10)).reduce(add_times),
], ids=["tumbling", "sliding", "reduce", "aggregate", "window_all", "count window"])  # fmt: skip
def test_event_time_windows_without_timestamps(env, build):
    with pytest.raises(Exception, match=NO_TIMESTAMP):
        collect(build(pairs(env)))


def test_event_time_windows_without_timestamps_in_batch(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    with pytest.raises(Exception, match=NO_TIMESTAMP):
        collect(keyed_by_first(pairs(env)).window(tumbling(10)).reduce(add_times))


class Values(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield [v[1] for v in elements]


def test_sessions_without_timestamps_do_not_notice(env):
    stream = keyed_by_first(pairs(env)).window(session(5))
    assert collect(stream.process(Values())) == [[1, 5], [30]]


# -- sizes of windows ------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [
    lambda: TumblingEventTimeWindows.of(ms(0)),
    lambda: TumblingEventTimeWindows.of(ms(-1)),
    lambda: TumblingEventTimeWindows.of(ms(10), ms(10)),
    lambda: TumblingEventTimeWindows.of(ms(10), ms(-10)),
    lambda: TumblingProcessingTimeWindows.of(ms(0)),
    lambda: TumblingProcessingTimeWindows.of(ms(10), ms(11)),
])  # fmt: skip
def test_sizes_of_tumbling_windows(build):
    with pytest.raises(Exception, match=r"parameters must satisfy abs\(offset\) < size"):
        build()


@pytest.mark.parametrize("build", [
    lambda: SlidingEventTimeWindows.of(ms(10), ms(0)),
    lambda: SlidingEventTimeWindows.of(ms(0), ms(1)),
    lambda: SlidingEventTimeWindows.of(ms(-10), ms(5)),
    lambda: SlidingEventTimeWindows.of(ms(10), ms(5), ms(5)),
    lambda: SlidingProcessingTimeWindows.of(ms(10), ms(0)),
])  # fmt: skip
def test_sizes_of_sliding_windows(build):
    with pytest.raises(Exception, match=r"must satisfy abs\(offset\) < slide and size > 0"):
        build()


@pytest.mark.parametrize("gap", [0, -3])
@pytest.mark.parametrize("windows", [EventTimeSessionWindows, ProcessingTimeSessionWindows])
def test_gaps_of_sessions(windows, gap):
    with pytest.raises(Exception, match="parameters must satisfy 0 < size"):
        windows.with_gap(ms(gap))


@pytest.mark.parametrize("gap", [0, -5])
def test_dynamic_gaps_of_sessions(env, gap):
    class Gap(SessionWindowTimeGapExtractor):
        def extract(self, element):
            return gap

    windows = EventTimeSessionWindows.with_dynamic_gap(Gap())
    with pytest.raises(Exception, match="Dynamic session time gap must satisfy 0 < gap"):
        collect(keyed(env).window(windows).process(Contents()))


def test_sizes_are_times():
    with pytest.raises(AttributeError, match="to_milliseconds"):
        TumblingEventTimeWindows.of(10)
    with pytest.raises(AttributeError, match="to_milliseconds"):
        EventTimeSessionWindows.with_gap(10)


def test_a_count_window_of_nothing(env):
    with pytest.raises(Exception, match="ZeroDivisionError"):
        collect(keyed(env).count_window(0).reduce(add_times))


def test_a_lateness_below_nothing_keeps_windows(env):
    stream = keyed(env).window(tumbling(10)).allowed_lateness(-5)
    assert collect(stream.process(Values())) == [[1, 5], [30]]


def test_a_lateness_is_a_number(env):
    with pytest.raises(Exception, match="TypeError"):
        collect(keyed(env).window(tumbling(10)).allowed_lateness(ms(5)).process(Contents()))


# -- what windows are made of ----------------------------------------------------------------------


def test_functions_of_windows(env):
    windowed = keyed(env).window(tumbling(5))
    with pytest.raises(TypeError, match="ReduceFunction or a callable"):
        windowed.reduce(5)
    with pytest.raises(TypeError, match="AggregateFunction"):
        windowed.aggregate(lambda a: a)
    with pytest.raises(TypeError, match="WindowFunction or ProcessWindowFunction"):
        windowed.reduce(add_times, 5)
    with pytest.raises(Exception, match="'Contents' object has no attribute 'apply'"):
        collect(windowed.apply(Contents()))
    with pytest.raises(AttributeError, match="get_default_trigger"):
        keyed(env).window("a minute").process(Contents())


class AtTheEnd(Trigger):
    """Fires at the end of the window; other triggers are made from it."""

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


def test_a_trigger_that_says_nothing(env):
    class Silent(AtTheEnd):
        def on_element(self, element, timestamp, window, ctx):
            return None

    with pytest.raises(Exception, match="'NoneType' object has no attribute 'is_fire'"):
        collect(keyed(env).window(tumbling(5)).trigger(Silent()).process(Contents()))


def test_a_trigger_with_methods_missing():
    class Half(Trigger):
        def on_element(self, element, timestamp, window, ctx):
            return TriggerResult.FIRE

    with pytest.raises(TypeError, match="abstract method"):
        Half()


def test_a_trigger_merges_state_that_cannot_be_merged(env):
    class Merges(AtTheEnd):
        def on_merge(self, window, ctx):
            ctx.merge_partitioned_state(ValueStateDescriptor("seen", Types.INT()))

    stream = keyed(env).window(session(50)).trigger(Merges())
    with pytest.raises(Exception, match="does not refer to a mergeable state"):
        collect(stream.process(Contents()))


def test_the_state_of_a_trigger_without_the_declared_type(env):
    class Puts(AtTheEnd):
        def on_element(self, element, timestamp, window, ctx):
            ctx.get_partitioned_state(ValueStateDescriptor("seen", Types.INT())).update("x")
            return super().on_element(element, timestamp, window, ctx)

    with pytest.raises(Exception, match="an integer is required"):
        collect(keyed(env).window(tumbling(5)).trigger(Puts()).process(Contents()))


class UsesWindowState(ProcessWindowFunction):
    def process(self, key, context, elements):
        context.window_state().get_state(ValueStateDescriptor("seen", Types.INT())).update(1)
        yield key


class ClearsWindowState(Contents):
    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("seen", Types.INT())).clear()


@pytest.mark.parametrize("function", [UsesWindowState(), ClearsWindowState()])
def test_per_window_state_of_windows_that_merge(env, function):
    with pytest.raises(Exception, match="Per-window state is not allowed when using merging"):
        collect(keyed(env).window(session(5)).process(function))


def test_global_state_without_the_declared_type(env):
    class Puts(ProcessWindowFunction):
        def process(self, key, context, elements):
            context.global_state().get_state(ValueStateDescriptor("seen", Types.INT())).update("x")
            yield key

    with pytest.raises(Exception, match="an integer is required"):
        collect(keyed(env).window(tumbling(5)).process(Puts()))


def test_a_window_function_that_returns_nothing(env):
    class Nothing(ProcessWindowFunction):
        def process(self, key, context, elements):
            pass

    with pytest.raises(Exception, match="'NoneType' object is not iterable"):
        collect(keyed(env).window(tumbling(5)).process(Nothing()))


def test_a_global_window_with_a_count_of_text(env):
    stream = keyed(env).window(GlobalWindows.create()).trigger(CountTrigger.of("a"))
    with pytest.raises(Exception, match="TypeError"):
        collect(stream.process(Contents()))


# -- side outputs ----------------------------------------------------------------------------------


def test_tags_of_side_outputs(env):
    with pytest.raises(ValueError, match="tag_id cannot be None or empty string"):
        OutputTag("", Types.STRING())
    with pytest.raises(ValueError, match="tag_id cannot be None or empty string"):
        OutputTag(None)
    with pytest.raises(TypeError, match="type_info must be None, list or TypeInformation"):
        OutputTag("late", 5)
    with pytest.raises(AttributeError):
        pairs(env).map(lambda v: v).get_side_output("late")


# -- timestamps and watermarks ---------------------------------------------------------------------


def assigned(env: Any, timestamp: Any) -> list[Any]:
    class Assigns(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return timestamp

    class Shows(ProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.timestamp()

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Assigns())
    stream = env.from_collection(["x"]).assign_timestamps_and_watermarks(strategy)
    return collect(stream.process(Shows()))


@pytest.mark.parametrize(("timestamp", "error"), [
    (None, "an integer is required"),
    ("x", "an integer is required"),
    (2**70, "OverflowError"),
])  # fmt: skip
def test_timestamps_that_are_none(env, timestamp, error):
    with pytest.raises(Exception, match=error):
        assigned(env, timestamp)


@pytest.mark.parametrize(("timestamp", "seen"), [(5.9, 5), (True, 1), (-5, -5), (LOWEST, LOWEST)])
def test_timestamps_are_whole_numbers(env, timestamp, seen):
    assert assigned(env, timestamp) == [seen]


def test_strategies_are_made_of_the_right_things(env):
    with pytest.raises(AttributeError):
        pairs(env).assign_timestamps_and_watermarks(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    with pytest.raises(AttributeError, match="extract_timestamp"):
        pairs(env).assign_timestamps_and_watermarks(
            strategy.with_timestamp_assigner(lambda value, timestamp: 1)
        )
    with pytest.raises((AttributeError, TypeError)):
        WatermarkStrategy.for_bounded_out_of_orderness(5)
    with pytest.raises((AttributeError, TypeError)):
        strategy.with_idleness(5)


@pytest.mark.parametrize("timeout", [0, -5])
def test_idleness_takes_time(timeout):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    with pytest.raises(Exception, match="idleTimeout must be greater than zero"):
        strategy.with_idleness(Duration.of_millis(timeout))


def test_a_keyed_function_on_a_stream_without_key(env):
    class Keyed(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.get_current_key()

    with pytest.raises(Exception, match=r"AttributeError: .*get_current_key"):
        collect(env.from_collection([1]).process(Keyed()))
