"""Event time that a process combines once for several parts."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.bundle import (
    MAX_WATERMARK,
    Barrier,
    Bundle,
    ChannelStatus,
    CombinedTime,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.elements.time import WatermarkValve
from pyflink_on_spark._runtime.task.barriers import SharedInput, SharedInputs, SnapshotRequest
from pyflink_on_spark._runtime.task.exchange_writer import (
    AlignedBarriers,
    ChannelRow,
    FanOut,
    decode,
    encode,
)
from pyflink_on_spark._runtime.task.schedule import RunQueueEntry, Schedule
from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark.datastream import CoMapFunction
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import CutSource, job_of

EVENTS = st.one_of(
    st.builds(Watermark, st.integers(0, 9) | st.just(MAX_WATERMARK)),
    st.builds(ChannelStatus, st.booleans()),
    st.just(EndOfInput()),
)


def shared_of(*channels):
    shared = SharedInput(channels[0], RunQueueEntry(0, 0.0))
    shared.add_channels(channels, 0)
    return shared


def test_all_channels_of_an_input_have_one_time():
    shared = shared_of(1, 2)
    assert shared.combine(1, Watermark(5)) is None
    assert shared.combine(2, Watermark(7)) == (1, CombinedTime(5))
    assert shared.combine(2, Watermark(8)) is None
    assert shared.combine(1, ChannelStatus(idle=True)) == (1, CombinedTime(8))
    assert shared.combine(1, ChannelStatus(idle=False)) is None
    assert shared.combine(2, ChannelStatus(idle=True)) is None
    assert shared.combine(1, ChannelStatus(idle=True)) == (1, CombinedTime(8, idle=True))
    assert shared.combine(1, EndOfInput()) == (1, CombinedTime(MAX_WATERMARK))
    assert shared.combine(2, EndOfInput()) == (1, CombinedTime(MAX_WATERMARK, ended=True))


def test_each_input_has_a_time_of_its_own():
    shared = SharedInput(1, RunQueueEntry(0, 0.0))
    shared.add_channels([1, 2], 0)
    shared.add_channels([3], 1)
    shared.add_channels([4], 0)
    assert shared.combine(3, Watermark(9)) == (3, CombinedTime(9))
    assert shared.combine(1, Watermark(5)) is None
    assert shared.combine(2, Watermark(6)) is None
    assert shared.combine(4, Watermark(7)) == (1, CombinedTime(5))


def test_the_end_is_told_after_the_last_watermark():
    shared = shared_of(1, 2)
    shared.combine(1, Watermark(MAX_WATERMARK))
    assert shared.combine(2, Watermark(MAX_WATERMARK)) == (1, CombinedTime(MAX_WATERMARK))
    assert shared.combine(2, EndOfInput()) is None
    assert shared.combine(1, EndOfInput()) == (1, CombinedTime(MAX_WATERMARK, ended=True))


def seen(valve, channel, event):
    """Return the news of an event for a subtask: a watermark, and the status of its valve."""
    return valve.take(channel, event), valve.idle, valve.ended


@given(st.lists(st.tuples(st.integers(0, 3), EVENTS), max_size=40))
def test_a_part_learns_the_same_as_from_each_channel(events):
    shared, alone, combined = shared_of(*range(4)), WatermarkValve(range(4)), WatermarkValve([0])
    ended = set()
    for channel, event in events:
        if channel in ended:
            continue
        if event == EndOfInput():
            ended.add(channel)
        expected = seen(alone, channel, event)
        told = shared.combine(channel, event)
        if told is None:
            assert expected == (None, combined.idle, combined.ended)
        else:
            assert seen(combined, *told) == expected
        assert combined.current == alone.current


# -- virtual time ----------------------------------------------------------------------------------


class Process:
    """Two parts, in each of which the same channels end, and what they have taken."""

    def __init__(self, channels):
        job = job_of(lambda s: s.map(str).rebalance().map(str), CutSource([]), len(channels))
        (self.vertex,) = job.stages[-1].vertices
        (incoming,) = self.vertex.inputs
        self.channels = list(incoming.exchange.channels)
        assert len(self.channels) == len(channels)
        self.schedule, self.units = Schedule(), {n: RunQueueEntry(n, 1.0) for n in (1, 2)}
        self.inputs = SharedInputs(
            self.schedule, self.units, itertools.count(100), self._deliver, lambda unit: None
        )
        for part in self.units.copy():
            self.inputs.share(self.vertex, lambda channel, part=part: part)
        self.taken = {1: [], 2: []}

    def send(self, thing, arrival):
        if isinstance(thing, FanOut):
            self.inputs.take(thing, arrival)
        elif (admitted := self.inputs.admit(thing, arrival)) is not None:
            self._deliver(thing, admitted)

    def _deliver(self, row, arrival):
        self.schedule.deliver(self.units[row.subtask_id], row, arrival)

    def work(self):
        """Let the next unit have its turn."""
        unit = self.schedule.pick()
        if unit.subtask_id in self.taken:
            rows = unit.rows.take(unit.time, 2)
            self.taken[unit.subtask_id] += [row.payload for row in rows]
        else:
            self.inputs.combine(unit, unit.time)
        self.schedule.spend(unit, 0.0)
        if unit.rows.waiting:
            self.schedule.add(unit)


@given(st.integers(0, 100_000))
def test_what_slow_senders_have_sent_comes_at_its_virtual_time(seed):
    """Each part takes all in the order in which it would take the events of each channel."""
    choose = random.Random(seed)
    process = Process(range(3))
    last, sent, valves = dict.fromkeys(process.channels, 0.0), {1: [], 2: []}, {}
    for number in range(40):
        if process.schedule and choose.random() < 0.4:
            process.work()
            continue
        channel = choose.choice(process.channels)
        ahead = process.schedule.now + choose.choice([0.0, 0.0, 1.0, 5.0])
        arrival = last[channel] = max(last[channel], ahead)
        if choose.random() < 0.5:
            part = choose.choice([1, 2])
            process.send(ChannelRow(part, channel, number, number), arrival)
            sent[part].append((arrival, number, channel, number))
        else:
            event = choose.choice([Watermark(number), Watermark(number), ChannelStatus(False)])
            process.send(FanOut(channel, number, event), arrival)
            for rows in sent.values():
                rows.append((arrival, number, channel, event))
    while process.schedule:
        process.work()
    for part, rows in sent.items():
        valve, expected = valves.setdefault(part, WatermarkValve(process.channels)), []
        for _, _, channel, thing in sorted(rows, key=lambda row: row[:2]):
            if isinstance(thing, int):
                expected.append(thing)
            elif (watermark := valve.take(channel, thing)) is not None:
                expected.append(CombinedTime(watermark))
        assert process.taken[part] == expected


def test_a_slow_sender_does_not_hold_up_what_others_send_meanwhile():
    process = Process(range(2))
    slow, fast = process.channels
    process.send(FanOut(slow, 0, Watermark(1)), 0.0)
    process.send(FanOut(slow, 1, Watermark(9)), 10.0)
    for number in range(3):
        process.send(FanOut(fast, number, Watermark(number)), 0.0)
        process.send(ChannelRow(1, fast, number, number), 0.0)
    process.send(ChannelRow(1, slow, 2, "after"), 0.0)
    while process.schedule.now < 10.0:
        assert process.schedule.now == 0.0
        process.work()
    meanwhile = [CombinedTime(0), 0, CombinedTime(1), 1, 2]
    assert process.taken[1] == meanwhile
    while process.schedule:
        process.work()
    assert process.taken[1] == [*meanwhile, CombinedTime(2), "after"]


def test_a_barrier_does_not_overtake_what_waits_for_its_time():
    """A later event comes after both, and before the rows that follow on its own channel."""
    process = Process(range(2))
    slow, fast = process.channels
    process.send(FanOut(fast, 0, ChannelStatus(idle=True)), 0.0)
    process.send(FanOut(slow, 0, Watermark(1)), 0.0)
    process.send(FanOut(slow, 1, Watermark(3)), 10.0)
    process.send(FanOut(slow, 2, ChannelStatus(idle=True)), 10.0)
    process.send(FanOut(slow, 3, Barrier(1)), 10.0)
    process.send(ChannelRow(1, slow, 4, "after the barrier"), 10.0)
    process.send(FanOut(fast, 1, ChannelStatus(idle=False)), 0.0)
    process.send(ChannelRow(1, fast, 2, "after"), 0.0)
    process.send(FanOut(fast, 3, Barrier(1)), 0.0)
    while process.schedule:
        process.work()
    assert process.taken[1] == [
        CombinedTime(1),
        CombinedTime(3),
        CombinedTime(3, idle=True),
        CombinedTime(3),
        "after",
        AlignedBarriers(1, frozenset(process.channels)),
        "after the barrier",
    ]


# -- groups ----------------------------------------------------------------------------------------


class Outlet:
    """Keeps what each channel carries away, and notes what is acknowledged."""

    def __init__(self):
        self.left, self.done = {}, []

    def send(self, row, stage):
        event = decode(row.payload)
        self.left.setdefault(row.channel, []).extend(
            event.values if isinstance(event, Bundle) else [event]
        )

    def spread(self, event, stage):
        self.left.setdefault(event.channel, []).append(event.payload)

    def flush(self):
        pass

    def congested(self, stage):
        return False

    def consumed(self, row, stage):
        self.done.append((row.channel, row.seq))


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


def two_inputs(stream):
    """Three subtasks: the channels into their first input reach all, those into the other one."""
    numbers = stream.map(str)
    both = numbers.rebalance().union(numbers.shuffle()).connect(numbers.rescale())
    return both.map(Both()).map(str).set_parallelism(1)


def mixed(stream):
    """Three subtasks, in whose one input some channels reach all, and the others one."""
    numbers = stream.map(str)
    both = numbers.rebalance().union(numbers.shuffle(), numbers.rescale())
    return both.map(str).map(str).set_parallelism(1)


def wide(stream):
    """Three subtasks with two inputs, into which all channels reach all."""
    numbers = stream.map(str)
    both = numbers.rebalance().connect(numbers.shuffle())
    return both.map(Both()).map(str).set_parallelism(1)


COMBINED = {two_inputs: [True, True, False], mixed: [False] * 3, wide: [True, True]}
"""Which exchanges of a job are combined."""


def _no_driver(number):
    return lambda channel: lambda things: None


class Host:
    """The middle stage of such a job in some slots."""

    def __init__(self, slots, shares, build=two_inputs):
        job = job_of(
            build, CutSource([]), 3, configuration={"execution.checkpointing.interval": "1 h"}
        )
        self.shares, self.slots, self.outlet, self.came = shares, slots, Outlet(), []
        self.group = SubtaskGroup(
            job.stages[2:3], slots, job.settings, FakeClock(), _no_driver,
            outlet=self.outlet, now=lambda: 0.0, shares=shares,
        )  # fmt: skip
        self.group.open()
        self.vertex = next(iter(self.group)).identity.vertex
        self.plans = [incoming.exchange for incoming in self.vertex.inputs]
        assert [plan.combined for plan in self.plans] == COMBINED[build]

    def take(self, plan, channel, event, seq):
        """Let an event come on a channel, or an element for each receiver."""
        first = self.vertex.first_subtask_id
        sender = channel - plan.first_channel
        reached = plan.partitioner.receivers(sender, plan.senders, plan.receivers)
        mine = [first + index for index in reached if index in self.slots]
        combined = self.shares and plan.combined
        fans = combined or (plan.reaches_all and isinstance(event, Barrier))
        if fans and not isinstance(event, Bundle):
            self.came.append((channel, seq))
            self.group.receive(FanOut(channel, seq, encode(event)))
            return
        for number in mine:
            self.came.append((channel, seq))
            self.group.receive(ChannelRow(number, channel, seq, encode(event)))

    def order(self, number):
        request = SnapshotRequest(number, lambda index, state: None)
        self.group.begin_checkpoint(request)
        return request


def courses(plans, choose):
    """Return the events of each channel: two barriers, and chosen events around them."""
    found = {}
    for plan in plans:
        for channel in plan.channels:
            events = []
            for part in range(3):
                mark = 10 * part
                for number in range(choose.randrange(6)):
                    mark += choose.randrange(3)
                    events.append(
                        choose.choice(
                            [
                                Bundle([f"{channel} {part} {number}"]),
                                Watermark(mark),
                                Watermark(mark),
                                ChannelStatus(choose.random() < 0.5),
                            ]
                        )
                    )
                events.append(Barrier(part + 1) if part < 2 else EndOfInput())
            found[plan, channel] = events
    return found


@given(st.integers(0, 100_000))
def test_each_subtask_does_the_same_as_with_all_events_of_each_channel(seed):
    choose = random.Random(seed)
    slots = choose.choice([[[0, 1, 2]], [[0, 2], [1]], [[0], [1, 2]], [[0], [1], [2]]])
    build = choose.choice([*COMBINED])
    alone = Host([0, 1, 2], shares=False, build=build)
    hosts = [Host(each, shares=True, build=build) for each in slots]
    everyone = [alone, *hosts]
    under_way, orders, requests = courses(alone.plans, choose), [1, 2], []
    for seq in itertools.count():
        waiting = [channel for channel, events in under_way.items() if events]
        if orders and (not waiting or choose.random() < 0.05):
            number = orders.pop(0)
            requests += [host.order(number) for host in everyone]
        elif waiting:
            plan, channel = choose.choice(waiting)
            event = under_way[plan, channel].pop(0)
            for host in everyone:
                host.take(plan, channel, event, seq)
        else:
            break
        if choose.random() < 0.3:
            for host in everyone:
                host.group.turn(0.0)
    left = {}
    for host in everyone:
        while host.group.turn(0.0):
            pass
        assert host.group.ended
        if host is not alone:
            left |= host.outlet.left
            assert sorted(host.outlet.done) == sorted(host.came)
    assert all(request.done for request in requests)
    assert left == alone.outlet.left
    assert all(events[-1] == EndOfInput() for events in left.values())
    assert any(isinstance(event, Watermark) for events in left.values() for event in events)


def test_an_event_is_acknowledged_when_all_know_what_has_come_of_it():
    host = Host([0, 1], shares=True)
    plan, other, single = host.plans
    for channel in single.channels:
        host.take(single, channel, Watermark(5), 0)
    while host.group.turn(0.0):
        pass
    host.outlet.done.clear()
    *some, last = [(each, channel) for each in (plan, other) for channel in each.channels]
    for each, channel in some:
        host.take(each, channel, Watermark(5), 1)
    assert host.outlet.done == [(channel, 1) for _, channel in some]  # that has no effect yet
    host.outlet.done.clear()
    host.take(*last, Watermark(5), 2)
    assert host.outlet.done == []
    while host.group.turn(0.0):
        pass
    assert host.outlet.done == [(last[1], 2)]
