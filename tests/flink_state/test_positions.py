"""Positions of Flink's sources, as our sources have them."""

from __future__ import annotations

import pickle
import struct

import pytest

from pyflink_on_spark._connectors.builtin import NumberSequence
from pyflink_on_spark._connectors.files.source import FilesDone, positions_of_files
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._connectors.kafka.partitions import (
    BEGINNING,
    PartitionPosition,
    position_of_flink,
    position_of_function,
)
from pyflink_on_spark._connectors.kinesis import source
from pyflink_on_spark._connectors.kinesis.source import ShardPosition, Start
from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark._runtime.contract.connector import FlinkSplits
from pyflink_on_spark.state import CheckpointContents
from tests.flink_state.samples import recorded, unpacked
from tests.flink_state.written import integers, longs, string, utf


def data(content):
    return DataInput(content, "a split")


def file_split(path, start=0, length=100, size=100, position=None):
    scheme = b"\x01" + string("file") + b"\x00\x00" + integers(-1)
    content = utf("0000000001") + b"\x01" + scheme + b"\x01" + string(path) + b"\x00\x00"
    content += longs(start, length, 0, size) + integers(1) + utf("a host")
    content += b"\x00" if position is None else b"\x01" + longs(*position)
    return content


def pending(splits, paths):
    content = b"\xef\xbe\xad\xde" + struct.pack("<3i", 1, len(splits), len(paths))
    for piece in (*splits, *(path.encode() for path in paths)):
        content += struct.pack("<i", len(piece)) + piece
    return 1, data(content)


def test_files_that_are_read_are_not_found_again():
    half = file_split("/in/b", position=(-1, 4))
    found = FlinkSplits(
        ((1, data(half)),), pending([file_split("/in/c")], ["file:/in/a", "file:/in/b"])
    )
    assert positions_of_files(found, monitoring=True) == [
        FilesDone(("/in/a",)),
        (FileSplit("/in/b"), None, 4, 0),
        (FileSplit("/in/c"), None, 0, 1),
    ]


def test_a_bounded_source_has_its_splits_only():
    part = file_split("/in/b", start=50, length=20)
    found = FlinkSplits((), pending([part], []))
    expected = [(FileSplit("/in/b", 50, 70), None, 0)]
    assert positions_of_files(found, monitoring=False) == expected


def test_a_source_that_no_longer_looks_for_files_is_refused():
    found = FlinkSplits((), pending([], ["file:/in/a"]))
    with pytest.raises(ValueError, match="monitor_continuously"):
        positions_of_files(found, monitoring=False)


def test_a_position_in_bytes_is_refused():
    half = file_split("/in/b", position=(77, 4))
    with pytest.raises(ValueError, match="half read, at byte 77"):
        positions_of_files(FlinkSplits(((1, data(half)),)), monitoring=True)


def test_numbers_that_no_reader_has_are_read_too():
    split = utf("1") + longs(13, 20)
    waiting = integers(1) + utf("2") + longs(30, 31)
    found = FlinkSplits(((1, data(split)),), (1, data(waiting)))
    positions = NumberSequence(1, 31).positions_of_flink(found)
    assert positions == [(range(13, 21), None, 0), (range(30, 32), None, 0)]


def kafka_split(offset, stopping):
    return data(utf("clicks") + integers(3) + longs(offset, stopping))


@pytest.mark.parametrize(
    ("offset", "stopping", "expected"),
    [
        (42, -(1 << 63), PartitionPosition("clicks", 3, 42)),
        (42, 50, PartitionPosition("clicks", 3, 42, 50)),
        (-2, -(1 << 63), PartitionPosition("clicks", 3, BEGINNING)),
    ],
)
def test_a_partition_of_kafka_has_its_next_offset(offset, stopping, expected):
    assert position_of_flink(kafka_split(offset, stopping), 0) == expected


@pytest.mark.parametrize("offset", [-1, -3])
def test_a_partition_without_an_offset_is_refused(offset):
    with pytest.raises(ValueError, match="partition 3 of the Kafka topic 'clicks' was not read"):
        position_of_flink(kafka_split(offset, -(1 << 63)), 0)


def test_other_versions_are_refused():
    with pytest.raises(ValueError, match="version 9"):
        position_of_flink(kafka_split(1, 2), 9)


def test_a_former_consumer_has_the_last_offset():
    assert position_of_function(((7, 3, "clicks"), 41)) == PartitionPosition("clicks", 3, 42)
    assert position_of_function(((7, 3, "clicks"), -1)) == PartitionPosition("clicks", 3, 0)
    earliest = position_of_function(((7, 3, "clicks"), -915623761775))
    assert earliest == PartitionPosition("clicks", 3, BEGINNING)


@pytest.mark.parametrize("mark", [-915623761776, -915623761774, -915623761773])
def test_a_former_consumer_that_has_read_nothing_is_refused(mark):
    with pytest.raises(ValueError, match="partition 3 of the Kafka topic 'clicks' was not read"):
        position_of_function(((7, 3, "clicks"), mark))


@pytest.mark.parametrize("element", [None, ((7, -3, "clicks"), 1), ((7, 3, None), 1), (None, 1)])
def test_a_damaged_position_of_a_former_consumer_is_refused(element):
    with pytest.raises(ValueError, match="of a FlinkKafkaConsumer is damaged"):
        position_of_function(element)


def test_a_kafka_source_continues_a_former_consumer_of_its_uid(tmp_path, monkeypatch):
    monkeypatch.setenv("MOVING_IN_KAFKA", "nowhere:9092")
    job = recorded("kafka", tmp_path)
    (source,) = (node for node in job.graph.nodes if node.source is not None)
    source.uid = "old-kafka"
    ours = tmp_path / "ours"
    found = moved_in(job, unpacked("old-kafka", tmp_path / "given"), folder(str(ours)))
    assert (found.taken, found.refused) == ({"old-kafka": "its positions"}, [])
    (stored,) = CheckpointContents(str(ours), trusted=True).whole.sources.values()
    offsets = {(p.topic, p.partition): p.offset for x in stored.values() for p in pickle.loads(x)}
    assert offsets == {("lines", 0): 6, ("lines", 1): 6, ("late", 300): BEGINNING}


LOW, HIGH = 2**126 - 1, 3 * 2**126 - 1


def test_shards_have_the_positions_of_the_savepoint(tmp_path):
    given, ours = unpacked("old-kinesis", tmp_path), tmp_path / "ours"
    found = moved_in(recorded("old-kinesis", tmp_path), given, folder(str(ours)))
    assert (found.taken, found.refused) == ({"kinesis": "its positions"}, [])
    (stored,) = CheckpointContents(str(ours), trusted=True).whole.sources.values()
    positions = [position for piece in stored.values() for position in pickle.loads(piece)]
    number = "49600000000000000000000000000000000000000000000000000017"
    assert positions == [
        ShardPosition("clicks", "shardId-000000000000", LOW, Start.AFTER, number),
        ShardPosition("clicks", "shardId-000000000002", LOW, Start.LATEST),
        ShardPosition("clicks", "shardId-000000000001", HIGH, Start.ENDED),
        ShardPosition("clicks", "shardId-000000000003", HIGH, Start.TRIM_HORIZON),
    ]


def shard_element(number, in_aggregate=-1, **changes):
    keys = {"startingHashKey": "0", "endingHashKey": "9"}
    named = {"streamName": "clicks", "shardId": "s", **keys, **changes}
    return named, (7, number, in_aggregate)


def test_a_shard_that_begins_at_a_time_takes_it_from_the_source():
    element = shard_element("AT_TIMESTAMP_SEQUENCE_NUM")
    found = source.position_of_function(element, (Start.AT_TIMESTAMP, 5.0))
    assert found == ShardPosition("clicks", "s", 4, Start.AT_TIMESTAMP, 5.0)


@pytest.mark.parametrize(
    ("element", "complaint"),
    [
        (shard_element("AT_TIMESTAMP_SEQUENCE_NUM"), "was to be read from a time"),
        (shard_element("17", 3), "has aggregates of records"),
        (shard_element("SOMETHING"), "the position 'SOMETHING', which is not known"),
        (shard_element("17", startingHashKey=None), "of a FlinkKinesisConsumer is damaged"),
        (shard_element(None), "of a FlinkKinesisConsumer is damaged"),
    ],
)
def test_other_positions_of_shards_are_refused(element, complaint):
    with pytest.raises(ValueError, match=complaint):
        source.position_of_function(element, (Start.LATEST, None))
