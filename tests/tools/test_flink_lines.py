"""Command lines of Flink: each is carried out, or refused with a way out."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from pyflink_on_spark.__main__ import main
from pyflink_on_spark._job.job import (
    base_configuration,
    set_base_configuration,
)
from pyflink_on_spark._operate.dispatcher.drivers import PYTHON_DRIVER
from pyflink_on_spark._operate.view.job_records import VARIABLE
from pyflink_on_spark._spark.session.spark_defaults import command_line
from pyflink_on_spark.tools.operate import commands, detach, run
from pyflink_on_spark.tools.operate.run_options import OPTIONS
from pyflink_on_spark.tools.sql import command as sql

# The forms of Flink's documentation (1.10 to 2.3), of Amazon's for EMR, and of READMEs, compose
# files and scripts of PyFlink projects. After => is what a refusal says.
LINES = Path(__file__).with_name("flink_lines.txt").read_text(encoding="utf-8").splitlines()
REFUSED = [tuple(line.split(" => ")) for line in LINES if " => " in line]
CARRIED_OUT = [line for line in LINES if " => " not in line]
JOB_ID = "4c1d2e0b6f5a4e1d9c8b7a6f5e4d3c2b"
_FLINKS = {name for option in OPTIONS if not option.own for name in option.names}


class Job:
    """A job of another process."""

    id = JOB_ID

    def __init__(self, done):
        self._done = done

    def request(self, method, path, body=None):
        self._done.append((method, path))
        return {"request-id": "7"}

    def path_of(self, request):
        return f"/savepoint-{request}"

    def checkpoint_of(self, request):
        return int(request)

    def wait_for_end(self):
        return "CANCELED"


@pytest.fixture
def done(monkeypatch, tmp_path):
    """The options and requests of the commands, which begin no job."""
    made = []

    def take(options, *_):
        made.append(options)
        return 0

    def find(name, _):
        assert name == JOB_ID
        return Job(made)

    monkeypatch.setenv(VARIABLE, str(tmp_path))
    isfile = os.path.isfile
    here = (".py", ".sql")
    monkeypatch.setattr(os.path, "isfile", lambda p: str(p).endswith(here) or isfile(p))
    monkeypatch.setattr(run, "run_script", take)
    monkeypatch.setattr(detach, "run_detached", take)
    monkeypatch.setattr(commands, "show_plan", take)
    monkeypatch.setattr(commands, "find_job", find)
    monkeypatch.setattr(commands, "dispose_savepoint", made.append)
    monkeypatch.setattr(sql, "install", lambda: None)
    monkeypatch.setattr(sql, "_run_files", lambda client, init, text: take(text))
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1;"))
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.delenv("FLINK_CONF_DIR", raising=False)
    before, spark = base_configuration(), dict(command_line)
    yield made
    set_base_configuration(before)
    command_line.clear()
    command_line.update(spark)


def flink(line):
    """Carry out a line; what is before the command's name would be done by the shell."""
    words = shlex.split(line.replace("$JOB_ID", JOB_ID).partition(" < ")[0])
    names = [Path(word).name for word in words]
    start = next(n for n, name in enumerate(names) if name in {"flink", "sql-client.sh"})
    word = ["sql"] if names[start] == "sql-client.sh" else []
    try:
        return main([*word, *words[start + 1 :]])
    except SystemExit as ended:
        return ended.code


def test_there_are_many():
    assert len(LINES) == len(set(LINES)) >= 158


@pytest.mark.parametrize("line", CARRIED_OUT)
def test_a_line_is_carried_out(line, done, capsys):
    status = flink(line)
    told = capsys.readouterr()
    assert status == 0, told.err
    if re.search(r"flink(.* )?(-h|--help|-v|--version|list.*)$", line):
        assert told.out
        return
    (what,) = done
    if isinstance(what, run.RunOptions):
        assert re.fullmatch(r"[\w./ -]*(\.py|job|main|word_count)", what.script)
        own = what.arguments.index("--") if "--" in what.arguments else None
        assert not _FLINKS.intersection(what.arguments[:own])
    for option in re.findall(r" (-(?:[jCz]|y[a-z]+)) ", line):
        assert option in told.err


@pytest.mark.parametrize(("line", "told"), REFUSED)
def test_a_line_is_refused_with_a_way_out(line, told, done, capsys):
    assert flink(line) in {1, 2}
    assert done == []
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    assert told in errors.splitlines()[-1]


def test_options_reach_the_requests(done, capsys):
    flink("flink stop -type native -p /sp $JOB_ID -detached")
    told = capsys.readouterr()
    assert f"triggered stop-with-savepoint for job {JOB_ID}, the trigger id is 7" in told.out
    assert told.err == "-type native: passed over, since savepoints have one format here\n"
    flink("flink checkpoint -full $JOB_ID")
    assert f"Checkpoint 7 for job {JOB_ID} is completed." in capsys.readouterr().out
    assert done == [("POST", "/stop"), ("POST", "/checkpoints")]


def test_an_address_without_a_server_means_this_machine(done, capsys):
    assert flink("flink list -m jobmanager:8081") == 0
    assert "-m jobmanager:8081: passed over, since no `serve` runs there" in capsys.readouterr().err


def test_the_script_is_what_python_driver_would_run(done):
    flink(f"flink run -c {PYTHON_DRIVER} x/flink-python.jar -pym a.b -p 2")
    assert (done[0].script, done[0].module, done[0].notes) == ("a.b", True, [])
    flink("flink run-application -py job.py")
    assert done[1].detached
