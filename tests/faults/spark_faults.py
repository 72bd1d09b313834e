"""Disturbs Spark under a job on two machines, and checks that the job helps itself.

    python -m tests.faults.spark_faults [SCENARIO ...]

The job is that of `soak.py`, on a standalone cluster of two workers, each in a network namespace
with an address of its own. Processes are killed, machines are decommissioned, cables are pulled and
links are slow; nobody does anything for the job. It has to continue each time within a stated time.
In the end the committed files have to hold exactly what the events give, and no process of the job
may be left. Only root can make network namespaces.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.faults import spark_batch
from tests.faults.cluster import Cluster, cluster
from tests.faults.disturbed import ORPHANS_END_WITHIN, Plan, SoakError
from tests.faults.events import EVENTS_A_FILE
from tests.faults.machines import CannotMakeMachines, Machine
from tests.faults.processes import still_alive
from tests.faults.soak import JOB, Soak

_RESTART = re.compile(r"failed and starts again in \d+ ms: (.*)")
_SPREADS_WITHIN = 60.0
_FOREVER = 3600.0
_HEARTBEATS = {"heartbeat.interval": "1s", "heartbeat.timeout": "8s"}
Act = Callable[[Cluster, Machine], None]


def _nothing(_cluster: Cluster, _machine: Machine) -> None:
    """Nothing is left to be done."""


@dataclass(frozen=True)
class Fault:
    """A fault of a machine.

    Args:
        name: for people.
        begin: lets it happen.
        lasts: for how long, in seconds.
        end: puts it right.
        within: how soon after the end records have to flow again, in seconds.
    """

    name: str
    begin: Act
    lasts: float = 0.0
    end: Act = _nothing
    within: float = 60.0


@dataclass(frozen=True)
class Scenario:
    """The faults during one job.

    Args:
        faults: one after the other.
        settings: of Spark and of the job.
        parallelism: of the job.
    """

    faults: list[Fault]
    settings: Mapping[str, str] = field(default_factory=dict)
    parallelism: int = 2


def _cut(_: Cluster, machine: Machine) -> None:
    machine.cut()


def _repair(_: Cluster, machine: Machine) -> None:
    machine.repair()


def _shun(cluster: Cluster, machine: Machine) -> None:
    for other in cluster.machines:
        if other != machine:
            machine.shun(other)


def _slow(_: Cluster, machine: Machine) -> None:
    machine.slow("256kbit")


def _lossy(_: Cluster, machine: Machine) -> None:
    machine.lose(0.05)


def _start_worker(cluster: Cluster, machine: Machine) -> None:
    cluster.start_worker(machine)


def _replace_worker(cluster: Cluster, machine: Machine) -> None:
    cluster.kill_worker(machine)
    cluster.start_worker(machine)


BATCH = "batch"
_SOON_LOST = {
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "4s",
}
SCENARIOS = {
    "processes": Scenario([
        Fault("a host is killed", Cluster.kill_hosts),
        Fault("an executor is killed", Cluster.kill_executor),
        Fault("a worker and its executor are killed", Cluster.kill_worker, 10, _start_worker),
        Fault("a worker is decommissioned, and gone 15 s later", Cluster.decommission, 15,
              _replace_worker),
    ], {"spark.decommission.enabled": "true"}),
    "links": Scenario([
        Fault("a machine is cut off for 2 s", _cut, 2, _repair),
        Fault("a link of 256 kbit/s", _slow, 15, _repair),
        Fault("a link that loses 5 % of the packets", _lossy, 15, _repair),
        Fault("a machine is cut off for 40 s", _cut, 40, _repair, 100),
    ]),
    "apart": Scenario([
        Fault("two machines that reach the driver only", _shun, 60, _repair, 120),
    ]),
    "lost": Scenario([
        Fault("a machine is cut off for 50 s, and lost to Spark", _cut, 50, _repair),
    ], _SOON_LOST),
    "speculation": Scenario([
        Fault("a slow link while copies of hosts start", _slow, 15, _repair),
        Fault("a host is killed that has a copy", Cluster.kill_hosts),
        Fault("an executor is killed that has a copy", Cluster.kill_executor),
    ], {
        "spark.speculation": "true",
        "spark.speculation.task.duration.threshold": "5s",
        "spark.executor.cores": "2",
    }),
    "allocation": Scenario([
        Fault("an executor is killed", Cluster.kill_executor),
    ], {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.executorIdleTimeout": "5s",
        "pyflink-on-spark.hosts": "3",
    }, 3),
}  # fmt: skip


@dataclass
class Outcome:
    """The consequences of a fault.

    Args:
        fault: which.
        flowed: after how many seconds from its begin records flowed; None if not before its end.
        mended: after how many seconds from its end; None if it has none.
        restarts: why the job was started again, each time.
    """

    fault: Fault
    flowed: float | None
    mended: float | None
    restarts: list[str]

    def __str__(self) -> str:
        times = {"after": self.flowed, "after its end": self.mended}
        told = [f"{took:.1f} s {when}" for when, took in times.items() if took is not None]
        reasons = "".join(f"\n      restart: {reason}" for reason in self.restarts)
        return f"    {self.fault.name}: records flowed {', '.join(told)}{reasons}"


class DisturbedSpark(Soak):
    """One run.

    Args:
        cluster: where the job runs.
        scenario: what happens there.
        plan: where, and how many events.
        choose: decides to which machine.
        tell: gets a line for each fault.
    """

    def __init__(
        self,
        cluster: Cluster,
        scenario: Scenario,
        plan: Plan,
        choose: random.Random,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(plan, choose, tell)
        self._cluster, self._scenario = cluster, scenario
        self._left = list(scenario.faults)

    def _job(self) -> list[str]:
        settings = {**_HEARTBEATS, **self._scenario.settings}
        options = [part for key, value in settings.items() for part in ("-D", f"{key}={value}")]
        return [
            *self._cluster.command_line,
            *options,
            str(JOB),
            str(self._input),
            str(self._output),
        ]

    def _await_events(self, generator: subprocess.Popen[bytes]) -> None:
        generator.terminate()
        generator.wait()

    def _todo(self) -> list[str]:
        return [fault.name for fault in self._left[:1]]

    def _disturb(self, what: str) -> None:
        fault = self._left.pop(0)
        self._spread()
        self._wait_for_progress()
        machine = self._choose.choice(self._cluster.machines)
        before, begun = len(self._restarts()), time.monotonic()
        fault.begin(self._cluster, machine)
        since_begin = self._fresh_events()
        flowed = self._await_flow(since_begin, begun, fault.lasts or fault.within)
        mended = None
        if fault.end is not _nothing:
            time.sleep(max(0.0, begun + fault.lasts - time.monotonic()))
            ended = time.monotonic()
            fault.end(self._cluster, machine)
            mended = self._await_flow(self._fresh_events(), ended, fault.within)
        if (flowed if fault.end is _nothing else mended) is None:
            raise SoakError(f"{what}: no record in {fault.within:g} s:\n{self._end_of_log()}")
        self._report.kills[what] += 1
        self._tell(str(Outcome(fault, flowed, mended, self._restarts()[before:])))

    def _fresh_events(self) -> int:
        """Return how many events have to be committed before one is that is written from now on."""
        return self._count_events() + EVENTS_A_FILE

    def _await_flow(self, wanted: int, since: float, within: float) -> float | None:
        """Wait until so many events are committed; return after how long they were."""
        while self._count_seen() < wanted:
            self._require_running()
            if time.monotonic() - since > within:
                return None
            time.sleep(0.2)
        return time.monotonic() - since

    def _spread(self) -> None:
        """Wait until all machines have a host; if need be, kill those that there are.

        Without hosts each machine has to have executors: where a slot is, Spark decides for each
        micro-batch.
        """
        deadline = time.monotonic() + _SPREADS_WITHIN
        found = self._cluster.hosts if self._plan.engine == "hosts" else self._cluster.executors
        while not all(map(found, self._cluster.machines)):
            self._require_running()
            if time.monotonic() > deadline:
                raise SoakError(f"not all machines have a host:\n{self._end_of_log()}")
            if all(map(self._cluster.executors, self._cluster.machines)):
                self._wait_for_progress()
                for machine in self._cluster.machines:
                    self._cluster.kill_hosts(machine)
            self._wait_for_progress()

    def _restarts(self) -> list[str]:
        return _RESTART.findall(self._log.read_text(errors="replace"))

    def _stop(self) -> None:
        left = [p for m in self._cluster.machines for p in self._cluster.processes(m)]
        super()._stop()
        for process in still_alive(left, ORPHANS_END_WITHIN):
            self._report.problems.append(f"outlives its job: {process}")
            process.kill()


def main() -> int:
    """Run it as the command line says; the exit code is 1 if something is wrong."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    names = [*SCENARIOS, BATCH]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(names))
    parser.add_argument("--rate", type=float, default=200, help="events a second")
    parser.add_argument("--engine", choices=("hosts", "structured"), default="hosts")
    parser.add_argument("--folder", type=Path, help="where to leave everything; a new one")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    if unknown := set(options.scenarios) - set(names):
        parser.error(f"there are no scenarios {sorted(unknown)}")
    print(f"seed: {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="spark-faults-") as temporary:
        folder = options.folder or Path(temporary)
        servers = folder / "servers"
        servers.mkdir(parents=True)
        try:
            with cluster(servers) as made:
                return _run_all(made, options.scenarios or names, folder, options)
        except CannotMakeMachines as reason:
            print(f"skipped: {reason}")
            return 0


def _run_all(made: Cluster, names: list[str], folder: Path, options: argparse.Namespace) -> int:
    results = []
    for name in names:
        print(f"{name}:", flush=True)
        run = _run_batch if name == BATCH else _run
        results.append(run(made, name, folder / name, options))
    return max(results)


def _run_batch(made: Cluster, _name: str, folder: Path, options: argparse.Namespace) -> int:
    choose, wrong = random.Random(options.seed), 0
    for number, (name, strike) in enumerate(spark_batch.FAULTS.items()):
        run = spark_batch.BatchRun(made, folder / str(number))
        problems = run.run(strike, choose.choice(made.machines))
        print(f"    {name}: " + ("; ".join(problems) or "each once"), flush=True)
        wrong |= bool(problems)
    return int(wrong)


def _run(made: Cluster, name: str, folder: Path, options: argparse.Namespace) -> int:
    scenario = SCENARIOS[name]
    plan = Plan(
        folder,
        _FOREVER,
        options.rate,
        parallelism=(scenario.parallelism,),
        patience=120 if options.engine == "hosts" else 300,
        engine=options.engine,
    )
    run = DisturbedSpark(
        made, scenario, plan, random.Random(options.seed), partial(print, flush=True)
    )
    try:
        report = run.run()
    except SoakError as error:
        print(error)
        return 1
    finally:
        for machine in made.machines:
            machine.repair()
    print(f"    {report.records}: " + ("; ".join(report.problems) or "each once"), flush=True)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
