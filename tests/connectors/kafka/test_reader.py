"""One subtask's reader, step by step."""

from __future__ import annotations

import time

import pytest

from pyflink_on_spark._connectors.kafka.partitions import owner
from pyflink_on_spark._connectors.kafka.reader import PartitionWatermarks
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.contract.operator import OperatorContext, TaskInfo
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Cursor, Watermark
from pyflink_on_spark._runtime.elements.time import SystemClock, WatermarkRhythm
from pyflink_on_spark.datastream.connectors.kafka import KafkaOffsetsInitializer
from pyflink_on_spark.testing import ManualClock
from tests.connectors.kafka.jobs import elements, reading
from tests.connectors.reading import checkpoint


def context(index=0, parallelism=1, clock=None):
    def none(*_):
        raise AssertionError

    task = TaskInfo("kafka", index, parallelism)
    return OperatorContext(task, Cursor(), clock or SystemClock(), none, none, None, None)


class Readers:
    """All readers of a source.

    Args:
        source: the mirror's.
        parallelism: how many.
        restored: what they begin with.
    """

    def __init__(self, source, parallelism=1, restored=None, clock=None):
        self.source = source._source
        shares = self.source.splits(parallelism)
        self.readers = [
            self.source.reader([share], restored, context(index, parallelism, clock))
            for index, share in enumerate(shares)
        ]

    def read(self, count, limit=4096, seconds=10):
        """Read so many elements."""
        values, deadline = [], time.monotonic() + seconds
        while len(values) < count:
            assert time.monotonic() < deadline, f"only {len(values)} came"
            for reader in self.readers:
                reader.limit = min(limit, count - len(values))
                if reader.limit and isinstance(event := reader.poll(), Bundle):
                    values += event.values
        return values

    def snapshot(self):
        return [position for reader in self.readers for position in reader.snapshot()]

    def close(self):
        for reader in self.readers:
            reader.close()


def unbounded(kafka, *topics, **properties):
    builder = reading(kafka.servers, *topics)
    builder._stopping, builder._bounded = None, False
    for key, value in properties.items():
        builder.set_property(key.replace("_", "."), value)
    return builder.build()


@pytest.fixture
def readers():
    made = []

    def make(*arguments, **more):
        made.append(Readers(*arguments, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 3), (3, 2)])
def test_goes_on_where_a_snapshot_was(kafka, readers, before, after):
    topic = kafka.topic(4)
    for partition in range(4):
        kafka.write(topic, [f"{partition}-{n}" for n in range(50)], partition)
    source = unbounded(kafka, topic)
    first = readers(source, before)
    read = first.read(77, limit=7)
    second = readers(source, after, first.snapshot())
    read += second.read(200 - 77)
    assert sorted(read) == sorted(f"{p}-{n}" for p in range(4) for n in range(50))


def test_a_partition_that_came_up_since_the_snapshot_is_read_from_its_beginning(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, ["a"], 0)
    builder = reading(kafka.servers, topic)
    source = builder.build()
    first = readers(source)
    assert first.read(1) == ["a"]
    snapshot = first.snapshot()
    kafka.broker.create(topic, 2)
    kafka.write(topic, ["b"], 1)
    builder.set_starting_offsets(KafkaOffsetsInitializer.latest())
    assert readers(builder.build(), 1, snapshot).read(1) == ["b"]


def test_new_partitions_are_found(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, ["a"], 0)
    found = readers(unbounded(kafka, topic, partition_discovery_interval_ms="20"), 2)
    assert found.read(1) == ["a"]
    kafka.broker.create(topic, 3)
    kafka.write(topic, ["b"], 1)
    kafka.write(topic, ["c"], 2)
    assert sorted(found.read(2)) == ["b", "c"]
    assert {p.key for p in found.snapshot()} == {(topic, 0), (topic, 1), (topic, 2)}


def until(readers, condition, seconds=10):
    """Poll until something is so; return what came."""
    values, deadline = [], time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        for reader in readers.readers:
            if isinstance(event := reader.poll(), Bundle):
                values += event.values
    return values


def test_a_bounded_source_looks_for_no_new_partitions(kafka, readers):
    """As in PyFlink: the interval is -1 there, whatever was asked for."""
    topic = kafka.topic(1)
    kafka.write(topic, ["a"], 0)
    builder = reading(kafka.servers, topic).set_property("partition.discovery.interval.ms", "1")
    found = readers(builder.build())
    kafka.broker.create(topic, 2)
    kafka.write(topic, ["b"], 1)
    assert until(found, lambda: found.readers[0].ended) == ["a"]


def stopping_at(kafka, topic, where, **properties):
    builder = reading(kafka.servers, topic).set_unbounded(where)
    for key, value in {"partition_discovery_interval_ms": "20", **properties}.items():
        builder.set_property(key.replace("_", "."), value)
    return builder.build()


def test_a_new_partition_is_read_as_far_as_its_stopping_offset(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, ["a"], 0, since=100)
    where = KafkaOffsetsInitializer.timestamp(1_000)
    found = readers(stopping_at(kafka, topic, where))
    kafka.broker.create(topic, 3)
    for value, partition, time_ in ("b", 1, 999), ("c", 1, 1_000), ("x", 2, 1_500):
        kafka.write(topic, [value], partition, since=time_)

    def ended():
        at = {p.key: p for p in found.snapshot()}
        return len(at) == 3 and all(p.ended for p in at.values())

    assert sorted(until(found, ended)) == ["a", "b"]
    stopping = {p.partition: p.stopping for p in found.snapshot()}
    assert stopping == {0: 1, 1: 1, 2: 0}
    assert not found.readers[0].ended


def test_a_new_partition_without_an_offset_to_stop_at(kafka, readers):
    topic = kafka.topic(1)
    kafka.commit("g", topic, {0: 0})
    where = KafkaOffsetsInitializer.committed_offsets()
    found = readers(stopping_at(kafka, topic, where, group_id="g"))
    kafka.broker.create(topic, 2)
    with pytest.raises(ValueError, match=f"{topic}-1 is to be read up to a committed offset"):
        until(found, lambda: False)


def test_the_group_learns_of_a_checkpoint_when_it_is_safe(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, list("abcd"), 0)
    found = readers(unbounded(kafka, topic, group_id="g"))
    found.read(3)
    found.snapshot()
    found.read(1)
    assert kafka.committed("g", topic, 1) == {}
    found.readers[0].notify_checkpoint_complete(1)
    deadline = time.monotonic() + 10
    while not (committed := kafka.committed("g", topic, 1)):
        assert time.monotonic() < deadline
        found.readers[0].poll()
    assert committed == {0: 3}


class TestTheEndOfABoundedSource:
    """The offsets of the group after the end of the subtask that reads for it."""

    def read(self, kafka, env):
        topic = kafka.topic(1)
        kafka.write(topic, ["a", "b", "c"])
        builder = reading(kafka.servers, topic).set_group_id("g")
        builder.set_property("enable.auto.commit", "true")
        assert sorted(elements(env, builder)) == ["a", "b", "c"]
        return kafka.committed("g", topic, 1)

    def test_without_checkpoints(self, kafka, env):
        assert self.read(kafka, env) == {0: 3}

    def test_with_checkpoints(self, kafka, env):
        env.enable_checkpointing(60_000)
        assert self.read(kafka, env) == {0: 3}


def test_nothing_is_committed_on_closing_what_checkpoints_commit(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, ["a", "b"])
    made = readers(unbounded(kafka, topic, group_id="g", enable_auto_commit="true"))
    made.read(2)
    checkpoint(made.readers)
    made.close()
    assert kafka.committed("g", topic, 1) == {}


@pytest.mark.parametrize("off", [{}, {"commit_offsets_on_checkpoint": "false", "group_id": "g"}])
def test_nothing_is_committed_unasked(kafka, readers, off):
    topic = kafka.topic(1)
    kafka.write(topic, ["a"], 0)
    found = readers(unbounded(kafka, topic, **off))
    found.read(1)
    found.snapshot()
    found.readers[0].notify_checkpoint_complete(1)
    found.close()
    assert 8 not in kafka.broker.requests


def test_a_broker_that_goes_away_and_comes_back(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, list("ab"), 0)
    found = readers(
        unbounded(kafka, topic, reconnect_backoff_ms="10", reconnect_backoff_max_ms="50")
    )
    assert found.read(2) == ["a", "b"]
    kafka.broker.stop()
    assert found.readers[0].poll() is None
    kafka.broker.start()
    kafka.write(topic, list("cd"), 0)
    assert found.read(2) == ["c", "d"]


def test_watermarks_follow_the_slowest_partition(kafka, readers):
    topic = kafka.topic(2)
    kafka.write(topic, ["x"] * 3, 0, 5_000)
    kafka.write(topic, ["x"] * 3, 1, 90_000)
    source = unbounded(kafka, topic)
    source._source = source._source.with_watermarks(WatermarkRule(10, rhythm=WatermarkRhythm(1)))
    found = readers(source)
    assert events(found, 1) == [Watermark(5_002 - 10 - 1)]
    kafka.write(topic, ["x"], 0, 200_000)
    assert events(found, 1) == [Watermark(90_002 - 10 - 1)]


def events(found, count):
    """Read until so many events that are no elements have come."""
    seen, deadline = [], time.monotonic() + 10
    while len(seen) < count:
        assert time.monotonic() < deadline
        event = found.readers[0].poll()
        if isinstance(event, Watermark | ChannelStatus):
            seen.append(event)
    return seen


def test_a_silent_partition_is_left_out_after_its_time(kafka, readers):
    topic = kafka.topic(2)
    clock = ManualClock(0)
    source = unbounded(kafka, topic)
    source._source = source._source.with_watermarks(
        WatermarkRule(0, idle_timeout=1_000, rhythm=WatermarkRhythm(None, 1))
    )
    found = readers(source, clock=clock)
    clock.advance(999)
    kafka.write(topic, ["x"], 0, 5_000)
    found.read(1)
    assert [found.readers[0].poll() for _ in range(3)] == [None] * 3
    clock.advance(1)
    assert events(found, 1) == [Watermark(4_999)]
    clock.advance(1_000)
    assert events(found, 1) == [ChannelStatus(idle=True)]
    kafka.write(topic, ["x"], 1, 6_000)
    assert events(found, 1) == [ChannelStatus(idle=False)]
    behind = readers(source, 1, found.snapshot())
    assert behind.read(1) == ["x"], "it was read, but had not been handed on"
    assert found.readers[0].stop()
    assert found.read(1) == ["x"]
    assert found.readers[0].ended
    assert not any(position.offset < 1 for position in found.snapshot())


def test_the_backlog_is_what_the_broker_has_beyond(kafka, readers):
    topic = kafka.topic(1)
    kafka.write(topic, [str(n) for n in range(50)], 0)
    found = readers(unbounded(kafka, topic))
    assert found.readers[0].backlog() is None, "nothing was fetched yet"
    found.read(20, limit=5)
    assert found.readers[0].backlog() == 30
    found.read(30)
    assert found.readers[0].backlog() == 0


class TestPartitionWatermarks:
    KEYS = (("t", 0), ("t", 1))

    def test_none_before_each_partition_has_a_record(self):
        marks = PartitionWatermarks(WatermarkRule(0), self.KEYS, 0)
        marks.seen(("t", 0), 10, 0)
        assert marks.advanced(0) is None
        marks.seen(("t", 1), 7, 0)
        assert marks.advanced(0) == 6
        assert marks.advanced(0) is None

    def test_one_that_is_removed_holds_nothing_back(self):
        marks = PartitionWatermarks(WatermarkRule(0), self.KEYS, 0)
        marks.seen(("t", 0), 10, 0)
        marks.remove(("t", 1))
        assert marks.advanced(0) == 9

    def test_never_goes_back(self):
        marks = PartitionWatermarks(WatermarkRule(0), self.KEYS[:1], 0)
        marks.seen(("t", 0), 10, 0)
        assert marks.advanced(0) == 9
        marks.add(("t", 1), 0)
        marks.seen(("t", 1), 3, 0)
        assert marks.advanced(0) is None

    def test_without_a_rule(self):
        marks = PartitionWatermarks(WatermarkRule(), self.KEYS[:1], 0)
        marks.seen(("t", 0), 10, 0)
        assert marks.advanced(0) is None
        assert not marks.idle(10**9)

    def test_without_partitions_it_is_idle(self):
        assert PartitionWatermarks(WatermarkRule(0), (), 0).idle(0)


@pytest.mark.parametrize(
    ("topic", "partition", "parallelism", "expected"),
    [("a", 0, 4, 3), ("a", 1, 4, 0), ("orders", 0, 3, 0), ("orders", 5, 3, 2), ("t", 0, 1, 0)],
)
def test_partitions_are_dealt_out_as_in_flink(topic, partition, parallelism, expected):
    """First ((topic.hashCode() * 31) & 0x7FFFFFFF) % parallelism, the others after it."""
    assert owner((topic, partition), parallelism) == expected
