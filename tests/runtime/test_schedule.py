"""Which subtask works next: as if each had a processor of its own."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.task.schedule import (
    SLOW_SECONDS,
    InputQueue,
    RunQueueEntry,
    Schedule,
)
from pyflink_on_spark.datastream import MapFunction
from pyflink_on_spark.testing.local_engine import LocalHosts
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import CutSource, job_of

ROW = ChannelRow(0, 0, 0, b"")


def picked(schedule):
    found = []
    while schedule:
        found.append(schedule.pick().subtask_id)
    return found


def test_of_those_that_could_work_now_the_one_furthest_downstream_comes_first():
    schedule = Schedule()
    schedule.add_all(
        [
            RunQueueEntry(1, depth=0),
            RunQueueEntry(2, depth=2),
            RunQueueEntry(3, depth=1),
            RunQueueEntry(4, depth=2),
        ]
    )
    assert picked(schedule) == [2, 4, 3, 1]


def test_the_one_that_waits_longest_comes_first():
    schedule, first, second = Schedule(), RunQueueEntry(1, 0), RunQueueEntry(2, 0)
    schedule.add_all([first, second])
    assert schedule.pick() is first
    schedule.add(first)
    schedule.add(second)  # is there already
    assert picked(schedule) == [2, 1]


def test_a_unit_that_could_not_have_its_turn_keeps_its_place():
    schedule, first, second = Schedule(), RunQueueEntry(1, 0), RunQueueEntry(2, 0)
    schedule.add_all([first, second])
    schedule.put_back(schedule.pick())
    assert picked(schedule) == [1, 2]


def test_slow_work_lets_the_others_go_first():
    schedule, slow, fast = Schedule(), RunQueueEntry(1, depth=1), RunQueueEntry(2, depth=0)
    schedule.spend(slow, 5 * SLOW_SECONDS)
    schedule.spend(fast, 0.9 * SLOW_SECONDS)
    assert (slow.time, fast.time) == (5 * SLOW_SECONDS, 0.0)
    schedule.add_all([slow, fast])
    assert picked(schedule) == [2, 1]


def test_nobody_works_off_what_has_not_arrived():
    schedule, unit = Schedule(), RunQueueEntry(1, 0)
    schedule.deliver(unit, ROW, 3.0)
    schedule.add(RunQueueEntry(2, 0, time=2.0))
    assert picked(schedule) == [2, 1]
    assert unit.time == 3.0


def test_what_arrives_earlier_is_worked_off_earlier_whoever_has_worked_first():
    schedule, unit = Schedule(), RunQueueEntry(1, 0)
    slow, fast = ChannelRow(1, 5, 0, b""), ChannelRow(1, 6, 0, b"")
    schedule.deliver(unit, slow, 3.0)
    schedule.deliver(unit, fast, 1.0)
    schedule.add(RunQueueEntry(2, 0, time=2.0))
    assert schedule.pick() is unit
    assert list(unit.rows.take(unit.time)) == [fast]
    schedule.add(unit)
    assert picked(schedule) == [2, 1]
    assert list(unit.rows.take(unit.time)) == [slow]


def test_the_rows_of_a_channel_do_not_overtake_each_other():
    rows, found = InputQueue(), [ChannelRow(0, 5, seq, b"") for seq in range(4)]
    for row, arrival in zip(found, (2.0, 1.0, 3.0, 0.0), strict=True):
        rows.add(row, arrival)
    assert rows.waiting[0][0] == 2.0
    assert list(rows.take(2.0)) == found[:2]
    assert list(rows.take(9.0)) == found[2:]
    assert not rows.waiting


def test_what_separates_comes_after_all_before_it_and_before_all_after_it():
    rows, found = InputQueue(), [ChannelRow(0, channel, 0, b"") for channel in range(5)]
    rows.add(found[0], 3.0)
    rows.add(found[1], 1.0)
    rows.separate(found[2], 2.0)
    rows.add(found[3], 1.0)
    rows.add(found[1], 1.5)
    assert list(rows.take(2.0)) == [found[1]]
    assert list(rows.take(3.0)) == [found[0], found[2], found[3], found[1]]
    rows.add(found[4], 2.0)
    rows.separate(found[2], 4.0)
    assert list(rows.take(3.5)) == [found[4]]
    assert list(rows.take(4.0)) == [found[2]]


def test_the_present_is_where_work_began_last():
    schedule, unit, idle = Schedule(), RunQueueEntry(1, 0, time=1.0), RunQueueEntry(2, 0)
    schedule.spend(unit, 1.0)
    assert schedule.now == 1.0
    schedule.add_idle([idle, unit])
    assert (idle.time, unit.time) == (1.0, 2.0)


def test_units_whose_output_has_to_wait_do_not_have_all_turns():
    """Each turn is over after one unit; the one they wait for is late."""
    schedule = Schedule()
    units = [RunQueueEntry(number, depth=number) for number in (1, 2, 3)]
    last = units[2]
    schedule.spend(last, 2 * SLOW_SECONDS)
    for unit in units:
        unit.rows.add(ROW, 0.0)
        schedule.add(unit)
    for _ in range(8):
        unit = schedule.pick()
        if unit is last:
            return
        unit.held = True
        schedule.add_idle([unit])
    raise AssertionError("it had no turn")


def test_sources_without_elements_do_not_have_all_turns():
    """Each turn lasts as long as one poll of a source that has nothing."""
    schedule, busy = Schedule(), RunQueueEntry(9, 0)
    schedule.spend(busy, 2 * SLOW_SECONDS)
    schedule.add_all([RunQueueEntry(1, 0), RunQueueEntry(2, 0), busy])
    turns = []
    for _ in range(12):
        unit = schedule.pick()
        turns.append(unit.subtask_id)
        if unit is busy:
            schedule.spend(unit, 2 * SLOW_SECONDS)
            schedule.add(unit)
        else:
            schedule.add_idle([unit])
    assert turns.count(9) >= 3


# What a function and its test share; the function itself is a copy.
TIME = [0.0]


class Takes(MapFunction):
    """Takes some time for each element."""

    def __init__(self, seconds):
        self.seconds = seconds

    def map(self, value):
        TIME[0] += self.seconds
        return value


def collected(build, slices):
    """Return the results of a job, in order, if the group works in slices of time."""
    TIME[0] = 0.0
    job = job_of(build, CutSource(range(12), (1,)), 2)
    found = []
    hosts = LocalHosts(
        job.stages,
        job.settings,
        FakeClock(),
        lambda channel: lambda things: found.extend(map(deserialize, things)),
        now=lambda: TIME[0],
    )
    hosts.group.open()
    number = 0
    while not hosts.group.ended:
        hosts.group.turn(TIME[0] + slices[number % len(slices)])
        number += 1
        assert number < 10_000
    hosts.group.close()
    return found


def branches(slow, fast):
    def build(stream):
        first = stream.rebalance().map(Takes(slow)).map(lambda v: ("slow", v))
        second = stream.rebalance().map(Takes(fast)).map(lambda v: ("fast", v))
        return first.union(second).map(lambda v: v).set_parallelism(1)

    return build


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.01, 0.05, 1.0]), min_size=1, max_size=4),
    st.sampled_from([(0.1, 0.0), (0.2, 0.01), (0.0, 0.0)]),
)
def test_whatever_the_slices_slow_work_holds_up_only_what_follows_it(slices, costs):
    found = collected(branches(*costs), slices)
    assert sorted(found) == [(name, v) for name in ("fast", "slow") for v in range(12)]
    if costs[0] > 0:
        assert [name for name, _ in found] == ["fast"] * 12 + ["slow"] * 12
    for name in ("fast", "slow"):
        for subtask in (0, 1):  # of each, one after the other
            of_one = [v for n, v in found if n == name and v % 2 == subtask]
            assert of_one == sorted(of_one)


def test_a_unit_with_nothing_to_do_does_not_stay_before_rows_that_come_later():
    schedule, source, receiver = Schedule(), RunQueueEntry(1, 0), RunQueueEntry(2, 1)
    receiver.rows.add(ROW, 5 * SLOW_SECONDS)
    schedule.add_idle([receiver])  # had to wait
    schedule.add(source)
    for _ in range(3):
        unit = schedule.pick()
        if unit is receiver:
            return
        schedule.add_idle([unit])
    raise AssertionError("the source has had all turns")
