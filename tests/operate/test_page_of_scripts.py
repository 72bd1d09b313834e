"""The page of the server runs a script that a person chooses, in a real browser."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark.tools.serve.command import Server
from tests.operate.browser import PROGRAM, browser
from tests.operate.test_serve import JOB

pytestmark = [pytest.mark.skipif(PROGRAM is None, reason="needs Chromium"), pytest.mark.slow]
BUTTONS = "[...document.querySelectorAll('{} button')].{}((each) => each.textContent === '{}')"


@pytest.fixture
def page(home, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    monkeypatch.delenv("PYFLINK_ON_SPARK_TOKEN", raising=False)
    server = Server({"rest.port": "0"}, prepared=0)
    with browser() as opened:
        opened.screen(1280, 900)
        opened.open(
            f"{server.record.url}/#token={server.record.token}", "document.querySelector('summary')"
        )
        yield opened
    server.close(20)


def test_a_script_is_chosen_run_and_removed(page, home, tmp_path):
    script = tmp_path / "a job.py"
    script.write_text(JOB, encoding="utf-8")
    page.run("document.querySelector('summary').click()")
    page.choose_file("#script", str(script))
    page.wait(BUTTONS.format("main", "some", "Run"))
    assert "a_job.py" in page.run("document.querySelector('main table').textContent")
    page.run(f"{BUTTONS.format('main', 'find', 'Run')}.click()")
    page.wait("document.querySelector('dialog').open")
    page.run("document.getElementById('answer').value = '-p 2 -- --input \"two words\"'")
    page.run("document.querySelector('dialog #yes').click()")
    page.wait("/^#[0-9a-f]{32}$/.test(location.hash)")
    page.wait("document.querySelector('main').textContent.includes('FINISHED')")
    (log,) = home.glob("log/*.log")
    assert '[["--input", "two words"], null' in log.read_text(encoding="utf-8")
    page.run("location.hash = ''")
    page.wait(BUTTONS.format("main", "some", "Remove"))
    page.run(f"{BUTTONS.format('main', 'find', 'Remove')}.click()")
    page.wait(f"!{BUTTONS.format('main', 'some', 'Remove')}")
