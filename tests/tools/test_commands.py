"""The arguments of `python -m pyflink_on_spark`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyflink_on_spark
from pyflink_on_spark.__main__ import main
from pyflink_on_spark.tools.commands import COMMANDS, split_at_dashes


def test_help_names_the_commands(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)


def test_the_version_is_the_package_s_own(capsys):
    assert main(["--version"]) == 0
    shown = capsys.readouterr().out
    assert shown == f"pyflink_on_spark {pyflink_on_spark.__version__} (PyFlink 2.3.0)\n"


def test_without_arguments_it_is_a_wrong_command_line(capsys):
    assert main([]) == 2
    assert "usage:" in capsys.readouterr().err


def test_what_is_neither_script_nor_command(capsys):
    assert main(["chekc"]) == 2
    assert "there is no script chekc" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"pyflink_on_spark {name}" in capsys.readouterr().out


def test_a_script_of_a_command_s_name_is_run(tmp_path):
    (tmp_path / "plan").write_text("print('mine')")
    command = [sys.executable, "-m", "pyflink_on_spark", "plan"]
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "mine\n"


def test_a_script_s_own_arguments_follow_two_dashes():
    assert split_at_dashes(["a", "--", "--b", "--"]) == (["a"], ["--b", "--"])
    assert split_at_dashes(["a"]) == (["a"], [])


def test_settings_of_spark_stand_before_the_script(tmp_path, monkeypatch):
    given: dict[str, str] = {}
    monkeypatch.setattr("pyflink_on_spark.tools.operate.run.command_line", given)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    script = tmp_path / "job.py"
    script.write_text("import sys\nassert sys.argv[1:] == ['--conf', 'mine']\n")
    options = ["--master", "spark://host:7077", "--conf", "spark.a=b=c", "--conf=spark.d=e"]
    assert main([*options, str(script), "--conf", "mine"]) == 0
    assert given == {"spark.master": "spark://host:7077", "spark.a": "b=c", "spark.d": "e"}


@pytest.mark.parametrize("options", [["--conf"], ["--conf", "spark.a"], ["--conf", "a=b", "j.py"]])
def test_settings_that_are_none(options, capsys):
    assert main(options) == 2
    assert "--conf" in capsys.readouterr().err.splitlines()[-1]


FORGETFUL = """\
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
stream = env.from_collection([1]).map(lambda n: n)
stream.print()
"""


FORGOTTEN = (
    "job.py has ended, and nothing has run what leads to the sink added at job.py:5: "
    "call env.execute()"
)


@pytest.mark.parametrize(("end", "told"), [("", [FORGOTTEN]), ("env.close()", [])])
def test_a_script_that_forgets_to_execute(tmp_path, end, told):
    (tmp_path / "job.py").write_text(FORGETFUL + end)
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "pyflink_on_spark", "job.py"],
        cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines() == told


def test_nobody_who_reads_is_no_error_of_a_command(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "pyflink_on_spark", "list"]
    root = str(Path(__file__).resolve().parents[2])
    environment = {"PYTHONPATH": root, "PYFLINK_ON_SPARK_HOME": str(tmp_path)}
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, env=environment, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
