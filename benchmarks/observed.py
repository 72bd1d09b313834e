"""What the log, the page and Prometheus cost a job on Spark: runs with and without them, in pairs.

    python -m benchmarks.observed [--records 8_000_000] [--pairs 5]

The job counts 1,000 keys at parallelism 2, with a checkpoint each second. In an observed run the
driver logs at INFO, a page is refreshed every 3 s, and the metrics are scraped every 10 s. The
processor time is compared, because the clock shows what else the machine does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

from benchmarks.measure import run
from benchmarks.operation import FIGURES

ROOT = Path(__file__).resolve().parents[1]
PAGE_SECONDS, SCRAPE_SECONDS = 3, 10
KEYS = 1_000
FACTORY = "org.apache.flink.metrics.prometheus.PrometheusReporterFactory"
JOB = f"""
import sys
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

records = int(sys.argv[1])
env = StreamExecutionEnvironment.get_execution_environment()
numbers = NumberSequenceSource(1, records)
(
    env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    .map(lambda n: (n % {KEYS}, 1))
    .key_by(lambda pair: pair[0], Types.LONG())
    .reduce(lambda a, b: (a[0], a[1] + b[1]))
    .filter(lambda pair: pair[1] == records // {KEYS})
    .print()
)
env.execute("observed")
"""
PARTS = {"hosts": ("python", "python3"), "driver": ("command",), "JVM": ("java",)}


class Watcher(threading.Thread):
    """Asks what an open page and Prometheus ask for, until it is ended."""

    def __init__(self, rest, prometheus):
        super().__init__(daemon=True)
        self._rest, self._prometheus = rest, prometheus
        self._over = threading.Event()
        self.looks = self.scrapes = 0

    def run(self):
        second = 0
        while not self._over.wait(1):
            second += 1
            with contextlib.suppress(OSError):  # the driver begins to listen later
                if second % PAGE_SECONDS == 0:
                    self._look()
                if second % SCRAPE_SECONDS == 0:
                    self._ask(self._prometheus, "/metrics")
                    self.scrapes += 1

    def _look(self):
        for job in json.loads(self._ask(self._rest, "/jobs"))["jobs"]:
            path = f"/jobs/{job['id']}"
            told = json.loads(self._ask(self._rest, path))
            for rest in ("/checkpoints", "/exceptions", "/config", "/accumulators", "/state"):
                self._ask(self._rest, path + rest)
            for vertex in told["vertices"]:
                of = f"{path}/vertices/{vertex['id']}"
                each = ",".join(f"{n}.numRecordsIn" for n in range(vertex["parallelism"]))
                self._ask(self._rest, f"{of}/subtasks/metrics?get={FIGURES}")
                self._ask(self._rest, f"{of}/metrics?get={each}")
            self.looks += 1

    def _ask(self, port, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.read()

    def end(self):
        self._over.set()
        self.join()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def run_job(folder, records, observed):
    """Run the job; return its processor seconds by part."""
    script = Path(folder, "job.py")
    script.write_text(JOB)
    options = ["-Denv.log.level=OFF"]
    watcher = None
    if observed:
        rest, prometheus = free_port(), free_port()
        reporter = "metrics.reporter.prom"
        options = [
            f"-Drest.port={rest}", "-Dmetrics.reporters=prom", f"-D{reporter}.port={prometheus}",
            f"-D{reporter}.factory.class={FACTORY}",
        ]  # fmt: skip
        watcher = Watcher(rest, prometheus)
        watcher.start()
    done = run(
        [
            sys.executable, "-m", "pyflink_on_spark", "run", "-p", "2", *options,
            "-Dexecution.checkpointing.interval=1 s",
            f"-Dexecution.checkpointing.dir=file://{folder}/checkpoints", script, str(records),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=folder, timeout=200,
    )  # fmt: skip
    assert done.output.count("\n") == KEYS, done.output[-1000:]
    if watcher is not None:
        watcher.end()
        assert watcher.looks, "the page was never asked for"
    return {
        part: sum(seconds for name, seconds in done.parts.items() if name in programs)
        for part, programs in PARTS.items()
    } | {"all": done.processor_seconds}


def main(arguments):
    """Print a table."""
    parser = argparse.ArgumentParser(description="What the log, the page and Prometheus cost.")
    parser.add_argument("--records", type=int, default=8_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args(arguments)
    runs = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(given.pairs):
            for observed in (pair % 2 == 0, pair % 2 == 1):
                runs[observed].append(run_job(folder, given.records, observed))
                print(observed, runs[observed][-1], file=sys.stderr, flush=True)
    print("| processor seconds | without | with | median of the pairs' differences |")
    print("| --- | ---: | ---: | ---: |")
    for part in (*PARTS, "all"):
        plain, watched = ([each[part] for each in runs[observed]] for observed in (False, True))
        more = statistics.median(b - a for a, b in zip(plain, watched, strict=True))
        print(
            f"| {part} | {statistics.median(plain):.2f} | {statistics.median(watched):.2f} "
            f"| {more:+.2f} s, {100 * more / statistics.median(plain):+.1f} % |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
