"""Prints how many events a second each query of Nexmark takes in, here and on real PyFlink.

    python -m benchmarks.nexmark --pyflink PYTHON [--queries q5 q7] [--events 500000]

PYTHON is the interpreter of an environment that has apache-flink; without it the table has one
column. Both engines read the same files with the same SQL text, and drop what comes out. Each
query is run on few events, which warms it up, on few again, and on many: what the last run takes
longer is what the events cost. Where that is less than half a second there is no figure.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import run
from benchmarks.nexmark.events import Events
from benchmarks.nexmark.queries import QUERIES
from benchmarks.ways import ROOT

_FEW = 20_000
_LEAST_SECONDS = 0.5
_JOB = Path(__file__).with_name("job.py")


@dataclass(frozen=True)
class Rates:
    """Events per second: by the clock, and of processor time."""

    by_clock: float
    per_core: float


def measured(command: list[str], folders: dict[Path, int], options) -> dict[str, Rates]:
    """Return the rates of all queries on one engine."""
    few, many = folders
    ours = {**os.environ, "PATH": f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"}
    done = run(
        [*command, str(_JOB), str(few), str(few), str(many), "--queries", *options.queries],
        env=ours,
        cwd=ROOT,
        timeout=options.timeout,
    )
    costs: dict[tuple[str, Path], tuple[float, float]] = {}
    for line in done.output.splitlines():
        tag, arrow, text = line.partition("> ")
        if arrow and tag == "result":
            query, folder, seconds, busy = text.split()
            costs[query, Path(folder)] = float(seconds), float(busy)
    rates = {}
    for query in options.queries:
        one, two = costs[query, few], costs[query, many]
        events = folders[many] - folders[few]
        seconds, busy = (more - less for less, more in zip(one, two))
        if min(seconds, busy) >= _LEAST_SECONDS:
            rates[query] = Rates(events / seconds, events / busy)
    return rates


def _shown(rates: Rates | None) -> str:
    if rates is None:
        return f"{'-':>12}{'-':>12}"
    return f"{rates.by_clock:12,.0f}{rates.per_core:12,.0f}"


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nexmark", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pyflink", metavar="PYTHON", help="interpreter that has apache-flink")
    parser.add_argument("--queries", nargs="*", choices=QUERIES, default=list(QUERIES))
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--timeout", type=float, default=1_800, help="seconds for one engine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nexmark-") as name:
        folders = {Path(name) / str(count): count for count in (_FEW, options.events)}
        for folder, count in folders.items():
            Events(count).write(folder)
        ours = measured([sys.executable, "-m", "pyflink_on_spark"], folders, options)
        theirs = {}
        if options.pyflink:
            theirs = measured([options.pyflink], folders, options)
    print(f"{'':6}{'events/s':>12}{'per core':>12}{'PyFlink':>12}{'per core':>12}{'ours is':>10}")
    for query in options.queries:
        mine, other = ours.get(query), theirs.get(query)
        line = f"{query:6}{_shown(mine)}{_shown(other)}"
        if mine is not None and other is not None:
            line += f"{mine.per_core / other.per_core:9.2f}x"
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
