from __future__ import annotations

import io

import pytest

from benchmarks.observed.__main__ import differences, interval, order_of, table
from benchmarks.observed.switch import Switches
from benchmarks.observed.watcher import plan_of

PARTS = {"hosts": 0.9, "reports": 0.0, "driver": 0.1, "JVM": 0.0, "observing": 0.1, "rate": 100.0}


def slices(*costs):
    return [{**PARTS, "all": cost} for cost in costs]


def test_neighbours_are_compared_and_drift_cancels():
    assert order_of(6) == [False, True, True, False, False, True]
    drifting = [1.0, 1.02, 1.1, 1.08, 1.0, 1.02]
    assert differences(slices(*drifting), "all") == pytest.approx([0.02, 0.02 / 1.08, 0.02])


def test_a_part_is_compared_as_a_share_of_all():
    off, on = slices(2.0, 2.1)
    on["driver"] = 0.2
    assert differences([off, on], "driver") == pytest.approx([0.05])
    assert differences([off, on], "rate") == [0]


def test_the_interval_has_the_median_and_grows_with_the_scatter():
    near = interval([0.01, 0.011, 0.009, 0.01, 0.0105] * 4)
    far = interval([0.11, -0.09, 0.05, -0.03, 0.01] * 4)
    assert near[0] <= 0.01 <= near[1]
    assert far[0] < near[0] < near[1] < far[1]


def test_the_table_has_a_line_for_each_part():
    lines = table(slices(1.0, 1.02, 1.03, 1.0))
    assert len(lines) == 9
    assert lines[-2].startswith("| all | 1.0000 | 1.0250 | +2.50 %")


def test_a_slice_of_three_seconds_has_a_look_and_a_scrape():
    assert plan_of(3) == [(0.5, "look"), (1.5, "scrape")]
    assert [what for _, what in plan_of(10)].count("look") == 4


class Follower(io.StringIO):
    """A process that answers with the same line again and again."""

    def readline(self):
        return "[40, 2000000000]\n"


def test_hosts_are_counted_together():
    with Switches() as switches:
        switches._followers = [Follower(), Follower()]
        assert switches.count() == (80, 4.0)
