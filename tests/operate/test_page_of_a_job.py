"""The page of one job that fails and is stuck, in a real browser."""

from __future__ import annotations

import pytest

from pyflink_on_spark._operate.view.jobs import RecentFigures
from pyflink_on_spark._runtime.task.stacks import Current, Samples, Stack
from tests.operate.accessibility import READY, SUBTASKS, operated, served
from tests.operate.browser import PROGRAM, browser

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium"),
    pytest.mark.slow,
]
HEADINGS = "[...document.querySelectorAll('main h2')].map((each) => each.textContent)"


@pytest.fixture(scope="module")
def chromium():
    with browser() as page:
        page.screen(1280, 900)
        yield page


@pytest.fixture
def job():
    made = operated()
    read = made.tasks[1]
    stuck = Stack(read.name, 3, "read", ("ask (job.py:7)", "connect (client.py:21)"))
    at_work = Stack(read.name, 5, "read", ("parse (job.py:12)",))
    made.handle.sample_stacks = lambda samples, pause: [
        Samples(
            samples,
            {stuck: samples, at_work: samples},
            (Current(stuck, "{'order': 17}", "k", True), Current(at_work, "'x'", "", False)),
        )
    ]
    return made


@pytest.fixture
def page(chromium, job, monkeypatch):
    kept = RecentFigures.of

    def looked(self, job_id):
        self.look()
        return kept(self, job_id)

    monkeypatch.setattr(RecentFigures, "of", looked)
    with served(job) as url:
        chromium.open(f"{url}#{job.id}", READY)
        chromium.run("sessionStorage.removeItem('zone')")
        yield chromium


def opened(page, section):
    """Open a section; return its text once its content is there."""
    page.run(f"document.querySelector('details[id^=\"{section}\"]').open = true")
    page.wait(f"document.querySelector('details[id^=\"{section}\"] table')")
    return page.run(f"document.querySelector('details[id^=\"{section}\"]').textContent")


def test_exceptions_come_first(page):
    headings = page.run(HEADINGS)
    assert "RUNNING" in headings[0]
    assert headings.index("Graph") > next(n for n, h in enumerate(headings) if "xception" in h)
    header = page.run("document.querySelector('.facts').textContent")
    assert "Restarts" in header
    assert "KeyError: 'the reason'" in header


def test_each_subtask_has_a_row(page, job):
    text = opened(page, f"subtasks-{job.tasks[1].id}")
    assert "In the last checkpoint" in text
    rows = f"document.querySelectorAll('details[id=\"subtasks-{job.tasks[1].id}\"] tbody tr')"
    assert page.run(f"{rows}.length") == SUBTASKS
    cells = page.run(f"[...{rows}[63].cells].map((cell) => cell.textContent)")
    assert cells[:4] == ["63", "163", "2", "98 %"]


def test_what_python_functions_do_and_the_element_of_a_stuck_one(page):
    text = opened(page, "functions")
    assert "connect (client.py:21)" in text
    rows = "[...document.querySelectorAll('#functions tbody tr')].map((row) => row.textContent)"
    stuck, at_work = page.run(rows)
    assert "{'order': 17}" in stuck
    assert "the same for a second" in stuck
    assert "the same for a second" not in at_work
    flames = page.run("[...document.querySelectorAll('#functions svg title')].map((each) => "
                      "each.textContent)")  # fmt: skip
    assert flames == ["read: 100 %", "ask (job.py:7): 50 %", "connect (client.py:21): 50 %",
                      "parse (job.py:12): 50 %"]  # fmt: skip


def test_the_last_minutes_are_charts(page):
    page.run("refresh()")
    page.run("refresh()")
    page.wait("document.querySelectorAll('.charts figure').length > 0")
    titles = page.run("[...document.querySelectorAll('.charts figcaption')].map((each) => "
                      "each.textContent.split(':')[0])")  # fmt: skip
    assert {"Records in per second", "Busiest subtask in %", "State entries"} <= set(titles)
    assert "The last 15 minutes" in page.run(HEADINGS)


def test_the_graph_has_full_names_and_sizes(page):
    width = "document.querySelector('svg.graph').getBoundingClientRect().width"
    before = page.run(width)
    page.run("[...document.querySelectorAll('button.zoom')].find((each) => "
             "each.textContent === 'Larger').click()")  # fmt: skip
    page.wait(f"{width} > {before} * 1.2")
    names = page.run("[...document.querySelectorAll('svg.graph title')].map((each) => "
                     "each.textContent)")  # fmt: skip
    assert any(name.startswith("count") for name in names)


def test_no_name_that_no_program_has_written(page, job):
    for section in ("subtasks-", "functions", "configuration", "log"):
        page.run(f"document.querySelectorAll('details[id^=\"{section}\"]').forEach("
                 "(each) => { each.open = true; })")  # fmt: skip
    page.wait("document.querySelector('#functions table')")
    assert any("_operator" in task.name for task in job.tasks)
    assert "_operator" not in page.run("document.querySelector('main').textContent")


def test_times_have_one_format(page):
    texts = "[...document.querySelectorAll('main time')].map((each) => each.textContent)"
    times = page.run(texts)
    assert len(times) >= 3
    assert all(text.endswith(" UTC") and len(text) == len("2026-11-28 11:32:07 UTC")
               for text in times)  # fmt: skip
    page.run("sessionStorage.setItem('zone', 'local')")
    page.run("refresh()")
    page.wait(f"!{texts}[0].endsWith('UTC')")
    assert all(len(text) == len("2026-11-28 11:32:07") for text in page.run(texts))
