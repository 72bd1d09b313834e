"""Jobs of many steps, drawn by hypothesis: each element is a key, a time and a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from pyflink_on_spark.common import Duration, Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import (
    AggregateFunction,
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessWindowFunction,
)
from pyflink_on_spark.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflink_on_spark.datastream.window import (
    CountSlidingWindowAssigner,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

LONG = Types.LONG()
MODULUS = 10_007
AT_THE_END = 10**9
ODD = OutputTag("odd", Types.PICKLED_BYTE_ARRAY())


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(stream: Any) -> Any:
    """Assigns timestamps; nothing is late, whenever watermarks come."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1_000))
    strategy = strategy.with_timestamp_assigner(SecondField())
    return stream.assign_timestamps_and_watermarks(strategy).set_parallelism(1)


def keyed(stream: Any) -> Any:
    return stream.key_by(lambda v: v[0])


def mixed(first: int, second: int) -> int:
    """Return a number that tells the order of the two, too."""
    return (first * 31 + second + 7) % MODULUS


def mix(a: Any, b: Any) -> Any:
    return a[0], max(a[1], b[1]), mixed(a[2], b[2])


def add(a: Any, b: Any) -> Any:
    return a[0], max(a[1], b[1]), (a[2] + b[2]) % MODULUS


class Mixing(AggregateFunction):
    def create_accumulator(self):
        return [1]

    def add(self, value, accumulator):
        accumulator[0] = mixed(accumulator[0], value)
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0]

    def merge(self, a, b):
        return [mixed(a[0], b[0])]


class AllKinds(KeyedProcessFunction):
    """A function whose results depend on each kind of state, and so on all elements of the key."""

    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", LONG))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", LONG))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", LONG, LONG))
        self.reducing = runtime_context.get_reducing_state(
            ReducingStateDescriptor("reducing", mixed, LONG)
        )
        self.aggregating = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("aggregating", Mixing(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value, ctx):
        key, time, number = value
        self.value.update(mixed(self.value.value() or 0, number))
        self.list.add(number)
        self.map.put(number % 5, mixed(self.map.get(number % 5) or 0, number))
        self.reducing.add(number)
        self.aggregating.add(number)
        if number % 4 == 0:
            self.list.clear()
        if number % 5 == 0:
            self.map.remove(3)
        if number % 6 == 0:
            self.reducing.clear()
        ctx.timer_service().register_event_time_timer(AT_THE_END + number % 3)
        if number % 7 == 0:
            ctx.timer_service().delete_event_time_timer(AT_THE_END + 1)
        yield key, time, self.digest()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.digest()

    def digest(self):
        total = self.value.value()
        for number in self.list.get():
            total = mixed(total, number)
        for entry in sorted(self.map.items()):
            total = mixed(mixed(total, entry[0]), entry[1])
        return mixed(mixed(total, self.reducing.get() or 0), self.aggregating.get())


class Counts(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", LONG))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return value[0], value[1], mixed(value[2], count)


class Splits(KeyedProcessFunction):
    def process_element(self, value, ctx):
        if value[2] % 2:
            yield ODD, value
        else:
            yield value


class Contents(ProcessWindowFunction):
    """Also keeps something for each key across its windows."""

    def open(self, runtime_context):
        self.windows = ValueStateDescriptor("windows", LONG)

    def process(self, key, context, elements):
        state = context.global_state().get_state(self.windows)
        state.update((state.value() or 0) + 1)
        total = state.value()
        for _, _, number in elements:
            total = mixed(total, number)
        yield key, context.window().max_timestamp(), total


class CountContents(ProcessWindowFunction):
    def process(self, key, context, elements):
        total = 0
        for _, _, number in elements:
            total = mixed(total, number)
        yield key, 0, total


class Totals(KeyedProcessFunction):
    """The sum of a key's elements, independent of their order."""

    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", LONG))

    def process_element(self, value, ctx):
        self.total.update(((self.total.value() or 0) + value[2]) % MODULUS)
        ctx.timer_service().register_event_time_timer(AT_THE_END * 2)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.total.value()


class Meets(KeyedCoProcessFunction):
    """Keeps both sides, and joins them in the end."""

    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", LONG))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", LONG))

    def process_element1(self, value, ctx):
        self.left.add(value[2])
        ctx.timer_service().register_event_time_timer(AT_THE_END * 2)

    def process_element2(self, value, ctx):
        self.right.add(value[2])
        ctx.timer_service().register_event_time_timer(AT_THE_END * 2)

    def on_timer(self, timestamp, ctx):
        total = 0
        for number in [*sorted(self.left), -1, *sorted(self.right)]:
            total = mixed(total, number)
        yield ctx.get_current_key(), timestamp, total


RULES = MapStateDescriptor("rules", Types.STRING(), LONG)


class Ruled(KeyedBroadcastProcessFunction):
    """Keeps elements until all rules are there."""

    def open(self, runtime_context):
        self.numbers = runtime_context.get_list_state(ListStateDescriptor("numbers", LONG))

    def process_element(self, value, ctx):
        self.numbers.add(value[2])
        ctx.timer_service().register_event_time_timer(AT_THE_END * 2)

    def process_broadcast_element(self, value, ctx):
        rules = ctx.get_broadcast_state(RULES)
        rules.put(value[0], ((rules.get(value[0]) or 0) + value[2]) % MODULUS)

    def on_timer(self, timestamp, ctx):
        rules = ctx.get_broadcast_state(RULES)
        total = sum(number for _, number in rules.items())
        for number in sorted(self.numbers):
            total = mixed(total, number)
        yield ctx.get_current_key(), timestamp, total


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value[0], value[1], value[2] + 1


def doubled(value: Any) -> Any:
    return value[0], value[1], value[2] * 2 % MODULUS


def _united(stream: Any) -> Any:
    return stream.union(stream.get_side_output(ODD))


def window(assigner: Any) -> Callable[[Any], Any]:
    return lambda s: keyed(s).window(assigner).process(Contents())


IN_ORDER: dict[str, Callable[[Any], Any]] = {
    "map": lambda s: keyed(s).map(doubled),
    "filter": lambda s: keyed(s).filter(lambda v: v[2] % 3 != 0),
    "flat map": lambda s: keyed(s).flat_map(lambda v: [v, (v[0], v[1], v[2] + 1)][: 1 + v[2] % 2]),
    "all kinds of state": lambda s: keyed(s).process(AllKinds()),
    "state in a map": lambda s: keyed(s).map(Counts()),
    "reduce": lambda s: keyed(s).reduce(mix),
    "sum": lambda s: keyed(s).sum(2),
    "count window": lambda s: keyed(s).count_window(3).reduce(mix),
    "sliding count window": lambda s: (
        keyed(s).window(CountSlidingWindowAssigner.of(3, 2)).process(CountContents())
    ),
    "tumbling window": window(TumblingEventTimeWindows.of(Time.milliseconds(10))),
    "sliding window": window(
        SlidingEventTimeWindows.of(Time.milliseconds(12), Time.milliseconds(5))
    ),
    "session": window(EventTimeSessionWindows.with_gap(Time.milliseconds(4))),
    "main output": lambda s: keyed(s).process(Splits()),
    "side output": lambda s: keyed(s).process(Splits()).get_side_output(ODD),
}
"""Steps that keep the order of each key's elements."""

MERGES: dict[str, Callable[[Any], Any]] = {
    "none": lambda s: s,
    "union": lambda s: s.union(s.map(doubled)),
    "connect": lambda s: s.connect(s.map(doubled)).map(Both()),
    "join": lambda s: keyed(s).connect(keyed(s.map(doubled))).process(Meets()),
    "broadcast": lambda s: (
        keyed(s).connect(s.filter(lambda v: v[2] % 2 == 0).broadcast(RULES)).process(Ruled())
    ),
    "rebalance": lambda s: s.rebalance().map(doubled),
    "side outputs": lambda s: _united(keyed(s).process(Splits())),
}
"""Steps after which elements come in an order that depends on who is faster."""

IN_ANY_ORDER: dict[str, Callable[[Any], Any]] = {
    "map": lambda s: s.map(doubled),
    "flat map": lambda s: s.flat_map(lambda v: [v, doubled(v)]),
    "totals": lambda s: keyed(s).process(Totals()),
    "window": lambda s: (
        keyed(s).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(add)
    ),
    "window over all keys": lambda s: (
        s.map(lambda v: ("all", v[1], v[2]))
        .window_all(TumblingEventTimeWindows.of(Time.milliseconds(20)))
        .reduce(add)
    ),
}


@dataclass(frozen=True)
class RandomJob:
    """The names of its steps."""

    first: tuple[str, ...]
    merge: str
    then: tuple[str, ...]

    def build(self, stream: Any) -> Any:
        """Return the stream after all steps."""
        stream = timed(stream)
        for name in self.first:
            stream = IN_ORDER[name](stream)
        stream = MERGES[self.merge](stream)
        for name in self.then:
            stream = IN_ANY_ORDER[name](stream)
        return stream

    def comparable(self, found: list[Any]) -> Any:
        """Return of a result what has to be the same each time."""
        if self.merge != "none" or self.then:
            return sorted(found)
        of_key: dict[Any, list[Any]] = {}
        for element in found:
            of_key.setdefault(element[0], []).append(element)
        return of_key


random_jobs = st.builds(
    RandomJob,
    first=st.lists(st.sampled_from(sorted(IN_ORDER)), min_size=1, max_size=3).map(tuple),
    merge=st.sampled_from(sorted(MERGES)),
    then=st.lists(st.sampled_from(sorted(IN_ANY_ORDER)), max_size=2).map(tuple),
)
