"""Source functions of a job that drains: everything once, before the savepoint or after it."""

from __future__ import annotations

import logging
import pickle
import threading

import pytest

from pyflink_on_spark._connectors.functions import CAPACITY, LIMIT, FunctionSource
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import RunningJob, job_of

# What a function and its test tell each other; the function itself is a copy.
WORLD: dict[str, threading.Event] = {}
CALLS: list[str] = []


@pytest.fixture(autouse=True)
def world():
    CALLS.clear()
    WORLD.clear()
    WORLD["started"] = threading.Event()


class Counter:
    """Counts, under the lock, and keeps how far it is."""

    _checkpoint_protocol = "list"
    _listens_to_checkpoints = True

    def __init__(self, end=10_000_000):
        self.end = end
        self.next = 0
        self.running = True

    def run(self, ctx):
        while self.running and self.next < self.end:
            with ctx.get_checkpoint_lock():
                self.next += 1
                ctx.collect(self.next)
            WORLD["started"].set()

    def cancel(self):
        CALLS.append("cancel")
        self.running = False

    def close(self):
        CALLS.append("close")

    def snapshot_state(self, checkpoint_id, timestamp):
        CALLS.append(f"snapshot {checkpoint_id}")
        return [self.next]

    def restore_state(self, state):
        (self.next,) = state

    def notify_checkpoint_complete(self, checkpoint_id):
        CALLS.append(f"complete {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id):
        CALLS.append(f"aborted {checkpoint_id}")


class Polite(Counter):
    """Its cancel takes the lock, as that of many functions does."""

    def run(self, ctx):
        self.lock = ctx.get_checkpoint_lock()
        super().run(ctx)

    def cancel(self):
        with self.lock:
            super().cancel()


class LastWords(Counter):
    """Emits something when it was cancelled."""

    def run(self, ctx):
        super().run(ctx)
        if not self.running:
            ctx.collect("the end")


class Deaf(Counter):
    """Continues after cancel."""

    def cancel(self):
        CALLS.append("cancel")


class Blocked(Deaf):
    """Waits for what never comes."""

    def run(self, ctx):
        self.end = 10
        super().run(ctx)
        WORLD.setdefault("never", threading.Event()).wait()


class Slot:
    """A job of one subtask, which collects what a function emits."""

    def __init__(self, function, saved=None, collected=None, interval=None):
        source = FunctionSource(UserFunction.of(function), bounded=False, parallel=False)
        settings = {"execution.checkpointing.interval": interval} if interval else {}
        self.clock = FakeClock()
        job = job_of(lambda s: s, source, configuration=settings)
        self.running = RunningJob(job, saved, collected, clock=self.clock)
        self.collected = self.running.collected
        self.subtask = self.running.subtask

    @property
    def reader(self):
        return self.subtask.sources[0]._reader

    def poll(self):
        self.subtask.poll(0)
        self.subtask.work()

    def read(self, count=1):
        """Read until so many elements are there, and more are waiting."""
        while len(self.collected) < count:
            self.poll()
        WORLD["started"].wait()

    def read_all(self):
        while self.subtask.reading:
            self.poll()

    def drain(self):
        """End the source; to be asked again changes nothing."""
        self.subtask.end_sources()
        while self.subtask.reading:
            self.subtask.end_sources()
            self.poll()
        self.subtask.work()

    def checkpoint(self, number):
        state, snapshot = SlotState(), self.subtask.snapshot(number)
        (self.positions,) = snapshot.sources.values()
        state.add(0, snapshot)
        return number, state.to_bytes()


def full_queue(slot):
    """Wait until the function has to wait."""
    queue = slot.reader._queue
    while not queue._senders_waiting:
        pass


@pytest.mark.parametrize("function", [Counter, Polite])
@pytest.mark.parametrize("before", [False, True])
def test_it_goes_on_behind_what_was_handed_on(function, before):
    slot = Slot(function())
    slot.read()
    if before:
        slot.checkpoint(1)
        slot.subtask.notify_checkpoint_complete(1)
        slot.read(3 * LIMIT)
    full_queue(slot)
    slot.drain()
    saved = slot.checkpoint(2)
    slot.subtask.notify_checkpoint_complete(2)
    slot.running.close()
    assert CALLS[-4:] == ["cancel", "snapshot 2", "complete 2", "close"]
    drained = len(slot.collected)
    assert drained > CAPACITY
    again = Slot(function(drained + 10), saved, slot.collected)
    again.read_all()
    again.running.close()
    assert again.collected == list(range(1, drained + 11))


def test_what_it_emits_when_cancelled_is_handed_on_too():
    slot = Slot(LastWords())
    slot.read()
    slot.drain()
    slot.running.close()
    assert slot.collected == [*range(1, len(slot.collected)), "the end"]


def test_one_that_has_returned_by_itself_does_not_run_again():
    slot = Slot(Counter(5))
    slot.read()
    while slot.reader._thread.is_alive():
        pass
    slot.drain()
    saved = slot.checkpoint(1)
    slot.running.close()
    assert slot.collected == [1, 2, 3, 4, 5]
    again = Slot(Counter(10), saved, slot.collected)
    again.drain()
    assert again.collected == [1, 2, 3, 4, 5]
    again.running.close()


def test_one_that_was_never_asked_does_not_begin():
    slot = Slot(Counter(3))
    slot.drain()
    saved = slot.checkpoint(1)
    slot.running.close()
    assert slot.collected == []
    assert CALLS == ["snapshot 1", "close"]
    again = Slot(Counter(3), saved)
    again.read(3)
    again.drain()
    again.running.close()
    assert again.collected == [1, 2, 3]


@pytest.mark.parametrize("function", [Deaf, Blocked])
def test_what_one_emits_that_goes_on_after_cancel_is_in_the_savepoint(function, caplog):
    slot = Slot(function())
    slot.read()
    subtask = slot.subtask
    subtask.end_sources()
    for _ in range(20):
        slot.poll()
    assert subtask.reading
    slot.clock.time += 5_000
    with caplog.at_level(logging.WARNING):
        slot.drain()
    assert "still runs after cancel()" in caplog.text
    saved = slot.checkpoint(1)
    (position,) = pickle.loads(pickle.dumps(slot.positions))
    end = len(slot.collected) + len(position.waiting) + 10
    slot.checkpoint(2)
    WORLD.setdefault("never", threading.Event()).set()
    subtask.notify_checkpoint_complete(2)
    slot.running.close()
    again = Slot(Counter(end), saved, slot.collected)
    again.read_all()
    again.running.close()
    assert again.collected == list(range(1, end + 1))


def test_one_that_ends_takes_part_in_the_last_checkpoint():
    slot = Slot(Counter(3), interval="1 s")
    slot.read_all()
    slot.checkpoint(1)
    slot.subtask.notify_checkpoint_aborted(1)
    saved = slot.checkpoint(2)
    slot.subtask.notify_checkpoint_complete(2)
    assert CALLS == ["snapshot 1", "aborted 1", "snapshot 2", "complete 2", "close"]
    slot.running.close()
    again = Slot(Counter(3), saved, slot.collected, "1 s")
    again.read_all()
    again.checkpoint(3)
    again.running.close()
    assert again.collected == [1, 2, 3]


def test_cancel_may_take_the_lock_while_much_waits():
    slot = Slot(Polite())
    slot.read()
    full_queue(slot)
    closing = threading.Thread(target=slot.running.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
    assert CALLS == ["cancel", "close"]
