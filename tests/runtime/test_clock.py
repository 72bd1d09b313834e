"""Clocks."""

from __future__ import annotations

import time

from pyflink_on_spark._runtime.elements.time import SteadyClock


def test_a_steady_clock_does_not_follow_the_machines_clock(monkeypatch):
    clock = SteadyClock()
    before = clock.now()
    assert abs(before - time.time() * 1000) < 10_000
    monkeypatch.setattr(time, "time_ns", lambda: 0)  # set back by decades
    assert 0 <= clock.now() - before < 10_000
