"""Jobs that a script has not waited for, which continue when the script has ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyflink_on_spark._operate.server.job_registry import DRIVER
from pyflink_on_spark._operate.view.jobs import OperatedJob, OperatedJobs
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.tools.operate.run import EndAsked, run_script
from pyflink_on_spark.tools.operate.run_options import parse
from tests.operate.operated import Handle
from tests.operate.operated import job as job_of


class Waited(Handle):
    """Ends, or fails, when somebody waits for its end."""

    failure = None

    def result(self):
        self.asked.append("result")
        if self.failure is not None:
            raise self.failure
        self.enter(JobStatus.FINISHED)


@pytest.fixture
def run(script_process, monkeypatch, tmp_path):
    monkeypatch.setattr(DRIVER, "jobs", OperatedJobs())

    def ran(text, *handles):
        (tmp_path / "script.py").write_text(text, encoding="utf-8")
        for handle in handles:
            DRIVER.jobs.add(OperatedJob(handle.job, handle))
        return run_script(parse(["script.py"]))

    return ran


@pytest.mark.parametrize("text", ["", "raise SystemExit(0)", "import sys; sys.exit()"])
def test_all_jobs_are_waited_for(run, text):
    first, second = Waited(job_of("first")), Waited(job_of("second"))
    assert run(text, first, second) == 0
    assert (first.asked, second.asked) == (["result"], ["result"])


def test_a_job_that_fails_meanwhile(run, capsys):
    handle = Waited(job_of())
    handle.failure = ZeroDivisionError("mine")
    assert run("", handle) == 1
    assert "ZeroDivisionError: mine" in capsys.readouterr().err


def test_a_signal_ends_them(run):
    handle = Waited(job_of())
    handle.failure = EndAsked(15)
    assert run("", handle) == 143
    assert handle.asked == ["result", "cancel"]


def test_a_script_that_fails_ends_them(run, capsys):
    handle = Waited(job_of())
    assert run("1 / 0", handle) == 1
    assert handle.asked == []
    with pytest.raises(SystemExit):
        run("raise SystemExit(3)")
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_nobody_reads_the_results_of_a_job_any_more(run):
    handle = Waited(replace(job_of(), collected="collected"))
    assert run("", handle) == 0
    assert handle.asked == []
