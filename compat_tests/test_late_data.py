"""Late elements: dropped, sent to a side output, or let in by allowed lateness."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import OutputTag
from pyflink.datastream.window import EventTimeTrigger, PurgingTrigger

from compat_tests.pacing import paced, timed
from compat_tests.running import collect
from compat_tests.windowing import Contents, add_times, keyed_by_first, session, sliding, tumbling

pytestmark = pytest.mark.one_attempt(
    "what is late goes by the watermark, which a restart sets back"
)


@pytest.fixture
def late():
    return OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


@pytest.fixture
def stream(paced_env):
    """A watermark follows each: 2 is late for [0, 10), and 3 when 40 has passed."""
    times = (1, 12, 2, 40, 3)
    return keyed_by_first(paced(paced_env, [("k", at) for at in times]))


def contents(windows):
    return [(start, found) for _, start, _, found in collect(windows.process(Contents()))]


def test_late_elements_are_dropped(stream):
    assert contents(stream.window(tumbling(10))) == [(0, [1]), (10, [12]), (40, [40])]


def test_side_output(stream, late):
    results = stream.window(tumbling(10)).side_output_late_data(late).process(Contents())
    assert collect(results.get_side_output(late)) == [("k", 2), ("k", 3)]


def test_allowed_lateness_fires_again(stream):
    results = contents(stream.window(tumbling(10)).allowed_lateness(10))
    assert results == [(0, [1]), (0, [1, 2]), (10, [12]), (40, [40])]


def test_allowed_lateness_and_side_output(stream, late):
    windows = stream.window(tumbling(10)).allowed_lateness(10).side_output_late_data(late)
    assert collect(windows.reduce(add_times).get_side_output(late)) == [("k", 3)]


def test_allowed_lateness_with_reduce(stream):
    results = collect(stream.window(tumbling(10)).allowed_lateness(100).reduce(add_times))
    assert results == [("k", 1), ("k", 3), ("k", 12), ("k", 6), ("k", 40)]


def test_allowed_lateness_with_a_purging_trigger(stream):
    windows = stream.window(tumbling(10)).trigger(PurgingTrigger.of(EventTimeTrigger.create()))
    results = contents(windows.allowed_lateness(10))
    assert results == [(0, [1]), (0, [2]), (10, [12]), (40, [40])]


def test_sliding_windows_are_late_one_by_one(paced_env, late):
    stream = keyed_by_first(paced(paced_env, [("k", 8), ("k", 12), ("k", 7), ("k", 1)]))
    windows = stream.window(sliding(10, 5)).side_output_late_data(late)
    results = windows.process(Contents())
    side = results.get_side_output(late)
    assert collect(side) == [("k", 1)]
    assert collect(results) == [("k", 0, 10, [8]), ("k", 5, 15, [8, 12, 7]), ("k", 10, 20, [12])]


def test_a_late_element_that_merges_into_a_session_is_not_late(paced_env, late):
    stream = keyed_by_first(paced(paced_env, [("k", 10), ("k", 15), ("k", 5), ("k", 60), ("k", 1)]))
    windows = stream.window(session(10)).side_output_late_data(late)
    results = windows.process(Contents())
    side = results.get_side_output(late)
    assert collect(side) == [("k", 1)]
    assert [(v[1], v[2], sorted(v[3])) for v in collect(results)] == [
        (5, 25, [5, 10, 15]), (60, 70, [60]),
    ]  # fmt: skip


def test_bounded_out_of_orderness_waits(paced_env):
    stream = keyed_by_first(paced(paced_env, [("k", 1), ("k", 12), ("k", 2), ("k", 40)], 5))
    assert contents(stream.window(tumbling(10))) == [(0, [1, 2]), (10, [12]), (40, [40])]


@pytest.mark.pyflink_bug("a typed tag cannot be pickled once its side output was taken")
def test_one_tag_for_two_streams(env, late):
    stream = keyed_by_first(timed(env.from_collection([("k", 1)])))
    for _ in range(2):
        windows = stream.window(tumbling(10)).side_output_late_data(late)
        assert collect(windows.reduce(add_times).get_side_output(late)) == []


def test_nothing_is_late_in_batch(batch_env):
    elements = [("k", at) for at in (1, 12, 2, 40, 3)]
    stream = keyed_by_first(timed(batch_env.from_collection(elements)))
    assert collect(stream.window(tumbling(10)).reduce(add_times)) == [
        ("k", 6), ("k", 12), ("k", 40),
    ]  # fmt: skip
