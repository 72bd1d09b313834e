"""PyFlink's own examples, where PYFLINK_PYTHON names an interpreter that has apache-flink.

They are not part of this project; what PyFlink 2.3.0 prints is recorded in `pyflink_examples`.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pyflink_on_spark.tools.check.command import main as check
from pyflink_on_spark.tools.compare import main as compare
from tests.tools.pyflink_examples.examples import STREAMS, TABLES
from tests.tools.pyflink_examples.running import folder_of, printed, recorded

PYTHON = os.environ.get("PYFLINK_PYTHON", "")
RANDOM = ["datastream/streaming_word_count.py"]

needs_examples = pytest.mark.skipif(not PYTHON, reason="PYFLINK_PYTHON is not set")
each_stream = pytest.mark.parametrize("example", STREAMS, ids=lambda example: example.name)


@pytest.fixture(scope="module")
def examples():
    return folder_of(PYTHON)


def test_each_is_recorded():
    for example in STREAMS + TABLES:
        assert recorded(example)


@needs_examples
def test_all_tables_are_there(examples):
    found = {str(path.relative_to(examples)) for path in (examples / "table").rglob("[!_]*.py")}
    assert found <= {example.path for example in TABLES}


@needs_examples
@pytest.mark.parametrize("path", sorted({each.path for each in STREAMS + TABLES} | {*RANDOM}))
def test_check_finds_nothing_in_the_way(examples, path, capsys):
    assert check([str(examples / path)]) == 0, capsys.readouterr().out


@needs_examples
@each_stream
def test_plan_shows_them(examples, example, tmp_path, capsys):
    command = [sys.executable, "-m", "pyflink_on_spark", "plan", str(examples / example.path)]
    subprocess.run([*command, "-o", str(tmp_path / "plan.svg")], check=True)
    assert (tmp_path / "plan.svg").read_text().startswith("<svg")


@needs_examples
@each_stream
def test_they_print_the_same_on_both_engines(examples, example, capsys):
    options = ["--pyflink", PYTHON, "--any-subtask"]
    assert compare([str(examples / example.path), *options]) == 0, capsys.readouterr().out


@needs_examples
@pytest.mark.slow
@each_stream
def test_they_print_what_pyflink_prints_on_spark(examples, example):
    assert printed(sys.executable, "spark", examples, example) == recorded(example)


@needs_examples
@pytest.mark.slow
@pytest.mark.parametrize("example", STREAMS + TABLES, ids=lambda example: example.name)
def test_they_print_what_pyflink_prints(examples, example):
    assert printed(sys.executable, "local", examples, example) == recorded(example)
