"""Rows after a barrier wait until the barriers of all channels have arrived."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.task.barriers import BarrierAlignment
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow


def row(channel, seq=0):
    return ChannelRow(0, channel, seq, b"")


def holds(alignment, arrived):
    """Do what a subtask does with a row; tell whether it waits."""
    if arrived.channel not in alignment.arrived:
        return False
    alignment.hold(arrived)
    return True


def test_rows_of_channels_whose_barrier_has_arrived_wait():
    alignment = BarrierAlignment([1, 2])
    assert not holds(alignment, row(1))
    alignment.arrive(1, 7)
    assert alignment.aligned is None
    assert holds(alignment, row(1, 1))
    assert not holds(alignment, row(2))
    alignment.arrive(2, 7)
    assert alignment.aligned == 7
    assert holds(alignment, row(2, 1))
    assert alignment.release() == [row(1, 1), row(2, 1)]
    assert alignment.aligned is None
    assert not holds(alignment, row(1, 1))


def test_a_subtask_without_channels_begins_when_it_is_told():
    alone, fed = BarrierAlignment([]), BarrierAlignment([1])
    for alignment in (alone, fed):
        alignment.begin_checkpoint(7)
    assert (alone.aligned, fed.aligned) == (7, None)
    assert alone.release() == []
    assert alone.aligned is None


def test_a_checkpoint_does_not_hide_one_that_was_aborted():
    alignment = BarrierAlignment([])
    alignment.begin_checkpoint(7)
    alignment.begin_checkpoint(8)
    assert alignment.aligned == 7
    alignment.release()
    assert alignment.aligned == 8


@given(st.integers(0, 10_000))
def test_between_two_checkpoints_comes_what_was_sent_between_their_barriers(seed):
    """Each channel sends a row, the barrier 1, a row, the barrier 2, and a row."""
    choose, alignment = random.Random(seed), BarrierAlignment(range(3))
    under_way = {channel: list(range(5)) for channel in range(3)}
    seen = []

    def receive(arrived):
        if holds(alignment, arrived):
            return
        if arrived.seq % 2:
            alignment.arrive(arrived.channel, arrived.seq // 2 + 1)
        else:
            seen.append(arrived.seq // 2)

    while any(under_way.values()):
        channel = choose.choice([channel for channel, left in under_way.items() if left])
        receive(row(channel, under_way[channel].pop(0)))
        if alignment.aligned is not None:
            assert seen == sorted(seen) == [s for s in seen if s < alignment.aligned]
            assert len(seen) == 3 * alignment.aligned
            for held in alignment.release():
                receive(held)
    assert seen == [0] * 3 + [1] * 3 + [2] * 3
