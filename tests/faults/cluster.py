"""A standalone cluster of Spark on machines of its own, and what may happen to it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.machines import Machine, Network, network
from tests.faults.processes import Process, hosts, listens, process_of
from tests.spark.standalone import Standalone

_EXECUTOR = "executor.CoarseGrainedExecutorBackend"


@dataclass
class Cluster:
    """A master here, and a worker with task slots on each machine.

    Args:
        network: the machines.
        spark: the servers.
    """

    network: Network
    spark: Standalone
    _workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def machines(self) -> list[Machine]:
        """All machines."""
        return self.network.machines

    @property
    def settings(self) -> dict[str, str]:
        """The settings of Spark with which a job runs here."""
        here = self.network.address
        return {
            "spark.master": self.spark.url,
            "spark.driver.host": here,
            "spark.driver.bindAddress": here,
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.pyspark.python": sys.executable,
        }

    @property
    def command_line(self) -> list[str]:
        """The options of the command with which a job runs here."""
        settings = self.settings
        master = settings.pop("spark.master")
        return ["--master", master, *(f"--conf={k}={v}" for k, v in settings.items())]

    def start_worker(self, machine: Machine) -> None:
        """Start the worker of a machine."""
        self._workers[machine.name] = self.spark.add_worker(machine.address, machine.inside)

    def executors(self, machine: Machine) -> list[Process]:
        """Return the executors of a machine."""
        return [p for p in self.processes(machine) if _EXECUTOR in p.command]

    def hosts(self, machine: Machine) -> list[Process]:
        """Return the hosts of a machine."""
        return [p for p in hosts(self.processes(machine)) if listens(p)]

    def workers(self, machine: Machine) -> list[Process]:
        """Return Spark's Python workers of a machine."""
        return hosts(self.processes(machine))

    def processes(self, machine: Machine) -> list[Process]:
        """Return the processes of a machine, without its worker."""
        worker = self._workers[machine.name].pid
        found = map(process_of, machine.processes())
        return [p for p in found if p is not None and p.number != worker]

    def shuffle_files(self) -> list[Path]:
        """Return the shuffle files of stages, on all machines."""
        return [*self.spark.local_folder.rglob("shuffle_*")]

    def kill_hosts(self, machine: Machine) -> None:
        """Kill the Python processes of a machine's hosts; without hosts those of its tasks."""
        for host in self.hosts(machine) or self.workers(machine):
            host.kill()

    def kill_executor(self, machine: Machine) -> None:
        """Kill the executors of a machine; its worker starts others."""
        for executor in self.executors(machine):
            executor.kill()

    def kill_worker(self, machine: Machine) -> None:
        """Kill the worker of a machine, with its executors."""
        executors = self.executors(machine)
        self._workers[machine.name].kill()
        for executor in executors:
            executor.kill()

    def decommission(self, machine: Machine) -> None:
        """Announce that a machine will go soon."""
        os.kill(self._workers[machine.name].pid, signal.SIGPWR)


@contextlib.contextmanager
def cluster(folder: Path, count: int = 2, cores: int = 2) -> Iterator[Cluster]:
    """Start a cluster; in the end nothing of it is left.

    Args:
        folder: for the logs and the work of all servers.
        count: how many machines there are.
        cores: how many task slots each of them has.

    Raises:
        CannotMakeMachines: this system has no network namespaces.
    """
    settings = {"spark.decommission.enabled": "true"}
    options = ("--cores", str(cores), "--memory", "1g")
    with (
        network(count) as joined,
        Standalone(folder, joined.address, settings, options) as spark,
    ):
        made = Cluster(joined, spark)
        for machine in joined.machines:
            made.start_worker(machine)
        yield made
