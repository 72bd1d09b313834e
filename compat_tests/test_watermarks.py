"""Timestamps, watermarks and how they go through a job."""

from __future__ import annotations

import pytest
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CoMapFunction, KeyedProcessFunction, ProcessFunction
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

from compat_tests.pacing import SecondField, paced, timed
from compat_tests.running import collect, collect_sorted

LOWEST = -(2**63)
HIGHEST = 2**63 - 1


class Clock(ProcessFunction):
    """Emits (value, timestamp, watermark)."""

    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


@pytest.mark.timed
def test_timestamps_of_a_small_input(env):
    stream = timed(env.from_collection([("a", 5), ("b", 3)])).process(Clock())
    assert collect(stream) == [(("a", 5), 5, LOWEST), (("b", 3), 3, LOWEST)]


@pytest.mark.parametrize(("bound", "expected"), [(0, [LOWEST, 9, 29]), (5, [LOWEST, 4, 24])])
@pytest.mark.one_attempt("a restart sets the watermark back")
def test_watermark_is_the_largest_timestamp_less_the_bound_and_one(paced_env, bound, expected):
    stream = paced(paced_env, [("a", 10), ("a", 30), ("a", 20)], bound).process(Clock())
    assert [watermark for _, _, watermark in collect(stream)] == expected


@pytest.mark.parametrize("first", [
    lambda keyed: keyed.reduce(lambda a, b: b),
    lambda keyed: keyed.sum(1),
    lambda keyed: keyed.map(lambda v: v),
    lambda keyed: keyed.filter(lambda v: True),
    lambda keyed: keyed.connect(keyed).map(Both()),
])  # fmt: skip
@pytest.mark.one_attempt("a restart sets the watermark back")
def test_the_watermark_after_a_keyed_function(paced_env, first):
    stream = paced(paced_env, [("a", 10), ("b", 30), ("c", 20), ("d", 40)])
    seen = collect(first(stream.key_by(lambda v: v[0])).process(Clock()))
    watermarks = [watermark for _, _, watermark in seen]
    assert (watermarks[0], watermarks[-1]) == (LOWEST, 29)


def test_monotonous_timestamps(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    stream = env.from_collection([("a", 5)]).assign_timestamps_and_watermarks(strategy)
    assert collect(stream.process(Clock())) == [(("a", 5), 5, LOWEST)]


def test_no_watermarks(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(SecondField())
    stream = env.from_collection([("a", 5)]).assign_timestamps_and_watermarks(strategy)
    assert collect(stream.process(Clock())) == [(("a", 5), 5, LOWEST)]


def test_the_assigner_sees_the_timestamp_before(env):
    class Shifts(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return 7 if record_timestamp == LOWEST else record_timestamp * 2

    def shifted(stream):
        strategy = WatermarkStrategy.for_monotonous_timestamps()
        return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Shifts()))

    stream = shifted(shifted(env.from_collection(["x"])))
    assert collect(stream.process(Clock())) == [("x", 14, LOWEST)]


def test_the_type_is_kept(env):
    assert timed(env.from_collection([("a", 1)])).get_type() == Types.PICKLED_BYTE_ARRAY()
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    assert timed(env.from_collection([("a", 1)], pair)).get_type() == pair


@pytest.mark.parametrize("through", [
    lambda s: s.map(lambda v: v),
    lambda s: s.flat_map(lambda v: [v]),
    lambda s: s.filter(lambda v: True),
    lambda s: s.key_by(lambda v: v).map(lambda v: v),
    lambda s: s.key_by(lambda v: v).reduce(lambda a, b: b),
    lambda s: s.rebalance(),
    lambda s: s.rebalance().map(lambda v: v),
    lambda s: s.union(s).filter(lambda v: True).key_by(lambda v: v).map(lambda v: v),
    lambda s: s.process(PassOn()),
], ids=["map", "flat_map", "filter", "keyed map", "reduce", "rebalance", "rebalance and map",
        "union", "process"])  # fmt: skip
def test_timestamps_go_through(env, through):
    results = collect(through(timed(env.from_collection([("a", 5), ("b", 3)]))).process(Clock()))
    assert {(value, timestamp) for value, timestamp, _ in results} == {(("a", 5), 5), (("b", 3), 3)}


class PassOn(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


def test_every_output_of_an_element_has_its_timestamp(env):
    stream = timed(env.from_collection([("a", 5)])).flat_map(lambda v: [1, 2]).process(Clock())
    assert [(v, t) for v, t, _ in collect(stream)] == [(1, 5), (2, 5)]


@pytest.mark.timed
def test_all_elements_of_a_small_input_come_before_any_watermark(env):
    class Watermark(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1])
            yield ctx.timer_service().current_watermark()

        def on_timer(self, timestamp, ctx):
            yield ctx.timer_service().current_watermark()

    stream = timed(env.from_collection([("a", 1), ("a", 10_000)])).key_by(lambda v: v[0])
    assert collect(stream.process(Watermark())) == [LOWEST, LOWEST, HIGHEST, HIGHEST]


def test_union_has_the_lowest_watermark(paced_env):
    nothing = paced_env.from_collection([("s", 1)] * 8).map(slow).filter(lambda value: False)
    silent = timed(nothing.rebalance())
    stream = silent.union(paced(paced_env, [("a", 10), ("a", 20), ("a", 30)])).process(Clock())
    watermarks = [watermark for value, _, watermark in collect(stream) if value[0] == "a"]
    assert watermarks == [LOWEST] * 3


def slow(value):
    import time

    time.sleep(0.2)
    return value


@pytest.mark.parametrize(("interval", "expected"), [
    (10, [LOWEST, 9, 19]),
    (3_600_000, [LOWEST] * 3),
    (0, [LOWEST] * 3),
])  # fmt: skip
def test_a_watermark_follows_each_interval_of_the_clock(paced_env, interval, expected):
    paced_env.get_config().set_auto_watermark_interval(interval)
    stream = paced(paced_env, [("a", 10), ("a", 20), ("a", 30)]).process(Clock())
    assert [watermark for _, _, watermark in collect(stream)] == expected


def test_an_unbounded_source_follows_the_clock(paced_env, tmp_path):
    (tmp_path / "in.txt").write_text("10\n20\n30\n")
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    source = files.monitor_continuously(Duration.of_seconds(1)).build()
    lines = paced_env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    elements = lines.map(lambda line: ("a", int(line))).map(slow)
    with timed(elements.rebalance()).process(Clock()).execute_and_collect() as results:
        found = [next(results) for _ in range(3)]
    assert [watermark for _, _, watermark in found] == [LOWEST, 9, 19]


@pytest.mark.one_attempt("a restart sets the watermark back")
def test_an_ended_input_holds_nothing_back(paced_env):
    ended = timed(paced_env.from_collection([("e", 1)]))
    elements = [("a", 10), ("a", 20), ("a", 30)]
    stream = ended.union(paced(paced_env, elements)).process(Clock())
    watermarks = [watermark for value, _, watermark in collect(stream) if value[0] == "a"]
    assert watermarks[1:] == [9, 19]


@pytest.mark.parametrize("parallelism", [2])
def test_windows_wait_for_all_subtasks(env):
    from compat_tests.windowing import Contents, tumbling

    elements = [("k", at) for at in range(0, 40, 2)]
    stream = timed(env.from_collection(elements).rebalance()).key_by(lambda v: v[0])
    results = collect_sorted(stream.window(tumbling(20)).process(Contents()))
    assert [(start, sorted(times)) for _, start, _, times in results] == [
        (0, list(range(0, 20, 2))), (20, list(range(20, 40, 2))),
    ]  # fmt: skip


def test_a_second_assignment_replaces_the_first(env):
    class Negative(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return -value[1]

    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    stream = timed(env.from_collection([("a", 5)])).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(Negative())
    )
    assert collect(stream.process(Clock())) == [(("a", 5), -5, LOWEST)]


def test_a_failing_assigner_fails_the_job(env):
    stream = timed(env.from_collection(["x"]))
    with pytest.raises(Exception, match="IndexError"):
        collect(stream)
