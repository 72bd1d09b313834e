"""Which subtask the user chooses."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.operators.stateless import PartitionOperator
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from tests.runtime.harness import Harness

LOG = []


class Modulo:
    def open(self, runtime_context):
        LOG.append("open")

    def partition(self, key, count):
        return key % count

    def close(self):
        LOG.append("close")


class Says:
    def __init__(self, answer):
        self.answer = answer

    def partition(self, key, count):
        return self.answer


def opened(partitioner):
    selector = UserFunction.of(PlainFunction("get_key", lambda v: v * 10))
    return Harness(PartitionOperator(UserFunction.of(partitioner), selector).among(3))


def test_pairs_of_subtask_and_element():
    LOG.clear()
    harness = opened(Modulo())
    assert harness.feed(1, 2, 3) == [(1, 1), (2, 2), (0, 3)]
    harness.operator.close()
    assert LOG == ["open", "close"]


@pytest.mark.parametrize("answer", [3, -1, "0", True, None, 1.0])
def test_a_partitioner_that_returns_nonsense(answer):
    with pytest.raises(ValueError, match="for the key 50; expected an int from 0 to 2"):
        opened(Says(answer)).feed(5)
