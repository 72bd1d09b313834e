"""What the driver hears of slot hosts that are slow, or fail when nobody waits for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.failure import SubtaskFailure
from pyflink_on_spark._spark.continuous.fleet import Fleet
from pyflink_on_spark._spark.continuous.wire import HostLost, connect


class Slots:
    """Hosts without a process each; what they answer is up to the test."""

    def __init__(self, count):
        self.fleet = Fleet("127.0.0.1", count)
        self.wires = []
        self.thread = ThreadPoolExecutor(1)
        self.fleet.assemble(lambda: self._call_in(count))

    def _call_in(self, count):
        for slot in range(count):
            self.wires.append(connect(self.fleet.control, "the driver"))
            self.wires[-1].send(slot, ("127.0.0.1", 1), slot)

    def answer(self, slot, kind, content=None):
        """Let a slot answer the oldest command that it has not answered yet."""
        number, *command = self.wires[slot].receive(10)
        self.wires[slot].send(number, kind, content)
        return command

    def tell(self, *command):
        """Tell them something in another thread."""
        return self.thread.submit(self.fleet.tell, *command)


@pytest.fixture
def slots():
    slots = Slots(2)
    yield slots
    for wire in slots.wires:
        wire.close()


def test_all_answer(slots):
    outcome = slots.tell("snapshot", 7)
    assert slots.answer(1, "done", "b") == ["snapshot", 7]
    slots.answer(0, "done", "a")
    assert outcome.result(10) == {0: "a", 1: "b"}


@pytest.mark.parametrize(
    ("kinds", "error"),
    [
        (("done", "unwritten"), CheckpointError),
        (("unwritten", "failed"), SubtaskFailure),
        (("failed", "done"), SubtaskFailure),
    ],
)
def test_the_worst_failure_counts(slots, kinds, error):
    outcome = slots.tell("snapshot", 7)
    for slot, kind in enumerate(kinds):
        slots.answer(slot, kind, kind)
    assert isinstance(outcome.exception(10), error)


def test_a_late_answer_is_none_to_the_next_command(slots):
    with pytest.raises(TimeoutError):
        slots.fleet.tell("snapshot", 1, timeout=0.01)
    slots.fleet.notify("aborted", 1)
    outcome = slots.tell("snapshot", 2)
    for slot in range(2):
        assert slots.answer(slot, "unwritten", "it is removed by now") == ["snapshot", 1]
        assert slots.answer(slot, "done") == ["aborted", 1]
        assert slots.answer(slot, "done", slot) == ["snapshot", 2]
    assert outcome.result(10) == {0: 0, 1: 1}


@pytest.mark.parametrize("late", [("failed", "done", "done"), ("done", "failed", "done")])
def test_a_function_that_fails_while_nobody_waits_fails_the_next_command(slots, late):
    with pytest.raises(TimeoutError):
        slots.fleet.tell("snapshot", 1, timeout=0.01)
    slots.fleet.notify("aborted", 1)
    outcome = slots.tell("snapshot", 2)
    for kind in late:
        slots.answer(0, "done")
        slots.answer(1, kind, "a function failed")
    assert isinstance(outcome.exception(10), SubtaskFailure)


def test_a_host_that_is_gone(slots):
    outcome = slots.tell("snapshot", 1)
    slots.answer(0, "done")
    slots.wires[1].close()
    assert isinstance(outcome.exception(10), HostLost)
