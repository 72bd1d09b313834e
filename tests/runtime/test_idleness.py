"""A stream that has nothing for a while holds others back no more: ``with_idleness``."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Cursor, Watermark
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain, Pacing, WatermarkOutput
from pyflink_on_spark._runtime.task.subtask import NEVER
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import FakeClock


class Recorder:
    """An output that notes elements and events."""

    def __init__(self):
        self.seen = []

    def write_bundle(self, bundle):
        self.seen += bundle.values

    def event(self, event):
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


class Stream:
    """A chain that ends with an assigner; what it says, it says at once."""

    def __init__(self, clock, recorder, idle_after):
        rhythm = WatermarkRhythm(elements=2)
        assigner = AssignTimestamps(UserFunction.of(OfItself()), 0, idle_after, rhythm)
        assigner = pickle.loads(pickle.dumps(assigner))
        cursor = Cursor()
        assigner.open(SimpleNamespace(cursor=cursor, clock=clock))
        output = WatermarkOutput(assigner, recorder, clock)
        self._chain, self._clock = (
            OperatorChain([assigner], cursor, output, {}, {"in": 0}, Pacing()),
            clock,
        )

    def receive(self, *values):
        self._chain.receive(0, Bundle(list(values), None))
        self._chain.step(NEVER)

    def tick(self):
        self._chain.tick(self._clock.now())


def test_idle_once_the_time_is_over_and_active_with_the_next_element(clock, recorder):
    stream = Stream(clock, recorder, idle_after=100)
    stream.receive(5)
    stream.tick()
    assert recorder.take() == [5]
    clock.time = 99
    stream.tick()
    assert recorder.take() == []
    clock.time = 100
    stream.tick()
    stream.tick()
    assert recorder.take() == [Watermark(4), ChannelStatus(idle=True)]
    stream.receive(7)
    assert recorder.take() == [ChannelStatus(idle=False), 7]
    clock.time = 199
    stream.tick()
    assert recorder.take() == []


def test_a_stream_that_never_had_anything_falls_idle(clock, recorder):
    stream = Stream(clock, recorder, idle_after=100)
    clock.time = 100
    stream.tick()
    assert recorder.take() == [ChannelStatus(idle=True)]


def test_without_idleness_a_stream_is_never_idle(clock, recorder):
    stream = Stream(clock, recorder, idle_after=None)
    clock.time = 10**9
    stream.tick()
    assert recorder.take() == []
