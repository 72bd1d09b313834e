"""A host that is killed at any step is lost, and the next attempt works; without Spark."""

from __future__ import annotations

import pickle
import threading

import pytest

from pyflink_on_spark._runtime.steps import watch
from pyflink_on_spark._spark.hosts import host as host_module
from pyflink_on_spark._spark.hosts.deployment import Deployment
from pyflink_on_spark._spark.hosts.driver_channels import DriverChannels
from pyflink_on_spark._spark.hosts.host import Host
from pyflink_on_spark._spark.hosts.host_task import HostTask
from pyflink_on_spark._spark.hosts.pool import HostPool
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.transport.network_settings import NetworkSettings
from pyflink_on_spark._spark.transport.rpc import HostLost
from tests.job.test_steps import IN_HOSTS, steps
from tests.runtime.rounds import CutSource, job_of
from tests.spark.connections import HERE, endpoint

QUICK = NetworkSettings(heartbeat_interval=0.1, heartbeat_timeout=20.0)
STEPS = [name for name in steps() if name.startswith(IN_HOSTS)]


class Killed(BaseException):
    """The host that does this is dead."""


class Attempt:
    """A pool, and two hosts in threads of this process."""

    def __init__(self, folder, place=HERE):
        self.folder = folder
        job = job_of(
            lambda stream: stream.rebalance().map(str),
            CutSource(range(50)),
            2,
            configuration={"execution.checkpointing.interval": "1 h"},
        )
        self.pool = HostPool(place, 2, QUICK)
        task = HostTask(
            self.pool.control, WorkerEnvironment.of_driver(ShippedDependencies()), QUICK
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
        self.pool.snapshot(1, (self.folder / "chk-1").as_uri(), timeout=20)
        self.pool.notify_checkpoint_complete(1)
        self.pool.end_sources()
        return self.pool.close(failed=False)

    def results(self):
        return self.pool.control

    def end(self):
        self.pool.close(failed=True)
        for thread in self.threads:
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def in_threads(monkeypatch):
    """Let a host without a driver end its thread, and what is collected go nowhere."""
    monkeypatch.setattr(host_module, "_leave", lambda code: None)
    listen = Host._listen

    def listen_and_end(host):
        listen(host)
        host._orders.put((0, "close", True))
        host._data.wake()

    monkeypatch.setattr(Host, "_listen", listen_and_end)
    nowhere = lambda host, subtask: lambda channel: lambda things: None  # noqa: E731
    monkeypatch.setattr(DriverChannels, "of_subtask", nowhere)


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("kind", ["sealed", "encrypted"])
def test_hosts_that_nothing_happens_to(tmp_path, kind):
    attempt = Attempt(tmp_path, endpoint(kind))
    assert attempt.run() == []
    attempt.end()


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("name", STEPS)
def test_a_host_that_is_killed(tmp_path, name):
    lock, killed = threading.Lock(), []

    def kill(step):
        with lock:
            if step != name or killed:
                return
            killed.append(step)
        raise Killed

    unwatch = watch(kill)
    attempt = Attempt(tmp_path)
    try:
        with pytest.raises(HostLost):
            attempt.run()
    finally:
        unwatch()
        attempt.end()
    assert killed == [name]
    again = Attempt(tmp_path / "again")
    assert again.run() == []
    again.end()
