from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark.common.time import Time
from pyflink_on_spark.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    CountWindow,
    EventTimeTrigger,
    GlobalWindow,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    TimeWindow,
    TriggerResult,
)
from tests.datastream.window_contexts import TriggerBench

WINDOW = TimeWindow(0, 100)
CONTINUE, FIRE = TriggerResult.CONTINUE, TriggerResult.FIRE


def test_results_say_what_they_mean():
    meaning = {r: (r.is_fire(), r.is_purge()) for r in TriggerResult}
    assert meaning == {
        TriggerResult.CONTINUE: (False, False),
        TriggerResult.FIRE_AND_PURGE: (True, True),
        TriggerResult.FIRE: (True, False),
        TriggerResult.PURGE: (False, True),
    }


def test_event_time_fires_at_the_end():
    trigger, ctx = EventTimeTrigger.create(), TriggerBench()
    assert trigger.on_element("a", 5, WINDOW, ctx) is CONTINUE
    assert ctx.event_timers == {99}
    assert trigger.on_event_time(98, WINDOW, ctx) is CONTINUE
    assert trigger.on_event_time(99, WINDOW, ctx) is FIRE
    assert trigger.on_processing_time(99, WINDOW, ctx) is CONTINUE
    trigger.clear(WINDOW, ctx)
    assert ctx.event_timers == set()


def test_event_time_fires_for_each_late_element():
    ctx = TriggerBench(watermark=99)
    assert EventTimeTrigger().on_element("a", 5, WINDOW, ctx) is FIRE
    assert ctx.event_timers == set()
    assert EventTimeTrigger().on_element("a", 5, WINDOW, TriggerBench(watermark=98)) is CONTINUE


def test_event_time_merges():
    trigger = EventTimeTrigger()
    assert trigger.can_merge()
    early, late = TriggerBench(watermark=98), TriggerBench(watermark=99)
    trigger.on_merge(WINDOW, early)
    trigger.on_merge(WINDOW, late)
    assert (early.event_timers, late.event_timers) == ({99}, set())


def test_processing_time_fires_at_the_end():
    trigger, ctx = ProcessingTimeTrigger.create(), TriggerBench(now=5)
    assert trigger.on_element("a", 5, WINDOW, ctx) is CONTINUE
    assert ctx.processing_timers == {99}
    assert trigger.on_processing_time(99, WINDOW, ctx) is FIRE
    assert trigger.on_event_time(99, WINDOW, ctx) is CONTINUE
    trigger.clear(WINDOW, ctx)
    assert ctx.processing_timers == set()


def test_processing_time_merges():
    trigger = ProcessingTimeTrigger()
    assert trigger.can_merge()
    early, late = TriggerBench(now=98), TriggerBench(now=99)
    trigger.on_merge(WINDOW, early)
    trigger.on_merge(WINDOW, late)
    assert (early.processing_timers, late.processing_timers) == ({99}, set())


def test_count_fires_every_so_many_elements():
    trigger, ctx, window = CountTrigger.of(2), TriggerBench(), CountWindow(0)
    results = [trigger.on_element(i, 0, window, ctx) for i in range(5)]
    assert results == [CONTINUE, FIRE, CONTINUE, FIRE, CONTINUE]
    assert trigger.on_event_time(5, window, ctx) is CONTINUE
    assert trigger.on_processing_time(5, window, ctx) is CONTINUE
    trigger.clear(window, ctx)
    assert trigger.on_element(0, 0, window, ctx) is CONTINUE


def test_counts_are_added_when_windows_merge():
    trigger, ctx = CountTrigger.of(4), TriggerBench()
    ctx.merged = [1, 2]
    assert trigger.can_merge()
    trigger.on_merge(WINDOW, ctx)
    assert trigger.on_element("a", 0, WINDOW, ctx) is FIRE


def test_continuous_event_time_fires_at_multiples_and_at_the_end():
    trigger, ctx = ContinuousEventTimeTrigger.of(Time.milliseconds(40)), TriggerBench()
    assert trigger.on_element("a", 45, WINDOW, ctx) is CONTINUE
    assert ctx.event_timers == {80, 99}
    assert trigger.on_element("b", 5, WINDOW, ctx) is CONTINUE
    assert ctx.event_timers == {80, 99}, "the next firing is set by the first element alone"
    assert trigger.on_event_time(79, WINDOW, ctx) is CONTINUE
    assert trigger.on_event_time(80, WINDOW, ctx) is FIRE
    assert ctx.states["fire-time"].get() == 99, "the next one is not beyond the window's end"
    assert trigger.on_event_time(80, WINDOW, ctx) is CONTINUE
    assert trigger.on_event_time(99, WINDOW, ctx) is FIRE
    assert trigger.on_processing_time(99, WINDOW, ctx) is CONTINUE


def test_continuous_event_time_with_negative_timestamps():
    trigger, ctx = ContinuousEventTimeTrigger.of(Time.milliseconds(40)), TriggerBench()
    trigger.on_element("a", -45, TimeWindow(-200, 0), ctx)
    assert ctx.event_timers == {-40, -1}


def test_continuous_event_time_fires_for_late_elements():
    ctx = TriggerBench(watermark=99)
    assert ContinuousEventTimeTrigger(40).on_element("a", 5, WINDOW, ctx) is FIRE
    assert ctx.event_timers == set()


def test_continuous_event_time_without_elements():
    trigger, ctx = ContinuousEventTimeTrigger(40), TriggerBench()
    assert trigger.on_event_time(40, WINDOW, ctx) is CONTINUE
    trigger.clear(WINDOW, ctx)
    trigger.on_merge(WINDOW, ctx)
    assert ctx.event_timers == set()


def test_continuous_event_time_merges_to_the_earliest_firing():
    trigger, ctx = ContinuousEventTimeTrigger(40), TriggerBench()
    ctx.merged = [80, 40]
    assert trigger.can_merge()
    trigger.on_merge(WINDOW, ctx)
    assert ctx.event_timers == {40}
    trigger.clear(WINDOW, ctx)
    assert ctx.event_timers == set()
    assert ctx.states["fire-time"].get() is None


def test_continuous_processing_time_follows_the_clock():
    trigger, ctx = ContinuousProcessingTimeTrigger.of(Time.milliseconds(40)), TriggerBench(now=45)
    assert trigger.on_element("a", 5, WINDOW, ctx) is CONTINUE
    assert ctx.processing_timers == {80}
    ctx.now = 60
    trigger.on_element("b", 5, WINDOW, ctx)
    assert ctx.processing_timers == {80}
    assert trigger.on_processing_time(79, WINDOW, ctx) is CONTINUE
    assert trigger.on_processing_time(80, WINDOW, ctx) is FIRE
    assert ctx.processing_timers == {80, 99}
    assert trigger.on_processing_time(99, WINDOW, ctx) is FIRE
    assert trigger.on_event_time(99, WINDOW, ctx) is CONTINUE
    trigger.clear(WINDOW, ctx)
    assert 99 not in ctx.processing_timers


def test_continuous_processing_time_merges_to_the_earliest_firing():
    trigger, ctx = ContinuousProcessingTimeTrigger(40), TriggerBench()
    ctx.merged = [80, 40]
    assert trigger.can_merge()
    trigger.on_merge(WINDOW, ctx)
    assert ctx.processing_timers == {40}


def test_purging_empties_what_fires():
    trigger, ctx, window = PurgingTrigger.of(CountTrigger.of(2)), TriggerBench(), CountWindow(0)
    results = [trigger.on_element(i, 0, window, ctx) for i in range(2)]
    assert results == [CONTINUE, TriggerResult.FIRE_AND_PURGE]
    timed = PurgingTrigger.of(EventTimeTrigger())
    assert timed.on_event_time(99, WINDOW, ctx) is TriggerResult.FIRE_AND_PURGE
    assert timed.on_event_time(98, WINDOW, ctx) is CONTINUE
    clocked = PurgingTrigger(ProcessingTimeTrigger())
    assert clocked.on_processing_time(99, WINDOW, ctx) is TriggerResult.FIRE_AND_PURGE


def test_purging_passes_everything_on():
    ctx = TriggerBench()
    timed = PurgingTrigger.of(EventTimeTrigger())
    timed.on_merge(WINDOW, ctx)
    assert ctx.event_timers == {99}
    timed.clear(WINDOW, ctx)
    assert ctx.event_timers == set()
    assert timed.can_merge()
    assert not PurgingTrigger.of(NeverTrigger()).can_merge()


def test_purging_leaves_other_results_alone():
    class PurgeOnly(NeverTrigger):
        def on_element(self, element, timestamp, window, ctx):
            return TriggerResult.PURGE

    trigger = PurgingTrigger.of(PurgeOnly())
    assert trigger.on_element("a", 0, GlobalWindow(), TriggerBench()) is TriggerResult.PURGE


def test_never():
    trigger, ctx, window = NeverTrigger(), TriggerBench(), GlobalWindow()
    assert trigger.on_element("a", 0, window, ctx) is CONTINUE
    assert trigger.on_event_time(0, window, ctx) is CONTINUE
    assert trigger.on_processing_time(0, window, ctx) is CONTINUE
    assert not trigger.can_merge()


@pytest.mark.parametrize(
    "trigger",
    [
        CountTrigger(3),
        ContinuousEventTimeTrigger(3),
        ContinuousProcessingTimeTrigger(3),
        PurgingTrigger(EventTimeTrigger()),
    ],
)
def test_triggers_are_plain_data(trigger):
    assert type(pickle.loads(pickle.dumps(trigger))) is type(trigger)
