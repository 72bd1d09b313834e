"""How subtasks of one slot read their sources, by turns."""

from __future__ import annotations

import time
from types import SimpleNamespace

from pyflink_on_spark._runtime.clock import SystemClock
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.hosted_subtasks import HostedSubtasks
from pyflink_on_spark._runtime.task.source_turns import SourceTurns


class Source:
    """Stands for a subtask that reads: each poll brings the next number of elements."""

    def __init__(self, *found, log=None, name="", ends=False):
        self._left, self._log, self._name, self._ends = list(found), log, name, ends
        self.limit, self.found, self.rows = 0, 0, []

    @property
    def reading(self):
        return bool(self._left) or not self._ends

    def poll_sources(self):
        self.found = self._left.pop(0) if self._left else 0
        if self.found:
            self.rows.append(Row(0, 0, 0, self._name.encode()))
        if self._log is not None and self.found:
            self._log.append(self._name)
        return self.found

    def take_rows(self):
        rows, self.rows = self.rows, []
        return rows


def polled(*sources, seconds=5.0, most=None):
    """Let one slot read all sources in an epoch; return what each brought, and how long it took."""
    slot = HostedSubtasks([], 0, SimpleNamespace(), SystemClock(), lambda _: None)
    slot._turns = {n: SourceTurns(source, most) for n, source in enumerate(sources)}
    begun = time.monotonic()
    rows = [row for found in slot.poll(list(slot._turns), seconds) for row in found]
    took = time.monotonic() - begun
    return [turns.end() for turns in slot._turns.values()], rows, took


def test_a_quiet_source_holds_nobody_up():
    ends, _, took = polled(Source(16, 32, 64, 3), Source())
    assert ends == [(115, False), (0, False)]
    assert took < 1


def test_a_quiet_source_does_not_hide_that_another_is_behind():
    busy = Source(*[10**6] * 10_000)
    ends, _, _ = polled(busy, Source(), seconds=0.01)
    assert ends[0][1]
    assert ends[1] == (0, False)


def test_busy_sources_take_turns():
    log = []
    _, rows, _ = polled(Source(5, 5, log=log, name="a"), Source(5, 5, log=log, name="b"))
    assert log == ["a", "b", "a", "b"]
    assert [row.payload for row in rows] == [b"a", b"b", b"a", b"b"]


def test_quiet_sources_wait_for_the_whole_time_together():
    ends, _, took = polled(Source(), Source(), seconds=0.05)
    assert ends == [(0, False), (0, False)]
    assert 0.05 <= took < 1


def test_an_epoch_has_no_more_elements_than_it_may():
    ends, _, _ = polled(Source(2, 2, 2), most=4)
    assert ends == [(4, True)]


def test_sources_that_end_are_read_no_further():
    ends, _, took = polled(Source(1, ends=True), Source(1, ends=True))
    assert ends == [(1, False), (1, False)]
    assert took < 1
