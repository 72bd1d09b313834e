"""The next attempt works, at whichever of its own steps a host fails; without Spark."""

from __future__ import annotations

import errno
import pickle
import threading

import pytest

from pyflink_on_spark._cluster.hosts import host as host_module
from pyflink_on_spark._cluster.hosts.host import Deployment, DriverChannels, Host
from pyflink_on_spark._cluster.hosts.pool import HostPool
from pyflink_on_spark._cluster.transport.handshake import (
    HEARTBEAT,
    HostLost,
    NetworkSettings,
    RpcConnection,
)
from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._filesystem.local_files import LocalFiles
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.time import watch
from pyflink_on_spark._spark.hosts.streaming_job import HostTask
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from tests.cluster.connections import HERE, endpoint
from tests.job.crash_points import FAULTS_OF_HOSTS, STEPS_OF_HOSTS, excluded_in_hosts, own_steps
from tests.runtime.rounds import CutSource, job_of

QUICK = NetworkSettings(heartbeat_interval=0.1, heartbeat_timeout=20.0)
IMPATIENT = NetworkSettings(heartbeat_interval=0.05, heartbeat_timeout=1.5)


class Killed(BaseException):
    """The host that does this is dead."""


class Attempt:
    """A pool, and two hosts in threads of this process."""

    def __init__(self, folder, place=HERE, network=QUICK):
        self.folder = folder
        job = job_of(
            lambda stream: stream.rebalance().map(str),
            CutSource(range(50)),
            2,
            configuration={"execution.checkpointing.interval": "1 h"},
        )
        self.pool = HostPool(place, 2, network)
        task = HostTask(
            self.pool.control, WorkerEnvironment.of_driver(ShippedDependencies()), network
        )
        self.threads = [threading.Thread(target=self._run, args=(task, n)) for n in range(2)]
        for thread in self.threads:
            thread.start()
        self.plan = pickle.dumps((job.stages, job.settings))

    def _run(self, task, number):
        try:
            task([number])
        except (Killed, HostLost):
            return

    def run(self):
        """Take a checkpoint, then end well."""
        self.pool.assemble(20.0, lambda: None)
        self.pool.deploy(Deployment(self.plan, 2, 0, None, self.results(), {}))
        for number in (1, 2):
            where = (self.folder / f"chk-{number}").as_uri()
            self.pool.snapshot(number, where, timeout=20)
            self.pool.notify_checkpoint_complete(number)
        self.pool.end_sources()
        return self.pool.close(failed=False)

    def results(self):
        return self.pool.control

    def hang_up(self):
        """End all connections of the driver, as its end does, and that of the hosts' machine."""
        for host in self.pool._hosts.values():
            host.close()

    def end(self):
        self.pool.close(failed=True)
        for thread in self.threads:
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def in_threads(monkeypatch):
    """Let a host without a driver end its thread, and what is collected go nowhere.

    One that learnt of its driver's end after the test would end this process.
    """
    monkeypatch.setattr(host_module, "_leave", lambda code: None)
    listen, listening = Host._listen, []

    def listen_and_end(host):
        listening.append(threading.current_thread())
        listen(host)
        host._orders.put((0, "close", True))
        host._data.wake()

    monkeypatch.setattr(Host, "_listen", listen_and_end)
    nowhere = lambda host, subtask: lambda channel: lambda things: None  # noqa: E731
    monkeypatch.setattr(DriverChannels, "of_subtask", nowhere)
    yield
    for thread in listening:
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("kind", ["sealed", "encrypted"])
def test_hosts_that_nothing_happens_to(tmp_path, kind):
    attempt = Attempt(tmp_path, endpoint(kind))
    assert attempt.run() == []
    attempt.end()


class Disturbed:
    """An attempt in which something happens the first time that a host does a step."""

    def __init__(self, folder, name, fault):
        self._name, self._fault, self._patches = name, fault, pytest.MonkeyPatch()
        self._lock, self._struck, self._wakes = threading.Lock(), [], threading.Event()
        self.attempt = Attempt(folder, network=IMPATIENT if fault[1] == "hang" else QUICK)

    def run(self):
        """Run the attempt; return the error that it ends with."""
        unwatch = watch(self._step)
        try:
            with pytest.raises((HostLost, SubtaskFailure, CheckpointError)) as found:
                self.attempt.run()
        finally:
            self._wakes.set()
            unwatch()
            self._patches.undo()
            self.attempt.end()
        assert self._struck == [self._name]
        return found.value

    def _step(self, step):
        with self._lock:
            if step != self._name or self._struck:
                return
            self._struck.append(step)
        getattr(self, f"_{self._fault[1].replace(' ', '_')}")()

    def _kill(self):
        if self._fault[0] != "host":
            self.attempt.hang_up()
        if self._fault[0] != "driver":
            raise Killed

    def _error(self):
        raise OSError(errno.EIO, "the test wants an error here")

    def _hang(self):
        """Answer nothing, until the driver counts the host as lost."""
        send = RpcConnection.send

        def silent(connection, number, *message):
            if self._wakes.is_set() or number is not None or message[0] != HEARTBEAT:
                send(connection, number, *message)

        self._patches.setattr(RpcConnection, "send", silent)
        assert self._wakes.wait(20)

    def _full_disk(self):
        def refuse(files, path, *, private=False):
            raise OSError(errno.ENOSPC, "No space left on device")

        self._patches.setattr(LocalFiles, "create", refuse)


ERRORS = {"kill": HostLost, "error": SubtaskFailure, "hang": HostLost, "full disk": CheckpointError}
CELLS = [
    (name, fault)
    for name in STEPS_OF_HOSTS
    for fault in FAULTS_OF_HOSTS
    if excluded_in_hosts(name, fault) is None
]


def test_each_step_of_hosts_has_its_cases():
    assert sorted(own_steps()) == sorted(STEPS_OF_HOSTS)


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize(
    ("name", "fault"), CELLS, ids=[f"{name}, {', '.join(fault)}" for name, fault in CELLS]
)
def test_a_step(tmp_path, name, fault):
    error = Disturbed(tmp_path, name, fault).run()
    assert isinstance(error, ERRORS[fault[1]])
    again = Attempt(tmp_path / "again")
    assert again.run() == []
    again.end()
