"""Rows between hosts that are in one process here; without Spark."""

from __future__ import annotations

import threading

import pytest

from pyflink_on_spark._cluster.transport.data_plane import (
    _FRAME,
    MOST_IN_FLIGHT,
    DataPlane,
    PeerLost,
)
from pyflink_on_spark._cluster.transport.stream import TAG_BYTES
from pyflink_on_spark._runtime.elements.bundle import Barrier, Watermark
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, FanOut, decode, encode
from tests.cluster.connections import connected

STAGE = 1


class Planes:
    """Two hosts; subtask n and channel n are in host n."""

    def __init__(self, kind):
        self.arrived = ([], [])
        self.planes = [DataPlane(arrived.append) for arrived in self.arrived]
        self.wires = connected(kind)
        for number, plane in enumerate(self.planes):
            plane.connect({1 - number: self.wires[number]}, {0: 0, 1: 1}, {0: 0, 1: 1})

    def pump(self, condition):
        """Let rows travel until something is so."""
        for _ in range(10_000):
            if condition():
                return
            for plane in self.planes:
                plane.pump(0.001)
        raise AssertionError("it did not happen")


@pytest.fixture(params=["sealed", "encrypted"])
def planes(request):
    made = Planes(request.param)
    yield made
    for plane in made.planes:
        plane.close()


def test_rows_arrive_in_their_order(planes):
    rows = [ChannelRow(1, 0, number, b"x" * number) for number in range(100)]
    for row in rows:
        planes.planes[0].send(row, STAGE)
    planes.planes[1].send(ChannelRow(0, 1, 7, b"back"), STAGE)
    planes.pump(lambda: len(planes.arrived[1]) == 100 and planes.arrived[0])
    assert planes.arrived == ([ChannelRow(0, 1, 7, b"back")], rows)


def test_a_row_that_fits_leaves_before_anything_else_is_done(planes):
    planes.planes[0].send(ChannelRow(1, 0, 0, b"at once"), STAGE)
    planes.planes[0].flush()
    assert planes.planes[1].pump(10.0)
    assert planes.arrived[1] == [ChannelRow(1, 0, 0, b"at once")]


def test_a_large_row_waits_for_no_other_one(planes):
    row = ChannelRow(1, 0, 0, b"x" * 64 * 1024)
    planes.planes[0].send(row, STAGE)
    while not planes.arrived[1]:
        assert planes.planes[1].pump(10.0)
    assert planes.arrived[1] == [row]


def test_many_small_rows_leave_together(planes):
    rows = [ChannelRow(1, 0, number, b"row") for number in range(1_000)]
    for row in rows:
        planes.planes[0].send(row, STAGE)
    assert planes.planes[1].pump(10.0)
    assert planes.arrived[1] == rows[: len(planes.arrived[1])]
    planes.planes[0].flush()
    planes.pump(lambda: len(planes.arrived[1]) == len(rows))
    assert planes.arrived[1] == rows


@pytest.mark.parametrize("kind", ["sealed", "encrypted"])
def test_copies_for_several_subtasks_of_a_host_travel_once(kind):
    dialer, listener = connected(kind)
    arrived = []
    sender, receiver = DataPlane(print), DataPlane(arrived.append)
    sender.connect({1: dialer}, {0: 0, 1: 1, 2: 1, 3: 1}, {})
    receiver.connect({0: listener}, {0: 0, 1: 1, 2: 1, 3: 1}, {})
    event, other = bytes(500), bytes(range(250)) * 2
    rows = [ChannelRow(subtask, 7, 10 + subtask, event) for subtask in (1, 2, 3)]
    rows += [ChannelRow(1, 8, 0, event), ChannelRow(2, 8, 1, other), rows[0]]
    for row in rows:
        sender.send(row, STAGE)
    sent = sum(map(len, sender._peers[1].outbox)) + len(event)
    assert sent < 5 * len(event)  # two copies of three rows did not leave
    sender.flush()
    while len(arrived) < len(rows):
        assert receiver.pump(10.0)
    assert arrived == rows
    assert sender._peers[1].in_flight[STAGE] == sum(len(row.payload) for row in rows)
    sender.close()
    receiver.close()


def test_a_barrier_comes_once_after_the_rows_before_it(planes):
    rows = [ChannelRow(1, 0, number, b"same") for number in range(3)]
    planes.planes[0].send(rows[0], STAGE)
    planes.planes[0].send(rows[1], STAGE)
    planes.planes[0].spread(FanOut(0, 2, Barrier(1 << 40), range(1, 2)), STAGE)
    planes.planes[0].send(rows[2], STAGE)
    planes.pump(lambda: len(planes.arrived[1]) == 4)
    assert planes.arrived[1] == [*rows[:2], FanOut(0, 2, encode(Barrier(1 << 40))), rows[2]]


def test_an_event_counts_as_under_way_until_it_is_acknowledged(planes):
    sender, receiver = planes.planes
    event = FanOut(0, 0, Watermark(5), range(2))
    sender.spread(event, STAGE)
    (peer,) = sender._peers.values()
    assert peer.in_flight[STAGE] == len(encode(Watermark(5)))
    planes.pump(lambda: planes.arrived[1])
    (arrived,) = planes.arrived[1]
    assert decode(arrived.payload) == Watermark(5)
    receiver.consumed(arrived, STAGE)
    planes.pump(lambda: not peer.in_flight[STAGE])


def test_an_event_does_not_go_where_it_has_no_receivers(planes):
    planes.planes[0].spread(FanOut(0, 0, Watermark(5), range(1)), STAGE)
    planes.planes[0].send(ChannelRow(1, 0, 1, b"row"), STAGE)
    planes.pump(lambda: planes.arrived[1])
    assert planes.arrived[1] == [ChannelRow(1, 0, 1, b"row")]


def test_too_much_under_way_is_congestion_until_half_of_it_is_worked_off(planes):
    sender, receiver = planes.planes
    row = ChannelRow(1, 0, 0, b"x" * (MOST_IN_FLIGHT // 8))
    for _ in range(8):
        sender.send(row, STAGE)
    assert not sender.congested(STAGE)
    sender.send(row, STAGE)
    assert sender.congested(STAGE)
    assert sender.congested(0)  # what is sent there ends up here
    assert not sender.congested(STAGE + 1)
    planes.pump(lambda: len(planes.arrived[1]) == 9)
    for _ in range(4):
        receiver.consumed(row, STAGE)
    planes.pump(lambda: sender._peers[1].in_flight[STAGE] == 5 * len(row.payload))
    assert sender.congested(STAGE)
    receiver.consumed(row, STAGE)
    planes.pump(lambda: not sender.congested(STAGE))


def test_one_stage_does_not_hold_up_those_that_come_later(planes):
    sender = planes.planes[0]
    for _ in range(9):
        sender.send(ChannelRow(1, 0, 0, b"x" * (MOST_IN_FLIGHT // 8)), STAGE)
    sender.send(ChannelRow(1, 0, 0, b"late"), STAGE + 1)
    assert sender.congested(STAGE)
    assert not sender.congested(STAGE + 1)


@pytest.mark.parametrize("what", ["pump", "send"])
def test_a_host_that_is_gone(planes, what):
    planes.planes[1].close()

    def until_noticed():
        for number in range(1000):
            if what == "pump":
                planes.planes[0].pump(0.01)
            else:
                planes.planes[0].send(ChannelRow(1, 0, number, b"x" * 100_000), STAGE)

    with pytest.raises(PeerLost) as lost:
        until_noticed()
    assert lost.value.host == 1


def test_a_row_that_comes_with_the_greeting_is_not_lost():
    dialer, listener = connected()
    arrived = []
    sender, receiver = DataPlane(print), DataPlane(arrived.append)
    dialer.send_bytes(b"host 0")
    sender.connect({1: dialer}, {0: 0, 1: 1}, {0: 0, 1: 1})
    sender.send(ChannelRow(1, 0, 0, b"early"), STAGE)
    sender.flush()
    assert listener.recv_bytes() == b"host 0"
    while not listener.inbox:
        listener.poll()
    receiver.connect({0: listener}, {0: 0, 1: 1}, {0: 0, 1: 1})
    assert arrived == [ChannelRow(1, 0, 0, b"early")]
    sender.close()
    receiver.close()


def test_a_changed_row_ends_the_connection():
    dialer, listener = connected()
    arrived = []
    receiver = DataPlane(arrived.append)
    receiver.connect({0: listener}, {0: 0, 1: 1}, {0: 0, 1: 1})
    dialer.stream.send([memoryview(_FRAME.pack(1, 0, 0, 3) + bytes(TAG_BYTES) + b"bad")])
    with pytest.raises(PeerLost):
        receiver.pump(10.0)
    assert arrived == []
    receiver.close()


def test_waking(planes):
    thread = threading.Thread(target=planes.planes[0].pump, args=(60.0,))
    thread.start()
    planes.planes[0].wake()
    thread.join(10)
    assert not thread.is_alive()
