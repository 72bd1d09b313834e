"""Tracebacks of programs that call ``install``: only the user's frames, where that is enough."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

from pyflink_on_spark._compat import own_frames
from pyflink_on_spark._sql.errors import ValidationError

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


def test_a_notebook_shows_errors_without_this_package(monkeypatch):
    shown = []

    class Shell:
        def set_custom_exc(self, kinds, handler):
            self.kinds, self.handler = kinds, handler

        def showtraceback(self, exc_tuple, tb_offset=None):
            shown.append(exc_tuple)

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    own_frames.install_short_tracebacks()
    from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment

    with pytest.raises(shell.kinds) as raised:
        TableEnvironment.create(EnvironmentSettings.in_batch_mode()).sql_query("SELECT * FROM x")
    assert isinstance(raised.value, ValidationError)
    shell.handler(shell, type(raised.value), raised.value, raised.tb)
    ((_, error, trace),) = shown
    assert trace.tb_frame.f_code.co_filename == __file__
    assert error.__traceback__ is trace
    assert trace.tb_next is None
