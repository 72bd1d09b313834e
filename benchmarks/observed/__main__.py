"""The cost of reports, log, page and Prometheus for a job on Spark: one job, observed by turns.

    python -m benchmarks.observed [--slices 120] [--seconds 3]

The job counts 1,000 keys as fast as it can, at parallelism 2, with a checkpoint each second. It
runs all the time. In slices of some seconds, in the order off, on, on, off, it is observed or not:

- On: hosts report to the driver each 0.5 s, the driver shows its line of progress and logs each
  checkpoint and a heartbeat each 5 s. In a slice of 3 s an open page, with the log shown, is
  refreshed once, and Prometheus scrapes the metrics once, which is more than it usually does.
- Off: none of that. A thread in each process, which is there in both, stops reports and log.

Compared is the processor time of all processes of the job per record, between neighbours, so that
what else the machine does touches both. The interval is a bootstrap of the median. Hosts scatter
more than observing costs if others use the machine; so the time in their reports is also taken by a
clock around the calls, and the line "reports, driver and JVM" has all that changes with observing.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.measure import TICKS_PER_SECOND, end_session, processes_of
from benchmarks.observed.switch import Switches
from benchmarks.observed.watcher import Watcher

ROOT = Path(__file__).resolve().parents[2]
JOB = Path(__file__).with_name("job.py")
FACTORY = "org.apache.flink.metrics.prometheus.PrometheusReporterFactory"
HOSTS = 2
SETTLE_SECONDS, WARM_SECONDS, START_SECONDS = 0.3, 15, 120
RESAMPLES = 10_000
PARTS = {
    "hosts": "hosts",
    "reports": "of them reports, by the clock around the calls",
    "driver": "driver",
    "JVM": "JVM",
    "observing": "reports, driver and JVM",
    "all": "all",
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def running(folder, port, rest, prometheus):
    """Run the job; yields its process, which leads the session of all of them."""
    reporter = "metrics.reporter.prom"
    settings = {
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.dir": f"file://{folder}/checkpoints",
        "rest.port": rest,
        "metrics.reporters": "prom",
        f"{reporter}.port": prometheus,
        f"{reporter}.factory.class": FACTORY,
        "pyflink-on-spark.hosts": HOSTS,
        "pyflink-on-spark.progress": "ON",
        "pyflink-on-spark.log.heartbeat-interval": "5 s",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    run = [sys.executable, "-m", "pyflink_on_spark", "run", "-p", "2", *options, JOB, str(port)]
    with Path(folder, "output").open("wb") as output:
        process = subprocess.Popen(
            run, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=output,
            stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        end_session(process.pid)
        process.wait()


def spent(leader):
    """Return the processor seconds of a job's processes so far, by part.

    What a process adds up for children that have ended counts as its own.
    """
    found = defaultdict(float)
    for process in processes_of(leader):
        part = "JVM" if process.program == "java" else "hosts"
        part = "driver" if process.id == leader else part
        found[part] += (process.ticks + process.ticks_of_ended) / TICKS_PER_SECOND
    return {**found, "all": sum(found.values())}


def reading(leader, switches):
    """Return the time, the records so far, and the processor seconds so far."""
    records, reports = switches.count()
    parts = spent(leader)
    observing = reports + parts["driver"] + parts["JVM"]
    return time.monotonic(), records, {**parts, "reports": reports, "observing": observing}


def slice_of(leader, switches, watcher, seconds, observed):
    """Let the job run for a slice; return records per second, and seconds per million records."""
    switches.turn(observed)
    time.sleep(SETTLE_SECONDS)
    began, before, spent_before = reading(leader, switches)
    if observed:
        watcher.watch(seconds)
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    ended, after, spent_after = reading(leader, switches)
    millions = (after - before) / 1e6
    each = {part: (spent_after[part] - spent_before[part]) / millions for part in PARTS}
    return {"rate": (after - before) / (ended - began), **each}


def order_of(slices):
    """Return whether each slice is observed: off, on, on, off, and so on."""
    return [number % 4 in (1, 2) for number in range(slices)]


def differences(slices, part):
    """Return by how much a part is more when observed, of each pair, as a share of all parts."""
    order = order_of(len(slices))
    found = []
    for number in range(0, len(slices) - 1, 2):
        pair = slices[number : number + 2]
        off, on = pair if order[number + 1] else reversed(pair)
        whole = "rate" if part == "rate" else "all"
        found.append((on[part] - off[part]) / off[whole])
    return found


def interval(figures, share=0.95):
    """Return a bootstrap interval of the median of some figures."""
    choose = random.Random(0).choices
    medians = sorted(statistics.median(choose(figures, k=len(figures))) for _ in range(RESAMPLES))
    cut = round(len(medians) * (1 - share) / 2)
    return medians[cut], medians[-cut - 1]


def table(slices):
    """Return a table as Markdown."""
    head = f"processor seconds per million records, {len(slices)} slices"
    lines = [
        f"| {head} | off | on | median of the pairs' differences | 95 % interval |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    order = order_of(len(slices))
    for part in (*PARTS, "rate"):
        off, on = (
            statistics.median(
                each[part] for each, observed in zip(slices, order, strict=True) if observed is on
            )
            for on in (False, True)
        )
        more = differences(slices, part)
        low, high = interval(more)
        name = PARTS.get(part, "records per second")
        form = ",.0f" if part == "rate" else ".4f"
        lines.append(
            f"| {name} | {off:{form}} | {on:{form}} | {100 * statistics.median(more):+.2f} % "
            f"| {100 * low:+.2f} % to {100 * high:+.2f} % |"
        )
    return lines


def measured(folder, count, seconds):
    """Run the job; return its slices."""
    rest, prometheus = free_port(), free_port()
    slices = []
    with Switches() as switches, running(folder, switches.port, rest, prometheus) as process:
        try:
            switches.wait_for(HOSTS, START_SECONDS)
            watcher = Watcher(rest, prometheus)
            time.sleep(WARM_SECONDS)
            for observed in order_of(count):
                slices.append(slice_of(process.pid, switches, watcher, seconds, observed))
                print(observed, slices[-1], file=sys.stderr, flush=True)
        except (OSError, ZeroDivisionError):
            print(Path(folder, "output").read_text()[-3000:], file=sys.stderr)
            raise
    return slices


def main(arguments):
    """Print a table."""
    parser = argparse.ArgumentParser(description="What observing a job costs it.")
    parser.add_argument("--slices", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        print(*table(measured(folder, given.slices, given.seconds)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
