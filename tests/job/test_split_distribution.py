"""Which reader gets which split, and when."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from pyflink_on_spark._job.restarts import SplitDistribution
from pyflink_on_spark._runtime.contract.connector import SplitEnumerator
from tests.runtime.harness import FakeClock


class Numbers(SplitEnumerator):
    """New splits are those that a test puts into ``new``."""

    interval = 100

    def __init__(self):
        super().__init__()
        self.new, self.searches = [], 0

    def search(self):
        self.searches += 1
        if self.new is None:
            raise OSError("no such place")
        found, self.new = self.new, []
        return found


class Assigned:
    """The assignment of a job with one such source, and three subtasks that read it."""

    def __init__(self):
        self.numbers, self.clock, self.got = Numbers(), FakeClock(), []
        source = SimpleNamespace(asked=True, enumerator=lambda restored: self.numbers)
        chains = (SimpleNamespace(source=None), SimpleNamespace(source=source, source_id="numbers"))
        vertex = SimpleNamespace(chains=chains, parallelism=3, first_subtask_id=10)
        stages = [SimpleNamespace(vertices=[vertex])]
        self.splits = SplitDistribution(stages, None, {}, self._deliver, self.clock)

    def _deliver(self, subtask_id, chain, splits, *, at_once):
        assert chain == 1
        self.got.append((subtask_id, [split for split, *_ in splits], at_once))

    def find(self, *numbers):
        self.numbers.new = list(numbers)
        self.clock.time += 100
        self.splits.search()

    def taken(self):
        got, self.got = self.got, []
        return got


@pytest.fixture
def job():
    return Assigned()


def test_who_asks_gets_what_is_next(job):
    job.find(1, 2, 3, 4, 5)
    job.splits.request(11, 1, 1)
    job.splits.request(10, 1, 3)
    job.splits.request(12, 1, 3)
    assert job.taken() == [(11, [1], True), (10, [2, 3, 4], True), (12, [5], True)]


def test_those_that_wait_share_what_is_found(job):
    job.splits.request(12, 1, 1)
    job.splits.request(10, 1, 4)
    job.splits.request(11, 1, 4)
    job.find(1, 2, 3, 4)
    assert job.taken() == [(12, [1], False), (10, [2, 4], False), (11, [3], False)]
    job.find(5)
    assert job.taken() == []


def test_searches_follow_the_clock_even_if_it_is_set_back(job):
    for time, searches in ((0, 1), (99, 1), (100, 2), (50, 3), (149, 3), (150, 4)):
        job.clock.time = time
        job.splits.search()
        assert job.numbers.searches == searches


def test_nothing_is_handed_out_while_a_checkpoint_is_ordered(job):
    job.find(1, 2)
    job.splits.request(10, 1, 1)
    with job.splits.checkpoint() as positions:
        request = threading.Thread(target=job.splits.request, args=(11, 1, 1))
        request.start()
        request.join(0.05)
        assert job.taken() == [(10, [1], True)]
        assert [split for split, *_ in positions["numbers"]] == [2]
    request.join()
    assert job.taken() == [(11, [2], True)]


def test_a_search_in_the_background_that_fails(job):
    def checks():
        for _ in range(1000):
            job.splits.check()
            threading.Event().wait(0.01)

    job.numbers.new = None
    job.splits.search_in_background()
    with pytest.raises(OSError, match="no such place"):
        checks()


def test_without_such_sources_there_is_nothing_to_do():
    assert not SplitDistribution([], None, {}, None, FakeClock())
