from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.kafka.sink import ShutdownBudget, shutdown_budget_of


def test_each_writer_gets_what_the_ones_before_have_left():
    times = iter([0.0, 3.0, 100.0, 106.0, 200.0, 200.0])
    budget = ShutdownBudget(8.0, lambda: next(times))
    given = []
    for _ in range(3):
        with budget.spend() as seconds:
            given.append(seconds)
    assert given == [8.0, 5.0, 0.0]


def test_a_failed_wait_counts_too():
    times = iter([0.0, 3.0, 100.0, 100.0])
    budget = ShutdownBudget(8.0, lambda: next(times))
    with pytest.raises(ZeroDivisionError), budget.spend():
        raise ZeroDivisionError
    with budget.spend() as seconds:
        assert seconds == 5.0


def test_each_attempt_of_a_job_has_its_own_budget():
    held = shutdown_budget_of("job", 0)
    assert shutdown_budget_of("job", 0) is held
    others = [shutdown_budget_of("job", 1), shutdown_budget_of("other", 0)]
    assert len({id(each) for each in (held, *others)}) == 3


def test_a_budget_ends_with_its_last_writer():
    first = shutdown_budget_of("job", 0)
    with first.spend():
        pass
    first._left = 0.0
    del first
    with shutdown_budget_of("job", 0).spend() as seconds:
        assert seconds > 0
