"""Window assigners of one's own; state of windows; clear."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import (
    MergingWindowAssigner,
    ProcessWindowFunction,
    TimeWindow,
    WindowAssigner,
)
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    CountTrigger,
    CountWindow,
    CountWindowSerializer,
    EventTimeTrigger,
    TimeWindowSerializer,
)

from compat_tests.pacing import paced, timed
from compat_tests.running import Journal, collect
from compat_tests.windowing import Contents, elements, keyed_by_first, tumbling


class ByLength(WindowAssigner):
    """Window by the remainder of the timestamp."""

    def assign_windows(self, element, timestamp, context):
        assert context.get_current_processing_time() > 0
        return [CountWindow(timestamp % 2)]

    def get_default_trigger(self, env):
        return CountTrigger.of(2)

    def get_window_serializer(self):
        return CountWindowSerializer()

    def is_event_time(self):
        return False


def test_own_assigner(env):
    class WithId(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield context.window().id, [v[1] for v in elements]

    results = collect(elements(env, 1, 2, 3, 4, 5).window(ByLength()).process(WithId()))
    assert results == [(1, [1, 3]), (0, [2, 4])]


class Growing(WindowAssigner):
    """Every element into two windows of its own choice."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(0, 10 * (timestamp // 10 + 1)), TimeWindow(0, 100)]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


def test_own_event_time_assigner(env):
    assert collect(elements(env, 1, 12, 3).window(Growing()).process(Contents())) == [
        ("k", 0, 10, [1, 3]), ("k", 0, 20, [12]), ("k", 0, 100, [1, 12, 3]),
    ]  # fmt: skip


class OwnSessions(MergingWindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + 10)]

    def merge_windows(self, windows, callback):
        windows = sorted(windows, key=lambda w: w.start)
        group = windows[:1]
        for window in [*windows[1:], None]:
            if window is not None and window.start < max(w.end for w in group):
                group.append(window)
                continue
            if len(group) > 1:
                callback.merge(group, TimeWindow(group[0].start, max(w.end for w in group)))
            group = [window]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


def test_own_merging_assigner(env):
    results = collect(elements(env, 1, 5, 15, 40).window(OwnSessions()).process(Contents()))
    assert results == [("k", 1, 15, [1, 5]), ("k", 15, 25, [15]), ("k", 40, 50, [40])]


class Stateful(ProcessWindowFunction):
    """Counts firings in the state of the window and in that of the key."""

    def __init__(self, journal):
        self.journal = journal

    def process(self, key, context, elements):
        counts = []
        for name, store in (("window", context.window_state()), ("key", context.global_state())):
            state = store.get_state(ValueStateDescriptor(name, Types.INT()))
            state.update((state.value() or 0) + 1)
            counts.append(state.value())
        yield context.window().start, *counts

    def clear(self, context):
        self.journal.write(f"clear {context.window().start}")
        context.window_state().get_state(ValueStateDescriptor("window", Types.INT())).clear()


def test_window_and_global_state(env, tmp_path):
    env.get_config().set_auto_watermark_interval(600_000)  # none before the end, however slow it is
    journal = Journal(tmp_path / "journal")
    windows = elements(env, 1, 2, 11, 3, 4, 12).window(tumbling(10)).trigger(CountTrigger.of(2))
    results = collect(windows.process(Stateful(journal)))
    assert results == [(0, 1, 1), (0, 2, 2), (10, 1, 3)]
    assert sorted(journal.lines()) == ["clear 0", "clear 10"]


@pytest.mark.pyflink_bug("state of a window and of its key that have one name are one state")
def test_window_and_global_state_of_one_name(env):
    class Counts(ProcessWindowFunction):
        def process(self, key, context, elements):
            for store in (context.window_state(), context.global_state()):
                state = store.get_state(ValueStateDescriptor("n", Types.INT()))
                state.update((state.value() or 0) + 1)
                yield state.value()

    assert collect(elements(env, 1, 11).window(tumbling(10)).process(Counts())) == [1, 1, 1, 2]


def test_clear_is_called_once_per_window_and_key(env, tmp_path):
    journal = Journal(tmp_path / "journal")
    stream = timed(env.from_collection([("a", 1), ("a", 2), ("b", 1), ("a", 11)]))
    collect(keyed_by_first(stream).window(tumbling(10)).process(Stateful(journal)))
    assert sorted(journal.lines()) == ["clear 0", "clear 0", "clear 10"]


def test_global_state_of_lists(env):
    class Remembers(ProcessWindowFunction):
        def process(self, key, context, elements):
            state = context.global_state().get_list_state(ListStateDescriptor("all", Types.LONG()))
            state.add(len(elements))
            yield list(state.get())

    windows = elements(env, 1, 2, 11, 25).window(tumbling(10))
    assert collect(windows.process(Remembers())) == [[2], [2, 1], [2, 1, 1]]


def test_context_times(paced_env):
    class Reads(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield context.current_watermark(), context.current_processing_time() > 0

    stream = keyed_by_first(paced(paced_env, [("k", 1), ("k", 15)]))
    results = collect(stream.window(tumbling(10)).process(Reads()))
    assert results == [(14, True), (2**63 - 1, True)]
