"""Event time over a backlog of files: restarts and other parallelisms change no result."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._job.checkpoints.coordinator import content_of
from pyflink_on_spark.common import Duration, Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import MapFunction, ProcessWindowFunction
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.window import TumblingEventTimeWindows
from pyflink_on_spark.extensions import CheckpointedFunction
from tests.effort import share
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import RunningJob, job_of

pytestmark = pytest.mark.slow

EVENTS_A_FILE, STEP = 5, 100
DELAY = 3 * EVENTS_A_FILE * STEP
"""Three files: far less than what subtasks drift apart."""
WINDOW = 700


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * STEP


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, tuple(sorted(elements))


class Numbered(MapFunction, CheckpointedFunction):
    """Says for each result after which checkpoint it came."""

    checkpoint = 0

    def initialize_state(self, context):
        pass

    def snapshot_state(self, context):
        self.checkpoint = context.get_checkpoint_id()

    def map(self, value):
        return self.checkpoint, value


def key_of(number):
    return number * 7 % 3


def expected(files):
    windows = defaultdict(list)
    for number in range(files * EVENTS_A_FILE):
        windows[key_of(number), number * STEP // WINDOW * WINDOW].append(number)
    return Counter((key, start, tuple(numbers)) for (key, start), numbers in windows.items())


def build(lines):
    times = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY))
    return (
        lines.map(int, Types.LONG())
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(EventTime()))
        .key_by(key_of, Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW)))
        .process(Numbers())
        .map(Numbered())
    )


@dataclass
class Folder:
    """A folder that grows, file by file, in the order of event time."""

    path: Path
    files: int = 0

    def grow(self, count):
        for index in range(self.files, self.files + count):
            numbers = range(index * EVENTS_A_FILE, (index + 1) * EVENTS_A_FILE)
            (self.path / f"{index:05}").write_text("".join(f"{n}\n" for n in numbers))
        self.files += count

    def job(self, parallelism):
        text = StreamFormat.text_line_format()
        builder = FileSource.for_record_stream_format(text, str(self.path))
        source = builder.monitor_continuously(Duration.of_millis(100)).build()
        settings = {"pipeline.auto-watermark-interval": "20 ms"}
        return job_of(build, source._source, parallelism, configuration=settings)


@dataclass(frozen=True)
class Leg:
    """The events between two starts of the job.

    Args:
        parallelism: of the job.
        arrivals: how many files come before each few turns.
        beyond: how many turns of the work is lost, because the job is killed after its checkpoint;
            None if it is stopped with a savepoint.
    """

    parallelism: int
    arrivals: tuple[int, ...]
    beyond: int | None


@dataclass
class Disturbed:
    """A job that is killed and moved."""

    folder: Folder
    seed: int
    collected: list = field(default_factory=list)
    results: Counter = field(default_factory=Counter)
    saved: tuple[int, bytes] | None = None
    clock: FakeClock = field(default_factory=FakeClock)

    def start(self, parallelism):
        job = self.folder.job(parallelism)
        return RunningJob(job, self.saved, self.collected, self.clock, self.seed)

    def turns(self, running, count):
        for _ in range(count):
            self.clock.time += 10
            running.round()

    def run(self, leg):
        running = self.start(leg.parallelism)
        for count in leg.arrivals:
            self.folder.grow(count)
            self.turns(running, 4)
        number = 1 + (self.saved or (0,))[0]
        answers = running.hosts.snapshot(number, None, halt=leg.beyond is None)
        self.saved = number, content_of(answers, 10**9)
        self.turns(running, leg.beyond or 0)
        running.hosts.group.close(failed=True)
        self.take_over(lambda checkpoint: checkpoint < number)

    def take_over(self, counts):
        """Count the results up to a checkpoint; the others come again."""
        self.results.update(result for checkpoint, result in self.collected if counts(checkpoint))
        self.collected.clear()

    def finish(self):
        running = self.start(2)
        read = None
        while read != running.read:
            read = running.read
            self.turns(running, 200)
        running.hosts.end_sources()
        while running.round():
            pass
        running.close()
        self.take_over(lambda checkpoint: True)
        return self.results


LEGS = st.builds(
    Leg,
    st.integers(1, 4),
    st.lists(st.integers(0, 12), min_size=1, max_size=5).map(tuple),
    st.none() | st.integers(0, 8),
)


def windows_of(legs, seed):
    with TemporaryDirectory() as path:
        job = Disturbed(Folder(Path(path)), seed)
        job.folder.grow(3)
        for leg in legs:
            job.run(leg)
        return job.finish(), expected(job.folder.files)


@settings(max_examples=share(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LEGS, max_size=5), st.integers(0, 10**6))
def test_results_are_those_of_an_undisturbed_run(legs, seed):
    found, wanted = windows_of(legs, seed)
    assert found == wanted


@pytest.mark.parametrize("seed", range(2))
def test_a_long_backlog(seed):
    choose = random.Random(seed)
    legs = [
        Leg(
            choose.randint(1, 4),
            tuple(choose.choice([0, 0, 40]) for _ in range(6)),
            choose.choice([None, 0, 5]),
        )
        for _ in range(8)
    ]
    found, wanted = windows_of(legs, seed)
    assert found == wanted
