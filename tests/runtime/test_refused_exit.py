"""A function that wants to end its process fails instead, and so says who it is."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._spark.jobs.worker_environment import refused_exit
from tests.runtime.rounds import results


def leave(value):
    os._exit(3)


def test_the_error_names_the_operator_and_the_status():
    with refused_exit(), pytest.raises(SubtaskFailure) as caught:
        results(lambda s: s.map(leave).name("leaves"), [7])
    message = str(caught.value)
    assert "in leave" in message
    assert "SystemExit: os._exit(3) was called" in message
    assert "in operator 'leaves'" in message
    assert message.endswith("while it worked on 7")


def test_a_child_process_ends_as_it_wants():
    with refused_exit():
        child = os.fork()
        if child == 0:
            os._exit(5)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 5


def test_afterwards_all_is_as_before():
    before = os._exit
    with refused_exit():
        assert os._exit is not before
    assert os._exit is before
