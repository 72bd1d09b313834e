"""Tracebacks of programs that call ``install``: only the user's frames, where that is enough."""

from __future__ import annotations

import subprocess
import sys
import traceback
import types
from pathlib import Path

import pytest

from pyflink_on_spark._compat import own_frames
from pyflink_on_spark._runtime.operators import inlining
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.errors import JobExecutionError

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
import pyflink_on_spark
pyflink_on_spark.install()
from pyflink.table import EnvironmentSettings, TableEnvironment
def mine():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    {statement}
mine()
"""


@pytest.mark.parametrize(
    ("statement", "frames", "end"),
    [
        ("t_env.sql_query('SELECT * FROM nothing')", 2, "Object 'nothing' not found"),
        ("1 / 0", 2, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_script(tmp_path, statement, frames, end):
    script = tmp_path / "job.py"
    script.write_text(SCRIPT.format(statement=statement))
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    lines = done.stderr.rstrip().splitlines()
    assert lines[-1].endswith(end)
    assert sum(line.startswith("  File ") for line in lines) == frames
    assert all(str(script) in line for line in lines if line.startswith("  File "))


def test_a_hook_of_the_program_stays(monkeypatch):
    def own(*_arguments):
        raise AssertionError

    monkeypatch.setattr(sys, "excepthook", own)
    own_frames.install_short_tracebacks()
    assert sys.excepthook is own


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("SELECT * FROM x", ValidationError),
        ("SELECT * FROM t", FileNotFoundError),
    ],
)
def test_a_notebook_shows_errors_without_this_package(monkeypatch, local_engine, statement, error):
    shown = []

    class Shell:
        custom_exceptions = ()

        def set_custom_exc(self, kinds, handler):
            self.kinds, self.handler = kinds, handler

        def showtraceback(self, exc_tuple, tb_offset=None):
            shown.append(exc_tuple)

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    own_frames.install_short_tracebacks()
    from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment

    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    missing = "'connector' = 'filesystem', 'path' = '/none.csv', 'format' = 'csv'"
    t_env.execute_sql(f"CREATE TABLE t (a INT) WITH ({missing})")
    with pytest.raises(error) as raised:
        t_env.execute_sql(statement)
    assert isinstance(raised.value, shell.kinds)
    shell.handler(shell, type(raised.value), raised.value, raised.tb)
    ((_, error, trace),) = shown
    assert trace.tb_frame.f_code.co_filename == __file__
    assert error.__traceback__ is trace
    assert trace.tb_next is None


def test_the_cause_of_a_failed_job_has_the_frames_of_the_user(local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([0]).map(lambda n: 1 // n).print()
    with pytest.raises(JobExecutionError) as failed:
        env.execute()
    own_frames.cut(failed.value)
    frames = traceback.extract_tb(failed.value.__cause__.__traceback__)
    assert [frame.filename for frame in frames] == [__file__]
    shown = failed.value.__cause__.__traceback__
    assert shown.tb_frame.f_lineno == shown.tb_lineno == frames[0].lineno


@pytest.mark.parametrize("step", [0, 1, 31, 32, 5000])
def test_the_frame_of_a_function_in_a_loop_is_at_its_line(step):
    def function():
        raise AssertionError

    line = function.__code__.co_firstlineno + step
    with pytest.raises(KeyError) as raised:
        raise KeyError
    here = raised.value.__traceback__.tb_lineno
    inlining.with_users_frame(raised.value, {here: (function, line)})
    shown = raised.value.__traceback__.tb_next
    assert (shown.tb_lineno, shown.tb_frame.f_lineno) == (line, line)
