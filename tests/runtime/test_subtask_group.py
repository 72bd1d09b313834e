"""The subtasks of one process: turns, checkpoints, the end."""

from __future__ import annotations

import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.contract.connector import SourceReader
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.bundle import Barrier, Bundle, EndOfInput
from pyflink_on_spark._runtime.task.barriers import SnapshotRequest
from pyflink_on_spark._runtime.task.exchange_writer import (
    ChannelRow,
    FanOut,
    decode,
    encode,
)
from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark._runtime.task.subtask_threads import SubtaskThreads
from pyflink_on_spark.datastream import KeyedProcessFunction, MapFunction
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import CutSource, job_of

CALLS: list[str] = []


@pytest.fixture(autouse=True)
def calls():
    CALLS.clear()
    return CALLS


def note(text):
    """Note a call; the function is found by name, so that pickling does not copy the list."""
    CALLS.append(text)


class Outlet:
    """Keeps what leaves for other processes."""

    def __init__(self):
        self.sent, self.done, self.full = [], [], set()

    def send(self, row, stage):
        self.sent.append((stage, decode(row.payload)))

    def spread(self, event, stage):
        self.sent.append((stage, event.payload))

    def flush(self):
        pass

    def congested(self, stage):
        return stage in self.full

    def consumed(self, row, stage):
        self.done.append((stage, row.seq))

    def values(self):
        return [v for _, event in self.sent if isinstance(event, Bundle) for v in event.values]


def group_of(
    build,
    elements=range(4),
    parallelism=1,
    slots=None,
    checkpoint_elements=None,
    source=None,
    stages=slice(None),
    **more,
):
    """An opened group, of all slots if nothing else is said; its time stands still."""
    settings = {"execution.checkpointing.interval": "1 h"}
    if checkpoint_elements is not None:
        settings["pyflink-on-spark.checkpoint-elements"] = str(checkpoint_elements)
    source = source or CutSource(elements)
    job = job_of(build, source, parallelism, configuration=settings)
    clock = more.pop("clock", FakeClock())
    if slots is None:
        slots = range(max(vertex.parallelism for s in job.stages for vertex in s.vertices))
    driver = lambda number: lambda channel: lambda things: None  # noqa: E731
    group = SubtaskGroup(
        job.stages[stages], slots, job.settings, clock, driver, now=lambda: 0.0, **more
    )
    group.open()
    return group


def run(group):
    for _ in range(1_000):
        group.turn(0.0)
        if group.ended:
            return
    raise AssertionError("the group is stuck")


class Notes(MapFunction):
    def __init__(self, name="", fails=()):
        self.name, self.fails = name, fails

    def open(self, runtime_context):
        self._note("open")

    def map(self, value):
        self._note(f"{value}")
        return value

    def close(self):
        self._note("close")

    def _note(self, what):
        note(f"{self.name}{what}")
        if what in self.fails:
            raise OSError(f"{self.name} cannot {what}")


def two_stages(first, second):
    return lambda s: s.map(first).rebalance().map(second).set_parallelism(2)


# -- the life of subtasks --------------------------------------------------------------------------


def test_vertices_are_opened_downstream_first_and_closed_upstream_first(calls):
    group = group_of(two_stages(Notes("a "), Notes("b ")), [])
    group.close()
    assert calls == ["b open", "b open", "a open", "a close", "b close", "b close"]


def test_what_was_opened_is_closed_if_one_cannot_open(calls):
    with pytest.raises(SubtaskFailure, match="a  cannot open"):
        group_of(two_stages(Notes("a ", ["open"]), Notes("b ")))


def failing(close, name):
    def closed(failed=False):
        close(failed)
        raise OSError(f"{name} cannot close")

    return closed


def test_all_are_closed_and_the_first_failure_is_raised(calls, monkeypatch):
    group = group_of(two_stages(Notes("a "), Notes("b ")), [])
    for name, subtask in zip("abc", group, strict=True):
        monkeypatch.setattr(subtask, "close", failing(subtask.close, name))
    with pytest.raises(OSError, match="a cannot close"):
        group.close()
    assert calls[-3:] == ["a close", "b close", "b close"]


class FivesReader(SourceReader):
    """Returns five elements at a time, and notes how much is processed when it is polled."""

    def __init__(self):
        self._left = [0, 5, 10]

    def poll(self):
        note(f"polled after {sum(call.isdigit() for call in CALLS)}")
        if not self._left:
            self.ended = True
            return None
        start = self._left.pop(0)
        return Bundle(list(range(start, start + 5)))

    def snapshot(self):
        return []


class Fives(CutSource):
    def reader(self, splits, restored, context):
        return FivesReader()


def test_a_source_is_polled_only_when_all_it_gave_is_processed(calls):
    """So a reader knows whose elements are processed, also where a bundle takes many turns."""
    group = group_of(lambda s: s.map(Notes()).key_by(abs).map(Notes("b ")), source=Fives(()))
    turns = 0
    while group.reading:
        group.turn(0.0)
        turns += 1
    polls = [call for call in calls if call.startswith("polled")]
    assert polls == [f"polled after {count}" for count in (0, 5, 10, 15)]
    assert turns > len(polls)


def test_all_input_is_worked_off(calls):
    group = group_of(two_stages(Notes("a "), Notes("b ")))
    assert group.reading
    assert not group.ended
    run(group)
    assert not group.reading
    assert sorted(calls[3:]) == [f"{name} {n}" for name in "ab" for n in range(4)]


# -- other processes -------------------------------------------------------------------------------


def test_rows_for_other_processes_leave_and_those_that_come_are_noted_when_worked_off(calls):
    outlet = Outlet()
    group = group_of(two_stages(Notes("a "), Notes("b ")), slots=[0], outlet=outlet)
    run_source(group)
    assert outlet.values() == [1, 3]
    other = Outlet()
    downstream = group_of(two_stages(Notes("a "), Notes("b ")), slots=[1], outlet=other)
    (subtask,) = downstream
    number = subtask.identity.vertex.first_subtask_id + 1
    (channel,) = subtask._channels
    downstream.receive(ChannelRow(number, channel, 0, encode(Bundle([7]))))
    downstream.receive(FanOut(channel, 1, encode(EndOfInput())))
    assert downstream.busy
    assert other.done == []
    downstream.turn(1.0)
    assert other.done == [(1, 0), (1, 1)]
    assert "b 7" in calls
    assert downstream.ended


def test_rows_that_are_worked_off_are_noted_while_others_wait(calls):
    outlet = Outlet()
    group = group_of(two_stages(Notes("a "), Notes("b ")), slots=[1], outlet=outlet)
    (subtask,) = group
    number = subtask.identity.vertex.first_subtask_id + 1
    (channel,) = subtask._channels
    for seq in range(200):
        group.receive(ChannelRow(number, channel, seq, encode(Bundle([seq]))))
    calls.clear()
    while not outlet.done:
        group.turn(0.0)
    assert len(calls) < 200
    assert outlet.done == [(1, seq) for seq in range(len(calls))]
    while group.busy:
        group.turn(0.0)
    assert outlet.done == [(1, seq) for seq in range(200)]
    assert calls == [f"b {seq}" for seq in range(200)]


def run_source(group):
    for _ in range(100):
        group.turn(0.0)
    assert not group.reading


def test_a_source_waits_while_too_much_is_under_way():
    outlet = Outlet()
    outlet.full.add(1)
    group = group_of(two_stages(Notes(), Notes()), slots=[0], outlet=outlet)
    for _ in range(5):
        assert not group.turn(0.0)
    assert outlet.sent == []
    outlet.full.clear()
    run_source(group)
    assert outlet.values() == [1, 3]


# -- processing time -------------------------------------------------------------------------------


class Alarm(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() - 1)
        timers.register_processing_time_timer(1_000)
        yield value

    def on_timer(self, timestamp, ctx):
        yield "timer", timestamp


def test_what_timers_bring_forth_is_sent_while_nothing_comes(calls):
    clock = FakeClock()
    group = group_of(
        lambda s: s.key_by(lambda v: 0).process(Alarm()).rebalance().map(Notes()),
        [5],
        parallelism=2,
        checkpoint_elements=1,
        clock=clock,
    )
    calls.clear()
    for _ in range(20):
        group.turn(0.0)
    assert sorted(calls) == ["('timer', -1)", "5"]  # although the clock stands still
    clock.time = 1_001
    for _ in range(20):
        group.turn(0.0)
    assert sorted(calls) == ["('timer', -1)", "('timer', 1000)", "5"]


# -- checkpoints -----------------------------------------------------------------------------------


def request(checkpoint_id=1, written=None, **more):
    written = [] if written is None else written
    return SnapshotRequest(checkpoint_id, lambda index, state: written.append(state), **more)


def pass_barriers(group, asked):
    for _ in range(100):
        if asked.done:
            return
        group.turn(0.0)
    raise AssertionError("the barriers are stuck")


def positions(written):
    return [found for state in written for found in state.sources.values()]


def test_all_subtasks_write_their_state_once(calls):
    group, written = group_of(two_stages(Notes(), Notes())), []
    group.turn(0.0)
    asked = request(written=written)
    group.begin_checkpoint(asked)
    pass_barriers(group, asked)
    assert len(written) == 3
    assert {state.checkpoint_id for state in written} == {1}
    run(group)


def test_sources_read_no_more_than_they_may_between_two_checkpoints():
    group = group_of(lambda s: s.map(Notes()), range(5), checkpoint_elements=2)
    read = []
    while group.reading:
        for _ in range(20):
            group.turn(0.0)
        read.append(len(CALLS) - 1)
        if group.paused:
            asked = request(len(read))
            group.begin_checkpoint(asked)
            pass_barriers(group, asked)
    assert read == [2, 4, 5]
    assert not group.paused


def test_after_the_last_checkpoint_of_a_job_nothing_is_read(calls):
    group = group_of(lambda s: s.map(Notes()), range(5))
    group.turn(0.0)
    asked = request(halt=True)
    group.begin_checkpoint(asked)
    pass_barriers(group, asked)
    before = list(calls)
    for _ in range(5):
        group.turn(0.0)
    assert calls == before
    group.abort_checkpoint(1)  # the job continues
    run(group)
    assert len(calls) > len(before)


def test_who_cannot_write_lets_the_barriers_pass():
    def write(index, state):
        raise CheckpointError("full")

    outlet = Outlet()
    group = group_of(two_stages(Notes(), Notes()), slots=[0], outlet=outlet)
    asked = SnapshotRequest(1, write)
    group.begin_checkpoint(asked)
    pass_barriers(group, asked)
    assert str(asked.error) == "full"
    assert [event for _, event in outlet.sent] == [Barrier(1)]


def test_of_an_aborted_checkpoint_the_barriers_pass_and_nothing_is_written():
    outlet, written = Outlet(), []
    group = group_of(two_stages(Notes(), Notes()), slots=[1], outlet=outlet)
    asked = request(written=written)
    group.begin_checkpoint(asked)
    assert not asked.done  # the barrier of the other host is under way
    group.abort_checkpoint(1)
    (subtask,) = group
    (channel,) = subtask._channels
    group.receive(FanOut(channel, 0, Barrier(1)))
    pass_barriers(group, asked)
    assert written == []


def test_a_barrier_that_comes_before_the_driver_s_word_waits_for_it():
    written = []
    group = group_of(two_stages(Notes(), Notes()), slots=[1], outlet=Outlet())
    (subtask,) = group
    (channel,) = subtask._channels
    number = subtask.identity.vertex.first_subtask_id + 1
    group.receive(FanOut(channel, 0, Barrier(1)))
    group.receive(ChannelRow(number, channel, 0, encode(Bundle([7]))))
    for _ in range(5):
        group.turn(0.0)
    assert "7" not in CALLS
    asked = request(written=written)
    group.begin_checkpoint(asked)
    pass_barriers(group, asked)
    assert len(written) == 1
    group.turn(1.0)
    assert "7" in CALLS


class NotesWithSubtask(MapFunction):
    def open(self, runtime_context):
        self._subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        note(f"{self._subtask}: {value}")
        return value


@given(st.integers(0, 10_000))
def test_a_barrier_for_all_receivers_separates_the_rows_of_each(seed):
    """Each of three senders sends a row to both, the barrier 1, rows, the barrier 2, and rows."""
    CALLS.clear()
    choose, written = random.Random(seed), []
    job = lambda s: s.map(str).rebalance().map(NotesWithSubtask())  # noqa: E731
    group = group_of(job, parallelism=3, slots=[1, 2], outlet=Outlet(), stages=slice(-1, None))
    channels = sorted(next(iter(group)).channels_in)
    first = next(iter(group)).identity.vertex.first_subtask_id
    under_way = {channel: list(range(5)) for channel in channels}

    def write(index, state):
        written.append((index, sorted(call for call in CALLS if call.startswith(str(index)))))

    orders = [SnapshotRequest(number, write) for number in (1, 2)]
    requests = list(orders)
    while any(under_way.values()) or orders:
        waiting = [channel for channel, left in under_way.items() if left]
        if orders and (not waiting or choose.random() < 0.1):
            group.begin_checkpoint(orders.pop(0))
        elif waiting:
            channel = choose.choice(waiting)
            number = under_way[channel].pop(0)
            if number % 2:
                group.receive(FanOut(channel, 0, Barrier(number // 2 + 1)))
            else:
                bundle = encode(Bundle([f"{channel} {number}"]))
                for receiver in (first + 1, first + 2):
                    group.receive(ChannelRow(receiver, channel, number, bundle))
        if choose.random() < 0.5:
            group.turn(0.0)
    while group.turn(0.0):
        pass
    assert all(request.done for request in requests)
    numbers = [[0], [0, 2]]
    assert sorted(written, key=lambda each: (each[0], len(each[1]))) == [
        (index, sorted(f"{index}: {channel} {n}" for channel in channels for n in before))
        for index in (1, 2)
        for before in numbers
    ]
    assert len(CALLS) == 2 * 9


def test_rows_that_wait_for_a_barrier_are_acknowledged():
    """Their senders may have to send that barrier."""
    outlet, written = Outlet(), []
    job = lambda s: s.map(Notes()).rebalance().map(Notes()).set_parallelism(2)  # noqa: E731
    group = group_of(job, parallelism=2, slots=[1], outlet=outlet, stages=slice(-1, None))
    (subtask,) = group
    first, second = sorted(subtask.channels_in)
    number = subtask.identity.vertex.first_subtask_id + 1
    group.receive(FanOut(first, 0, Barrier(1)))
    assert outlet.done == [(0, 0)]
    group.receive(ChannelRow(number, first, 9, encode(Bundle(["after"]))))
    group.receive(FanOut(first, 10, encode(EndOfInput())))
    assert outlet.done == [(0, 0), (0, 9), (0, 10)]
    for _ in range(5):
        group.turn(0.0)
    assert "after" not in CALLS
    asked = request(written=written)
    group.begin_checkpoint(asked)
    group.receive(FanOut(second, 0, Barrier(1)))
    pass_barriers(group, asked)
    group.turn(1.0)
    assert len(written) == 1
    assert "after" in CALLS
    assert outlet.done == [(0, 0), (0, 9), (0, 10), (0, 0)]


def test_drained_sources_end():
    group = group_of(lambda s: s.map(Notes()), range(100))
    group.turn(0.0)
    group.end_sources()
    group.end_sources()
    run(group)
    assert len(CALLS) < 100


# -- threads ---------------------------------------------------------------------------------------


class Blocks(MapFunction):
    """Waits until a test lets it continue."""

    def map(self, value):
        GATE.wait(30)
        return value


GATE = threading.Event()


def test_while_only_threads_work_the_group_has_nothing_to_do():
    """Else its host would ask again and again, and take a whole processor."""
    GATE.clear()
    woken = threading.Event()
    settings = {"pyflink-on-spark.waiting-functions": "thread"}
    job = job_of(lambda s: s.map(Blocks()), CutSource([1]), configuration=settings)
    driver = lambda number: lambda channel: lambda things: note(str(len(things)))  # noqa: E731
    group = SubtaskGroup(
        job.stages, [0], job.settings, FakeClock(), driver, threads=SubtaskThreads(woken.set)
    )
    group.open()
    group.progress()
    group.turn(time.monotonic() + 0.05)
    while group.turn(time.monotonic() + 0.05):
        pass
    assert not group.ended
    assert group.busy
    worked = [sum(each.busy for each in group.progress())]
    while worked[-1] < worked[0] + 0.05:  # the function that waits is not idle
        assert worked[-1] >= worked[0], worked
        assert len(worked) < 10**6
        worked.append(sum(each.busy for each in group.progress()))
    woken.clear()
    GATE.set()
    assert woken.wait(30)
    while not group.ended:
        group.turn(time.monotonic() + 0.05)
    group.close()
    assert CALLS == ["1"]
