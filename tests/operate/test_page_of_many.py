"""The page of the server with as many jobs as a team has, in a real browser."""

from __future__ import annotations

import json

import pytest

from pyflink_on_spark._operate.client import Door
from pyflink_on_spark._operate.view.job_records import JobRecord
from pyflink_on_spark.tools.serve.command import Server
from tests.operate.browser import PROGRAM, browser
from tests.operate.test_commands import id_of

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium"),
    pytest.mark.slow,
]
RUNNING, ENDED = 20, 200
HEADINGS = "[...document.querySelectorAll('main h2')].map((each) => each.textContent)"
ROWS = "document.querySelectorAll('table')[{}].querySelectorAll('tbody tr').length"
LISTED = f"document.querySelectorAll('table').length > 1 && {ROWS.format(0)} === {RUNNING}"


@pytest.fixture
def handles(records, start):
    """The handles of the jobs that run, beside the records of those that have ended."""
    for number in range(ENDED):
        failed = number % 4 == 0
        records.write(
            JobRecord(
                f"{number:032x}", f"ended-{number}", 1, "/nowhere", 1_000_000 + number,
                state="FAILED" if failed else "FINISHED", ended=2_000_000 + number,
                cause=f"KeyError: {number}" if failed else None, subtasks=4,
            )
        )  # fmt: skip
    return [start(f"running-{number}") for number in range(RUNNING)]


@pytest.fixture
def server(handles, monkeypatch):
    monkeypatch.delenv("PYFLINK_ON_SPARK_TOKEN", raising=False)
    made = Server({"rest.port": "0"}, prepared=0)
    yield made
    made.close(20)


@pytest.fixture
def page(server):
    with browser() as opened:
        opened.screen(1280, 900)
        opened.open(f"{server.record.url}/#token={server.record.token}", LISTED)
        yield opened


def test_jobs_are_listed_found_and_opened(page, server, handles):
    assert page.run(HEADINGS)[-2:] == [f"Running: {RUNNING}", f"Ended: {ENDED}"]
    assert page.run(ROWS.format(1)) == 50
    page.run("[...document.querySelectorAll('button')].find("
             f"(each) => each.textContent === 'Show all {ENDED}').click()")  # fmt: skip
    page.wait(f"{ROWS.format(1)} === {ENDED}")
    page.run(
        "{const box = document.querySelector('input[type=search]'); box.value = 'KeyError: 196'; "
        "box.dispatchEvent(new Event('input'));}"
    )
    page.wait(f"{ROWS.format(1)} === 1")
    assert "ended-196" in page.run("document.querySelectorAll('table')[1].textContent")
    page.run(f"location.hash = '#{id_of(handles[7])}'")
    page.wait("[...document.querySelectorAll('main button')].some("
              "(each) => each.textContent === 'Savepoint')")  # fmt: skip
    assert "running-7" in page.run("document.querySelector('main').textContent")


def test_a_phone_shows_rows_of_a_few_lines_and_a_graph_of_its_own_size(page, handles):
    page.screen(390, 844, phone=True)
    assert page.run("document.querySelector('tbody tr').getBoundingClientRect().height") < 120
    page.screen(1280, 900)
    page.run(f"location.hash = '#{id_of(handles[0])}'")
    page.wait("document.querySelector('svg.graph')")
    assert page.run(
        "document.querySelector('svg.graph').getBoundingClientRect().width / "
        "document.querySelector('svg.graph').viewBox.baseVal.width"
    ) == pytest.approx(1)


def test_a_client_stops_one_of_many_with_a_savepoint(server, handles):
    door = Door(server.record.url, server.record.token)
    jobs = door.told("GET", "/jobs/overview")["jobs"]
    assert sum(job["state"] == "RUNNING" for job in jobs) == RUNNING
    assert len(jobs) == RUNNING + ENDED
    root = f"/jobs/{id_of(handles[3])}"
    request = door.told("POST", f"{root}/stop", {"targetDirectory": "/sp"})["request-id"]
    assert handles[3].ended.wait(20)
    while (told := door.told("GET", f"{root}/savepoints/{request}"))["operation"] is None:
        pass
    assert json.dumps(told["operation"]) == '{"location": "/sp/savepoint-2"}'
    assert door.told("GET", root)["state"] == "FINISHED"


def test_a_server_that_is_started_again_shows_the_same_jobs(server, handles):
    before = Door(server.record.url, server.record.token).told("GET", "/jobs/overview")["jobs"]
    server.close()
    again = Server({"rest.port": "0"}, prepared=0)
    try:
        assert again.record.token == server.record.token
        jobs = Door(again.record.url, again.record.token).told("GET", "/jobs/overview")["jobs"]
    finally:
        again.close()
    names, known = ({job["jid"]: job["state"] for job in each} for each in (jobs, before))
    assert names == known
    assert len(known) == RUNNING + ENDED
