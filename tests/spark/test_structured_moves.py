"""Jobs that move between the engines, and queries whose driver is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pyflink_on_spark.common import Time, Types, WatermarkStrategy
from pyflink_on_spark.common.serialization import Encoder
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import KeyedProcessFunction, ProcessWindowFunction
from pyflink_on_spark.datastream.connectors.file_system import FileSink, RollingPolicy
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.datastream.window import TumblingEventTimeWindows
from tests.faults.processes import descendants, java_processes, still_alive
from tests.spark.test_checkpoints import (
    KEYS,
    Slow,
    check,
    environment,
    let_go,
    wait_for,
    written,
)

ROOT = Path(__file__).resolve().parents[2]
COUNT, STEP, WINDOW = 40_000, 1000, 500
RESTORE = "execution_state__recovery_path"


class NumberIsTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Timers(KeyedProcessFunction):
    """Emits one line for each timer in event time, one for the only one of the clock for a key, and
    one for each element with how many there were."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        timers = ctx.timer_service()
        timers.register_event_time_timer(value // STEP * STEP + STEP - 1)
        if count == 1:
            timers.register_processing_time_timer(timers.current_processing_time() + 2000)
        yield f"count,{value},{count}"

    def on_timer(self, timestamp, ctx):
        if timestamp > 10**9:
            yield f"clock,{ctx.get_current_key()},0"
        else:
            yield f"timer,{ctx.get_current_key()},{timestamp}"


class Size(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"window,{key},{context.window().start},{len(list(elements))}"


def moving_job(env, folder, *, in_progress=False):
    """Counts with state, timers of both kinds and windows; time goes with the numbers.

    If asked for, counts and timers also go to files that stay in progress from one checkpoint to
    the next.
    """
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    strategy = strategy.with_timestamp_assigner(NumberIsTime())
    source = NumberSequenceSource(0, COUNT - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    slow = numbers.set_parallelism(1).map(Slow(notes), Types.LONG()).set_parallelism(1).uid("slow")
    timed = slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1).uid("times")
    keyed = timed.rebalance().map(lambda v: v, Types.LONG()).uid("same").key_by(lambda v: v % KEYS)
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW)))
    sink = FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder())
    rolling = RollingPolicy.on_checkpoint_rolling_policy()
    sink = sink.with_rolling_policy(rolling).build()
    counted = keyed.process(Timers(), Types.STRING()).uid("timers")
    if in_progress:
        place = str(folder / "in-progress")
        whole = FileSink.for_row_format(place, Encoder.simple_string_encoder()).build()
        counted.sink_to(whole).uid("whole files")
    counted.union(windows.process(Size(), Types.STRING()).uid("windows")).sink_to(sink).uid("sink")
    return env


def lines(folder, name="out"):
    found = []
    for file in (folder / name).rglob("part-*"):
        found += file.read_text().splitlines()
    return found


def expected():
    counts, found = Counter(), []
    for value in range(COUNT):
        counts[value % KEYS] += 1
    for key in range(KEYS):
        found += [f"clock,{key},0"]
        found += [f"timer,{key},{end}" for end in range(STEP - 1, COUNT, STEP)]
    sizes = Counter((value % KEYS, value // WINDOW * WINDOW) for value in range(COUNT))
    found += [f"window,{key},{start},{size}" for (key, start), size in sizes.items()]
    return found


def over(client):
    return client.get_job_status().result().is_globally_terminal_state()


def check_moved(folder):
    found = lines(folder)
    counts = [tuple(map(int, line.split(",")[1:])) for line in found if line.startswith("count")]
    assert sorted(value for value, _ in counts) == list(range(COUNT))
    for key in range(KEYS):
        of_key = sorted(count for value, count in counts if value % KEYS == key)
        assert of_key == list(range(1, len(of_key) + 1))
    assert sorted(line for line in found if not line.startswith("count")) == sorted(expected())


THERE_AND_BACK = [("hosts", 3), ("structured", 2), ("hosts", 1)]


@pytest.mark.timeout(280)
@pytest.mark.parametrize(
    "courses",
    [
        THERE_AND_BACK,
        pytest.param([*THERE_AND_BACK, ("structured", 3)], marks=pytest.mark.nightly),
    ],
    ids=["there and back", "and there again"],
)
def test_savepoints_move_a_job_between_the_engines(tmp_path, spark, courses):
    settings = {}
    for number, (engine, parallelism) in enumerate(courses, 1):
        before = len(lines(tmp_path))
        settings["pyflink__on__spark_engine"] = engine
        client = moving_job(
            environment(tmp_path, parallelism, **settings), tmp_path, in_progress=True
        ).execute_async()
        if number == len(courses):
            let_go(tmp_path)
            client.get_job_execution_result().result()
            break
        wait_for(lambda n=before, c=client: len(lines(tmp_path)) > n or over(c), 60)
        settings[RESTORE] = client.stop_with_savepoint(False, str(tmp_path / "saved")).result()
        assert len(lines(tmp_path)) < len(expected()) + COUNT, "it has ended before it could move"
    check_moved(tmp_path)
    both = sorted(line for line in lines(tmp_path) if not line.startswith("window"))
    assert sorted(lines(tmp_path, "in-progress")) == both


SCRIPT = """
import sys
from pathlib import Path
from tests.spark.test_checkpoints import count_job, environment
folder = Path(sys.argv[1])
settings = {"pyflink__on__spark_engine": "structured", "spark_master": "local[2]"}
if len(sys.argv) > 2:
    settings["execution_state__recovery_path"] = sys.argv[2]
count_job(environment(folder, **settings), folder, 3000, rolls=True).execute()
"""
# Python's processes, also those of Spark, have it on their path: a signal shows their stacks.
SHOWS_STACKS = "import faulthandler, signal\nfaulthandler.register(signal.SIGUSR1)\n"


class Driver:
    """A process that runs the job of a script as a query; by default that of ``count_job``."""

    def __init__(self, folder, *arguments, text=SCRIPT):
        self._log, script = folder / "driver.log", folder / "script.py"
        script.write_text(text)
        (folder / "sitecustomize.py").write_text(SHOWS_STACKS)
        path = os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])
        with self._log.open("ab") as log:
            self._begins = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, str(script), str(folder), *arguments],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            )

    def wait_for(self, condition, seconds):
        """Fails with the log, and the stacks of Python and Java, if it does not happen."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None:
                pytest.fail(f"it has ended ({self.process.returncode}):\n{self.told()}")
            if time.monotonic() > deadline:
                self._show_stacks()
                pytest.fail(f"it did not happen in {seconds} s:\n{self.told()}")
            time.sleep(0.05)

    def end_within(self, seconds):
        """Fails likewise if the driver does not end, or with an error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        if self.process.poll() is None:
            self._show_stacks()
            self.kill()
            pytest.fail(f"it runs after {seconds} s:\n{self.told()}")
        assert self.process.returncode == 0, self.told()

    def _show_stacks(self):
        family = [self.process.pid, *(each.number for each in descendants(self.process.pid))]
        java = {each.number for each in java_processes(descendants(self.process.pid))}
        for number in family:
            with contextlib.suppress(OSError):
                name = Path("/proc", str(number), "comm").read_text()
                with self._log.open("a") as log:
                    log.write(f"process {number}: {name}")
                if number in java:
                    os.kill(number, signal.SIGQUIT)
                elif "python" in os.readlink(f"/proc/{number}/exe"):
                    os.kill(number, signal.SIGUSR1)
                time.sleep(0.5)  # while it writes

    def told(self):
        """Returns the end of its log."""
        with self._log.open("rb") as log:
            log.seek(self._begins)
            return log.read().decode(errors="replace")[-100_000:]

    def kill(self):
        """Kills it, and returns what it leaves running once that had some time to end."""
        family = descendants(self.process.pid)
        self.process.kill()
        self.process.wait()
        left = still_alive(family, 60)
        for process in left:
            process.kill()
        return left


MOMENTS = ["it starts", "a micro-batch is committed", "it writes"]


# Alone, each of both drivers needs 20 s; on a machine with 12 processes for each processor, 140 s.
@pytest.mark.nightly
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_driver_does_no_harm(tmp_path, moment):
    commits = "*/query/commits/[0-9]*"
    reached = {
        "it starts": lambda: list((tmp_path / "checkpoints").glob("*/query/metadata")),
        "a micro-batch is committed": lambda: list((tmp_path / "checkpoints").glob(commits)),
        "it writes": lambda: written(tmp_path),
    }
    first = Driver(tmp_path)
    try:
        first.wait_for(reached[moment], 420)
    finally:
        left = first.kill()
    assert left == []
    let_go(tmp_path)
    saved = [path.parents[2] for path in (tmp_path / "checkpoints").glob(commits)][:1]
    Driver(tmp_path, *(home.as_uri() for home in saved)).end_within(420)
    check(tmp_path, 3000)
