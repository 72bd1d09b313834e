"""Compares two versions of this package on the jobs of `jobs/`, by turns, in Spark that stays warm.

    python -m benchmarks.turns PYTHON [--jobs NAME ...] [--parallelism 1 2] [--rounds 6]

PYTHON is the interpreter of the other version. Each version has one process for each parallelism,
whose Spark stays open. A round runs a job there, here, here and there, so that what the machine
does besides falls on both alike. Printed are the medians in thousands of records per second, the
median of the rounds' ratios of this version to the other one, and the least and the greatest ratio.
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

from benchmarks.ways import JOBS, ROOT

_RECORDS = {
    "event_time_windows": 3_000_000,
    "keyed_reduce": 4_000_000,
    "state_and_timers": 1_500_000,
    "stateless_chain": 12_000_000,
}


class Version:
    """A process of one interpreter that runs jobs when asked.

    Args:
        python: the interpreter, with its own version of this package installed.
        parallelism: of the jobs.
        folder: has the benchmarks, and no version of this package.
    """

    def __init__(self, python, parallelism, folder):
        tools = os.path.dirname(os.path.abspath(python))
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.turns", "--serve", str(parallelism)],
            cwd=folder,
            env=os.environ
            | {"PYTHONPATH": folder, "PYSPARK_PYTHON": python}
            | {"PATH": tools + os.pathsep + os.environ.get("PATH", "")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def rate(self, job, records):
        """Run a job once; return the records per second."""
        print(job, records, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{job} failed")
        return records / float(answer)

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def serve(parallelism):
    """Run the jobs that come on standard input; answer with the seconds."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import pyflink_on_spark

    pyflink_on_spark.install()
    for line in sys.stdin:
        name, records = line.split()
        pipeline = importlib.import_module(f"benchmarks.jobs.{name}").flink
        print(run(pipeline, int(records), parallelism), file=answers, flush=True)


def run(pipeline, records, parallelism):
    """Return how many seconds a job takes."""
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.number_seq import NumberSequenceSource

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    source = NumberSequenceSource(1, records)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    pipeline(env, numbers, records).print("result")
    start = time.monotonic()
    env.execute("benchmark")
    return time.monotonic() - start


def compare(name, here, there, rounds):
    """Return the medians of both versions, and the ratios of the rounds."""
    records = _RECORDS[name]
    for version in (here, there):
        version.rate(name, records // 10)
    ours, theirs, ratios = [], [], []
    for _ in range(rounds):
        first, *two, last = [each.rate(name, records) for each in (there, here, here, there)]
        ours += two
        theirs += [first, last]
        ratios.append(sum(two) / (first + last))
    return statistics.median(ours), statistics.median(theirs), sorted(ratios)


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.turns", description=__doc__.splitlines()[0]
    )
    names = sorted(path.stem for path in JOBS.glob("[!_]*.py"))
    parser.add_argument("other", nargs="?", metavar="PYTHON", help="the other interpreter")
    parser.add_argument("--jobs", nargs="*", choices=names, default=names)
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    if not options.other:
        parser.error("which other interpreter?")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "benchmarks", f"{folder}/benchmarks")
        for parallelism in options.parallelism:
            pythons = sys.executable, options.other
            here, there = (Version(python, parallelism, folder) for python in pythons)
            for name in options.jobs:
                print(line(name, parallelism, *compare(name, here, there, options.rounds)))
                sys.stdout.flush()
            here.end()
            there.end()
    return 0


def line(name, parallelism, ours, theirs, ratios):
    return (
        f"{name}, {parallelism}: {ours / 1000:,.0f} here, {theirs / 1000:,.0f} there, "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


if __name__ == "__main__":
    sys.exit(main())
