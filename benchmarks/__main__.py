"""Prints a table of ratios for every job of `jobs/`, and for the cold start of the word count.

    python -m benchmarks [--pyflink PYTHON] [--peers PYTHON] [--jobs NAME ...] [--seconds 10]
        [--parallelism 1 2] [--repeat 3] [--without "PyFlink, process" ...]

PYTHON is the interpreter of an environment that has apache-flink, or bytewax and pathway; without
it the table has no rows of them.

Each way is run on a few records and on many, and what the second run takes longer is what the
records cost: start-up, and all else that does not depend on their number, cancels out. The large
number grows until that difference lasts `--seconds`. "records" and "seconds" are the large run's,
as a whole; "per core" is records per second of processor time, of all processes together. Of
repeated runs the median counts. Ways that always use one core are run with one parallelism only.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from dataclasses import dataclass

from benchmarks.measure import CommandFailed, run
from benchmarks.ways import (
    CALLS,
    JOBS,
    LOOP,
    OURS,
    ROOT,
    SPARK_BY_HAND,
    SPARK_OTHERWISE,
    Way,
    flink_ways,
    peer_ways,
)

SMALL = 20_000
# Jobs have 1,000 keys, and each key the same number of records.
STEP = 10_000
MOST = 200_000_000


@dataclass(frozen=True)
class Figures:
    """The cost of one way of a job."""

    way: Way
    records: int
    whole_seconds: float
    rate: float
    rate_per_core: float
    results: list[str]


class Bench:
    """Runs the ways of one job and keeps to the limits that the command line set."""

    def __init__(self, options, parallelism):
        self.options = options
        self.parallelism = parallelism

    def run(self, way, job, records):
        return run(
            way.command(job, records, self.parallelism),
            env=way.env,
            cwd=ROOT,
            timeout=self.options.timeout,
        )

    def measure(self, way, job):
        small = self.median([self.run(way, job, SMALL) for _ in range(self.options.repeat)])
        records = 10 * SMALL
        large = self.run(way, job, records)
        while (cost := self.cost(small, large)) < self.options.seconds and records < MOST:
            growth = min(max(1.2 * self.options.seconds / cost, 2), 20)
            records = min(MOST, round(records * growth / STEP) * STEP)
            large = self.run(way, job, records)
        more = [self.run(way, job, records) for _ in range(self.options.repeat - 1)]
        large = self.median([large, *more])
        seconds, busy = self.difference(small, large)
        return Figures(
            way=way,
            records=records,
            whole_seconds=large.seconds,
            rate=(records - SMALL) / seconds,
            rate_per_core=(records - SMALL) / busy,
            results=result_lines(small.output),
        )

    def difference(self, small, large):
        """Return the additional time of the large run: by the clock, and of processors."""
        return (
            max(large.seconds - small.seconds, 0.01),
            max(large.processor_seconds - small.processor_seconds, 0.01),
        )

    def cost(self, small, large):
        # What else the machine does lengthens the time, but hardly the processor time.
        return min(self.difference(small, large))

    def median(self, runs):
        return sorted(runs, key=lambda each: each.seconds)[(len(runs) - 1) // 2]


def result_lines(output):
    """Return the printed lines after `result> ` or `result:SUBTASK> `, in a fixed order."""
    lines = (line.partition("> ") for line in output.splitlines())
    return sorted(text for tag, arrow, text in lines if arrow and tag.split(":")[0] == "result")


def ways_of(job, options):
    """The ways that the job's own script knows, of those that can be run here."""
    asked = subprocess.run(
        [sys.executable, str(job), "ways"],
        env=LOOP.env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    known = asked.stdout.split()
    flink = flink_ways(options.pyflink) if options.pyflink else []
    peers = peer_ways(options.peers) if options.peers else []
    ways = [OURS, *flink, SPARK_BY_HAND, *SPARK_OTHERWISE, *peers, LOOP, CALLS]
    return [way for way in ways if way.way in known and way.name not in options.without]


def bench_job(job, options):
    """Print the job's tables; return whether all ways ran, with the same results."""
    ways, well = ways_of(job, options), True
    for place, parallelism in enumerate(options.parallelism):
        if place > 0:
            ways = [way for way in ways if way.way == OURS.way]
        well = bench_ways(job, ways, options, parallelism) and well
    return well


def bench_ways(job, ways, options, parallelism):
    """Print one table; return whether all ways ran, with the same results."""
    print(f"\n{job.stem}, parallelism {parallelism}")
    print(
        f"{'':20}{'records':>12}{'seconds':>9}{'records/s':>12}{'per core':>12}"
        f"{'ours is':>9}{'per core':>10}"
    )
    bench, ours, results, well = Bench(options, parallelism), None, None, True
    for way in ways:
        try:
            figures = bench.measure(way, job)
        except CommandFailed as failure:
            print(f"{way.name:20}failed: {failure}", flush=True)
            well = False
            continue
        ours = figures if way is OURS else ours
        results = figures.results if results is None else results
        same = figures.results == results and bool(results)
        well = well and same
        print(row(figures, ours) + ("" if same else "  OTHER RESULTS"), flush=True)
    return well


def row(figures, ours):
    text = (
        f"{figures.way.name:20}{figures.records:12,}{figures.whole_seconds:9.1f}"
        f"{figures.rate:12,.0f}{figures.rate_per_core:12,.0f}"
    )
    if ours is None or ours is figures:
        return text
    by_clock = ratio(ours.rate / figures.rate)
    by_core = ratio(ours.rate_per_core / figures.rate_per_core)
    return text + f"{by_clock:>9}{by_core:>10}"


def ratio(number):
    return f"{number:.2f}x" if number < 10 else f"{number:.0f}x"


def bench_cold_start(options):
    """Print how long the word count takes from the command line's Enter to its end."""
    print("\ncold start: examples/word_count.py, a file of 300 lines, from start to end")
    script = str(ROOT / "examples" / "word_count.py")
    ways = [OURS, *(flink_ways(options.pyflink)[:1] if options.pyflink else [])]
    ours, well = None, True
    for way in ways:
        command = [*way.interpreter, script]
        try:
            runs = [
                run(command, env=way.env, cwd=ROOT, timeout=options.timeout)
                for _ in range(max(options.repeat, 3))
            ]
        except CommandFailed as failure:
            print(f"{way.name:20}failed: {failure}", flush=True)
            well = False
            continue
        median = statistics.median(each.seconds for each in runs)
        ours = median if way is OURS else ours
        against = "" if way is OURS or ours is None else f"  ours takes {ours / median:.2f} of it"
        print(
            f"{way.name:20}first {runs[0].seconds:5.1f} s, median {median:5.1f} s{against}",
            flush=True,
        )
    return well


def main():
    jobs = {path.stem: path for path in sorted(JOBS.glob("[!_]*.py"))}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pyflink", metavar="PYTHON", help="interpreter that has apache-flink")
    parser.add_argument("--peers", metavar="PYTHON", help="one that has bytewax and pathway")
    parser.add_argument("--jobs", nargs="*", choices=jobs, default=list(jobs))
    parser.add_argument("--seconds", type=float, default=10, help="what the records should cost")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the median counts")
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1])
    parser.add_argument("--without", nargs="*", default=[], metavar="WAY", help="ways to leave out")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run")
    parser.add_argument("--no-cold-start", action="store_true")
    options = parser.parse_args()
    well = [bench_job(jobs[name], options) for name in options.jobs]
    if not options.no_cold_start:
        well.append(bench_cold_start(options))
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
