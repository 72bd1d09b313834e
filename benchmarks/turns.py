"""Runs the jobs of `jobs/` by turns: here, in another version of this package, and as a bare loop.

    python -m benchmarks.turns [PYTHON] [--jobs NAME ...] [--parallelism 1 2] [--rounds 6]
                               [--typed] [--engine local]

PYTHON is the interpreter of the other version. Each version has one process for each parallelism,
whose Spark stays open. The loops have processes without Spark; one calls the functions, the other
has them inlined. A round runs a job once in each process, and then in the opposite order, so that
what the machine does besides falls on all alike.
With `--engine local` jobs run without Spark in the processes, parallel subtasks in turns; rates are
of processor time then. With --typed the streams have declared types. Printed are medians: thousands
of records per second, and the ratios of the rounds, with the least and the greatest one.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.command import spark_session
from benchmarks.ways import JOBS, ROOT

LOOP, INLINED = "loop", "inlined loop"
SIDES = "here", "there"
_RECORDS = {
    "event_time_windows": 3_000_000,
    "keyed_reduce": 4_000_000,
    "pandas_function": 1_000_000,
    "row_reduce": 500_000,
    "sql_aggregate": 1_500_000,
    "state_and_timers": 1_500_000,
    "stateless_chain": 12_000_000,
}


class Contestant:
    """A process that runs jobs when asked.

    Args:
        python: the interpreter; with its own version of this package installed, if that is needed.
        parallelism: of the jobs; 0 for the bare loop, -1 for the one with inlined functions.
        folder: has the benchmarks, and no version of this package.
        engine: that runs the jobs; ``local`` is this process, and with ``pyspark`` they are those
            written by hand.
    """

    def __init__(self, python, parallelism, folder, engine):
        tools = os.path.dirname(os.path.abspath(python))
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.turns", "--serve", str(parallelism), "--engine", engine],
            cwd=folder,
            env=os.environ
            | {"PYTHONPATH": folder, "PYSPARK_PYTHON": python}
            | {"PATH": tools + os.pathsep + os.environ.get("PATH", "")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def rate(self, job, records, typed, way="spark"):
        """Run a job once; return the records per second.

        Args:
            job: its name.
            records: how many it reads.
            typed: whether its streams have declared types.
            way: which of those that are written by hand.
        """
        print(job, records, int(typed), way, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{job} failed")
        return records / float(answer)

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def serve(parallelism, engine):
    """Run the jobs that come on standard input; answer with the seconds."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    clock = time.process_time if engine == "local" else time.monotonic
    if engine == "pyspark":
        session = spark_session(parallelism)
    elif parallelism > 0:
        import pyflink_on_spark
        import pyflink_on_spark.testing

        pyflink_on_spark.install()
        if engine == "local":
            pyflink_on_spark.testing.install_local_engine()
        elif engine != "auto":
            from pyflink_on_spark._job import job

            job.set_base_configuration({"pyflink-on-spark.engine": engine})
    for line in sys.stdin:
        name, records, typed, way = line.split()
        job = importlib.import_module(f"benchmarks.jobs.{name}")
        if engine == "pyspark":
            start = clock()
            getattr(job, way)(session, int(records))
            took = clock() - start
        elif parallelism > 0:
            took = run(job.flink, int(records), parallelism, typed == "1", clock)
        else:
            start = clock()
            for _ in (job.inlined if parallelism else job.loop)(int(records)):
                pass
            took = clock() - start
        print(took, file=answers, flush=True)


def run(pipeline, records, parallelism, typed, clock):
    """Return how many seconds of a clock a job takes."""
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.number_seq import NumberSequenceSource

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    source = NumberSequenceSource(1, records)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    pipeline(env, numbers, records, typed).print("result")
    start = clock()
    env.execute("benchmark")
    return clock() - start


def compare(job, contestants, rounds, typed):
    """Return the rates of each contestant in each round, by name."""
    records = _RECORDS[job]
    for contestant in contestants.values():
        contestant.rate(job, records // 10, typed)
    found = {name: [] for name in contestants}
    for _ in range(rounds):
        first = {name: each.rate(job, records, typed) for name, each in contestants.items()}
        for name in reversed(contestants):
            both = first[name], contestants[name].rate(job, records, typed)
            found[name].append(statistics.harmonic_mean(both))
    return found


def lines(job, rates, parallelisms):
    """Yield the printed lines of a job."""
    for name, found in rates.items():
        yield f"{job}: {name:14}{statistics.median(found) / 1000:10,.0f}"
    pairs = [
        (f"here, {p}", other) for p in parallelisms for other in (f"there, {p}", LOOP, INLINED)
    ]
    pairs += [(f"{side}, {parallelisms[-1]}", f"{side}, {parallelisms[0]}") for side in SIDES]
    for one, other in pairs:
        if one != other and {one, other} <= rates.keys():
            ratios = sorted(a / b for a, b in zip(rates[one], rates[other], strict=True))
            extremes = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
            yield f"{job}: {one} to {other}: {statistics.median(ratios):.2f} ({extremes})"


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.turns", description=__doc__.splitlines()[0]
    )
    names = sorted(path.stem for path in JOBS.glob("[!_]*.py"))
    parser.add_argument("other", nargs="?", metavar="PYTHON", help="the other interpreter")
    parser.add_argument("--jobs", nargs="*", choices=names, default=names)
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--typed", action="store_true", help="streams have declared types")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--engine", default="auto", help="local, or an engine on Spark: auto")
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, options.engine)
        return 0
    versions = dict(zip(SIDES, filter(None, (sys.executable, options.other))))
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "benchmarks", f"{folder}/benchmarks")
        contestants = {
            name: Contestant(sys.executable, number, folder, options.engine)
            for name, number in ((LOOP, 0), (INLINED, -1))
        }
        for parallelism in options.parallelism:
            for side, python in versions.items():
                contestants[f"{side}, {parallelism}"] = Contestant(
                    python, parallelism, folder, options.engine
                )
        for job in options.jobs:
            rates = compare(job, contestants, options.rounds, options.typed)
            print(*lines(job, rates, options.parallelism), sep="\n", flush=True)
        for contestant in contestants.values():
            contestant.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
