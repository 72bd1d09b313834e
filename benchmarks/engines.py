"""Compares the engines `hosts` and `structured`: start, latency, idle cost, recovery, throughput.

    python -m benchmarks.engines [watch | kernels] [--engines hosts structured] [--parallelism 1 2]
                                 [--pyspark]

Each row of `watch` is an unbounded job in a process of its own. It reads files of a folder and
counts their lines by key, with an exchange, and is watched through what it collects. `kernels` runs
the bounded jobs of `jobs/` by turns, from their start to their end, in processes whose Spark stays
open; with `--pyspark` these jobs written by hand for PySpark are further rows, whose time includes
that in which Spark writes their input. Both print rows as the files in `results/` have them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.turns import Contestant
from benchmarks.ways import ROOT
from pyflink_on_spark.common import Configuration, Duration, Types, WatermarkStrategy
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.state import ValueStateDescriptor

KERNELS = {
    "stateless_chain": 6_000_000,
    "keyed_reduce": 2_000_000,
    "state_and_timers": 750_000,
    "event_time_windows": 1_500_000,
}
"""The bounded jobs, and how many records each reads."""
BY_HAND = {
    ("stateless_chain", "spark"): 6_000_000,
    ("keyed_reduce", "spark"): 2_000_000,
    ("keyed_reduce", "spark_pandas"): 2_000_000,
    ("state_and_timers", "spark"): 50_000,
    ("event_time_windows", "spark"): 1_500_000,
    ("event_time_windows", "spark_state"): 1_500_000,
}
"""The same by hand. Each registered timer is a call from Python to Java, about a millisecond."""
COLUMNS = (
    "engine", "subtasks", "start (s)", "latency (s)", "longest (s)", "batch (s)", "opened",
    "idle (% of a core)", "recovery (s)",
)  # fmt: skip


class Count(MapFunction):
    """Counts the lines of a key; notes where it was opened."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        index = runtime_context.get_index_of_this_subtask()
        (self._notes / f"{os.getpid()}-{index}-{time.time_ns()}").touch()

    def map(self, value: str) -> str:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        return value


class Watched:
    """An unbounded job, and what it has collected when.

    Args:
        engine: that runs it.
        parallelism: of all that can have one.
        folder: for everything.
        interval: of checkpoints; None for micro-batches as they come, without a restart.
    """

    def __init__(
        self, engine: str, parallelism: int, folder: Path, interval: str | None = None
    ) -> None:
        folder.mkdir(exist_ok=True)
        self._input, self.notes = folder / "input", folder / "notes"
        self.homes = folder / "checkpoints"
        self._input.mkdir()
        self.notes.mkdir()
        self._seen: dict[str, float] = {}
        self._changed = threading.Condition()
        settings = {
            "execution.checkpointing.dir": self.homes.as_uri(),
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "100",
            "restart-strategy.fixed-delay.delay": "0 ms",
        }
        if interval is not None:
            settings["execution.checkpointing.interval"] = interval
        env = environment(engine, parallelism, settings)
        files = FileSource.for_record_stream_format(
            StreamFormat.text_line_format(), str(self._input)
        ).monitor_continuously(Duration.of_millis(50))
        lines = env.from_source(files.build(), WatermarkStrategy.no_watermarks(), "lines")
        keyed = lines.key_by(lambda line: line.partition(",")[0], Types.STRING())
        self._results = keyed.map(Count(self.notes), Types.STRING()).execute_and_collect()
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self) -> None:
        for line in self._results:
            with self._changed:
                self._seen.setdefault(line, time.monotonic())
                self._changed.notify_all()

    def write(self, name: str) -> float:
        """Write a file with a line, and return when."""
        line = f"{random.randrange(8)},{name}"
        self._last = line
        hidden = self._input / f".{name}"
        hidden.write_text(line)
        hidden.rename(self._input / name)
        return time.monotonic()

    def seconds_to(self, name: str, patience: float = 120.0) -> float:
        """Write a file; return the seconds until its line is collected."""
        begun, line = self.write(name), self._last
        with self._changed:
            if not self._changed.wait_for(lambda: line in self._seen, patience):
                raise TimeoutError(f"{name} was not collected within {patience} s")
        return self._seen[line] - begun

    def micro_batch(self) -> float | None:
        """Return the mean time from one micro-batch to the next."""
        commits = sorted(
            (int(path.name), path.stat().st_mtime)
            for path in self.homes.glob("*/query/commits/[0-9]*")
        )[3:]
        if len(commits) < 2:
            return None
        (first, begin), (last, end) = commits[0], commits[-1]
        return (end - begin) / (last - first)

    def processes(self) -> list[int]:
        """Return the processes that run the counting function."""
        return sorted({int(path.name.partition("-")[0]) for path in self.notes.iterdir()})


def environment(engine: str, parallelism: int, settings: dict[str, str]) -> Any:
    """Return an environment for an engine."""
    configuration = Configuration()
    own = {"pyflink-on-spark.engine": engine, "spark.master": "local[4]"}
    for key, value in {**own, "pyflink-on-spark.progress": "OFF", **settings}.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    return env


def processor_seconds() -> float:
    """Return the processor time of this process and of all its session."""
    ticks, session = 0, os.getsid(0)
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def watch(engine: str, parallelism: int, folder: Path) -> Iterator[str]:
    """Measure an unbounded job; yield the cells of its row."""
    begun = time.monotonic()
    job = Watched(engine, parallelism, folder, "1 s" if engine == "hosts" else None)
    job.seconds_to("first")
    yield f"{time.monotonic() - begun:.1f}"
    for number in range(5):
        job.seconds_to(f"warm-{number}")
    latencies = []
    for number in range(20):
        time.sleep(random.uniform(0.05, 1.0))
        latencies.append(job.seconds_to(f"measured-{number}"))
    yield f"{statistics.median(latencies):.2f}"
    yield f"{max(latencies):.2f}"
    between = job.micro_batch()
    yield "-" if between is None else f"{between:.2f}"
    yield str(len(list(job.notes.iterdir())))
    before, begun = processor_seconds(), time.monotonic()
    time.sleep(15)
    yield f"{100 * (processor_seconds() - before) / (time.monotonic() - begun):.0f}"
    if engine != "hosts":
        job = Watched(engine, parallelism, folder / "restarted", "10 ms")
        job.seconds_to("first")
    os.kill(job.processes()[0], signal.SIGKILL)
    yield f"{job.seconds_to('after the kill'):.1f}"


def kernels(engines: list[str], parallelisms: list[int], rounds: int) -> Iterator[list[str]]:
    """Measure bounded jobs; yield rows of thousands of records per second."""
    sides = [(engine, parallelism) for engine in engines for parallelism in parallelisms]
    contestants = {
        (engine, parallelism): Contestant(sys.executable, parallelism, str(ROOT), engine)
        for engine, parallelism in sides
    }
    for job, records in KERNELS.items():
        for contestant in contestants.values():
            contestant.rate(job, records // 10, typed=True)
        found: dict[tuple[str, int], list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, contestant in contestants.items():
                found[side].append(contestant.rate(job, records, typed=True) / 1000)
        rates = [f"{statistics.median(found[side]):,.0f}" for side in sides]
        yield [job.replace("_", " "), f"{records:,}", *rates]
    for contestant in contestants.values():
        contestant.end()


def by_hand(parallelisms: list[int], rounds: int) -> Iterator[list[str]]:
    """Measure the bounded jobs in PySpark; yield rows of thousands of records per second."""
    contestants = [Contestant(sys.executable, each, str(ROOT), "pyspark") for each in parallelisms]
    for (job, way), records in BY_HAND.items():
        cells = []
        for contestant in contestants:
            contestant.rate(job, records // 10, False, way)
            found = [contestant.rate(job, records, False, way) for _ in range(rounds)]
            cells.append(f"{statistics.median(found) / 1000:,.1f}")
        yield [job.replace("_", " "), way, f"{records:,}", *cells]
    for contestant in contestants:
        contestant.end()


def main() -> None:
    """Print the rows of a table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="?", choices=("watch", "kernels"), default="watch")
    parser.add_argument("--engines", nargs="+", default=["hosts", "structured"])
    parser.add_argument("--parallelism", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pyspark", action="store_true", help="kernels: by hand as well")
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row is not None:
        engine, parallelism = options.row
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for cell in watch(engine, int(parallelism), Path(folder)):
                print(cell, flush=True)
        os._exit(0)  # the job runs on
    if options.what == "kernels":
        for cells in kernels(options.engines, options.parallelism, options.rounds):
            print(json.dumps(cells), flush=True)
        if options.pyspark:
            for cells in by_hand(options.parallelism, options.rounds):
                print(json.dumps(cells), flush=True)
        return
    print(json.dumps(COLUMNS))
    for engine in options.engines:
        for parallelism in options.parallelism:
            command = [
                sys.executable,
                "-m",
                "benchmarks.engines",
                "--row",
                engine,
                str(parallelism),
            ]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True, start_new_session=True
            )
            print(json.dumps([engine, str(parallelism), *done.stdout.split()]), flush=True)


if __name__ == "__main__":
    main()
