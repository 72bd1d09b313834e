"""A job's result depends neither on where its input is cut, nor on parallelism, nor on restarts."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._runtime.state import disk
from pyflink_on_spark._runtime.task import exchange_writer, schedule
from pyflink_on_spark._runtime.task import operator_chain as watermark_output
from pyflink_on_spark.common import Duration, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import KeyedProcessFunction, OutputTag
from pyflink_on_spark.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from tests.effort import share
from tests.runtime.rounds import Conditions, by_key, results
from tests.runtime.window_jobs import WindowJob, window_jobs

pytestmark = pytest.mark.slow

MAX_PARALLELISM = 5
few = settings(
    max_examples=share(25),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)

events = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 60), st.integers(-3, 9)), max_size=40
)
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=6).map(tuple)
places = st.builds(Conditions, sizes=sizes, parallelism=st.integers(1, 4), seed=st.integers(0, 9))
restarts = st.dictionaries(st.integers(1, 40), st.integers(1, 4), max_size=3)
restarted = st.builds(
    Conditions,
    sizes=sizes,
    parallelism=st.integers(1, 4),
    seed=st.integers(0, 9),
    restarts=restarts,
    on_disk=st.booleans(),
)
intervals = st.integers(1, 12)
LATE_ENOUGH = 100


@pytest.fixture(autouse=True, params=[3, 4096], ids=["bundles of 3", "whole bundles"])
def bundle_size(request):
    with pytest.MonkeyPatch.context() as patch:
        for module in (exchange_writer, schedule, watermark_output):
            patch.setattr(module, "BUNDLE_SIZE", request.param)
        patch.setattr(disk, "_SMALLEST_GENERATION", 16)
        yield


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(stream, bound):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound))
    strategy = strategy.with_timestamp_assigner(SecondField())
    return stream.assign_timestamps_and_watermarks(strategy).set_parallelism(1)


def keyed(stream):
    return stream.key_by(lambda v: v[0])


def agree(build, elements, conditions, every=10_000):
    expected = by_key(results(build, elements, watermark_every=every))
    found = by_key(
        results(build, elements, conditions, max_parallelism=MAX_PARALLELISM, watermark_every=every)
    )
    assert found == expected


@few
@given(events, restarted)
def test_rolling_reduce(elements, conditions):
    def build(stream):
        return keyed(stream).reduce(lambda a, b: (a[0], a[1] * 2 - b[1], max(a[2], b[2])))

    agree(build, elements, conditions)


@few
@given(events, restarted)
def test_two_keyed_operators_in_a_row(elements, conditions):
    def build(stream):
        totals = keyed(stream).sum(1).map(lambda v: (v[0], v[1] % 7, 1))
        return keyed(totals).sum(2).key_by(lambda v: v[0]).max(1)

    agree(build, elements, conditions)


@few
@given(events, restarted)
def test_mutable_elements(elements, conditions):
    class Grows(KeyedProcessFunction):
        def open(self, runtime_context):
            self.all = runtime_context.get_state(ValueStateDescriptor("all", Types.STRING()))

        def process_element(self, value, ctx):
            value.append("seen")
            yield value
            value.append("again")
            yield value

    def build(stream):
        lists = stream.map(list)
        return (
            lists.union(lists.map(lambda v: [*v, "copy"])).key_by(lambda v: v[0]).process(Grows())
        )

    plain = results(build, elements)
    found = results(build, elements, conditions, max_parallelism=MAX_PARALLELISM)
    assert sorted(map(repr, found)) == sorted(map(repr, plain))


class Remembers(KeyedProcessFunction):
    """Uses each kind of state, and a timer for each element.

    Timers do not look at what later elements may have changed, unless ``peeks``.
    """

    def __init__(self, peeks):
        self.peeks = peeks

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))
        by_time = MapStateDescriptor("by time", Types.LONG(), Types.LONG())
        self.by_time = runtime_context.get_map_state(by_time)

    def process_element(self, value, ctx):
        key, time, number = value
        self.count.update((self.count.value() or 0) + 1)
        self.all.add(number)
        due = time + 5
        self.by_time.put(due, (self.by_time.get(due) or 0) + number)
        ctx.timer_service().register_event_time_timer(due)
        if number == 0:
            ctx.timer_service().delete_event_time_timer(due + 1)
        yield key, "element", self.count.value(), list(self.all), ctx.timestamp()
        if number == 9:
            self.all.clear()

    def on_timer(self, timestamp, ctx):
        key = ctx.get_current_key()
        yield key, "timer", timestamp, self.by_time.get(timestamp), ctx.timestamp()
        if self.peeks:
            yield key, "peek", self.count.value(), sorted(self.by_time.items())
            self.by_time.remove(timestamp)
            if timestamp % 3 == 0:
                ctx.timer_service().register_event_time_timer(timestamp + 20)


@few
@given(events, places, intervals, st.integers(0, 20))
def test_state_and_timers(elements, conditions, every, bound):
    agree(lambda s: keyed(timed(s, bound)).process(Remembers(True)), elements, conditions, every)


@few
@given(events, restarted, intervals)
def test_state_and_timers_after_restarts(elements, conditions, every):
    """A restart sets the watermark back, so only what does not depend on it can be the same."""
    found = [
        by_key(
            results(
                lambda s: keyed(timed(s, LATE_ENOUGH)).process(Remembers(False)),
                elements,
                chosen,
                max_parallelism=MAX_PARALLELISM,
                watermark_every=every,
            )
        )
        for chosen in (Conditions(), conditions)
    ]
    assert found[0].keys() == found[1].keys()
    for key in found[0]:
        for kind in ("element", "timer"):
            one, other = ([e for e in run[key] if e[1] == kind] for run in found)
            assert one == other


LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())


def windowed(job: WindowJob, bound: int):
    """The results of a window operation and what was late, told apart by their first field."""

    def build(stream):
        windows = job.windows(keyed(timed(stream, bound)), LATE)
        main = job.results(windows)
        late = main.get_side_output(LATE).map(lambda v: (("late", v[0]), v))
        return main.map(lambda v: (("main", v[0]), v)).union(late)

    return build


@settings(few, max_examples=share(60))
@given(window_jobs(), events, places, intervals, st.integers(0, 20))
def test_windows(job, elements, conditions, every, bound):
    agree(windowed(job, bound), elements, conditions, every)


@settings(few, max_examples=share(60))
@given(window_jobs(timely=True), events, restarted, intervals)
def test_windows_after_restarts(job, elements, conditions, every):
    agree(windowed(job, LATE_ENOUGH), elements, conditions, every)


@settings(few, max_examples=share(60))
@given(window_jobs(regular=True), events, places, intervals, st.integers(0, 20))
def test_regular_windows_are_no_exception(job, elements, conditions, every, bound):
    """The loops for regular windows give the results of the general ones."""
    build = windowed(job, bound)
    found = results(
        build, elements, conditions, max_parallelism=MAX_PARALLELISM, watermark_every=every
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pyflink_on_spark.datastream.data_stream.windowed_stream._grid", lambda *_: None
        )
        expected = results(build, elements, watermark_every=every)
    assert by_key(found) == by_key(expected)


def model(job, elements):
    """Return the contents of windows with the default trigger, if nothing is late."""
    of_key = {}
    for key, time, number in elements:
        windows = of_key.setdefault(key, {})
        if job.assigner == "session":
            start, end, held = time, time + job.size, [(time, number)]
            for other in [w for w in windows if w[0] <= end and start <= w[1]]:
                held = windows.pop(other) + held
                start, end = min(start, other[0]), max(end, other[1])
            windows[start, end] = held
            continue
        slide, offset = job.size, job.slide % job.size
        if job.assigner == "sliding":
            slide, offset = job.slide, job.size % job.slide
        for start in range(time - job.size + 1, time + 1):
            if (start - offset) % slide == 0:
                windows.setdefault((start, start + job.size), []).append((time, number))
    return {
        (key, bounds): sorted(held)
        for key, windows in of_key.items()
        for bounds, held in windows.items()
    }


@few
@given(window_jobs(timely=True, contents=True), events, restarted, intervals)
def test_windows_hold_what_they_should(job, elements, conditions, every):
    def build(stream):
        return job.results(job.windows(keyed(timed(stream, LATE_ENOUGH)), LATE))

    found = results(
        build, elements, conditions, max_parallelism=MAX_PARALLELISM, watermark_every=every
    )
    windows = {(key, bounds): sorted(held) for key, bounds, held in found}
    assert windows == model(job, elements)
    assert len(found) == len(windows)
