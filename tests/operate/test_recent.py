"""The figures of the last minutes."""

from __future__ import annotations

import pytest

from pyflink_on_spark._operate.server.rest.routing import Request
from pyflink_on_spark._operate.view.jobs import MINUTES, RecentFigures, figures_of
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress


def test_figures(reported):
    source, read, *_ = reported.tasks
    reported.handle.progress = JobProgress(
        "x", 0, None,
        (
            TaskProgress(source.name, 2, 70, 95_000, 0, 12, 7.5, busy_share=0.1),
            TaskProgress(read.name, 2, 70, MAX_WATERMARK, 5, None, 7.5, busy_share=0.75),
        ),
    )  # fmt: skip
    found = figures_of(reported, 100.0)
    assert (found.records_per_second, found.backlog, found.state) == (7.5, 12, 5)
    assert (found.lag, found.busy, found.time) == (5.0, 75.0, 100_000)
    assert found.checkpoint is not None


def test_a_job_without_a_report_has_no_figures(start, driver):
    start()
    assert figures_of(driver.jobs.all()[0], 1.0) is None


def test_only_the_last_minutes_are_kept(reported, driver):
    times = iter(range(10_000))
    recent = RecentFigures(driver.jobs, lambda: float(next(times)))
    for _ in range(500):
        recent.look()
    kept = recent.of(reported.id)
    assert len(kept) == 12 * MINUTES
    assert kept[-1].time == 499_000
    assert recent.of("unknown") == []


@pytest.mark.parametrize("looks", [0, 2])
def test_the_request(reported, driver, looks):
    for _ in range(looks):
        driver._recent.look()
    told = driver.router.answer(Request("GET", f"/jobs/{reported.id}/recent")).content
    assert told["minutes"] == MINUTES
    assert len(told["samples"]) == looks
