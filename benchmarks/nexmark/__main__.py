"""Prints how many events a second each query of Nexmark takes in, here and on real PyFlink.

    python -m benchmarks.nexmark --pyflink PYTHON [--queries q5 q7] [--events 500000] [--markdown]

PYTHON is the interpreter of an environment that has apache-flink; without it the table has one
column. Both engines read the same files with the same SQL text, and drop what comes out. Each
query is run on few events and on many, which warms it up, and on both again: what the last run
takes longer than the one before is what the events cost. Where that is less than half a second
there is no figure. The cold start is a new process that runs one query on few events.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Run, run
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


def _run(command: list[str], folders: list[Path], queries: list[str], timeout: float) -> Run:
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    arguments = [str(_JOB), *map(str, folders), "--queries", *queries]
    return run([*command, *arguments], env={**os.environ, "PATH": path}, cwd=ROOT, timeout=timeout)


def cold_start(command: list[str], few: Path, timeout: float) -> float:
    """Return the seconds of a process that runs one query."""
    return _run(command, [few], ["q0"], timeout).seconds


def measured(command: list[str], folders: dict[Path, int], options) -> dict[str, Rates]:
    """Return the rates of all queries on one engine."""
    few, many = folders
    done = _run(command, [few, many, few, many], options.queries, options.timeout)
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


def _table(rows: list[list[str]], *, markdown: bool) -> str:
    """Return rows, of which the first one is the head, as text."""
    if markdown:
        rows = [rows[0], ["---", *["---:"] * (len(rows[0]) - 1)], *rows[1:]]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return "\n".join(row[0].ljust(12) + "".join(cell.rjust(18) for cell in row[1:]) for row in rows)


def _figures(rates: Rates | None) -> list[str]:
    return ["", ""] if rates is None else [f"{rates.by_clock:,.0f}", f"{rates.per_core:,.0f}"]


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nexmark", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pyflink", metavar="PYTHON", help="interpreter that has apache-flink")
    parser.add_argument("--queries", nargs="*", choices=QUERIES, default=list(QUERIES))
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--markdown", action="store_true", help="print a table of Markdown")
    parser.add_argument("--timeout", type=float, default=1_800, help="seconds for one engine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nexmark-") as name:
        folders = {Path(name) / str(count): count for count in (_FEW, options.events)}
        for folder, count in folders.items():
            Events(count).write(folder)
        few = next(iter(folders))
        engines = {"here": [sys.executable, "-m", "pyflink_on_spark"]}
        if options.pyflink:
            engines["PyFlink"] = [options.pyflink]
        found = {name: measured(command, folders, options) for name, command in engines.items()}
        starts = [cold_start(command, few, options.timeout) for command in engines.values()]
    head = [cell for name in engines for cell in (f"{name}: events/s", "per core")]
    rows = [["", *head, *(["ratio per core"] if options.pyflink else [])]]
    for query in options.queries:
        rates = [each.get(query) for each in found.values()]
        row = [query, *(cell for rate in rates for cell in _figures(rate))]
        if options.pyflink:
            mine, other = rates
            row.append(f"{mine.per_core / other.per_core:.2f}" if mine and other else "")
        rows.append(row)
    shown = [cell for seconds in starts for cell in (f"{seconds:.1f} s", "")]
    ratio = [f"{starts[1] / starts[0]:.2f}"] if options.pyflink else []
    rows.append(["cold start", *shown, *ratio])
    print(_table(rows, markdown=options.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
