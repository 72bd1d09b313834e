"""Kills a job between two Kafka topics again and again; checks what is read as committed.

    python -m tests.faults.kafka_soak --kills 10

A generator writes numbered events to a topic; a job (`kafka_job.py`) counts them in event-time
windows of each key, and writes these to another topic, exactly once. Its driver is killed at random
moments, and in the midst of its transactions, before and after the broker carries out a request of
theirs, and started again from the newest complete checkpoint. In the end the topic has to hold what
an undisturbed run of the job over the same events writes.

With --sql the job counts with a query (`kafka_sql_job.py`).

The broker is that of the tests, in this process, which nobody kills. With --servers it is a cluster
that is there; then no driver is killed in the midst of a transaction but by chance.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from tests.connectors.kafka.cluster import Cluster, memory_cluster
from tests.faults.disturbed import (
    ROOT,
    DisturbedJob,
    Plan,
    SoakError,
    arguments,
    run_command,
)
from tests.faults.events import expected_windows
from tests.faults.kafka_events import PARTITIONS
from tests.faults.processes import Process

JOB = Path(__file__).with_name("kafka_job.py")
SQL_JOB = Path(__file__).with_name("kafka_sql_job.py")
GROUP = "soak"
STEPS = {24: "a new partition", 25: "a new group", 28: "the offsets", 26: "the end"}
"""The requests of a transaction besides its records, by Kafka's number of their kind."""
SECONDS_FOR_A_TRANSACTION = 20.0


class KafkaSoak(DisturbedJob):
    """One run, from a topic to a topic.

    Args:
        cluster: where they are.
        plan: what to do.
        choose: decides when to kill what.
        tell: gets a line for each kill.
        job: the script of the job.
    """

    def __init__(
        self,
        cluster: Cluster,
        plan: Plan,
        choose: random.Random,
        tell: Callable[[str], None] = lambda _: None,
        job: Path = JOB,
    ) -> None:
        super().__init__(plan, choose, tell)
        self._cluster, self._script = cluster, job
        self._input, self._topic = cluster.topic(PARTITIONS), cluster.topic(2)

    def _generator(self) -> list[str]:
        options = ["--seconds", str(self._plan.seconds), "--rate", str(self._plan.rate)]
        where = [self._cluster.servers, self._input]
        return [sys.executable, "-m", "tests.faults.kafka_events", *where, *options]

    def _job(self) -> list[str]:
        return self._job_to(self._topic)

    def _job_to(self, topic: str) -> list[str]:
        topics = [self._input, str(self._output), "--topic", topic]
        return [str(self._script), *topics, "--servers", self._cluster.servers, "--group", GROUP]

    def _kill_driver(self) -> tuple[str, list[Process]]:
        if self._cluster.broker is None or self._choose.random() < 0.4:
            return super()._kill_driver()
        return self._kill_in_transaction(self._cluster.broker)

    def _kill_in_transaction(self, broker: object) -> tuple[str, list[Process]]:
        """Kill the driver when it makes some request of a transaction, if it does so soon."""
        api, when = self._choose.choice(list(STEPS)), self._choose.choice(["before", "after"])
        family: list[Process] = []
        killed = threading.Event()

        def kill(found: int) -> None:
            if found == api and not killed.is_set():
                family.extend(self._kill())
                killed.set()
                if when == "before":
                    raise ConnectionError("the request has not arrived")

        before = getattr(broker, when)
        setattr(broker, when, kill)
        in_time = killed.wait(SECONDS_FOR_A_TRANSACTION)
        setattr(broker, when, before)
        if not in_time and not killed.is_set():
            return super()._kill_driver()
        return f"driver {when} {STEPS[api]} of a transaction", family

    def _count_events(self) -> int:
        return sum(self._cluster.ends(self._input).values())

    def _count_seen(self) -> int:
        return sum(self._cluster.committed(GROUP, self._input, PARTITIONS).values())

    def _check(self, events: int) -> None:
        found, expected = self._cluster.values(self._topic), expected_windows(events)
        self._compare("windows", found, expected)
        undisturbed = self._run_undisturbed()
        self._compare("windows of the undisturbed run", undisturbed, expected)
        if sorted(found) != sorted(undisturbed):
            self._report.problems.append("an undisturbed run writes something else")
        records = f"{events} events, {len(found)} windows read as committed"
        records += f", {len(undisturbed)} of an undisturbed run"
        if self._cluster.broker is not None:
            ended = self._cluster.broker.ended_transactions
            records += f"; {sum(ended)} transactions committed"
        self._report.records = records

    def _run_undisturbed(self) -> list[str]:
        topic = self._cluster.topic(2)
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            command = [sys.executable, "-m", "pyflink_on_spark", *self._job_to(topic)]
            command += ["--bounded", "--checkpoints", folder]
            command += ["--parallelism", str(max(self._plan.parallelism))]
            with self._log.open("ab") as log:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    stdout=log,
                    stderr=log,
                    timeout=self._plan.patience,
                    check=False,
                )
        if done.returncode:
            raise SoakError(f"the undisturbed run has failed:\n{self._end_of_log()}")
        return self._cluster.values(topic)


def main() -> int:
    """Run it as the command line says; the exit code is 1 if something is wrong."""
    parser = arguments(__doc__)
    parser.set_defaults(minutes=5.0, kills=10, others=4)
    parser.add_argument("--servers", help="host:port of a Kafka cluster")
    parser.add_argument("--sql", action="store_true", help="the job counts in SQL")
    options = parser.parse_args()
    job = SQL_JOB if options.sql else JOB
    if options.servers:
        cluster = Cluster(options.servers)
        return run_command(options, lambda *told: KafkaSoak(cluster, *told, job=job))
    with memory_cluster() as cluster:
        return run_command(options, lambda *told: KafkaSoak(cluster, *told, job=job))


if __name__ == "__main__":
    sys.exit(main())
