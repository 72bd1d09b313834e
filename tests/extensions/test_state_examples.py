"""The examples of Flink's document on state give what it says."""

from __future__ import annotations

import pytest

from tests.extensions.state_examples import BUFFERED, FOLDER, PRINTED, run_all

pytestmark = pytest.mark.slow


def test_every_example_is_run():
    assert {path.stem for path in FOLDER.glob("*.py")} == PRINTED.keys()


def test_examples(tmp_path):
    output = tmp_path / "buffered.txt"
    assert run_all("local", output) == PRINTED
    assert output.read_text().splitlines() == BUFFERED
