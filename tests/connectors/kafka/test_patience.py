from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.kafka.patience import ShutdownBudget, patience_of


def test_what_one_has_spent_the_next_one_has_not():
    times = iter([0.0, 3.0, 100.0, 106.0, 200.0, 200.0])
    patience = ShutdownBudget(8.0, lambda: next(times))
    given = []
    for _ in range(3):
        with patience.spent() as seconds:
            given.append(seconds)
    assert given == [8.0, 5.0, 0.0]


def test_also_if_it_is_spent_in_vain():
    times = iter([0.0, 3.0, 100.0, 100.0])
    patience = ShutdownBudget(8.0, lambda: next(times))
    with pytest.raises(ZeroDivisionError), patience.spent():
        raise ZeroDivisionError
    with patience.spent() as seconds:
        assert seconds == 5.0


def test_one_for_each_attempt_of_a_job():
    held = patience_of("job", 0)
    assert patience_of("job", 0) is held
    others = [patience_of("job", 1), patience_of("other", 0)]
    assert len({id(each) for each in (held, *others)}) == 3


def test_it_begins_anew_once_nobody_holds_it():
    first = patience_of("job", 0)
    with first.spent():
        pass
    first._left = 0.0
    del first
    with patience_of("job", 0).spent() as seconds:
        assert seconds > 0
