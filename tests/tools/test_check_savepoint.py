"""The check of a script against a savepoint finds changes without a run."""

from __future__ import annotations

import json

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.state import SavepointWriter
from pyflink_on_spark.tools.check.command import main

SCRIPT = """
import sys
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection(["a", "b"])
{more}
numbers.key_by(lambda word: word{key_type}).reduce(lambda a, b: a + b){maximum}.uid("{uid}").print()
env.execute("words")
"""


@pytest.fixture
def savepoint(tmp_path):
    writer = SavepointWriter(job_name="words")
    entries = [(f"word {number}", f"word {number}") for number in range(20)]
    state = ValueStateDescriptor("reduced", Types.STRING())
    return writer.put("counts", state, entries, key_type=Types.STRING()).write(
        str(tmp_path / "savepoint")
    )


@pytest.fixture
def check(tmp_path, savepoint, capsys):
    def checked(*options, uid="counts", key_type=", key_type=Types.STRING()", maximum="", more=""):
        script = tmp_path / "words.py"
        script.write_text(SCRIPT.format(uid=uid, key_type=key_type, maximum=maximum, more=more))
        status = main([str(script), "--savepoint", savepoint, *options])
        return status, capsys.readouterr().out

    return checked


def test_a_script_that_fits(check, savepoint):
    status, told = check(more="numbers = numbers.map(str).uid('new')")
    assert status == 0
    assert told.startswith(f"the job 'words' can start from {savepoint}\n")
    assert "continues with its state:\n  counts\n" in told
    assert "\n  new\n" in told.partition("starts empty:")[2]


def test_another_uid(check):
    status, told = check(uid="other")
    assert status == 1
    assert "the job 'words' cannot start from" in told
    assert "has state of the operator 'counts', which this job has not. Give" in told


def test_another_uid_that_the_script_allows(check):
    ignore = "execution.state-recovery.ignore-unclaimed-state"
    more = (
        "from pyflink.common import Configuration\n"
        f"env.configure(Configuration().set_string('{ignore}', 'true'))"
    )
    status, told = check("--json", uid="other", more=more)
    assert status == 0
    assert json.loads(told)["dropped"] == ["state of the operator 'counts'"]


def test_another_max_parallelism(check):
    status, told = check(maximum=".set_max_parallelism(64)")
    assert status == 1
    assert "a max parallelism of 128 for 'counts'; the job has 64" in told


def test_another_key_type(check):
    status, told = check(key_type="")
    assert status == 1
    assert "of 'counts' in another key group than a job with no key_type would look in" in told


def test_the_command_line(check, tmp_path, capsys):
    assert main([str(tmp_path), "--savepoint", "x"]) == 2
    assert "--savepoint takes one script" in capsys.readouterr().err
    script = tmp_path / "nothing.py"
    script.write_text("")
    assert main([str(script), "--savepoint", str(tmp_path)]) == 1
    assert "there is no complete checkpoint" in capsys.readouterr().err
