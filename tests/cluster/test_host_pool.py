"""How the driver handles hosts that are slow, or fail when nobody waits for them; no Spark."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from pyflink_on_spark._cluster.hosts import pool as pool_module
from pyflink_on_spark._cluster.hosts.host import Deployment, HostReport
from pyflink_on_spark._cluster.hosts.pool import HostPool, NamedWait, SilentStart
from pyflink_on_spark._cluster.transport.handshake import (
    HEARTBEAT,
    SAMPLE,
    HostLost,
    NetworkSettings,
    connect,
)
from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_writer import SlowCheckpoint
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.task.stacks import Current, Samples, Stack
from tests.cluster.connections import HERE


def nothing():
    """Nothing ends the attempt."""


class Hosts:
    """Hosts without a process each; what they answer is up to the test."""

    def __init__(self, count):
        self.pool = HostPool(HERE, count)
        self.wires = [call_in(self.pool.control, number) for number in range(count)]
        self.thread = ThreadPoolExecutor(1)
        self.pool.assemble(10.0, nothing)

    def answer(self, host, kind, content=None):
        """Let a host answer the oldest command that it has not answered yet."""
        number, *command = self.wires[host].receive(10)
        self.wires[host].send(number, kind, content)
        return command

    def report(self, host, ended=False, paused=False, progress=()):
        """Let a host say how far it is."""
        self.wires[host].send(None, "report", HostReport(ended, paused, progress))

    def snapshot(self, number):
        """Take a checkpoint in another thread."""
        return self.thread.submit(self.pool.snapshot, number, None)

    def reaches(self, condition):
        """Wait until what the hosts have said makes a condition true."""
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline, "it did not happen"
            self.pool.wait(0.01)


def call_in(address, number=0):
    wire = connect(address, "the driver")
    wire.send(number, ("127.0.0.1", 1))
    return wire


def taken(number):
    """The command of a checkpoint."""
    return ["snapshot", number, None, WHOLE, False, {}]


@pytest.fixture
def hosts():
    hosts = Hosts(2)
    yield hosts
    for wire in hosts.wires:
        wire.close()


def test_all_answer(hosts):
    outcome = hosts.snapshot(7)
    assert hosts.answer(1, "done", "b") == taken(7)
    hosts.answer(0, "done", "a")
    assert outcome.result(10) == {0: "a", 1: "b"}


@pytest.mark.parametrize(
    ("kinds", "error"),
    [
        (("done", "unwritten"), CheckpointError),
        (("unwritten", "failed"), SubtaskFailure),
        (("failed", "done"), SubtaskFailure),
    ],
)
def test_the_worst_failure_counts(hosts, kinds, error):
    outcome = hosts.snapshot(7)
    for host, kind in enumerate(kinds):
        hosts.answer(host, kind, kind)
    assert isinstance(outcome.exception(10), error)


def test_a_checkpoint_that_takes_too_long_says_which_function_is_stuck(hosts):
    outcome = hosts.thread.submit(hosts.pool.snapshot, 1, None, timeout=0.01)
    stuck = Stack("read -> store", 0, "store", ("main (job.py:9)", "store (job.py:4)"))
    moves = Stack("count", 1, "count", ("count (job.py:6)",))
    for host, current in enumerate((Current(stuck, "'x'", "", True), Current(moves, "1", "", 0))):
        wire = hosts.wires[host]
        wire.receive(10)  # the checkpoint, which is not answered
        number, command, count, _ = wire.receive(10)
        assert command == SAMPLE
        wire.send(number, "done", Samples(count, {}, (current,)))
    error = outcome.exception(20)
    assert isinstance(error, SlowCheckpoint)
    assert str(error) == "'store', subtask 0, is at 'x' in store (job.py:4)"


def test_a_late_answer_is_none_to_the_next_command(hosts, monkeypatch):
    monkeypatch.setattr(hosts.pool, "sample", lambda *_: [])
    with pytest.raises(TimeoutError):
        hosts.pool.snapshot(1, None, timeout=0.01)
    hosts.pool.notify_checkpoint_aborted(1)
    outcome = hosts.snapshot(2)
    for host in range(2):
        assert hosts.answer(host, "unwritten", "it is removed by now") == taken(1)
        assert hosts.answer(host, "done") == ["aborted", 1]
        assert hosts.answer(host, "done", host) == taken(2)
    assert outcome.result(10) == {0: 0, 1: 1}


def test_a_function_that_fails_between_two_commands(hosts):
    hosts.wires[1].send(None, "failed", "a function failed")
    hosts.reaches(lambda: hosts.pool._hosts[1].failure)
    with pytest.raises(SubtaskFailure, match="a function failed"):
        hosts.pool.check()
    outcome = hosts.snapshot(1)
    assert isinstance(outcome.exception(10), SubtaskFailure)


def test_a_host_that_is_gone(hosts):
    outcome = hosts.snapshot(1)
    hosts.answer(0, "done")
    hosts.wires[1].close()
    assert isinstance(outcome.exception(10), HostLost)


def test_a_host_that_goes_while_nobody_asks_it(hosts):
    hosts.pool.check()
    hosts.wires[1].close()
    hosts.reaches(lambda: hosts.pool._hosts[1].failure)
    with pytest.raises(HostLost, match="host 1"):
        hosts.pool.check()
    assert isinstance(hosts.pool._hosts[1].call("complete", 1).exception(1), HostLost)


def test_the_failure_of_a_function_is_the_reason_why_another_host_lost_its_peer(hosts):
    hosts.wires[0].send(None, "peer lost", 1)
    hosts.reaches(lambda: hosts.pool._hosts[0].lost_peer)
    hosts.pool.check()  # the other host may have something to say
    hosts.wires[1].send(None, "failed", "a function failed")
    hosts.reaches(lambda: hosts.pool._hosts[1].failure)
    with pytest.raises(SubtaskFailure):
        hosts.pool.check()


def test_a_connection_between_two_hosts_that_is_gone(hosts, monkeypatch):
    monkeypatch.setattr(pool_module, "_PEER_SECONDS", 0.0)
    hosts.wires[0].send(None, "peer lost", 1)
    hosts.reaches(lambda: hosts.pool._hosts[0].lost_peer)
    with pytest.raises(HostLost, match="host 0 has lost host 1"):
        hosts.pool.check()


def test_how_far_the_hosts_are(hosts):
    assert not hosts.pool.ended
    assert not hosts.pool.paused
    hosts.report(0, ended=True, progress=("a",))
    hosts.report(1, paused=True, progress=("b",))
    # The host that called in first comes first.
    hosts.reaches(lambda: sorted(hosts.pool.progress()) == ["a", "b"])
    assert hosts.pool.paused
    assert not hosts.pool.ended
    hosts.report(1, ended=True, progress=None)
    hosts.reaches(lambda: hosts.pool.ended)
    assert not hosts.pool.paused
    assert sorted(hosts.pool.progress()) == ["a", "b"]


def test_a_host_whose_subtasks_read_no_source_pauses_with_the_others(hosts):
    hosts.report(0, paused=True)
    hosts.report(1, paused=None)
    hosts.reaches(lambda: hosts.pool.paused)
    outcome = hosts.snapshot(1)
    for host in range(2):
        hosts.answer(host, "done")
    outcome.result(10)
    assert not hosts.pool.paused
    hosts.report(0, paused=True)  # the other one has nothing new to report
    hosts.reaches(lambda: hosts.pool.paused)
    hosts.report(0, paused=None)
    hosts.reaches(lambda: not hosts.pool.paused)


def test_hosts_that_pause_continue_with_the_checkpoint(hosts):
    for host in range(2):
        hosts.report(host, paused=True)
    hosts.reaches(lambda: hosts.pool.paused)
    outcome = hosts.snapshot(1)
    for host in range(2):
        hosts.answer(host, "done")
    outcome.result(10)
    assert not hosts.pool.paused


def test_a_stranger_who_says_nothing_holds_nobody_up():
    pool = HostPool(HERE, 1)
    with socket.create_connection((pool.control.host, pool.control.port)):
        wire = call_in(pool.control)
        pool.assemble(10.0, nothing)
    wire.close()


def test_a_copy_that_spark_starts_beside_waits_for_the_end():
    pool = HostPool(HERE, 2)
    wires = [call_in(pool.control, 0), call_in(pool.control, 1)]
    pool.assemble(10.0, nothing)
    copy = call_in(pool.control, 1)
    while not pool._copies:
        pool.wait(0.01)
    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(pool.close, False)
        for wire, failed, prepared in (
            (wires[0], False, [(1, "a")]),
            (wires[1], False, []),
            (copy, True, [(1, "not counted")]),
        ):
            number, *command = wire.receive(10)
            assert command == ["close", failed]
            wire.send(number, "done", prepared)
        assert ended.result(10) == [(1, "a")]


def test_a_copy_that_is_lost_is_no_failure():
    pool = HostPool(HERE, 1)
    wire = call_in(pool.control)
    pool.assemble(10.0, nothing)
    call_in(pool.control).close()
    while not (pool._copies and pool._copies[0].failure):
        pool.wait(0.01)
    pool.check()
    wire.close()
    pool.close(True)


def test_what_ends_the_attempt_ends_the_waiting_for_an_answer():
    cancelled = threading.Event()

    def interrupt():
        if cancelled.is_set():
            raise OSError("cancelled")

    pool = HostPool(HERE, 1, interrupt=interrupt)
    wire = call_in(pool.control)
    pool.assemble(10.0, nothing)
    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(pool.committables)  # a host that hangs
        cancelled.set()
        with pytest.raises(OSError, match="cancelled"):
            outcome.result(10)
    wire.close()
    pool.close(True)


QUICK = NetworkSettings(heartbeat_interval=0.05, heartbeat_timeout=1.0)


def test_a_host_that_answers_heartbeats_is_alive_whatever_it_does():
    pool = HostPool(HERE, 1, QUICK)
    wire = call_in(pool.control)
    for _ in range(40):  # twice the timeout
        assert wire.receive(10)[1] == HEARTBEAT
        wire.send(None, HEARTBEAT, None)
        pool.check()
    wire.close()
    pool.close(True)


def test_a_host_that_is_silent_is_lost():
    pool = HostPool(HERE, 1, QUICK)
    wire = call_in(pool.control)
    pool.assemble(10.0, nothing)
    outcome = pool._hosts[0].call("snapshot")
    with pytest.raises(HostLost, match=r"host 0 was silent for 1 s, which is the heartbeat"):
        outcome.result(10)
    with pytest.raises(HostLost, match="stuck"):
        pool.check()
    pool.close(True)
    wire.close()


def test_hosts_that_do_not_come():
    pool = HostPool(HERE, 2)
    wire = call_in(pool.control)
    with pytest.raises(TimeoutError, match=r"1 of 2 task slots were free within 0\.3 s"):
        pool.assemble(0.3, nothing)
    wire.close()
    pool.close(True)
    with pytest.raises(HostLost):
        connect(pool.control, "the driver")


def test_what_ends_the_attempt_ends_the_waiting_for_hosts():
    pool = HostPool(HERE, 1)

    def fail():
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more processes"):
        pool.assemble(10.0, fail)
    pool.close(True)
    with pytest.raises(HostLost):
        connect(pool.control, "the driver")


def test_functions_of_a_job_that_ended_well_may_take_their_time_to_close(hosts, monkeypatch):
    monkeypatch.setattr(pool_module, "_CLOSE_SECONDS", 0.0)
    monkeypatch.setattr(pool_module, "_LOOK_SECONDS", 0.01)
    looks = threading.Semaphore(0)
    abandoned = threading.Event()

    def asked():
        looks.release()
        return abandoned.is_set()

    outcome = hosts.thread.submit(hosts.pool.close, False, asked)
    assert all(looks.acquire(timeout=10) for _ in range(5))
    assert hosts.answer(0, "done", []) == ["close", False]
    hosts.answer(1, "done", [])
    assert outcome.result(10) == []


def test_unless_nobody_wants_to_wait_any_more(hosts, monkeypatch):
    monkeypatch.setattr(pool_module, "_CLOSE_SECONDS", 0.0)
    monkeypatch.setattr(pool_module, "_LOOK_SECONDS", 0.01)
    abandoned = threading.Event()
    outcome = hosts.thread.submit(hosts.pool.close, False, abandoned.is_set)
    hosts.answer(0, "done", [])
    abandoned.set()
    assert isinstance(outcome.exception(10), TimeoutError)


def test_those_of_a_job_that_failed_may_not(hosts, monkeypatch):
    monkeypatch.setattr(pool_module, "_CLOSE_SECONDS", 0.01)
    assert hosts.pool.close(True) == []


def test_what_sinks_have_prepared_in_a_job_that_failed(hosts):
    outcome = hosts.thread.submit(hosts.pool.close, True)
    hosts.answer(0, "done", [(1, "a")])
    hosts.wires[1].close()
    assert outcome.result(10) == [(1, "a")]


@pytest.mark.parametrize(("failed", "error"), [(False, SubtaskFailure), (True, type(None))])
def test_a_function_that_fails_to_close(hosts, failed, error):
    outcome = hosts.thread.submit(hosts.pool.close, failed)
    for host in range(2):
        hosts.answer(host, "failed", "close failed")
    assert isinstance(outcome.exception(10), error)


def test_a_default_timeout_of_the_program_is_none_of_connections():
    much = "x" * 30_000_000
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(0.05)
    try:
        hosts = Hosts(1)
        outcome = hosts.thread.submit(hosts.pool.snapshot, 1, much)
        number, *command = hosts.wires[0].receive(20)
        hosts.pool.check()
        assert command[2] == much
        threading.Event().wait(0.2)  # longer than the default
        hosts.wires[0].send(number, "done", much)
        assert outcome.result(20) == {0: much}
    finally:
        socket.setdefaulttimeout(before)


class Splits:
    """Hands out what it is asked for, at once."""

    def __init__(self, pool):
        self.pool, self.problem = pool, None

    def request(self, subtask_id, chain, count):
        if count > 9:
            raise OverflowError(count)
        self.pool.add_splits(subtask_id, chain, range(count), at_once=True)

    @contextmanager
    def checkpoint(self):
        yield {"files": ["a"]}

    def search_in_background(self):
        """Search for nothing."""

    def fail(self, error):
        self.problem = error

    def check(self):
        if self.problem is not None:
            raise self.problem

    def close(self):
        """End nothing."""


@pytest.fixture
def asking(hosts):
    deployed = hosts.thread.submit(hosts.pool.deploy, "a job", Splits(hosts.pool))
    for command in ("deploy", "connect"):
        for host in range(2):
            assert hosts.answer(host, "done")[0] == command
    deployed.result(10)
    return hosts


def test_the_host_that_asks_gets_the_splits(asking):
    asking.wires[1].send(None, "ask", (5, 2, 3))
    assert asking.answer(1, "done") == ["splits", 5, 2, [0, 1, 2], True]


def test_one_host_writes_the_part_of_the_driver(asking):
    outcome = asking.snapshot(7)
    for host, positions in enumerate([{"files": ["a"]}, {}]):
        assert asking.answer(host, "done", host) == [*taken(7)[:-1], positions]
    assert outcome.result(10) == {0: 0, 1: 1}


def test_a_request_that_fails_ends_the_attempt(asking):
    asking.wires[0].send(None, "ask", (5, 2, 10))
    with pytest.raises(OverflowError):
        asking.reaches(asking.pool.check)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_task_that_was_started_and_stays_silent():
    clock = Clock()
    start = SilentStart(clock)
    seconds = []
    for started, called in [(0, 0)] * 20 + [(1, 0)] * 3 + [(2, 1)] * 3 + [(2, 2)]:
        clock.now += 1
        seconds.append(start.look(started, called))
    assert seconds == [0.0] * 20 + [1.0, 2.0, 3.0] + [0.0, 1.0, 2.0] + [0.0]


def test_a_driver_that_was_suspended_itself_does_not_blame_a_task():
    clock = Clock()
    start = SilentStart(clock)
    clock.now += 3600
    assert start.look(1, 0) == 1.0


def test_a_frozen_host_is_noticed_before_it_has_called(monkeypatch):
    monkeypatch.setattr(pool_module, "_LEAST_START_SECONDS", 0.5)
    pool = HostPool(HERE, 2, NetworkSettings(heartbeat_interval=0.1, heartbeat_timeout=0.5))
    wire = call_in(pool.control)
    begun = time.monotonic()
    with pytest.raises(HostLost, match=r"Spark has started 2 hosts, and 1 have called in"):
        pool.assemble(300.0, nothing, lambda: 2)
    assert time.monotonic() - begun < 10
    wire.close()


def test_the_log_names_a_wait_that_lasts_and_a_limit_ends_it(caplog):
    clock = Clock()
    wait = NamedWait("counter", 100.0, clock)
    for clock.now in (10.0, 31.0, 40.0, 59.0, 61.0):
        wait.look("2 of 3 hosts to open their functions")
    assert caplog.messages == [
        "the job 'counter' waits for 2 of 3 hosts to open their functions, since 31 s",
        "the job 'counter' waits for 2 of 3 hosts to open their functions, since 61 s",
    ]
    clock.now = 100.0
    with pytest.raises(TimeoutError, match="waited 100 s for 2 of 3 hosts to open"):
        wait.look("2 of 3 hosts to open their functions")


def test_a_host_that_opens_functions_for_too_long():
    pool = HostPool(HERE, 1, NetworkSettings(command_timeout=0.3))
    wire = call_in(pool.control)
    pool.assemble(10.0, nothing)
    with pytest.raises(TimeoutError, match="1 of 1 hosts to open their functions"):
        pool.deploy(Deployment(b"", 1, 0, None, ("127.0.0.1", 1, b""), {}))
    wire.close()


class BrokenWire:
    """A connection on which nothing can be sent any more, and something still comes in."""

    def __init__(self):
        self.asked, self.left = threading.Event(), [(1, "done", "late"), (None, "report", None)]

    def send(self, *message):
        raise HostLost("the other end is closed")

    def receive(self, timeout):
        assert self.asked.wait(10)
        if not self.left:
            raise HostLost("it has ended")
        return self.left.pop(0)


def test_an_answer_that_comes_after_a_call_could_not_be_sent():
    wire, reports = BrokenWire(), threading.Condition()
    host = pool_module._HostConnection(0, None, wire, reports, 10.0, lambda *_: None)
    host.report = before = HostReport(False, False, ())
    future = host.call("snapshot")
    wire.left[1] = (None, "report", HostReport(True, False, ()))
    wire.asked.set()
    with reports:
        assert reports.wait_for(lambda: host.report is not before, 10)
    with pytest.raises(HostLost, match="the other end is closed"):
        future.result(10)
