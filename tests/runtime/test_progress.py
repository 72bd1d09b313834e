"""How far a job is."""

from __future__ import annotations

import io
import itertools
import sys
import types
from dataclasses import replace

import pytest

from pyflink_on_spark._job.display import (
    NotebookLine,
    Progress,
    TerminalLine,
    display_for,
    line_of,
)
from pyflink_on_spark._options.own import PROGRESS
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.subtask import ThrottledGauge
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress, combine


def part(name="map", records=1, watermark=None, state=0, backlog=None):
    return TaskProgress(name, 1, records, watermark, state, backlog)


def test_subtasks_become_one_task():
    parts = [
        part(records=2, watermark=5, state=1),
        part("source", backlog=3),
        part(records=3, watermark=4, state=2),
        part("source", backlog=None),
    ]
    task, source = combine(parts)
    assert task == TaskProgress("map", 2, 5, 4, 3, None)
    assert source.backlog == 3


def test_a_subtask_without_watermark_holds_the_others_back():
    (task,) = combine([part(watermark=5), part(watermark=None)])
    assert task.watermark is None


def test_what_takes_long_to_find_is_found_seldom():
    times, found = iter([0.0, 1.0, 50.0, 100.9, 101.0, 101.0, 101.0, 101.0]), iter([5, 6, 7])
    figure = ThrottledGauge(lambda: next(found), lambda: next(times))
    assert [figure() for _ in range(4)] == [5, 5, 5, 6]
    assert figure() == 7, "the last time cost nothing"


def test_line():
    tasks = (
        TaskProgress("source", 2, 12_345, None, 0, 7, 1234.4),
        TaskProgress("window", 2, 10, 1_700_000_000_000, 42, None, 3.0),
    )
    line = line_of(JobProgress("job", 1, 4, tasks))
    assert line == (
        "job | 12,345 records | 1,234/s | backlog 7 | watermark 2023-11-14 22:13:20 | state 42 | "
        "checkpoint 4 | restarted 1x"
    )
    ended = (TaskProgress("source", 1, 1, MAX_WATERMARK, 0, None),)
    assert line_of(JobProgress("job", 0, None, ended)) == "job | 1 records | 0/s | state 0"


def test_listeners_are_told_and_the_line_is_written_anew():
    told, line = [], io.StringIO()

    def fail(progress):
        raise ValueError("a listener's own trouble")

    now = itertools.count(0.0, 3.0)
    progress = Progress("job", [fail, told.append], TerminalLine(line), lambda: next(now))
    for checkpoint in (1, 2):
        progress.update(0, checkpoint, [part(records=0, state=checkpoint)])
    progress.update(0, 2, [part(records=0, state=2)])  # nothing new
    progress.ended()
    assert [p.checkpoint for p in told] == [1, 2]
    assert progress.latest == told[-1]
    assert line.getvalue().count("\r") == 2
    assert line.getvalue().endswith("\n")


def test_how_many_come_in_a_second_over_the_last_seconds():
    told, now = [], iter([10.0, 12.0, 14.0, 20.0, 30.0, 31.0])
    progress = Progress("job", [told.append], None, lambda: next(now))
    for records in (5, 25, 30, 60):
        progress.update(0, None, [part(records=records)])
    progress.attempt_begins()
    for records in (1, 8):
        progress.update(1, None, [part(records=records)])
    rates = [task.records_per_second for p in told for task in p.tasks]
    assert rates == [0.0, 12.5, 7.5, 5.0, 0.0, 8.0]


def test_the_rate_falls_while_no_report_comes():
    told, now = [], iter([10.0, 12.0, 12.5, 14.0, 18.0, 19.0, 20.0, 22.0])
    progress = Progress("job", [told.append], None, lambda: next(now))
    for records in (0, 60, 60, 60, 60, 60, 60, 90):
        progress.update(0, None, [part(records=records)])
    rates = [task.records_per_second for p in told for task in p.tasks]
    assert rates == [0.0, 30.0, 15.0, 0.0, 3.0]


def test_the_rate_falls_while_the_driver_waits_and_nobody_can_report():
    now = iter([10.0, 12.0, 12.5, 14.0, 18.0])
    progress = Progress("job", [], None, lambda: next(now))
    progress.fade()
    for records in (0, 60):
        progress.update(0, 7, [part(records=records)])
    rates = []
    for _ in range(3):
        progress.fade()
        rates.append(progress.parts[0].records_per_second)
    assert rates == [30.0, 15.0, 0.0]
    assert progress.latest.checkpoint == 7


def test_between_attempts_all_rates_are_0_and_reports_of_the_last_one_come_too_late():
    now = itertools.count(10.0, 2.0)
    progress = Progress("job", [], None, lambda: next(now))
    for records in (0, 60):
        progress.update(0, 7, [replace(part(records=records), busy=records / 60)])
    assert progress.latest.tasks[0].busy_share == 0.5
    progress.stands()
    (task,) = progress.latest.tasks
    assert (task.records, task.records_per_second, task.busy_share) == (60, 0.0, 0.0)
    assert [each.records_per_second for each in progress.parts] == [0.0]
    progress.attempt_begins()
    progress.update(1, 7, [part(records=1)])
    progress.update(0, 7, [part(records=90)])
    assert progress.latest.tasks[0].records == 1


def test_two_reports_at_once_have_no_rate():
    told, now = [], iter([10.0, 10.001, 12.0])
    progress = Progress("job", [told.append], None, lambda: next(now))
    for records in (4096, 8192, 8200):
        progress.update(0, None, [part(records=records)])
    assert [task.records_per_second for p in told for task in p.tasks] == [0.0, 0.0, 4100.0]


def test_when_records_last_came_in():
    told, now = [], iter([1.0, 2.0, 3.0, 4.0])
    progress = Progress("job", [], None, lambda: next(now))
    for records, state in [(5, 0), (5, 1), (6, 1), (6, 2)]:
        progress.update(0, None, [part(records=records, state=state)])
        told.extend(each.last_records_at for each in progress.parts)
    assert told == [1.0, 1.0, 3.0, 3.0]


def test_a_job_that_ends_soon_shows_no_line():
    line, now = io.StringIO(), itertools.count(0.0, 0.1)
    progress = Progress("job", [], TerminalLine(line), lambda: next(now))
    progress.update(0, None, [part(records=1)])
    progress.ended()
    assert line.getvalue() == ""


def test_where_the_line_goes():
    assert display_for("OFF") is None
    assert isinstance(display_for("ON"), TerminalLine)
    with pytest.raises(ValueError, match="expected one of AUTO, ON, OFF"):
        PROGRESS.read({PROGRESS.key: "loud"})


def test_a_line_in_a_notebook(monkeypatch):
    shown, handle = [], types.SimpleNamespace(update=lambda line: shown.append(("again", line)))

    def display(line, display_id):
        shown.append(("first", line))
        return handle

    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    pages = types.ModuleType("IPython.display")
    pages.HTML, pages.display = lambda text: text, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", pages)
    line = display_for("AUTO")
    assert isinstance(line, NotebookLine)
    for records in (1, 2):
        line.show(JobProgress("<job>", 0, None, (part(records=records),)))
    line.end()
    assert [when for when, _ in shown] == ["first", "again"]
    assert shown[1][1].startswith("<code>&lt;job&gt; | 2 records | ")
    shell.kernel = None
    assert display_for("AUTO") is None
