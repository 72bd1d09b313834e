"""A reader whose watermarks follow the times that operators find in its elements."""

from __future__ import annotations

import time
from collections import Counter, deque

import pytest

from pyflink_on_spark._connectors.kafka.partitions import BEGINNING
from pyflink_on_spark._connectors.kafka.reader import runs_by_partition
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark.testing import ManualClock
from tests.connectors.kafka.jobs import reading
from tests.connectors.reading import context_of


class WholeReads:
    """A consumer that waits for so many messages as each of some reads has to give.

    Args:
        consumer: Kafka's.
        counts: the number of messages of each read; later ones give none.
    """

    def __init__(self, consumer, *counts):
        self._consumer, self._counts, self._rest = consumer, deque(counts), []

    def __getattr__(self, name):
        return getattr(self._consumer, name)

    def consume(self, _, timeout):
        wanted, until = self._counts.popleft() if self._counts else 0, time.monotonic() + 10
        while len(self._rest) < wanted:
            assert time.monotonic() < until
            self._rest += self._consumer.consume(wanted - len(self._rest), timeout=timeout)
        found, self._rest = self._rest[:wanted], self._rest[wanted:]
        return found


class Noting:
    """A reader, and an operator that takes each element for its event time (ms).

    Args:
        topic: what is read.
        counts: the number of messages of each read.
        restored: where it begins.
        rule: more of the rule of watermarks.
        clock: processing time.
    """

    def __init__(self, kafka, topic, *counts, restored=None, clock=None, bounded=False, **rule):
        builder = reading(kafka.servers, topic)
        if not bounded:
            builder._stopping, builder._bounded = None, False
        rule.setdefault("rhythm", WatermarkRhythm(1))
        source = builder.build()._source.with_watermarks(WatermarkRule(0, noted=True, **rule))
        assert not source.timestamped
        self._context = context_of(clock=clock)
        self.reader = source.reader(source.splits(1), restored, self._context)
        self.reader.limit = 100
        if counts:
            self.reader._client.kafka = WholeReads(self.reader._client.kafka, *counts)

    def poll(self):
        """Poll once; of a bundle only the values count."""
        event = self.reader.poll()
        if not isinstance(event, Bundle):
            return event
        assert event.timestamps is None
        assert len(event.values) <= self.reader.limit
        for value in event.values:
            self._context.split_times.note(int(value))
        return event.values

    def offsets(self):
        """Return the offset of each partition in a snapshot."""
        return {position.partition: position.offset for position in self.reader.snapshot()}


@pytest.fixture
def noting(kafka):
    made = []

    def make(*args, **more):
        made.append(Noting(kafka, *args, **more))
        return made[-1]

    yield make
    for each in made:
        each.reader.close()


def test_the_smallest_of_the_noted_times_counts(kafka, noting):
    topic = kafka.topic(2)
    kafka.write(topic, ["5", "900", "3"], 0, since=1)
    kafka.write(topic, ["7", "8"], 1, since=1)
    reader = noting(topic, 5, 0, 1, 0)
    bundles = [reader.poll(), reader.poll()]
    assert sorted(bundles) == [["5", "900", "3"], ["7", "8"]], "one for each partition"
    assert reader.poll() == Watermark(7), "and not before both are processed"
    kafka.write(topic, ["2000"], 1)
    assert reader.poll() == ["2000"]
    assert reader.poll() == Watermark(899)
    assert reader.poll() is None


def test_a_snapshot_between_two_bundles_of_a_read(kafka, noting):
    topic = kafka.topic(2)
    written = {p: [str(100 * p + n) for n in range(10)] for p in range(2)}
    for partition, values in written.items():
        kafka.write(topic, values, partition)
    first, read = noting(topic, 20), []
    first.reader.limit = 4
    for _ in range(6):  # 4, 4, 2 of each
        values = first.poll()
        read += values
        again = noting(topic, 20 - len(read), restored=first.reader.snapshot())
        rest = []
        while len(read) + len(rest) < 20:
            rest += again.poll()
        assert Counter(read + rest) == Counter(written[0] + written[1])
        again.reader.close()
    assert first.offsets() == {0: 10, 1: 10}


def test_what_waits_is_not_read_when_the_job_drains(kafka, noting):
    topic = kafka.topic(2)
    for partition in range(2):
        kafka.write(topic, ["1"] * 3, partition)
    reader = noting(topic, 6)
    assert reader.poll() == ["1"] * 3
    assert not reader.reader.stop()
    assert sorted(reader.offsets().values()) == [BEGINNING, 3]


def test_a_silent_partition_is_left_out_after_its_time(kafka, noting):
    topic, clock = kafka.topic(2), ManualClock(0)
    kafka.write(topic, ["50"], 0)
    reader = noting(
        topic, 1, 0, 0, 0, 1, clock=clock, idle_timeout=1_000, rhythm=WatermarkRhythm(None, 1)
    )
    assert reader.poll() == ["50"]
    clock.advance(999)
    assert reader.poll() is None
    clock.advance(1)
    assert reader.poll() == Watermark(49), "the other one never had a record"
    clock.advance(1_000)
    assert reader.poll() == ChannelStatus(idle=True)
    kafka.write(topic, ["40"], 1)
    assert reader.poll() == ChannelStatus(idle=False), "before the elements"
    assert reader.poll() == ["40"]


def test_a_partition_that_ends_holds_nothing_back(kafka, noting):
    topic = kafka.topic(3)
    kafka.write(topic, ["5"], 0)
    kafka.write(topic, ["900", "901"], 1)
    reader = noting(topic, bounded=True)
    seen = []
    while not reader.reader.ended:
        if isinstance(event := reader.poll(), list):
            seen += event
    assert sorted(seen) == ["5", "900", "901"]
    assert reader.offsets() == {0: 1, 1: 2, 2: 0}


class Message:
    def __init__(self, partition, offset, error=None):
        self._partition, self._offset, self._error = partition, offset, error

    def topic(self):
        return "t"

    def partition(self):
        return self._partition

    def offset(self):
        return self._offset

    def error(self):
        return self._error


def test_messages_by_partition():
    read = [(0, 0), (1, 0), (0, 1), (0, 2, "end"), (1, 1), (0, 2), (0, 3, "end"), (0, 3, "end")]
    found = runs_by_partition([Message(*each) for each in read])
    assert [
        (number, [(each.offset(), each.error()) for each in run]) for (_, number), run in found
    ] == [
        (0, [(0, None), (1, None), (2, "end")]),
        (0, [(2, None), (3, "end")]),
        (0, [(3, "end")]),
        (1, [(0, None), (1, None)]),
    ]
