"""Triggers other than the default: built in and of one's own."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import Trigger, TriggerResult
from pyflink.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeTrigger,
    PurgingTrigger,
)

from compat_tests.pacing import paced
from compat_tests.running import collect
from compat_tests.windowing import Contents, elements, keyed_by_first, ms, session, tumbling


def contents(stream, window, trigger):
    results = collect(stream.window(window).trigger(trigger).process(Contents()))
    return [(start, found) for _, start, _, found in results]


def test_event_time_trigger_is_the_default(env):
    results = contents(elements(env, 1, 11), tumbling(10), EventTimeTrigger.create())
    assert results == [(0, [1]), (10, [11])]


def test_count_trigger_replaces_the_firing_at_the_end(env):
    results = contents(elements(env, 1, 2, 3, 4, 5), tumbling(10), CountTrigger.of(2))
    assert results == [(0, [1, 2]), (0, [1, 2, 3, 4])]


def test_purging_count_trigger(env):
    trigger = PurgingTrigger.of(CountTrigger.of(2))
    results = contents(elements(env, 1, 2, 3, 11, 4, 12), tumbling(10), trigger)
    assert results == [(0, [1, 2]), (0, [3, 4]), (10, [11, 12])]


@pytest.mark.pyflink_bug("the count of the later session is lost when two are merged")
def test_count_trigger_counts_across_merged_sessions(env):
    results = contents(elements(env, 0, 16, 8), session(10), CountTrigger.of(3))
    assert [(start, sorted(found)) for start, found in results] == [(0, [0, 8, 16])]


def test_continuous_trigger_between_elements(paced_env):
    stream = keyed_by_first(paced(paced_env, [("k", 1), ("k", 12), ("k", 13), ("k", 25)]))
    results = contents(stream, tumbling(100), ContinuousEventTimeTrigger.of(ms(10)))
    assert results[:2] == [(0, [1, 12]), (0, [1, 12, 13, 25])]
    assert set(map(repr, results[2:])) <= {"(0, [1, 12, 13, 25])"}


class FireOn(Trigger):
    """Fires on elements of one time; purges on those of another; counts what it sees."""

    def __init__(self, fire, purge, fire_and_purge):
        self.results = {
            fire: TriggerResult.FIRE,
            purge: TriggerResult.PURGE,
            fire_and_purge: TriggerResult.FIRE_AND_PURGE,
        }

    @staticmethod
    def of(*arguments):
        return FireOn(*arguments)

    def on_element(self, element, timestamp, window, ctx):
        return self.results.get(timestamp, TriggerResult.CONTINUE)

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


def test_own_trigger_results(env):
    stream = elements(env, 0, 1, 2, 3, 4, 2, 1)
    results = contents(stream, tumbling(10), FireOn(1, 3, 2))
    assert results == [(0, [0, 1]), (0, [0, 1, 2]), (0, [4, 2]), (0, [1])]


class AtTimes(FireOn):
    """Fires at times that it registers itself."""

    def __init__(self, *times):
        self.times = times

    def on_element(self, element, timestamp, window, ctx):
        for time in self.times:
            ctx.register_event_time_timer(window.start + time)
        ctx.delete_event_time_timer(window.start + self.times[-1])
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE


def test_own_trigger_with_timers(env):
    results = contents(elements(env, 1, 12), tumbling(10), AtTimes(3, 5, 7))
    # The window's end is the third time: it asks the trigger, too.
    assert results == [(0, [1])] * 3 + [(10, [12])] * 3


class Summing(FireOn):
    """Fires when the sum of the times in a window passes a limit, kept in its state."""

    def __init__(self, limit):
        self.limit = limit
        self.descriptor = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        state = ctx.get_partitioned_state(self.descriptor)
        state.add(timestamp)
        if state.get() >= self.limit:
            state.clear()
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.descriptor).clear()


def test_own_trigger_with_state(env):
    results = contents(elements(env, 3, 5, 13, 9, 1, 9), tumbling(10), Summing(12))
    assert results == [(10, [13]), (0, [3, 5, 9])]


def test_state_of_a_trigger_is_per_window_and_key(env):
    class CountsToTwo(FireOn):
        def __init__(self):
            self.descriptor = ValueStateDescriptor("n", Types.INT())

        def on_element(self, element, timestamp, window, ctx):
            state = ctx.get_partitioned_state(self.descriptor)
            state.update((state.value() or 0) + 1)
            return TriggerResult.FIRE if state.value() == 2 else TriggerResult.CONTINUE

    results = contents(elements(env, 1, 11, 2, 12, 3), tumbling(10), CountsToTwo())
    assert results == [(0, [1, 2]), (10, [11, 12])]


def test_a_trigger_sees_the_watermark(env):
    class Watermark(FireOn):
        def __init__(self):
            pass

        def on_element(self, element, timestamp, window, ctx):
            assert ctx.get_current_processing_time() > 0
            low = ctx.get_current_watermark() == -(2**63)
            return TriggerResult.FIRE if low else TriggerResult.CONTINUE

    assert contents(elements(env, 1), tumbling(10), Watermark()) == [(0, [1])]


def test_a_merging_assigner_wants_a_trigger_that_merges(env):
    windows = env.from_collection([1]).window_all(session(10))
    with pytest.raises(TypeError, match="trigger that does not support merging"):
        windows.trigger(NotMerging(0, 0, 0))


class NotMerging(FireOn):
    def can_merge(self):
        return False


def test_trigger_results():
    assert TriggerResult.FIRE_AND_PURGE.is_fire()
    assert TriggerResult.FIRE_AND_PURGE.is_purge()
    assert TriggerResult.FIRE.is_fire()
    assert not TriggerResult.FIRE.is_purge()
    assert TriggerResult.PURGE.is_purge()
    assert not TriggerResult.CONTINUE.is_fire()
