"""What the driver hears of slot hosts that are slow, or fail when nobody waits for them."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._spark.hosts import pool as fleet_module
from pyflink_on_spark._spark.hosts.host import SlotHost
from pyflink_on_spark._spark.hosts.pool import HostPool
from pyflink_on_spark._spark.transport.handshake import Address
from pyflink_on_spark._spark.transport.rpc import HostLost, connect


class Slots:
    """Hosts without a process each; what they answer is up to the test."""

    def __init__(self, count):
        self.fleet = HostPool("127.0.0.1", count)
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


def test_a_host_that_goes_while_nobody_asks_it(slots):
    slots.fleet.check()
    slots.wires[0].send(0, "done", None)
    slots.fleet.check()
    slots.wires[1].close()
    with pytest.raises(HostLost, match="host of slot 1"):
        slots.fleet.check()


def test_a_stranger_who_says_nothing_holds_nobody_up():
    fleet = HostPool("127.0.0.1", 1)
    with socket.create_connection((fleet.control.host, fleet.control.port)):
        fleet.assemble(lambda: call_in(fleet.control))
    assert list(fleet.data) == [0]


def test_hosts_that_cannot_be_started():
    fleet = HostPool("127.0.0.1", 1)

    def fail():
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more processes"):
        fleet.assemble(fail)
    with pytest.raises(HostLost):
        connect(fleet.control, "the driver")


def test_what_failed_once_stays_failed(monkeypatch):
    """Spark tries a task again that failed, and tells only of the last time."""
    monkeypatch.setattr(SlotHost, "_listen", lambda _: None)  # it would end this process
    fleet = HostPool("127.0.0.1", 1)
    host = SlotHost(0, connect(fleet.control, "the driver"), fleet.control.authkey)
    host._subtasks = Failing()
    task = connect(Address(*host.address, fleet.control.authkey), "a host")
    for _ in range(2):
        task.send("begin", 0, 7)
        assert task.receive(10) == ("failed", "ValueError('the function failed')")


class Failing:
    """Subtasks whose functions fail."""

    def __init__(self):
        self.begun = False

    def begin(self, target, epoch):
        if self.begun:
            raise RuntimeError("begun before")
        self.begun = True
        raise ValueError("the function failed")


def call_in(address):
    wire = connect(address, "the driver")
    wire.send(0, ("127.0.0.1", 1), 0)
    return wire


def test_functions_of_a_job_that_ended_well_may_take_their_time_to_close(slots, monkeypatch):
    monkeypatch.setattr(fleet_module, "_CLOSE_SECONDS", 0.0)
    monkeypatch.setattr(fleet_module, "_LOOK_SECONDS", 0.01)
    looks = threading.Semaphore(0)
    given_up = threading.Event()

    def asked():
        looks.release()
        return given_up.is_set()

    outcome = slots.thread.submit(slots.fleet.close, False, asked)
    assert all(looks.acquire(timeout=10) for _ in range(5))
    assert slots.answer(0, "done") == ["close", False]
    slots.answer(1, "done")
    assert outcome.result(10) is None


def test_unless_nobody_wants_to_wait_any_more(slots, monkeypatch):
    monkeypatch.setattr(fleet_module, "_CLOSE_SECONDS", 0.0)
    monkeypatch.setattr(fleet_module, "_LOOK_SECONDS", 0.01)
    given_up = threading.Event()
    outcome = slots.thread.submit(slots.fleet.close, False, given_up.is_set)
    slots.answer(0, "done")
    given_up.set()
    assert isinstance(outcome.exception(10), TimeoutError)


def test_those_of_a_job_that_failed_may_not(slots, monkeypatch):
    monkeypatch.setattr(fleet_module, "_CLOSE_SECONDS", 0.01)
    slots.fleet.close(True)


@pytest.mark.parametrize(("failed", "error"), [(False, SubtaskFailure), (True, type(None))])
def test_a_function_that_fails_to_close(slots, failed, error):
    outcome = slots.thread.submit(slots.fleet.close, failed)
    for slot in range(2):
        slots.answer(slot, "failed", "close failed")
    assert isinstance(outcome.exception(10), error)


def test_a_default_timeout_of_the_program_is_none_of_connections():
    much = b"x" * 30_000_000
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(0.05)
    try:
        fleet = HostPool("127.0.0.1", 1)
        time.sleep(0.2)
        wires = []
        fleet.assemble(lambda: wires.append(call_in(fleet.control)))
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(fleet.tell, "snapshot", much)
            number, *command = wires[0].receive(20)
            fleet.check()
            assert command == ["snapshot", much]
            time.sleep(0.2)
            wires[0].send(number, "done", much)
            assert asked.result(20) == {0: much}
    finally:
        socket.setdefaulttimeout(before)
