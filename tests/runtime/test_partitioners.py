"""Which subtasks a sender can reach."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.contract.plan import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    GlobalPartitioner,
    HashPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)

sizes = st.integers(1, 40)


@pytest.mark.parametrize(
    ("partitioner", "reached"),
    [
        (BroadcastPartitioner(), [0, 1, 2]),
        (CustomPartitioner(), [0, 1, 2]),
        (ForwardPartitioner(), [1]),
        (GlobalPartitioner(), [0]),
        (HashPartitioner(), [0, 1, 2]),
        (RebalancePartitioner(), [0, 1, 2]),
        (RescalePartitioner(), [1]),
        (ShufflePartitioner(), [0, 1, 2]),
    ],
)
def test_receivers(partitioner, reached):
    assert list(partitioner.receivers(1, 3, 3)) == reached
    assert pickle.loads(pickle.dumps(partitioner)) == partitioner


@given(sizes, sizes)
def test_rescale_reaches_every_receiver_and_evenly(senders, receivers):
    shares = [
        list(RescalePartitioner().receivers(sender, senders, receivers))
        for sender in range(senders)
    ]
    reached = [index for share in shares for index in share]
    assert set(reached) == set(range(receivers))
    loads = [reached.count(index) for index in range(receivers)]
    assert max(loads) - min(loads) <= 1
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    if receivers >= senders:
        assert reached == list(range(receivers))


def test_a_shuffle_is_the_same_when_a_task_is_run_again():
    def picks(sender):
        return ShufflePartitioner().generator(sender).choices(range(8), k=20)

    assert picks(3) == picks(3)
    assert picks(3) != picks(4)
