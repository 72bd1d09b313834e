"""The slots of a job without input wait for some, and one that finds some wakes the others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._spark.structured.levels import Levels
from pyflink_on_spark._spark.structured.pace import (
    AWAKE,
    BUSY,
    OVER,
    Bell,
    Idleness,
    Pace,
    rest_of,
)
from pyflink_on_spark._spark.structured.slot import Limits, QuerySlot, SlotReport, level_plans
from pyflink_on_spark._spark.structured.state_log import StateLog
from pyflink_on_spark.common import Duration, Types, WatermarkStrategy
from pyflink_on_spark.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from tests.structured.in_process import Chunks, Head
from tests.structured.jobs import submitted

QUIET = Idleness(found=False, rest=None)


@pytest.fixture
def control(tmp_path):
    return folder(tmp_path.as_uri()).inside("control")


def test_slots_wait_longer_and_longer_until_something_comes_in(control):
    pace, found = Pace(control), []
    for told in (BUSY, *[QUIET] * 5, BUSY, QUIET):
        pace.note([OVER, told, QUIET], 1 + found[-1] if found else 1)
        found.append(rest_of(control.names()))
        assert len(control.names()) <= 1
    assert found == [0, 2, 8, 10, 10, 10, 0, 2]


@pytest.mark.parametrize(("rest", "waits"), [(1500, 1.5), (100, 0), (0, 0)])
def test_slots_wait_no_longer_than_the_clock_lets_them(control, rest, waits):
    pace = Pace(control)
    for _ in range(3):
        pace.note([QUIET, Idleness(found=False, rest=rest)], 1)
        assert rest_of(control.names()) == waits
    pace.note([QUIET], 1)
    assert rest_of(control.names()) == 10


def test_nobody_waits_for_a_while_where_slots_wait_one_after_the_other(control):
    pace, waits = Pace(control), []
    for _ in range(40):
        rest = rest_of(control.names())
        waits.append(rest)
        pace.note([QUIET, QUIET], 1 + 2 * rest)
    assert [number for number, rest in enumerate(waits) if rest] == [1, 33]
    pace.note([BUSY], 1)
    assert rest_of(control.names()) == 0


def test_what_a_failed_attempt_has_left_counts_no_more(control):
    Pace(control).note([QUIET], 1)
    Bell(control).ring()
    assert rest_of(control.names()) == 2
    Pace(control).note([BUSY], 1)
    assert control.names() == []


def test_a_bell_wakes_one_micro_batch(control):
    pace, bell = Pace(control), Bell(control)
    pace.note([QUIET], 1)
    bell.ring()
    assert Bell(control).rung()
    pace.note([QUIET], 1)
    assert not Bell(control).rung()
    assert rest_of(control.names()) == 8


def test_a_slow_file_system_is_looked_at_seldom(control):
    times = iter([0.0, 0.5, 1.0, 10.4, 10.6, 10.6])
    bell = Bell(control, lambda: next(times))
    bell.ring()
    assert [bell.rung() for _ in range(4)] == [True, False, False, True]


class Simulated(Clock):
    """A clock that advances when somebody rests."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.resting: Callable[[float], None] = lambda _: None

    def now(self) -> int:
        return int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds

    def rest(self, seconds: float) -> None:
        self.seconds += seconds
        self.resting(self.seconds)


class Alarm(KeyedProcessFunction):
    """Emits each line again after three seconds."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        ctx.timer_service().register_processing_time_timer(
            ctx.timer_service().current_processing_time() + 3000
        )

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key()


class Waiting:
    """The only slot of a job over the files of a folder."""

    def __init__(self, place: Path, limits: Limits) -> None:
        self.clock, self.input, self._batch = Simulated(), place / "input", 0
        self.input.mkdir()
        self.control = folder(place.as_uri()).inside("control")
        self.bell = Bell(self.control, self.clock.monotonic)
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        lines = FileSource.for_record_stream_format(
            StreamFormat.text_line_format(), str(self.input)
        ).monitor_continuously(Duration.of_millis(1))
        stream = env.from_source(lines.build(), WatermarkStrategy.no_watermarks(), "lines")
        keyed = stream.key_by(lambda line: line, Types.STRING())
        job = submitted(keyed.process(Alarm(), Types.STRING()))
        levels = Levels.of(job.stages, 1)
        (plan,) = level_plans(levels, job.settings, 0, None, limits)
        self.log = StateLog(Head(), Chunks())
        self.slot = QuerySlot(
            plan, 0, self.log, self.clock, 0, self.clock.monotonic, self.clock.rest
        )

    def run(self, *wishes: str) -> tuple[float, Idleness]:
        """Run a micro-batch; return the seconds that it took, and what the slot tells of it."""
        begun = self.clock.seconds
        rows = self.slot.run(self._batch, [], self.log, wishes, self.bell)
        self._batch += 1
        (report,) = (
            found
            for row in rows
            if row[4] and isinstance(found := pickle.loads(row[4]), SlotReport)
        )
        return self.clock.seconds - begun, report.idleness


@pytest.fixture
def waiting(tmp_path):
    made = Waiting(tmp_path, Limits.of(False, None))
    yield made
    made.slot.close()


def test_a_slot_waits_as_long_as_it_shall(waiting):
    usual, told = waiting.run()
    assert usual == pytest.approx(0.2, abs=0.03)
    assert told == QUIET
    longer, told = waiting.run("rest-5000")
    assert longer == pytest.approx(5, abs=0.03)
    assert told == QUIET


def test_what_comes_in_ends_the_waiting_of_all(waiting):
    def write(now: float) -> None:
        if now > 2 and not list(waiting.input.iterdir()):
            (waiting.input / "file").write_text("a line\n")

    waiting.clock.resting = write
    took, told = waiting.run("rest-5000")
    assert took == pytest.approx(2, abs=0.05)
    assert told == Idleness(found=True, rest=pytest.approx(3000, abs=100))
    assert AWAKE in waiting.control.names()


def test_a_slot_wakes_when_another_has_found_something(waiting):
    waiting.clock.resting = lambda now: waiting.bell.ring() if now > 1 else None
    took, told = waiting.run("rest-5000")
    assert took == pytest.approx(1, abs=0.1)
    assert told == QUIET


def test_a_timer_ends_the_waiting(waiting):
    (waiting.input / "file").write_text("a line\n")
    _, told = waiting.run()
    assert told.found
    took, told = waiting.run("rest-5000")
    assert took == pytest.approx(3, abs=0.1)
    assert told.found


@pytest.mark.parametrize(("bounded", "interval"), [(False, 1000), (True, None)])
def test_a_trigger_says_itself_how_often_slots_work(tmp_path, bounded, interval):
    made = Waiting(tmp_path, Limits.of(bounded, interval))
    try:
        took, told = made.run("rest-60000")
        assert took < 11
        assert told == BUSY
    finally:
        made.slot.close()
