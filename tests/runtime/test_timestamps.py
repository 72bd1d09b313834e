"""Each reader of a stream sees each element with the timestamp that belongs to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.task import exchange_writer, schedule
from pyflink_on_spark._runtime.task import operator_chain as watermark_output
from pyflink_on_spark._runtime.types import converters as type_conversion
from pyflink_on_spark._sql.runtime import python_calls as vectorized
from pyflink_on_spark.common import Duration, Row, Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflink_on_spark.datastream.window import (
    EventTimeSessionWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)
from pyflink_on_spark.table import DataTypes, Schema, StreamTableEnvironment
from pyflink_on_spark.table.udf import udf
from tests.effort import share
from tests.runtime.rounds import Conditions, results

# An element is the timestamp that it ought to have, and a number.
PAIR = Types.TUPLE([Types.LONG(), Types.INT()])
ROW = Types.ROW_NAMED(["t", "n"], [Types.LONG(), Types.INT()])
SIDE = OutputTag("side", PAIR)
UNTYPED_SIDE = OutputTag("untyped side")
LATE = OutputTag("late", PAIR)


def check(value: Any, ctx: Any) -> None:
    assert ctx.timestamp() == value[0], (ctx.timestamp(), value)


class FirstField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        assert record_timestamp in (MIN_TIMESTAMP, value[0], value[0] - 1_000)
        return value[0]


class Reader(ProcessFunction):
    def __init__(self, name):
        self.name = name

    def process_element(self, value, ctx):
        yield self.name, value[0], value[1], ctx.timestamp()


class Several(ProcessFunction):
    """Emits to all outputs, and looks at the timestamp after each time."""

    def process_element(self, value, ctx):
        for _ in range(value[1] % 3):
            check(value, ctx)
            yield value
            check(value, ctx)
            yield SIDE, value
            yield value
            yield UNTYPED_SIDE, value
        check(value, ctx)


class Timers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        check(value, ctx)
        ctx.timer_service().register_event_time_timer(value[0] + 3)
        ctx.timer_service().register_processing_time_timer(value[1])
        yield value
        check(value, ctx)
        yield SIDE, value

    def on_timer(self, timestamp, ctx):
        assert ctx.timestamp() == timestamp
        yield timestamp, 1
        yield SIDE, (timestamp, 2)
        yield timestamp, 3


class Connected(CoProcessFunction):
    def process_element1(self, value, ctx):
        check(value, ctx)
        yield value
        yield value
        check(value, ctx)

    def process_element2(self, value, ctx):
        check(value, ctx)
        yield SIDE, value
        yield value
        check(value, ctx)


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        last = context.window().max_timestamp()
        yield last, len(list(elements))
        yield LATE, (last, 0)
        yield last, len(list(elements))


class Latest(ProcessWindowFunction):
    """Of a window that fires for each element."""

    def process(self, key, context, elements):
        yield list(elements)[-1]


class EachElement(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Twice(AsyncFunction):
    async def async_invoke(self, value):
        return [value, value]

    def timeout(self, value):
        return []


def by_number(stream: Any) -> Any:
    return stream.key_by(lambda v: v[1] % 3, Types.INT())


def assigned(stream: Any) -> Any:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5))
    return stream.assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(FirstField())
    ).set_parallelism(1)


def untyped(stream: Any) -> Any:
    return stream.map(lambda v: v)


def windowed(stream: Any, assigner: Any) -> Any:
    window = by_number(stream).window(assigner).side_output_late_data(LATE)
    return window.process(Contents(), PAIR)


def tables(stream: Any) -> StreamTableEnvironment:
    return StreamTableEnvironment.create(stream._flow.environment)


def as_table(stream: Any) -> Any:
    """The table of a stream, with the timestamps as the column ``r``."""
    schema = (
        Schema.new_builder()
        .column("t", DataTypes.BIGINT())
        .column("n", DataTypes.INT())
        .column_by_metadata("r", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
        .watermark("r", "SOURCE_WATERMARK()")
        .build()
    )
    rows = stream.map(lambda v: Row(t=v[0], n=v[1]), ROW)
    return tables(stream).from_data_stream(rows, schema)


def as_pairs(stream: Any) -> Any:
    return stream.map(lambda row: (row[0], row[1]), PAIR)


@udf(result_type="INT", func_type="pandas")
def same(numbers):
    return numbers


def round_trip(stream: Any) -> Any:
    return as_pairs(tables(stream).to_data_stream(as_table(stream)))


def shared_table(stream: Any) -> Any:
    table, environment = as_table(stream), tables(stream)
    first = as_pairs(environment.to_data_stream(table))
    changes = environment.to_changelog_stream(table.where(table.n > 2))
    return first.union(as_pairs(environment.to_data_stream(table)), as_pairs(changes))


def vector_table(stream: Any) -> Any:
    table = as_table(stream)
    return as_pairs(tables(stream).to_data_stream(table.select(table.t, same(table.n), table.r)))


def ranked(stream: Any) -> Any:
    """Changes of a ranking: rows of before come again after a new one."""
    environment = tables(stream)
    environment.create_temporary_view(f"v{id(stream)}", as_table(stream))
    query = (
        "SELECT t, n, r, place FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, t) AS place "
        f"FROM v{id(stream)}) WHERE place <= 2"
    )
    return as_pairs(environment.to_changelog_stream(environment.sql_query(query)))


ONE: dict[str, Callable[[Any], Any]] = {
    "map": lambda s: s.map(lambda v: v),
    "typed map": lambda s: s.map(lambda v: v, PAIR),
    "list": lambda s: s.map(list),
    "filter": lambda s: s.filter(lambda v: v[1] % 4 != 0),
    "flat map": lambda s: s.flat_map(lambda v: [v] * (v[1] % 3)),
    "typed flat map": lambda s: s.flat_map(lambda v: [v] * (v[1] % 3), PAIR),
    "process": lambda s: s.process(Several(), PAIR),
    "side output": lambda s: s.process(Several()).get_side_output(SIDE),
    "untyped side output": lambda s: s.process(Several(), PAIR).get_side_output(UNTYPED_SIDE),
    "key by": lambda s: by_number(s).map(lambda v: v),
    "timers": lambda s: by_number(s).process(Timers(), PAIR),
    "timers' side output": lambda s: by_number(s).process(Timers()).get_side_output(SIDE),
    "assign": lambda s: assigned(s.map(lambda v: (v[0] + 1_000, v[1]), PAIR)),
    "window": lambda s: windowed(s, TumblingEventTimeWindows.of(Time.milliseconds(9))),
    "session": lambda s: windowed(s, EventTimeSessionWindows.with_gap(Time.milliseconds(4))),
    "late": lambda s: windowed(
        s, TumblingEventTimeWindows.of(Time.milliseconds(9))
    ).get_side_output(LATE),
    "window of each": lambda s: (
        by_number(s)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(9)))
        .trigger(EachElement())
        .side_output_late_data(LATE)
        .process(Latest(), PAIR)
    ),
    "rebalance": lambda s: s.rebalance().map(lambda v: v),
    "ordered async": lambda s: AsyncDataStream.ordered_wait(s, Twice(), Time.seconds(9), 2, PAIR),
    "unordered async": lambda s: AsyncDataStream.unordered_wait(
        s, Twice(), Time.seconds(9), 2, PAIR
    ),
    "table": round_trip,
    "shared table": shared_table,
    "vectorized": vector_table,
    "ranked": ranked,
}
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "union": lambda a, b: untyped(a).union(untyped(b)),
    "connect": lambda a, b: a.connect(b).process(Connected(), PAIR),
    "connect keyed": lambda a, b: by_number(a).connect(by_number(b)).process(Connected(), PAIR),
    "connect, side output": lambda a, b: a.connect(b).process(Connected()).get_side_output(SIDE),
}


@dataclass(frozen=True)
class Graph:
    """Each step reads one or two of those before it; each is read by a number of readers.

    Args:
        steps: the name of a step, what it reads, and how many readers it has.
    """

    steps: tuple[tuple[str, int, int, int], ...]

    def build(self, stream: Any) -> Any:
        """Return the stream of all readers' observations."""
        streams, seen = [assigned(stream)], []
        for name, first, second, readers in self.steps:
            one = streams[first % len(streams)]
            if name in ONE:
                streams.append(ONE[name](one))
            else:
                streams.append(TWO[name](one, streams[second % len(streams)]))
            seen += [streams[-1].process(Reader(f"{name} {i}")) for i in range(readers)]
        seen.append(streams[0].process(Reader("assigned")))
        return seen[0].union(*seen[1:])


graphs = st.lists(
    st.tuples(
        st.sampled_from(sorted(ONE) + sorted(TWO)),
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(1, 2),
    ),
    min_size=1,
    max_size=6,
).map(lambda steps: Graph(tuple(steps)))
events = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), min_size=1, max_size=30)
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)
places = st.builds(Conditions, sizes=sizes, parallelism=st.integers(1, 3), seed=st.integers(0, 9))


def agree(graph: Graph, elements: list[Any], conditions: Conditions, every: int = 3) -> None:
    found = results(graph.build, elements, conditions, watermark_every=every)
    assert [each for each in found if each[1] != each[3]] == []
    assert sum(name == "assigned" for name, *_ in found) == len(elements)


@pytest.fixture(params=[2, 4096], ids=["bundles of 2", "whole bundles"])
def bundle_size(request):
    with pytest.MonkeyPatch.context() as patch:
        for module in (exchange_writer, schedule, watermark_output):
            patch.setattr(module, "BUNDLE_SIZE", request.param)
        patch.setattr(type_conversion, "_CHUNK", min(request.param, 1_000))
        patch.setattr(vectorized, "_ROWS", min(request.param, 1_000))
        yield


ELEMENTS = [(n * 37 % 61, n * 7 % 10) for n in range(40)]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_a_step_with_two_readers(name, parallelism):
    graph = Graph(((name, 0, 0, 2), ("flat map", 1, 0, 1)))
    agree(graph, ELEMENTS, Conditions((1, 3, 9), parallelism, seed=1))


@pytest.mark.parametrize("before", ["flat map", "process", "side output", "table", "timers"])
@pytest.mark.parametrize("after", ["ranked", "table", "typed map", "window of each", "timers"])
def test_several_results_of_one_element(before, after):
    graph = Graph(((before, 0, 0, 1), (after, 1, 0, 1)))
    agree(graph, ELEMENTS, Conditions((1, 3, 9), seed=1))


@pytest.mark.slow
@settings(
    max_examples=share(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(graphs, events, places, st.integers(1, 8))
def test_any_graph(bundle_size, graph, elements, conditions, every):
    agree(graph, elements, conditions, every)
