"""One subtask from open to close."""

from __future__ import annotations

import pickle
import weakref
from typing import ClassVar

import pytest

from pyflink_on_spark._runtime.bundle import Bundle, ChannelStatus, EndOfInput, Watermark
from pyflink_on_spark._runtime.checkpoints.task_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import KeyedProcessFunction, MapFunction, ProcessFunction
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import CutSource, RunningJob, job_of

CALLS: list[str] = []


@pytest.fixture(autouse=True)
def calls():
    CALLS.clear()
    return CALLS


def note(text):
    """What functions call: found by its name, so that pickling makes no copy of the list."""
    CALLS.append(text)


class Notes(MapFunction):
    def __init__(self, name, fails=()):
        self.name, self.fails = name, fails

    def open(self, runtime_context):
        self._say("open")

    def map(self, value):
        note(f"{self.name} {value}")
        return value

    def close(self):
        self._say("close")

    def _say(self, what):
        note(f"{self.name} {what}")
        if what in self.fails:
            raise OSError(f"{self.name} cannot {what}")


def running(build, *elements, sizes=(100,), clock=None):
    return RunningJob(job_of(build, CutSource(elements, sizes)), clock=clock)


def test_opened_downstream_first_closed_in_reverse(calls):
    job = running(lambda s: s.map(Notes("a")).map(Notes("b")), 1, 2)
    while job.round():
        pass
    job.close()
    assert calls == [
        "b open", "a open", "a 1", "b 1", "a 2", "b 2", "a close", "b close",
    ]  # fmt: skip


def test_all_are_closed_although_one_fails_to(calls, caplog):
    job = running(lambda s: s.map(Notes("a", ["close"])).map(Notes("b", ["close"])), 1)
    job.close()
    assert calls[-2:] == ["a close", "b close"]
    first, second = caplog.records
    assert "close() of Notes failed in the task 'Source: events -> Map, Map" in first.getMessage()
    assert first.getMessage().endswith("a cannot close")
    assert second.getMessage().endswith("b cannot close")


def test_a_failure_to_close_does_not_hide_another_one(calls):
    job = running(lambda s: s.map(Notes("a", ["close"])), 1)
    (subtask,) = job.subtasks.values()
    subtask.close(failed=True)
    assert calls == ["a open", "a close"]


def test_only_what_was_opened_is_closed(calls):
    job = job_of(lambda s: s.map(Notes("a")).map(Notes("b", ["open"])), CutSource([]))
    (region,) = job.levels[0].regions
    subtask = Subtask(region, 0, job.settings, FakeClock(), lambda channel: lambda things: None)
    with pytest.raises(SubtaskFailure, match="b cannot open"):
        subtask.open()
    subtask.close(failed=True)
    assert calls == ["b open", "b close"]


def test_two_sources_take_turns_from_one_element_on():
    def build(stream):
        other = stream.get_execution_environment().from_collection("abcdefgh")
        return stream.union(other)

    job = running(build, *range(5))
    while job.round():
        pass
    assert job.collected == [0, "a", 1, 2, "b", "c", 3, 4, "d", "e", "f", "g", "h"]


class Says(Source):
    """Gives one event after the other."""

    parallel = False
    events: ClassVar = [
        Bundle([1], [10]), None, Watermark(20), ChannelStatus(True), Bundle([2], [30]),
    ]  # fmt: skip
    timestamped = True

    def splits(self, parallelism):
        return [None]

    def reader(self, splits, restored, context):
        return Reader(list(self.events), restored)


class Reader(SourceReader):
    def __init__(self, events, restored):
        self.events, self.at = events, restored[0] if restored else 0

    @property
    def ended(self):
        return self.at == len(self.events)

    def poll(self):
        if self.ended:
            return None
        self.at += 1
        return self.events[self.at - 1]

    def snapshot(self):
        return [self.at]

    def notify_checkpoint_complete(self, checkpoint_id):
        note(f"source {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id):
        note(f"source not {checkpoint_id}")

    def close(self):
        note("source closed")


class When(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_a_source_may_say_watermarks_itself(calls):
    job = RunningJob(job_of(lambda s: s.process(When()), Says()))
    (subtask,) = job.subtasks.values()
    assert [subtask.poll_sources() for _ in range(6)] == [1, 0, 1, 1, 1, 0]
    assert not subtask.reading
    assert job.collected == [(1, 10, -(2**63)), (2, 30, 20)]
    assert calls == ["source closed"]
    assert list(subtask.snapshot(1).sources.values()) == [[5]]


def test_a_subtask_learns_what_becomes_of_checkpoints(calls):
    job = RunningJob(job_of(lambda s: s, Says()))
    (subtask,) = job.subtasks.values()
    subtask.notify_checkpoint_complete(7)
    subtask.notify_checkpoint_aborted(8)
    assert calls == ["source 7", "source not 8"]
    job.close()
    assert calls == ["source 7", "source not 8", "source closed"]


class Held(dict):
    """Pieces of state that can be watched."""


def test_what_a_subtask_was_made_of_is_let_go_when_it_is_open():
    job = job_of(lambda s: s, Says())
    (region,) = job.levels[0].regions
    held = Held()
    restored = TaskStateSnapshot(7, {"gone": OperatorSubtaskState(held)}, {})
    share = weakref.ref(held)
    subtask = Subtask(
        region, 0, job.settings, FakeClock(), lambda channel: lambda things: None, 0, restored
    )
    del restored, held
    assert share() is not None
    subtask.open()
    assert share() is None
    subtask.close()


def test_sources_can_be_told_to_end(calls):
    job = RunningJob(job_of(lambda s: s.process(When()), Says()))
    job.round()
    (subtask,) = job.subtasks.values()
    subtask.end_sources()
    subtask.end_sources()
    assert not job.round()
    assert job.collected == [(1, 10, -(2**63))]
    assert calls == []
    job.close()
    assert calls == ["source closed"]


def test_a_source_that_was_told_to_end_is_closed_with_the_savepoint(calls):
    job = RunningJob(job_of(lambda s: s, Says()))
    job.round()
    (subtask,) = job.subtasks.values()
    subtask.end_sources()
    subtask.notify_checkpoint_complete(1)  # which does not know of the end yet
    subtask.snapshot(2)
    subtask.notify_checkpoint_aborted(2)
    assert list(subtask.snapshot(3).sources.values()) == [[1]]
    subtask.notify_checkpoint_complete(3)
    assert calls == ["source 1", "source not 2", "source 3", "source closed"]
    assert list(subtask.snapshot(4).sources.values()) == [[1]]
    job.close()
    assert calls[-1:] == ["source closed"]


def test_a_source_that_has_ended_hears_of_the_checkpoint_with_its_end(calls):
    checkpoints = {"execution.checkpointing.interval": "1 s"}
    job = RunningJob(job_of(lambda s: s, Says(), configuration=checkpoints))
    while job.round():
        pass
    assert calls == []
    (subtask,) = job.subtasks.values()
    assert list(subtask.snapshot(1).sources.values()) == [[5]]
    subtask.notify_checkpoint_complete(1)
    assert calls == ["source 1", "source closed"]
    subtask.snapshot(2)
    subtask.notify_checkpoint_complete(2)
    job.close()
    assert calls == ["source 1", "source closed"]


class Total(KeyedProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value)
        ctx.timer_service().register_processing_time_timer(100)
        yield self.total.value()

    def on_timer(self, timestamp, ctx):
        yield "timer", self.total.value()


def test_a_snapshot_has_state_timers_and_positions():
    def build(stream):
        return stream.key_by(lambda v: "k").process(Total())

    first = running(build, 1, 2, 3, sizes=(2,))
    first.round()
    saved = first.save(1)
    job = job_of(build, CutSource([1, 2, 3], (2,)))
    second = RunningJob(job, saved, clock=FakeClock(200))
    while second.round():
        pass
    assert first.collected == [1, 3]
    assert second.collected == [("timer", 3), 6, ("timer", 6)]


def test_processing_time_moves_on_without_elements():
    clock = FakeClock()
    job = running(lambda s: s.key_by(lambda v: "k").process(Total()), 1, sizes=(1,), clock=clock)
    job.round()
    (subtask,) = job.subtasks.values()
    subtask.tick()
    clock.time = 101
    subtask.tick()
    assert job.collected == [1, ("timer", 1)]
    clock.time = 500
    subtask.end_epoch()
    assert job.collected == [1, ("timer", 1)]


def test_no_two_subtasks_share_an_operator():
    job = job_of(lambda s: s.map(Notes("a")).set_parallelism(2), CutSource([1]), 2)
    region = next(r for level in job.levels for r in level.regions if r.parallelism == 2)
    pair = [
        Subtask(region, i, job.settings, FakeClock(), lambda channel: lambda things: None)
        for i in range(2)
    ]
    operators = [[o.operator for s in task._plan.segments for o in s.operators] for task in pair]
    assert not set(map(id, operators[0])) & set(map(id, operators[1]))


def test_rows_leave_once_and_a_snapshot_can_be_pickled():
    job = job_of(lambda s: s.rebalance().map(str), CutSource(range(300)), 2)
    region = job.levels[0].regions[0]
    subtask = Subtask(region, 0, job.settings, FakeClock(), lambda channel: lambda things: None)
    subtask.open()
    subtask.poll_sources()
    subtask.poll_sources()
    rows = subtask.take_rows()
    ends = [pickle.loads(row.payload) for row in rows][-2:]
    assert ends == [EndOfInput(), EndOfInput()]
    assert subtask.take_rows() == []
    assert pickle.loads(pickle.dumps(subtask.snapshot(3))).checkpoint_id == 3
