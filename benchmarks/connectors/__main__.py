"""Prints what a record costs between connectors, and between the client libraries alone.

    python -m benchmarks.connectors [--jobs kafka_to_kafka ...] [--records 2000000] [--no-spark]

Each way of a job of `jobs/` is run on a few records and on many, and what the second run takes
longer is what the records cost. "per core" is records per second of processor time, of all
processes together. The results of all ways have to be the same. Kafka is the broker of the tests,
in a process of its own; with --servers a cluster that is there.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing import Pipe, Process
from pathlib import Path

from benchmarks.measure import CommandFailed, run
from benchmarks.ways import OURS, ROOT, Way

JOBS = Path(__file__).with_name("jobs")
KEYS = 1_000
PARTITIONS = 4
LOOP = (sys.executable,)
IN_PROCESS = Way(
    "... without Spark", (sys.executable, "-m", "benchmarks.connectors.in_process"), "flink"
)


class Kafka:
    """Topics with records, as input and output."""

    ways = (OURS, IN_PROCESS, Way("confluent-kafka", LOOP, "client"))

    def __init__(self, servers):
        from tests.connectors.kafka.cluster import Cluster

        self.servers = servers
        self._cluster = Cluster(servers)
        self.options = ("--servers", servers)

    def input(self, records):
        topic = self._topic()
        for partition in range(PARTITIONS):
            numbers = range(partition, records, PARTITIONS)
            self._cluster.write(topic, [f"key-{n % KEYS}" for n in numbers], partition)
        return topic

    def output(self):
        return self._topic()

    def result(self, topic):
        """How many records there are, the largest count, and the sum of all."""
        counts = [int(text.partition(" ")[2]) for text in self._cluster.values(topic)]
        return len(counts), max(counts), sum(counts)

    def _topic(self):
        return self._cluster.topic(PARTITIONS)


class Files:
    """Files of a format, as input and output."""

    ways = (OURS, IN_PROCESS, Way("a Python loop", LOOP, "loop"), Way("pyarrow", LOOP, "arrow"))
    options = ()

    def __init__(self, folder, suffix):
        self._folder, self._suffix = folder, suffix
        self._number = 0

    def input(self, records):
        import pyarrow as pa

        numbers = range(records)
        rows = pa.table({"number": numbers, "text": [f"text of {n % KEYS}" for n in numbers]})
        path = self._path()
        if self._suffix == "csv":
            from pyarrow import csv

            csv.write_csv(rows, path, csv.WriteOptions(include_header=False))
        else:
            import pyarrow.parquet as pq

            pq.write_table(rows, path)
        return path

    def output(self):
        return self._path()

    def result(self, path):
        """How many rows there are, and their sum."""
        found = [each for each in [Path(path), *Path(path).rglob("*")] if each.is_file()]
        tables = [self._table(each) for each in found]
        for each in found:
            each.unlink()
        columns = [column for table in tables for column in table.column(0).to_pylist()]
        return len(columns), sum(columns)

    def _table(self, path):
        if self._suffix == "csv":
            from pyarrow import csv

            return csv.read_csv(path, csv.ReadOptions(column_names=["number", "text"]))
        import pyarrow.parquet as pq

        return pq.read_table(path)

    def _path(self):
        self._number += 1
        return str(self._folder / f"{self._number}.{self._suffix}")


@dataclass(frozen=True)
class Figures:
    """The cost of one way of a job."""

    rate: float
    rate_per_core: float
    result: tuple


class Bench:
    """One job, its inputs, and what was measured."""

    def __init__(self, job, place, options):
        self._job, self._place, self._options = job, place, options
        self._few, self._many = options.records // 20, options.records
        self._inputs = {count: place.input(count) for count in (self._few, self._many)}

    def measure(self, way):
        (few, _), (many, result) = self._best(way, self._few), self._best(way, self._many)
        records = self._many - self._few
        seconds = max(many.seconds - few.seconds, 0.001)
        busy = max(many.processor_seconds - few.processor_seconds, 0.001)
        return Figures(records / seconds, records / busy, result)

    def _best(self, way, count):
        runs = [self._run(way, count) for _ in range(self._options.repeat)]
        return min(runs, key=lambda each: each[0].processor_seconds)

    def _run(self, way, count):
        output = self._place.output()
        arguments = ["--input", self._inputs[count], "--output", output, *self._place.options]
        arguments += ["--parallelism", str(self._options.parallelism)]
        command = [*way.interpreter, str(self._job), way.way, *arguments]
        found = run(command, env=way.env, cwd=ROOT, timeout=self._options.timeout)
        return found, self._place.result(output)


def bench(job, place, options):
    """Print a job's table; return whether all ways ran, with the same results."""
    print(f"\n{job.stem}, {options.records:,} records, parallelism {options.parallelism}")
    print(f"{'':20}{'records/s':>12}{'per core':>12}{'ours is':>9}{'per core':>10}")
    measured, ours, well = Bench(job, place, options), None, True
    for way in place.ways:
        if way is OURS and options.no_spark:
            continue
        try:
            figures = measured.measure(way)
        except CommandFailed as failure:
            print(f"{way.name:20}failed: {failure}", flush=True)
            well = False
            continue
        ours = ours or figures
        same = figures.result == ours.result
        well = well and same
        text = f"{way.name:20}{figures.rate:12,.0f}{figures.rate_per_core:12,.0f}"
        if figures is not ours:
            text += f"{ours.rate / figures.rate:8.2f}x"
            text += f"{ours.rate_per_core / figures.rate_per_core:9.2f}x"
        print(text + ("" if same else f"  OTHER RESULTS {figures.result}"), flush=True)
    return well


def _serve(pipe):
    from tests.connectors.kafka.cluster import memory_cluster

    with memory_cluster() as cluster, contextlib.suppress(EOFError):
        pipe.send(cluster.servers)
        # Whoever asks for a topic that is not there makes it.
        while True:
            name, partitions = pipe.recv()
            cluster.broker.create(name, partitions)
            pipe.send(name)


@contextlib.contextmanager
def kafka(servers):
    """Kafka: a cluster that is there, or the tests' broker."""
    if servers:
        yield Kafka(servers)
        return
    ours, theirs = Pipe()
    process = Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    place = Kafka(ours.recv())

    def topic():
        ours.send((f"topic-{time.monotonic_ns()}", PARTITIONS))
        return ours.recv()

    place._topic = topic
    try:
        yield place
    finally:
        process.kill()
        process.join()


def main():
    jobs = {path.stem: path for path in sorted(JOBS.glob("[!_]*.py"))}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.connectors", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--jobs", nargs="*", choices=jobs, default=list(jobs))
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the cheapest counts")
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run")
    parser.add_argument("--no-spark", action="store_true", help="only in this package's own engine")
    parser.add_argument("--servers", help="host:port of a Kafka cluster")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    well = []
    try:
        for name in options.jobs:
            if name.startswith("kafka"):
                with kafka(options.servers) as place:
                    well.append(bench(jobs[name], place, options))
            else:
                place = Files(folder, name.partition("_")[0])
                well.append(bench(jobs[name], place, options))
    finally:
        shutil.rmtree(folder)
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
