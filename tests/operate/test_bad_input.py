"""An operator's mistakes are answered with one clear sentence, never a traceback."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from functools import partial

import pytest

from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.state import SavepointWriter
from pyflink_on_spark.tools.check.command import main as check
from pyflink_on_spark.tools.operate.commands import run_operation
from pyflink_on_spark.tools.state import main as state


@pytest.fixture
def told(capsys):
    """Run a command that fails; returns the sentence."""

    def run(*arguments):
        assert run_operation(arguments[0], list(arguments[1:])) == 1
        text = capsys.readouterr().err
        assert text.count("\n") == 1
        assert "Traceback" not in text
        return text

    return run


def test_an_unknown_id(home, told):
    assert told("cancel", "0" * 32).startswith(f"cancel: this user has no job '{'0' * 32}' on this")


def test_a_job_of_another_user(home, start, told, monkeypatch):
    start()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    text = told("list")
    assert "belongs to another user; set PYFLINK_ON_SPARK_HOME to another folder" in text


def test_two_jobs_of_one_name(start, told):
    first, second = start("counter"), start("counter")
    text = told("stop", "counter")
    assert first.job.settings.job_id in text
    assert second.job.settings.job_id in text


def test_a_savepoint_path_that_cannot_be_written(start, told, tmp_path):
    start().error = OSError(f"cannot write {tmp_path}/x: Permission denied")
    assert f"cannot write {tmp_path}/x: Permission denied" in told("savepoint", "counter", "/x")


def test_a_savepoint_from_data_that_cannot_be_written(tmp_path, capsys):
    written = SavepointWriter().write(str(tmp_path / "first"))
    (tmp_path / "file").write_text("")
    assert state([written, "--write", str(tmp_path / "file" / "inside")]) == 1
    text = capsys.readouterr().err
    assert text.startswith("state: ")
    assert text.count("\n") == 1
    assert "file/inside" in text


def test_metadata_that_are_nested_too_deeply(tmp_path, capsys):
    (tmp_path / "_metadata").write_text("[" * 100_000)
    assert state([str(tmp_path)]) == 1
    text = capsys.readouterr().err
    assert text.startswith("state: ")
    assert "is damaged: RecursionError" in text


@pytest.mark.parametrize(("command", "arguments"), [
    (state, ["s3://bucket/x"]),
    (check, ["--savepoint", "s3://bucket/x", __file__]),
    (partial(run_operation, "savepoint"), ["--dispose", "s3://bucket/x"]),
])  # fmt: skip
def test_a_place_whose_library_is_missing(command, arguments, monkeypatch, capsys, home):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert command(arguments) == 1
    text = capsys.readouterr().err
    assert "scheme 's3': pip install 'pyflink_on_spark[filesystems]" in text
    assert text.count("\n") == 1


def test_a_script_that_python_cannot_read(tmp_path, capsys):
    script = tmp_path / "deep.py"
    script.write_text("x = " + "+".join(["1"] * 20_000))
    assert check([str(script)]) == 1
    assert "it cannot be read as Python: maximum recursion depth" in capsys.readouterr().out


def _deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "options", "told"),
    [
        ({"b": [1, (2,), ()], "a": b"x"}, [], "'k': {'b': [1, (2,), ()], 'a': b'x'}\n"),
        ("x" * 5000, [], f"'k': '{'x' * 1999}...\n"),
        (list(range(10**5)), ["--width", "20"], "'k': [0, 1, 2, 3, 4, 5, 6...\n"),
        ("x" * 5000, ["--width", "0"], f"'k': '{'x' * 5000}'\n"),
        (_deep(400), ["--width", "0"], f"'k': {'[' * 50}...{']' * 50}\n"),
        (10**5000, [], "'k': <int>\n"),
        ({(1, 2): 3}, ["--json"], '"value": "{(1, 2): 3}"}\n'),
        (10**5000, ["--json"], '"value": "<int>"}\n'),
    ],
    ids=["small", "long", "wide", "whole", "deep", "digits", "keys", "digits in JSON"],
)
def test_values_of_any_size_and_depth(tmp_path, capsys, value, options, told):
    kind = ValueStateDescriptor("v", Types.PICKLED_BYTE_ARRAY())
    path = SavepointWriter().put("op", kind, [("k", value)]).write(str(tmp_path / "it"))
    assert state([path, "--read", "op", "v", *options]) == 0
    assert capsys.readouterr().out.endswith(told)


def test_a_wrong_token(driver, start):
    start()
    network = NetworkServer(driver.router)
    network.start({"rest.port": "0", "pyflink-on-spark.rest.token": "secret"})
    request = urllib.request.Request(
        f"{network.url}/jobs/overview", headers={"Authorization": "Bearer wrong"}
    )
    with pytest.raises(urllib.error.HTTPError, match="403") as raised:
        urllib.request.urlopen(request)
    (text,) = json.loads(raised.value.read())["errors"]
    assert "token" in text
    assert "secret" not in text
    network.close()
