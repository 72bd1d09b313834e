"""One subtask from open to close."""

from __future__ import annotations

import pickle
import weakref
from typing import ClassVar

import pytest

from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.bundle import (
    MAX_WATERMARK,
    Bundle,
    ChannelStatus,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.task.exchange_writer import decode
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskContext
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
    """Note a call; the function is found by name, so that pickling does not copy the list."""
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


class Alone:
    """One subtask of a vertex, and what it ships."""

    def __init__(self, vertex, settings, index=0, **more):
        self.rows = []
        driver = lambda channel: lambda things: None  # noqa: E731
        identity = SubtaskContext(vertex, index, settings, FakeClock(), driver, **more)
        self.subtask = Subtask(identity, self.rows.append)

    def poll(self):
        """Read its source once; return how many elements and events there were."""
        (chain,) = self.subtask.sources
        found, _ = self.subtask.poll(chain)
        self.subtask.work()
        return found


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
    job.subtask.close(failed=True)
    assert calls == ["a open", "a close"]


def test_only_what_was_opened_is_closed(calls):
    job = job_of(lambda s: s.map(Notes("a")).map(Notes("b", ["open"])), CutSource([]))
    (vertex,) = job.stages[0].vertices
    subtask = Alone(vertex, job.settings).subtask
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
    subtask = job.subtask
    found = []
    while subtask.reading:
        found.append(subtask.poll(0)[0])
        subtask.work()
    assert found == [1, 0, 1, 1, 1, 1]
    assert job.collected == [(1, 10, -(2**63)), (2, 30, 20)]
    assert calls == ["source closed"]
    assert list(subtask.snapshot(1).sources.values()) == [[5]]


def test_a_subtask_learns_what_becomes_of_checkpoints(calls):
    job = RunningJob(job_of(lambda s: s, Says()))
    job.subtask.notify_checkpoint_complete(7)
    job.subtask.notify_checkpoint_aborted(8)
    assert calls == ["source 7", "source not 8"]
    job.close()
    assert calls == ["source 7", "source not 8", "source closed"]


class Held(dict):
    """Pieces of state that can be watched."""


def test_what_a_subtask_was_made_of_is_let_go_when_it_is_open():
    job = job_of(lambda s: s, Says())
    (vertex,) = job.stages[0].vertices
    held = Held()
    restored = TaskStateSnapshot(7, {"gone": OperatorSubtaskState(held)}, {})
    share = weakref.ref(held)
    subtask = Alone(vertex, job.settings, restored=restored).subtask
    del restored, held
    assert share() is not None
    subtask.open()
    assert share() is None
    subtask.close()


def test_sources_can_be_told_to_end(calls):
    job = RunningJob(job_of(lambda s: s.process(When()), Says()))
    job.round()
    job.hosts.end_sources()
    job.hosts.end_sources()
    while job.round():
        pass
    assert job.collected == [(1, 10, -(2**63))]
    assert calls == []
    job.close()
    assert calls == ["source closed"]


def test_a_source_that_was_told_to_end_is_closed_with_the_savepoint(calls):
    job = RunningJob(job_of(lambda s: s, Says()))
    job.round()
    subtask = job.subtask
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


def test_a_source_that_has_ended_is_notified_of_the_checkpoint_with_its_end(calls):
    checkpoints = {"execution.checkpointing.interval": "1 s"}
    job = RunningJob(job_of(lambda s: s, Says(), configuration=checkpoints))
    while job.round():
        pass
    assert calls == []
    subtask = job.subtask
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
    while len(first.collected) < 2:
        first.round()
    saved = first.save(1)
    job = job_of(build, CutSource([1, 2, 3], (2,)))
    second = RunningJob(job, saved, clock=FakeClock(200))
    while second.round():
        pass
    second.subtask.tick()
    assert first.collected == [1, 3]
    assert second.collected == [("timer", 3), 6, ("timer", 6)]


def test_processing_time_moves_on_without_elements():
    clock = FakeClock()
    job = running(lambda s: s.key_by(lambda v: "k").process(Total()), 1, sizes=(1,), clock=clock)
    job.round()
    job.subtask.tick()
    assert job.collected == [1]
    clock.time = 101
    job.subtask.tick()
    assert job.collected == [1, ("timer", 1)]
    clock.time = 500
    job.subtask.tick()
    assert job.collected == [1, ("timer", 1)]


def test_no_two_subtasks_share_an_operator():
    job = job_of(lambda s: s.map(Notes("a")).set_parallelism(2), CutSource([1]), 2)
    vertex = next(r for stage in job.stages for r in stage.vertices if r.parallelism == 2)
    pair = [Alone(vertex, job.settings, index).subtask for index in range(2)]
    operators = [[o for c in task._chains for o in c.operators] for task in pair]
    assert operators[0]
    assert not set(map(id, operators[0])) & set(map(id, operators[1]))


def test_rows_leave_and_a_snapshot_can_be_pickled():
    job = job_of(lambda s: s.rebalance().map(str), CutSource(range(300)), 2)
    alone = Alone(job.stages[0].vertices[0], job.settings)
    subtask = alone.subtask
    subtask.open()
    while subtask.reading:
        alone.poll()
    events = [decode(row.payload) for row in alone.rows]
    assert events[-2:] == [Watermark(MAX_WATERMARK), EndOfInput()]
    numbers = [value for e in events if isinstance(e, Bundle) for value in e.values]
    assert sorted(numbers) == list(range(300))
    assert pickle.loads(pickle.dumps(subtask.snapshot(3))).checkpoint_id == 3
