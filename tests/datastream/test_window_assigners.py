from __future__ import annotations

import cloudpickle
import pytest

from pyflink_on_spark.common.constants import MIN_LONG_VALUE
from pyflink_on_spark.common.time import Time
from pyflink_on_spark.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindowSerializer,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowOperationDescriptor,
)
from tests.datastream.window_contexts import AssignerBench, Merges


def ms(number):
    return Time.milliseconds(number)


def bounds(assigner, timestamp=0, now=0, element=None):
    made = assigner.assign_windows(element, timestamp, AssignerBench(now))
    return [(window.start, window.end) for window in made]


def ids(assigner, count):
    key = AssignerBench()
    return [[w.id for w in assigner.assign_windows(None, 0, key)] for _ in range(count)]


class OwnGap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element


def test_tumbling():
    windows = TumblingEventTimeWindows.of(ms(5))
    assert bounds(windows, 7, now=99) == [(5, 10)]
    assert bounds(windows, -1) == [(-5, 0)]
    assert bounds(TumblingEventTimeWindows.of(ms(5), ms(2)), 6) == [(2, 7)]
    assert bounds(TumblingEventTimeWindows.of(ms(5), ms(-2)), 3) == [(3, 8)]
    assert bounds(TumblingProcessingTimeWindows.of(ms(5), ms(1)), 7, now=99) == [(96, 101)]


def test_sliding_windows_come_latest_first():
    assert bounds(SlidingEventTimeWindows.of(ms(10), ms(5)), 7) == [(5, 15), (0, 10)]
    assert bounds(SlidingEventTimeWindows.of(ms(10), ms(5)), -7) == [(-10, 0), (-15, -5)]
    assert bounds(SlidingEventTimeWindows.of(ms(10), ms(5), ms(2)), 7) == [(7, 17), (2, 12)]
    assert bounds(SlidingEventTimeWindows.of(ms(7), ms(5)), 6) == [(5, 12), (0, 7)]
    assert bounds(SlidingProcessingTimeWindows.of(ms(10), ms(5)), 7, now=20) == [
        (20, 30),
        (15, 25),
    ]


def test_sliding_windows_with_gaps_leave_elements_out():
    windows = SlidingEventTimeWindows.of(ms(2), ms(5))
    assert [bounds(windows, t) for t in (5, 6, 7, 9)] == [[(5, 7)], [(5, 7)], [], []]


@pytest.mark.parametrize(
    "assigner", [TumblingEventTimeWindows.of(ms(5)), SlidingEventTimeWindows.of(ms(5), ms(1))]
)
def test_event_time_needs_a_timestamp(assigner):
    with pytest.raises(Exception, match=r"Long.MIN_VALUE timestamp .*assign_timestamps"):
        bounds(assigner, MIN_LONG_VALUE)
    assert bounds(assigner, MIN_LONG_VALUE + 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TumblingEventTimeWindows.of(ms(5), ms(5)), "TumblingEventTimeWindows .* < size"),
        (lambda: TumblingProcessingTimeWindows.of(ms(0)), "TumblingProcessingTimeWindows para"),
        (lambda: SlidingEventTimeWindows.of(ms(5), ms(2), ms(-2)), r"< slide and size > 0"),
        (lambda: SlidingProcessingTimeWindows.of(ms(0), ms(2)), "SlidingProcessingTimeWindows"),
        (lambda: EventTimeSessionWindows.with_gap(ms(0)), "EventTimeSessionWindows .* 0 < size"),
        (lambda: ProcessingTimeSessionWindows.with_gap(ms(-1)), "ProcessingTimeSessionWindows"),
    ],
)
def test_impossible_sizes(make, message):
    with pytest.raises(Exception, match=message):
        make()


def test_sessions():
    assert bounds(EventTimeSessionWindows.with_gap(ms(5)), 7, now=99) == [(7, 12)]
    assert bounds(ProcessingTimeSessionWindows.with_gap(ms(5)), 7, now=99) == [(99, 104)]
    dynamic = EventTimeSessionWindows.with_dynamic_gap(OwnGap())
    assert isinstance(dynamic, DynamicEventTimeSessionWindows)
    assert bounds(dynamic, 7, element=3) == [(7, 10)]
    assert bounds(dynamic, 7, element=30) == [(7, 37)]
    dynamic = ProcessingTimeSessionWindows.with_dynamic_gap(OwnGap())
    assert isinstance(dynamic, DynamicProcessingTimeSessionWindows)
    assert bounds(dynamic, 7, now=99, element=3) == [(99, 102)]


def test_a_dynamic_gap_is_more_than_nothing():
    for assigner in (DynamicEventTimeSessionWindows, DynamicProcessingTimeSessionWindows):
        with pytest.raises(Exception, match="Dynamic session time gap must satisfy 0 < gap"):
            bounds(assigner.with_dynamic_gap(OwnGap()), element=0)


def test_sessions_merge():
    merges = Merges()
    parts = [TimeWindow(0, 5), TimeWindow(4, 9)]
    EventTimeSessionWindows.with_gap(ms(5)).merge_windows(parts, merges)
    assert merges.seen == [(parts, TimeWindow(0, 9))]


def test_counting():
    assert ids(CountTumblingWindowAssigner.of(2), 5) == [[0], [0], [1], [1], [2]]
    assert ids(CountSlidingWindowAssigner.of(3, 1), 5) == [
        [0],
        [1, 0],
        [2, 1, 0],
        [3, 2, 1],
        [4, 3, 2],
    ]
    assert ids(CountSlidingWindowAssigner.of(3, 2), 6) == [[0], [0], [1, 0], [1], [2, 1], [2]]
    assert ids(CountSlidingWindowAssigner.of(2, 3), 6) == [[0], [0], [], [1], [1], []]


def test_global():
    assert GlobalWindows.create().assign_windows(None, 0, AssignerBench()) == [GlobalWindow()]


TIME = [
    (TumblingEventTimeWindows.of(ms(5)), EventTimeTrigger, "TumblingEventTimeWindows(5, 0)"),
    (
        TumblingProcessingTimeWindows.of(ms(5), ms(1)),
        ProcessingTimeTrigger,
        "TumblingProcessingTimeWindows(5, 1)",
    ),
    (
        SlidingEventTimeWindows.of(ms(5), ms(2)),
        EventTimeTrigger,
        "SlidingEventTimeWindows(5, 2, 0)",
    ),
    (
        SlidingProcessingTimeWindows.of(ms(5), ms(2)),
        ProcessingTimeTrigger,
        "SlidingProcessingTimeWindows(5, 2, 0)",
    ),
    (EventTimeSessionWindows.with_gap(ms(5)), EventTimeTrigger, "EventTimeSessionWindows(5)"),
    (
        ProcessingTimeSessionWindows.with_gap(ms(5)),
        ProcessingTimeTrigger,
        "ProcessingTimeSessionWindows(5)",
    ),
    (
        DynamicEventTimeSessionWindows(OwnGap()),
        EventTimeTrigger,
        "DynamicEventTimeSessionWindows(0)",
    ),
    (
        DynamicProcessingTimeSessionWindows(OwnGap()),
        ProcessingTimeTrigger,
        "DynamicProcessingTimeSessionWindows(0)",
    ),
]


@pytest.mark.parametrize(("assigner", "trigger", "text"), TIME)
def test_time_assigners_agree_with_their_triggers(assigner, trigger, text):
    assert type(assigner.get_default_trigger(None)) is trigger
    assert assigner.is_event_time() is (trigger is EventTimeTrigger)
    assert isinstance(assigner.get_window_serializer(), TimeWindowSerializer)
    assert repr(assigner) == text
    assert repr(cloudpickle.loads(cloudpickle.dumps(assigner))) == text


@pytest.mark.parametrize(
    ("assigner", "trigger", "serializer", "text"),
    [
        (
            CountTumblingWindowAssigner(3),
            CountTrigger,
            CountWindowSerializer,
            "CountTumblingWindowAssigner(3)",
        ),
        (
            CountSlidingWindowAssigner(3, 1),
            CountTrigger,
            CountWindowSerializer,
            "CountSlidingWindowAssigner(3, 1)",
        ),
        (GlobalWindows(), NeverTrigger, GlobalWindowSerializer, "GlobalWindows()"),
    ],
)
def test_other_assigners_do_not_follow_time(assigner, trigger, serializer, text):
    assert type(assigner.get_default_trigger(None)) is trigger
    assert assigner.is_event_time() is False
    assert isinstance(assigner.get_window_serializer(), serializer)
    assert repr(assigner) == text


def test_an_operation_describes_itself():
    assigner = TumblingEventTimeWindows.of(ms(5))
    operation = WindowOperationDescriptor(
        assigner, EventTimeTrigger(), 0, None, None, TimeWindowSerializer(), None
    )
    assert operation.generate_op_name() == "TumblingEventTimeWindows"
    assert operation.generate_op_desc("Window", "sum") == (
        "Window(TumblingEventTimeWindows(5, 0), EventTimeTrigger, sum)"
    )
