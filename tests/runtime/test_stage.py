"""Subtasks of a level, one after the other."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.task.stage import DRIVER, START, StageRunner
from pyflink_on_spark.datastream import MapFunction
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import CutSource, job_of

CALLS: list[str] = []


@pytest.fixture(autouse=True)
def calls():
    CALLS.clear()
    return CALLS


def note(text):
    CALLS.append(text)


class Notes(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        note(f"{self.index} open")

    def map(self, value):
        note(f"{self.index} maps {value}")
        return 1 // value

    def close(self):
        note(f"{self.index} close")


def a_job(*elements):
    return job_of(lambda s: s.rebalance().map(Notes()), CutSource(elements), 2)


def run_level(job, number, rows=None, got=None):
    def driver(subtask_id):
        return lambda channel: lambda things: got.extend(map(deserialize, things))

    got = [] if got is None else got
    runner = StageRunner(job.stages[number], number, job.settings, FakeClock(), driver)
    return list(runner.run(iter(runner.start_rows() if rows is None else rows)))


def in_order(rows):
    return sorted(rows, key=lambda row: (row.subtask_id, row.seq, row.channel))


def test_one_subtask_is_through_before_the_next_begins(calls):
    job, got = a_job(1, -1, 1), []
    rows = run_level(job, 0)
    assert run_level(job, 1, in_order(rows), got) == []
    assert calls == [
        "0 open", "0 maps 1", "0 maps 1", "0 close", "1 open", "1 maps -1", "1 close",
    ]  # fmt: skip
    assert got == [1, 1, -1]


def test_level_zero_is_started_by_rows_of_its_own():
    job = a_job(1)
    runner = StageRunner(job.stages[0], 0, job.settings, FakeClock(), lambda subtask_id: None)
    assert [(row.subtask_id, row.channel) for row in runner.start_rows()] == [(0, START)]


def test_rows_for_others_pass_unopened():
    job = a_job(1)
    passing = [ChannelRow(DRIVER, 3, 4, b"what"), ChannelRow(99, 0, 0, b"ever")]
    rows = run_level(job, 1, passing)
    assert rows == passing


def test_a_subtask_that_fails_is_closed_and_the_next_does_not_begin(calls):
    job = a_job(0, 1)
    rows = in_order(run_level(job, 0))
    with pytest.raises(SubtaskFailure, match="ZeroDivisionError"):
        run_level(job, 1, rows)
    assert calls == ["0 open", "0 maps 0", "0 close"]


def test_a_subtask_is_closed_when_nobody_wants_its_rows_any_more(calls):
    job = job_of(
        lambda s: s.map(Notes()).set_parallelism(1).rebalance().map(str),
        CutSource([1] * 900, (300,)),
        2,
    )
    runner = StageRunner(
        job.stages[0], 0, job.settings, FakeClock(), lambda t: lambda c: lambda things: None
    )
    running = runner.run(runner.start_rows())
    next(running)
    running.close()
    assert calls[-1] == "0 close"
    assert len(calls) < 900
