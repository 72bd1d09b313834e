"""The examples about state give on Spark what Flink's document says."""

from __future__ import annotations

from tests.extensions.state_examples import BUFFERED, PRINTED, run_all


def test_examples(tmp_path):
    output = tmp_path / "buffered.txt"
    assert run_all("spark", output) == PRINTED
    assert output.read_text().splitlines() == BUFFERED
