"""The check of a script against a savepoint finds changes without a run."""

from __future__ import annotations

import json
import os
import pickle
import zlib
from pathlib import Path

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.state import SavepointWriter
from pyflink_on_spark.tools.check.command import main
from pyflink_on_spark.tools.state import main as state
from tests.hostile.test_forged_checkpoints import sign

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


def forge_committables(savepoint, payload):
    """Replace what sinks are to commit, and make all checksums right."""
    path = Path(savepoint)
    (path / "committables").write_bytes(payload)
    metadata = json.loads((path / "_metadata").read_text())
    metadata["committables"] |= {"size": len(payload), "checksum": zlib.crc32(payload)}
    sign(path, metadata)


class Attack:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("command", ["check", "state"])
def test_what_sinks_commit_is_not_run(command, check, savepoint, tmp_path):
    mark = tmp_path / "it was run"
    forge_committables(savepoint, pickle.dumps([("sink", Attack(mark))]))
    if command == "check":
        status, told = check()
        assert status == 1
        assert "what is to be committed by the sink 'sink'" in told
    else:
        assert state([savepoint, "--write", str(tmp_path / "copy")]) == 0
    assert not mark.exists()


def test_a_key_is_asked_for(check, savepoint, tmp_path, capsys):
    key = tmp_path / "key"
    key.write_text("k" * 32)
    assert state([savepoint, "--key", key.as_uri()]) == 1
    assert "is not signed" in capsys.readouterr().err
    signed = str(tmp_path / "signed")
    assert state([savepoint, "--write", signed, "--sign", key.as_uri()]) == 0
    capsys.readouterr()
    assert state([signed, "--key", key.as_uri()]) == 0
    assert "operator counts" in capsys.readouterr().out
    assert check("--key", key.as_uri())[0] == 1
    script = str(tmp_path / "words.py")
    assert main([script, "--savepoint", signed, "--key", key.as_uri()]) == 0
    assert state([signed, "--key", "env:NO_SUCH_KEY_AT_ALL"]) == 1
    assert "is not set" in capsys.readouterr().err
