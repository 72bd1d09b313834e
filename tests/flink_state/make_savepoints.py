"""Makes the savepoints in this folder with real PyFlink, and what jobs emit that are not stopped.

    python tests/flink_state/make_savepoints.py NAME... "all of JOB"...

Each savepoint has the first half of the input; ``NAME.txt`` has the results of all of it. Run it
with the Python of an environment with ``apache-flink``. Those with 1.20 in their names were made
with PyFlink 1.20.0 under the names without it, and renamed; those with 1.18 with 1.18.1. The
results are those of 2.3.0.

``old-kafka`` and ``old-kinesis`` are made by ``former_sources/FormerSources.java``.

``kafka`` needs a topic ``lines`` of two partitions with six records each, the broker's address in
``MOVING_IN_KAFKA``, and the URLs of the jars of Flink's connector and of Kafka's client in
``MOVING_IN_JARS``, with commas between them.
"""

from __future__ import annotations

import gzip
import os
import pathlib
import shutil
import sys
import tempfile
import time

import jobs
from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway

HERE = pathlib.Path(__file__).parent / "savepoints"
HOME = pathlib.Path("/tmp/moving-in-00000000")
"""Where the input is; in the savepoints, too, so that tests replace it by a path of this length."""
COMPRESSED = {"execution.checkpointing.snapshot-compression": "true"}
MANY = {"pipeline.max-parallelism": "4096"}
ROCKSDB = {"state.backend.type": "rocksdb"}
CHECKPOINTS = {
    "execution.checkpointing.interval": "1s",
    "execution.checkpointing.dir": "file:///tmp/moving-in-checkpoints",
    "execution.checkpointing.incremental": "true",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
}
IN_FILES = {"execution.checkpointing.data-inline-threshold": "0 b"}
BUNDLES = {"python.fn-execution.bundle.size": "1"}
MADE = {
    "states": ("states", "CANONICAL", {}),
    "states-native": ("states", "NATIVE", {}),
    "states-compressed": ("states", "CANONICAL", COMPRESSED),
    "states-native-compressed": ("states", "NATIVE", COMPRESSED),
    "states-4096": ("states", "CANONICAL", MANY),
    "states-rocksdb": ("states", "NATIVE", ROCKSDB),
    "states-rocksdb-4096": ("states", "NATIVE", {**ROCKSDB, **MANY}),
    "states-rocksdb-checkpoint": ("states", "CHECKPOINT", {**ROCKSDB, **CHECKPOINTS}),
    "states-rocksdb-files": ("states", "CHECKPOINT", {**ROCKSDB, **CHECKPOINTS, **IN_FILES}),
    "windows-rocksdb": ("windows", "NATIVE", ROCKSDB),
    "windows": ("windows", "CANONICAL", {}),
    "windows-native": ("windows", "NATIVE", {}),
    "types": ("types", "CANONICAL", {}),
    "assigners": ("assigners", "CANONICAL", {}),
    "keys": ("keys", "CANONICAL", {}),
    "functions": ("functions", "CANONICAL", {}),
    "windows-4096": ("windows", "CANONICAL", MANY),
    "functions-4096": ("functions", "CANONICAL", MANY),
    "keys-4096": ("keys", "CANONICAL", MANY),
    "types-4096": ("types", "CANONICAL", MANY),
    "assigners-4096": ("assigners", "CANONICAL", MANY),
    "tables-4096": ("tables", "CANONICAL", MANY),
    "clocks": ("clocks", "CANONICAL", {}),
    "others": ("others", "CANONICAL", {}),
    "others-4096": ("others", "CANONICAL", MANY),
    "numbers": ("numbers", "CANONICAL", BUNDLES),
    "half-read": ("half_read", "CANONICAL", BUNDLES),
    "nameless": ("nameless", "CANONICAL", {}),
    "kafka": ("kafka", "CANONICAL", {}),
    "tables": ("tables", "CANONICAL", {}),
    "more-tables": ("more_tables", "CANONICAL", {}),
    "aging-tables": ("aging_tables", "CANONICAL", {}),
    "file-sinks": ("file_sinks", "CANONICAL", {}),
    "file-sink": ("file_sink", "CANONICAL", {}),
}
STOPPED_EARLY = {"numbers", "half-read"}


def lines(numbers):
    return "".join(f"k{n % 3},{1000 + n * 150},{n}\n" for n in numbers)


class Run:
    def __init__(self, job, options, given=(), parallelism=2):
        shutil.rmtree(HOME, ignore_errors=True)
        (HOME / "in").mkdir(parents=True)
        if given:
            (HOME / "in" / "a").write_text(lines(given))
        self.output = HOME / "out"
        self.output.touch()
        configuration = Configuration()
        for key, value in options.items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1)
        if "MOVING_IN_JARS" in os.environ:
            env.add_jars(*os.environ["MOVING_IN_JARS"].split(","))
        jobs.JOBS[job](env, str(HOME / "in"), str(self.output), parallelism)
        self.client = env.execute_async(job)

    def give(self, name, numbers):
        hidden = HOME / "in" / f".{name}"
        hidden.write_text(lines(numbers))
        hidden.rename(HOME / "in" / name)

    def begin(self, seconds=60):
        """Wait until results come."""
        begin = time.time()
        while self.output.stat().st_size == 0:
            if time.time() - begin > seconds:
                raise TimeoutError("no results")
            time.sleep(0.2)

    def wait(self, quiet=4.0):
        """Wait until results come, and then until no more come."""
        self.begin()
        size, since = 0, time.time()
        while time.time() - since < quiet:
            time.sleep(0.5)
            now = self.output.stat().st_size
            if now != size:
                size, since = now, time.time()

    def stop(self, drain, kind):
        formats = get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType
        future = self.client._j_job_client.stopWithSavepoint(
            drain, f"file://{tempfile.mkdtemp()}", getattr(formats, kind)
        )
        return pathlib.Path(future.get().removeprefix("file:"))

    def last_checkpoint(self):
        time.sleep(5)
        self.client._j_job_client.cancel().get()
        time.sleep(2)
        found = pathlib.Path("/tmp/moving-in-checkpoints").glob("*/chk-*/_metadata")
        return max(found, key=lambda path: path.stat().st_mtime).parent


def make(name):
    job, kind, options = MADE[name]
    run = Run(job, options)
    run.give("a", range(12))
    if name in STOPPED_EARLY:
        run.begin()
        time.sleep(2)
    else:
        run.wait()
    metadata = (
        run.last_checkpoint() if kind == "CHECKPOINT" else run.stop(False, kind)
    ) / "_metadata"
    if options.items() >= IN_FILES.items():
        shutil.make_archive(str(HERE / name), "zip", metadata.parent.parent)
        size = (HERE / f"{name}.zip").stat().st_size
    else:
        content = gzip.compress(metadata.read_bytes(), 9, mtime=0)
        (HERE / f"{name}.gz").write_bytes(content)
        size = len(content)
    (HERE / f"{job}.first.txt").write_text("".join(sorted(run.output.open())))
    print(name, size, "bytes", flush=True)


def make_results(job):
    run = Run(job, {})
    run.give("a", range(12))
    if job == "clocks":  # no elements come in its second half: only time passes
        run.wait(quiet=95)
    else:
        run.wait()
        run.give("b", range(12, 24))
        run.wait()
    run.stop(True, "CANONICAL")
    (HERE / f"{job}.txt").write_text("".join(sorted(run.output.open())))


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        if wanted.startswith("all of "):
            make_results(wanted.removeprefix("all of "))
        else:
            make(wanted)
