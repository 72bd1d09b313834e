from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.task.backlog_detector import BacklogDetector


def answers(found, limit=4096):
    catching_up = BacklogDetector()
    return [catching_up.caught_up(elements, limit) for elements in found]


def test_what_came_in_while_a_backlog_was_read_is_less_than_the_backlog():
    assert answers([4096, 4096, 1000]) == [False, False, True]
    assert answers([500, 1]) == [False, True]


def test_bundles_that_are_always_small_are_no_end():
    assert answers([100] * 50) == [False] * 50
    assert answers([100, 80, 120, 90]) == [False] * 4


def test_as_many_as_there_may_be_are_no_end():
    catching_up = BacklogDetector()
    limits = [16, 32, 64, 1, 1]
    assert not any(catching_up.caught_up(limit, limit) for limit in limits)


def test_what_was_usual_is_forgotten():
    assert answers([1000, *[10] * 100])[-1] is False


@pytest.mark.parametrize("elements", [1, 7])
def test_the_first_ones_say_nothing(elements):
    assert answers([elements]) == [False]
