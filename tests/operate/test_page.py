"""The page in a real browser, where there is one."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.server.rest import server
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.task.subtask_threads import (
    JobProgress,
    StateEntries,
    TaskProgress,
    combine,
)
from tests.operate.operated import Handle
from tests.runtime.rounds import CutSource, job_of

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")


@pytest.fixture
def operated(driver):
    """A job of 64 subtasks that has failed once and made a checkpoint."""
    job = job_of(
        lambda stream: stream.map(str).name("<b>read</b>").key_by(len).map(str).name("count"),
        CutSource([1]),
        parallelism=64,
        configuration={"parallelism.default": "64", "sasl.password": "hidden"},
    )
    operated = OperatedJob(job, Handle(job))
    with job.history.checkpoint(7, "file:/chk-7", savepoint=False) as record:
        record.size = 2048
    job.history.attempt_failed(RuntimeError("KeyError: 'the reason'"), 0)
    read = operated.tasks[1]
    parts = [TaskProgress(read.name, 1, 100 + n, 5_000, 1, None, 2.0, n) for n in range(64)]
    operated.handle.parts = parts
    operated.handle.progress = JobProgress("x", 0, None, combine(parts))
    driver.offer(operated)
    return operated


@pytest.fixture
def shown(driver, operated, tmp_path):
    """Return the page as the browser has it after its script has run."""
    network = NetworkServer(driver.router)
    network.start({"rest.port": "0"})

    def dump(fragment=""):
        done = subprocess.run(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
             f"--user-data-dir={tmp_path / 'browser'}", "--virtual-time-budget=5000",
             f"{network.url}/#{fragment}"],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        return done.stdout

    yield dump
    network.close()


def test_the_list(shown, operated):
    page = shown()
    assert f'href="#{operated.id}"' in page
    assert ">RUNNING</strong>" in page


def test_a_job(shown, operated):
    page = shown(operated.id)
    assert "&lt;b&gt;read&lt;/b&gt;" in page
    assert page.count("<i style=") == 64
    assert "the busiest subtask has 1.2 times the mean" in page
    assert "file:/chk-7" in page
    assert "2.0 KiB" in page
    assert "KeyError: 'the reason'" in page
    assert "sasl.password" in page
    assert "hidden" not in page.replace("hidden=", "")
    assert all(f">{name}</button>" in page for name in ("Savepoint", "Stop", "Cancel"))


def test_the_page_has_names_for_all_that_it_shows(shown, operated):
    """The page has the parts that a screen reader needs: a language, one heading, names."""
    page = shown(operated.id)
    assert '<html lang="en">' in page
    assert page.count("<h1") == 1
    assert page.count('role="region"') == page.count('role="region" aria-label="')
    assert "<svg" in page
    assert all("aria-label=" in part.split(">")[0] for part in page.split("<svg")[1:])
    assert page.count("<th ") == page.count('<th scope="col"')


HOSTILE = "<img src=x onerror=\"document.title='owned'\">'&amp;`${1}\u202egnp.exe\u2066"


def test_hostile_names_are_texts(shown, driver):
    """Names, errors, paths, options and elements come from programs and data."""
    job = job_of(
        lambda stream: stream.map(str).name(HOSTILE),
        CutSource([1]),
        configuration={"option": HOSTILE, HOSTILE: "value"},
    )
    job = replace(job, name=HOSTILE)
    operated = OperatedJob(job, Handle(job))
    with pytest.raises(OSError, match="img"), job.history.checkpoint(1, HOSTILE, savepoint=False):
        raise OSError(HOSTILE)
    job.history.attempt_failed(RuntimeError(f"{HOSTILE}\n{HOSTILE}"), 0)
    task = operated.tasks[0]
    states = (StateEntries(HOSTILE, HOSTILE, 3),)
    parts = [TaskProgress(task.name, 1, 1, 5_000, 1, None, 2.0, 0, states=states)]
    operated.handle.parts = parts
    operated.handle.progress = JobProgress(HOSTILE, 0, None, combine(parts))
    driver.offer(operated)
    for page in (shown(), shown(operated.id)):
        assert "<img" not in page
        assert "<title>owned" not in page
        assert page.count("&lt;img") >= 1
        assert not set(page) & set("\u202e\u2066"), "texts turn around what follows them"
    assert shown(operated.id).count("&lt;img") >= 6


def test_the_script_makes_no_elements_of_texts():
    script = (Path(server.__file__).parent / "page_files" / "page.js").read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in script
