"""A stream that has nothing for a while holds others back no more: ``with_idleness``."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.bundle import Bundle, ChannelStatus
from pyflink_on_spark._runtime.cursor import Cursor
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from tests.runtime.harness import FakeClock


class Recorder:
    """An output that notes elements, and whether the stream is idle."""

    def __init__(self):
        self.seen = []

    def write_bundle(self, bundle):
        self.seen += bundle.values

    def event(self, event):
        if isinstance(event, ChannelStatus):
            self.seen.append(event)

    def take(self):
        taken, self.seen = self.seen, []
        return taken


class OfItself:
    def extract_timestamp(self, value, record_timestamp):
        return value


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def recorder():
    return Recorder()


def segment(clock, recorder, idle_after):
    operator = AssignTimestamps(UserFunction.of(OfItself()), 0, idle_after=idle_after).every(2)
    operator = pickle.loads(pickle.dumps(operator))
    cursor = Cursor()
    operator.open(SimpleNamespace(cursor=cursor, clock=clock))
    return OperatorChain([operator], cursor, recorder, {}, ["in"])


def test_idle_once_the_time_is_over_and_active_with_the_next_element(clock, recorder):
    stream = segment(clock, recorder, idle_after=100)
    stream.receive(0, Bundle([5], None))
    stream.emit_watermark()
    assert recorder.take() == [5]
    clock.time = 99
    stream.emit_watermark()
    assert recorder.take() == []
    clock.time = 100
    stream.emit_watermark()
    stream.emit_watermark()
    assert recorder.take() == [ChannelStatus(idle=True)]
    stream.receive(0, Bundle([7], None))
    assert recorder.take() == [ChannelStatus(idle=False), 7]
    clock.time = 199
    stream.emit_watermark()
    assert recorder.take() == []


def test_a_stream_that_never_had_anything_falls_idle(clock, recorder):
    stream = segment(clock, recorder, idle_after=100)
    clock.time = 100
    stream.emit_watermark()
    assert recorder.take() == [ChannelStatus(idle=True)]


def test_without_idleness_a_stream_is_never_idle(clock, recorder):
    stream = segment(clock, recorder, idle_after=None)
    clock.time = 10**9
    stream.emit_watermark()
    assert recorder.take() == []
