"""Jobs that read several sources one after the other, and restarts in the middle."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._connectors.builtin import NumberSequence
from pyflink_on_spark._connectors.hybrid import SourceChain
from pyflink_on_spark._runtime.contract.connector import SourceReader, WatermarkRule
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark.common import Duration, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.connectors.hybrid_source import HybridSource
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from tests.connectors.kafka.jobs import reading
from tests.connectors.reading import checkpoint, close, readers_of
from tests.effort import share


def hybrid(*sources):
    builder = HybridSource.builder(sources[0])
    for source in sources[1:]:
        builder.add_source(source)
    return builder.build()


def files(folder, *, watched=False):
    text = StreamFormat.text_line_format()
    builder = FileSource.for_record_stream_format(text, str(folder))
    if watched:
        builder.monitor_continuously(Duration.of_millis(1))
    return builder.build()


def stream_of(source, parallelism):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "hybrid")


def test_sources_in_turn(local_engine):
    source = hybrid(*[NumberSequenceSource(n, n + 9) for n in (20, 0, 40)])
    stream = stream_of(source, 1)
    assert stream.get_type().__repr__() == "Long"
    assert list(stream.execute_and_collect()) == [*range(20, 30), *range(10), *range(40, 50)]


def test_in_parallel_nothing_is_left_out(local_engine):
    source = hybrid(NumberSequenceSource(0, 2), NumberSequenceSource(10, 19))
    found = list(stream_of(source, 4).execute_and_collect())
    assert sorted(found) == [0, 1, 2, *range(10, 20)]


def test_files_then_a_folder_that_is_watched(local_engine, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        for number in range(3):
            (folder / f"{number}.txt").write_text(f"{folder.name} {number}\n")
    source = hybrid(files(old), files(new, watched=True))
    with stream_of(source, 2).execute_and_collect() as results:
        found = [next(results) for _ in range(6)]
    assert sorted(found) == [f"{when} {n}" for when in ("new", "old") for n in range(3)]


class Watched:
    """A source of numbers that never ends, with timestamps."""

    def __new__(cls, start, end):
        numbers = NumberSequence(start, end)
        numbers.timestamped = True
        return numbers


def test_timestamps_if_one_of_them_has_some():
    chain = SourceChain([NumberSequence(1, 2), Watched(3, 4)])
    assert chain.timestamped
    (reader,) = readers_of(chain, 1)
    assert reader.poll().timestamps == [None, None]


class TestWatermarks:
    @pytest.fixture
    def kafka(self):
        pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
        from tests.connectors.kafka.cluster import memory_cluster

        with memory_cluster() as cluster:
            yield cluster

    def topics(self, kafka):
        """Return a bounded source and one that never ends, with two partitions each."""
        old, new = kafka.topic(2), kafka.topic(2)
        for topic, times in ((old, (1_000, 5_000)), (new, (8_000, 9_000))):
            for partition, since in enumerate(times):
                kafka.write(topic, ["x"] * 3, partition, since)
        following = reading(kafka.servers, new)
        following._stopping, following._bounded = None, False
        return hybrid(reading(kafka.servers, old).build(), following.build()), old, new

    def events(self, reader, elements):
        """Poll until so many elements have come, and a little longer; return what is no element."""
        found, calm, until = [], 0, time.monotonic() + 20
        while elements > 0 or calm < 3:
            assert time.monotonic() < until, found
            event = reader.poll()
            if isinstance(event, Bundle):
                elements -= len(event.values)
            elif event is not None:
                found.append(event)
            calm = 0 if event is not None else calm + 1
        return found

    def test_each_source_makes_them_of_its_own_partitions(self, kafka):
        source, _, new = self.topics(kafka)
        rule = WatermarkRule(delay=10, rhythm=WatermarkRhythm(1))
        (reader,) = readers_of(source._source.with_watermarks(rule), 1)
        found = self.events(reader, 12)
        assert all(isinstance(event, Watermark) for event in found)
        times = [event.timestamp for event in found]
        # The slowest partition's, and nothing is said of an end between the sources.
        assert times[-1] == 8_002 - 10 - 1
        assert all(time <= 5_002 - 10 - 1 for time in times[:-1])
        kafka.write(new, ["x"], 0, 20_000)
        assert self.events(reader, 1) == [Watermark(9_002 - 10 - 1)]
        reader.close()

    def test_without_a_rule_none_are_made(self, kafka):
        source, _, _ = self.topics(kafka)
        (reader,) = readers_of(source._source.with_watermarks(WatermarkRule()), 1)
        assert self.events(reader, 12) == []
        reader.close()

    def test_an_idle_source_that_is_followed_by_another_one(self):
        chain = SourceChain([Silent(), NumberSequence(1, 2)])
        (reader,) = readers_of(chain, 1)
        found = []
        while not reader.ended:
            found.append(reader.poll())
        found = [e.idle if isinstance(e, ChannelStatus) else e.values for e in found if e]
        assert found == [True, False, [1, 2]]


class Silent(NumberSequence):
    """Falls idle, and ends."""

    def __init__(self):
        super().__init__(0, 0)

    def reader(self, splits, restored, context):
        return SilentReader()


class SilentReader(SourceReader):
    polled = 0

    @property
    def ended(self):
        return self.polled > 1

    def poll(self):
        self.polled += 1
        return ChannelStatus(idle=True) if self.polled == 1 else None

    def snapshot(self):
        return []


READS = st.lists(
    st.tuples(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)))),
    max_size=4,
)


@settings(max_examples=share(40), deadline=None)
@given(READS)
def test_restarts_anywhere_with_any_parallelism(reads):
    chain = SourceChain([NumberSequence(n, n + 11) for n in (0, 100, 200)])
    found, saved = [], None
    for parallelism, polls in [*reads, (2, None)]:
        readers = readers_of(chain, parallelism, saved)
        for subtask, limit in polls or ():
            reader = readers[subtask % parallelism]
            reader.limit = limit
            bundle = reader.poll()
            found += bundle.values if bundle else []
        while polls is None and not all(reader.ended for reader in readers):
            for reader in readers:
                bundle = reader.poll()
                found += bundle.values if bundle else []
        saved = checkpoint(readers)
        close(readers)
    assert sorted(found) == [n + m for n in (0, 100, 200) for m in range(12)]


def test_a_checkpoint_after_the_end():
    chain = SourceChain([NumberSequence(0, 1), NumberSequence(5, 6)])
    (reader,) = readers_of(chain, 1)
    while not reader.ended:
        reader.poll()
    (again,) = readers_of(chain, 1, checkpoint([reader]))
    while not again.ended:
        assert again.poll() is None
    assert again.poll() is None


def test_a_chain_that_is_stopped_begins_with_no_other_source():
    chain = SourceChain([Lingering(0, 1), NumberSequence(5, 6)])
    (reader,) = readers_of(chain, 1)
    assert reader.poll().values == [0, 1]
    assert reader.stop()
    while not reader.ended:
        assert reader.poll() is None
    (again,) = readers_of(chain, 1, checkpoint([reader]))
    found = []
    while not again.ended:
        if (bundle := again.poll()) is not None:
            found += bundle.values
    assert found == [5, 6]


class Lingering(NumberSequence):
    """Its readers have still something to hand on when they are stopped."""

    def reader(self, splits, restored, context):
        reader = super().reader(splits, restored, context)
        reader.stop = lambda: True
        return reader


class Noticing(NumberSequence):
    told = 0

    def job_ended(self, resumable):
        type(self).told += 1


def test_all_sources_learn_of_the_end(local_engine):
    SourceChain([Noticing(0, 1), Noticing(0, 1)]).job_ended(False)
    assert Noticing.told == 2


def test_missing_files_are_named_when_the_job_starts(local_engine, tmp_path):
    source = hybrid(files(tmp_path / "missing"), files(tmp_path))
    with pytest.raises(FileNotFoundError, match="missing"):
        list(stream_of(source, 1).execute_and_collect())
