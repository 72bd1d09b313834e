"""The cost of operation for a job's driver: reports of hosts, the page, the page of Prometheus.

    python -m benchmarks.operation [--subtasks 2 64]

Runs in this process, without Spark: what is measured is the processor time of one report, of one
refresh of the page, and of one scrape, and the share of a core that each takes at its usual pace.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace

from pyflink_on_spark._job.display import Progress
from pyflink_on_spark._operate.metrics import Families, samples_of
from pyflink_on_spark._operate.server.job_registry import JobRegistry
from pyflink_on_spark._operate.server.rest.routing import Request
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.task.subtask_threads import StateEntries, TaskProgress
from pyflink_on_spark.common import JobStatus, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.tools.plan.recording import RecordedJob, recording

SECONDS = 2.0
FIGURES = (
    "numRecordsIn,numRecordsInPerSecond,pendingRecords,stateEntries,currentInputWatermark,"
    "currentOutputWatermark,busyTimeMsPerSecond,backPressuredTimeMsPerSecond"
)


class Running(RecordedJob):
    """A job that runs as far as operation can see."""

    def __init__(self, job):
        super().__init__(job)
        self.job, self.progress, self.parts = job, None, ()

    def status(self):
        return JobStatus.RUNNING


def job_of(subtasks):
    """Return a job of three tasks."""
    with recording() as engine:
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(subtasks)
        stream = env.from_collection([1], Types.LONG()).rebalance().map(str)
        stream.key_by(len).map(str).print()
        env.execute()
    return engine.jobs[0]


class Costs:
    """A job whose tasks report, and what looks at it."""

    def __init__(self, subtasks):
        import prometheus_client

        job = job_of(subtasks)
        self._handle, self._subtasks = Running(job), subtasks
        self._operated = OperatedJob(job, self._handle)
        self._progress = Progress(job.name, [], None)
        self._parts = [
            TaskProgress(
                task.name, 1, 0, 5_000, 3, 7, 0.0, index, states=(StateEntries("map", "s", 3),)
            )
            for task in self._operated.tasks
            for index in range(task.parallelism)
        ]
        self._driver = JobRegistry()
        self._driver.jobs.add(self._operated)
        self._registry = prometheus_client.CollectorRegistry()
        self._registry.register(Families(lambda: samples_of(self._operated)))
        self._text = prometheus_client.generate_latest
        job.history.enter(JobStatus.RUNNING)
        self.report()

    def report(self):
        """Take a report of all hosts."""
        self._parts = [replace(part, records=part.records + 100) for part in self._parts]
        self._progress.update(0, None, self._parts)
        self._handle.progress, self._handle.parts = self._progress.latest, self._progress.parts

    def page(self):
        """Answer what a refresh of the page asks for."""
        path = f"/jobs/{self._operated.id}"
        for rest in ("", "/checkpoints", "/exceptions", "/config", "/accumulators", "/state"):
            self._ask(path + rest)
        of_each = ",".join(f"{index}.numRecordsIn" for index in range(self._subtasks))
        for task in self._operated.tasks:
            self._ask(f"{path}/vertices/{task.id}/subtasks/metrics", FIGURES)
            self._ask(f"{path}/vertices/{task.id}/metrics", of_each)

    def scrape(self):
        """Answer Prometheus."""
        self._text(self._registry)

    def _ask(self, path, get=None):
        query = {} if get is None else {"get": get}
        answer = self._driver.router.answer(Request("GET", path, query))
        assert answer.status == 200, answer
        json.dumps(answer.content)


def measured(call):
    """Return the processor time of a call, in s."""
    begun, count = time.process_time(), 0
    while (spent := time.process_time() - begun) < SECONDS:
        call()
        count += 1
    return spent / count


def main(arguments):
    """Print a table."""
    parser = argparse.ArgumentParser(description="What operation costs the driver of a job.")
    parser.add_argument("--subtasks", type=int, nargs="+", default=[2, 64])
    print("| subtasks | what | ms each | every | share of a core |")
    print("| ---: | --- | ---: | ---: | ---: |")
    for subtasks in parser.parse_args(arguments).subtasks:
        costs = Costs(subtasks)
        for what, call, every in (
            ("reports of hosts", costs.report, 0.5),
            ("refresh of the page", costs.page, 3.0),
            ("scrape of Prometheus", costs.scrape, 10.0),
        ):
            cost = measured(call)
            share = f"{100 * cost / every:.2f} %"
            print(f"| {subtasks} | {what} | {1000 * cost:.2f} | {every:g} s | {share} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
