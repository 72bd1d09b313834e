"""Sinks that are a function: what it is notified of, and when."""

from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.functions import FunctionSink
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import Harness
from tests.runtime.state.descriptors import Descriptor

LOG = []


class Recording:
    def open(self, runtime_context):
        LOG.append("open")

    def invoke(self, value, context):
        times = context.timestamp(), context.current_watermark(), context.current_processing_time()
        LOG.append((value, *times))

    def finish(self):
        LOG.append("finish")

    def close(self):
        LOG.append("close")


class Buffering(Recording):
    _checkpoint_protocol = "function"
    _listens_to_checkpoints = True

    def __init__(self):
        self.buffer = []

    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(Descriptor("list", "writer"))
        self.buffer += self.state

    def invoke(self, value, context):
        self.buffer.append(value)

    def snapshot_state(self, context):
        self.state.update(self.buffer)

    def notify_checkpoint_complete(self, checkpoint_id):
        LOG.append(f"{checkpoint_id} is complete")

    def notify_checkpoint_aborted(self, checkpoint_id):
        LOG.append(f"{checkpoint_id} is aborted")

    def finish(self):
        LOG.append(list(self.buffer))


@pytest.fixture(autouse=True)
def log():
    LOG.clear()
    return LOG


def operator(function):
    return SinkOperator(FunctionSink(UserFunction.of(function)), 1)


def test_elements_come_with_their_times():
    harness = Harness(operator(Recording()))
    harness.clock.time = 77
    assert harness.feed("a", at=[5]) == []
    harness.watermark(5)
    harness.feed("b")
    harness.end()
    harness.operator.close()
    assert LOG == ["open", ("a", 5, -(2**63), 77), ("b", None, 5, 77), "finish", "close"]


def test_what_is_buffered_survives():
    harness = Harness(operator(Buffering()))
    harness.feed("a", "b")
    harness.operator.snapshot_state(3)
    harness.operator.notify_checkpoint_complete(3)
    harness.operator.notify_checkpoint_aborted(4)
    harness.feed("lost")
    state = OperatorState()
    state.restore(harness.operator_state.snapshot())
    restored = Harness(operator(Buffering()), operator_state=state, restored=3)
    restored.feed("c")
    restored.end()
    assert LOG == ["open", "3 is complete", "4 is aborted", "open", ["a", "b", "c"]]
