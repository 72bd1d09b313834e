"""Hosts in processes of their own, without Spark: what they make of checkpoints that go wrong."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import socket
import time
from functools import partial

import pytest

from pyflink_on_spark._cluster.hosts import host as host_module
from pyflink_on_spark._cluster.hosts import pool as pool_module
from pyflink_on_spark._cluster.hosts.host import Deployment
from pyflink_on_spark._cluster.hosts.pool import HostPool
from pyflink_on_spark._cluster.transport.handshake import Address, HostLost, NetworkSettings
from pyflink_on_spark._cluster.transport.stream import PlainStream
from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder, in_folder
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import FEW_ENTRIES
from pyflink_on_spark._runtime.checkpoints.state_file import KEYED, StoredFile, stored_records
from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._spark.hosts.streaming_job import HostTask
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark.datastream import MapFunction
from pyflink_on_spark.extensions import CheckpointedFunction, CheckpointListener
from tests.cluster.connections import HERE
from tests.runtime.large_rows import elements_of, large_job
from tests.runtime.rounds import job_of

pytestmark = pytest.mark.slow


class Noting(MapFunction, CheckpointedFunction, CheckpointListener):
    """Writes down its notifications; fails in the third checkpoint."""

    def __init__(self, path):
        self.path = path

    def map(self, value):
        return value

    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        self.note("begins")

    def initialize_state(self, context):
        """Nothing is restored."""

    def snapshot_state(self, context):
        if context.get_checkpoint_id() == 3:
            raise ValueError("no state today")

    def notify_checkpoint_complete(self, checkpoint_id):
        self.note(f"complete {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id):
        self.note(f"aborted {checkpoint_id}")

    def note(self, text):
        with open(f"{self.path}-{self.index}", "a", encoding="utf-8") as notes:
            notes.write(f"{text}\n")


class Quiet(Source):
    """A source that waits without end."""

    bounded = False

    def splits(self, parallelism):
        return [None]

    def resume(self, split, position, context):
        while True:
            time.sleep(0.001)
            yield None, 0


class Running:
    """Hosts with a job that has been deployed."""

    def __init__(self, folder, count, build=None, source=None, job=None, network=None):
        self.folder, self.processes = folder, []
        job = job or job_of(
            build or (lambda stream: stream.rebalance().map(Noting(str(folder / "notes")))),
            source or Quiet(),
            count,
            configuration={"execution.checkpointing.interval": "1 h"},
        )
        network = network or NetworkSettings()
        self.pool = HostPool(HERE, count, network)
        environment = WorkerEnvironment.of_driver(ShippedDependencies())
        task = HostTask(self.pool.control, environment, network)
        spawning = multiprocessing.get_context("spawn")
        for number in range(count):
            self.processes.append(spawning.Process(target=task, args=([number],), daemon=True))
            self.processes[-1].start()
        self.pool.assemble(60.0, lambda: None)
        plan = pickle.dumps((job.stages, job.settings))
        self.pool.deploy(Deployment(plan, count, 0, None, ("127.0.0.1", 1, b""), {}))

    def snapshot(self, number):
        return self.pool.snapshot(number, (self.folder / f"chk-{number}").as_uri(), timeout=60)

    def notes(self, index=0):
        return (self.folder / f"notes-{index}").read_text().splitlines()

    def close(self):
        """End the hosts; return what they have prepared that is to be removed."""
        prepared = self.pool.close(failed=True)
        for process in self.processes:
            process.join(10)
            assert process.exitcode is not None
        return prepared


class Few(Quiet):
    """Eight numbers, and then no more."""

    def resume(self, split, position, context):
        yield Bundle(list(range(8))), 8
        yield from super().resume(split, 8, context)


class Numbers(Quiet):
    """Many numbers, and then no more."""

    def __init__(self, count):
        self.count = count

    def resume(self, split, position, context):
        for first in range(0, self.count, 1000):
            yield Bundle(list(range(first, first + 1000))), first + 1000
        yield from super().resume(split, self.count, context)


@pytest.fixture
def running(tmp_path, request):
    running = Running(tmp_path, request.param)
    yield running
    running.close()


one, two = (pytest.mark.parametrize("running", [count], indirect=True) for count in (1, 2))


@one
def test_what_cannot_be_written_is_no_failure_of_a_function(running):
    (running.folder / "chk-1").touch()
    with pytest.raises(CheckpointError, match=r"^cannot write .*chk-1"):
        running.snapshot(1)
    running.pool.notify_checkpoint_aborted(1)
    snapshot = running.snapshot(2)[0]
    assert (snapshot.state.name, snapshot.committables) == ("slot-0", [])
    running.pool.notify_checkpoint_complete(2)
    assert running.notes() == ["begins", "aborted 1", "complete 2"]


@two
def test_a_host_that_cannot_write_holds_up_no_other(running):
    (running.folder / "chk-1" / "slot-0").mkdir(parents=True)
    with pytest.raises(CheckpointError, match=r"^cannot write .*chk-1/slot-0"):
        running.snapshot(1)
    running.pool.notify_checkpoint_aborted(1)
    assert {n: part.state.name for n, part in running.snapshot(2).items()} == {
        0: "slot-0",
        1: "slot-1",
    }
    running.pool.notify_checkpoint_complete(2)
    for index in range(2):
        assert running.notes(index) == ["begins", "aborted 1", "complete 2"]


@one
def test_a_function_that_fails_is_told_with_its_traceback(running):
    for _ in range(2):  # what failed once stays failed
        with pytest.raises(SubtaskFailure, match=r"(?s)^Traceback.*ValueError: no state today"):
            running.snapshot(3)


@two
def test_a_host_that_is_killed(running):
    os.kill(running.processes[1].pid, signal.SIGKILL)
    with pytest.raises(HostLost, match="host 1 is gone"):
        running.snapshot(1)


def follow(pool, deadline):
    """Wait until the deadline, or until something is wrong with a host."""
    while time.monotonic() < deadline:
        pool.check()
        pool.wait(0.1)


class CutOff(MapFunction):
    """Lets the system say, once hosts are connected, that no other has answered for an hour."""

    def open(self, runtime_context):
        opened = time.monotonic()
        PlainStream.unanswered = lambda _: 3600.0 if time.monotonic() > opened + 2.0 else 0.0

    def map(self, value):
        return value


def test_hosts_that_reach_the_driver_only(tmp_path, monkeypatch):
    monkeypatch.setattr(pool_module, "_PEER_SECONDS", 0.0)
    network = NetworkSettings(heartbeat_interval=0.2, heartbeat_timeout=1.0)
    running = Running(tmp_path, 2, lambda stream: stream.rebalance().map(CutOff()), network=network)
    deadline = time.monotonic() + 30
    try:
        with pytest.raises(HostLost, match=r"host \d has lost host \d"):
            follow(running.pool, deadline)
    finally:
        running.close()


class Stuck(MapFunction):
    """Does not return."""

    def map(self, value):
        while True:
            time.sleep(0.01)


def test_a_function_that_is_stuck_in_its_first_element_is_busy(tmp_path):
    network = NetworkSettings(heartbeat_interval=0.2)
    running = Running(tmp_path, 1, lambda stream: stream.map(Stuck()), Few(), network=network)
    try:
        deadline = time.monotonic() + 30
        while max((part.busy for part in running.pool.progress()), default=0.0) < 2.0:
            follow(running.pool, time.monotonic() + 0.1)
            assert time.monotonic() < deadline, running.pool.progress()
        assert running.pool.progress()[0].records == 0, "it has never reported since"
    finally:
        for process in running.processes:
            process.kill()
        running.close()


def test_a_host_that_cannot_be_reached_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(HostLost, match=rf"^host 2 cannot reach host 1 at 127\.0\.0\.1:{port} \("):
        host_module._call(2, 1, Address("127.0.0.1", port, b"secret"))


@two
def test_hosts_end_with_their_driver(running):
    for host in running.pool._hosts.values():
        host.close()
    for process in running.processes:
        process.join(20)
        assert process.exitcode == 1


def test_much_that_a_sink_prepares_does_not_travel(tmp_path):
    running = Running(tmp_path, 1, job=large_job(Few(), 1))
    try:
        for number in range(1, 1000):  # until a checkpoint has all elements
            snapshot = running.snapshot(number)[0]
            assert len(pickle.dumps(snapshot)) < 3_000
            place = folder((tmp_path / f"chk-{number}").as_uri())
            if elements_of(in_folder(snapshot.committables, place)) == list(range(8)):
                break
            running.pool.notify_checkpoint_aborted(number)
    finally:
        prepared = running.close()
    assert prepared == []


def test_a_host_writes_much_state_while_it_works(tmp_path):
    keys = 3 * FEW_ENTRIES
    running = Running(
        tmp_path,
        1,
        lambda stream: stream.key_by(str).reduce(max).filter(lambda value: value < 0),
        Numbers(keys),
    )
    try:
        deadline = time.monotonic() + 60
        for number in range(1, 1000):  # until a checkpoint has all keys
            file = running.snapshot(number)[0].state
            place = folder((tmp_path / f"chk-{number}").as_uri())
            stored = StoredFile(file.name, file.size, partial(place.open, file.name))
            pieces = [
                deserialize(c.read()) for head, c in stored_records(stored) if head.kind == KEYED
            ]
            written = [value for piece in pieces for *_, value in piece.entries]
            assert sorted(written) == list(range(len(written)))
            if len(written) == keys:
                return
            assert time.monotonic() < deadline, "it did not get through"
    finally:
        running.close()
