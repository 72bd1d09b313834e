"""Throughput, latency and memory of an unbounded job: windows of event time, with checkpoints.

    python -m benchmarks.continuous [--pyflink PYTHON] [--keys 1000 100000 1000000] [--seconds 120]

PYTHON is the interpreter of an environment that has apache-flink; without it the tables have no
rows of real PyFlink.

Throughput: each way makes records as fast as it can. Counted are the records of the windows that
came out; "per core" is by the processor time of all processes together. Memory is what the
processes with the user's functions have, in the first, second and last third of the time.

Latency: records are made at a rate, each at its own time. A result's latency is the time from the
end of its window, when the record was made that lets it fire, until a sink has the result. What it
is compared with is the least that a query of micro-batches needs: a chain of them with two stages
and a shuffle that do nothing, where a record comes into the first micro-batch that begins after it
was made.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.continuous import figures
from benchmarks.continuous.observe import observe
from benchmarks.measure import CommandFailed
from benchmarks.ways import OURS, ROOT, SPARK_BY_HAND, Way

JOBS = ROOT / "benchmarks" / "continuous" / "jobs"
FLOOR = "empty micro-batches"


@dataclass(frozen=True)
class Contestant:
    """A way to do the job: its script, and which processes have the user's functions."""

    name: str
    way: Way
    script: str
    options: tuple[str, ...] = ()
    workers: str = "python"

    def command(self, folder, keys, options, sizes):
        """Return the command line."""
        same = ["--folder", folder, "--keys", keys, "--parallelism", options.parallelism]
        same += ["--checkpoint", round(1000 * options.checkpoint)]
        words = [*self.way.interpreter, JOBS / self.script, *same, *sizes, *self.options]
        return [str(word) for word in words]


def contestants(options):
    """Ours first, since the others are compared with it."""
    found = [
        Contestant("pyflink_on_spark", OURS, "windows.py"),
        Contestant("the same, on disk", OURS, "windows.py", ("--disk",)),
        Contestant("PySpark by hand", SPARK_BY_HAND, "windows_by_hand.py"),
    ]
    if options.pyflink:
        way = Way("PyFlink, thread", (options.pyflink,), "flink")
        found.append(Contestant(way.name, way, "windows.py", workers="java"))
    names = [each.name for each in found]
    unknown = [name for name in options.ways if name not in names]
    if unknown:
        raise SystemExit(f"no way is called {unknown[0]!r}; there are: {', '.join(names)}")
    return [each for each in found if not options.ways or each.name in options.ways]


def watch(contestant, keys, options, sizes):
    """Run a job; return the folder's notes after the warm-up, its samples, and the folder."""
    with tempfile.TemporaryDirectory() as folder:
        samples = observe(
            contestant.command(folder, keys, options, sizes),
            env=contestant.way.env,
            cwd=ROOT,
            folder=Path(folder),
            warm_up=options.warm_up,
            seconds=options.seconds,
        )
        if contestant.name == FLOOR:
            return figures.read_batches(Path(folder), since=samples[0].at), samples
        return figures.read_notes(Path(folder), since=samples[0].at), samples


def throughput(contestant, keys, options):
    """Return a row: records per second, per core, memory."""
    rows = options.rows or (100_000 if keys <= 10_000 else 5_000)
    sizes = ["--window", round(1000 * options.window), "--rows", rows]
    notes, samples = watch(contestant, keys, options, sizes)
    rate = figures.records_per_second(notes)
    if rate is None:
        raise CommandFailed(f"{contestant.name}: fewer than two windows within the time")
    course = figures.memory_course(samples, contestant.workers)
    return rate, rate / figures.cores_used(samples), course


def latency(contestant, keys, options):
    """Return a row: median and 99th percentile in ms."""
    sizes = ["--window", options.latency_window, "--rate", options.rate]
    notes, _ = watch(contestant, keys, options, sizes)
    measure: Callable = figures.window_latencies
    if contestant.name == FLOOR:
        measure = figures.batch_latencies
    weighted = measure(notes)
    if not weighted:
        raise CommandFailed(f"{contestant.name}: nothing came out within the time")
    return figures.percentile(weighted, 0.5), figures.percentile(weighted, 0.99)


def throughput_line(name, row, ours):
    """Return a line of the first table."""
    rate, per_core, course = row
    memory = " ".join(f"{size:6,.0f}" for size in course)
    note = "" if figures.is_flat(course) else " grows"
    text = f"{name:22}{rate:12,.0f}{per_core:12,.0f}"
    if ours is None or ours is row:
        return f"{text}{'':18}  {memory}{note}"
    return f"{text}{ours[0] / rate:8.1f}x{ours[1] / per_core:8.1f}x  {memory}{note}"


def latency_line(name, row, floor):
    """Return a line of the second table."""
    text = f"{name:22}{row[0]:10,.0f}{row[1]:10,.0f}"
    if floor is None or floor is row:
        return text
    return text + "".join(f"{mine / least:9.2f}x" for mine, least in zip(row, floor, strict=True))


def table(rows, measure, line, head, options):
    """Print a table for each number of keys; return whether all ways ran."""
    well = True
    for keys in options.keys:
        print(f"\n{head(keys)}")
        reference = None
        for contestant in rows:
            try:
                row = measure(contestant, keys, options)
            except CommandFailed as failure:
                print(f"{contestant.name:22}failed: {failure}", flush=True)
                well = False
                continue
            reference = reference or row
            print(line(contestant.name, row, reference), flush=True)
    return well


def parse(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.continuous", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pyflink", metavar="PYTHON", help="interpreter that has apache-flink")
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--seconds", type=float, default=120, help="measured, of each run")
    parser.add_argument("--warm-up", type=float, default=10, help="seconds before that")
    parser.add_argument("--checkpoint", type=float, default=3, help="seconds between two")
    parser.add_argument("--window", type=float, default=5, help="seconds")
    parser.add_argument("--rate", type=float, default=1_000, help="records a second, for latency")
    parser.add_argument("--latency-window", type=int, default=1_000, help="ms")
    parser.add_argument("--rows", type=int, help="in a micro-batch of PySpark by hand")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument(
        "--ways", nargs="*", default=[], help="only those, by their names in the table"
    )
    parser.add_argument("--only", choices=["throughput", "latency"])
    return parser.parse_args(arguments)


def main(arguments):
    """Run."""
    options = parse(arguments)
    load = os.getloadavg()[0]
    print(
        f"{options.seconds:g} s each, checkpoints every {options.checkpoint:g} s, parallelism "
        f"{options.parallelism}; {os.cpu_count()} cores, load {load:.1f} before"
    )
    ways, well = contestants(options), True
    if options.only != "latency":
        well = table(
            ways, throughput, throughput_line, lambda k: throughput_head(k, options), options
        )
    if options.only != "throughput":
        floor = Contestant(FLOOR, SPARK_BY_HAND, "empty_chain.py")
        rows = [floor, *(way for way in ways if "--disk" not in way.options)]
        well &= table(rows, latency, latency_line, lambda k: latency_head(k, options), options)
    return 0 if well else 1


def throughput_head(keys, options):
    """Return the first table's head."""
    title = f"windows of {options.window:g} s, {keys:,} keys"
    columns = f"{'records/s':>12}{'per core':>12}{'ours is':>9}{'per core':>9}"
    return f"{title}\n{'':22}{columns}  memory of workers, MB"


def latency_head(keys, options):
    """Return the second table's head."""
    title = f"latency at {options.rate:,.0f} records/s, {keys:,} keys, ms"
    return f"{title}\n{'':22}{'median':>10}{'99 %':>10}{'of empty batches':>19}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
