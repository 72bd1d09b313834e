"""The benchmark of state backends runs."""

from __future__ import annotations

from benchmarks import state_backends

MEASURED = (
    "first update of each key",
    "read and update each key",
    "whole checkpoint by a copy",
    "checkpoint of changes",
    "restore from both",
)


def test_everything_is_measured_of_both_backends(capsys):
    state_backends.main(["--keys", "300", "--memory", "1"])
    printed = capsys.readouterr().out
    assert {what: printed.count(what) for what in MEASURED} == dict.fromkeys(MEASURED, 2)
