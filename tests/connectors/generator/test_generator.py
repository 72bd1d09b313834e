"""Jobs that read a generator, its speed, and restarts in the middle."""

from __future__ import annotations

import itertools

import pytest

from pyflink_on_spark.common import Types, WatermarkStrategy
from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink_on_spark.extensions import (
    DataGeneratorSource,
    GeneratorFunction,
    RateLimiterStrategy,
)
from pyflink_on_spark.testing import ManualClock
from tests.connectors.reading import checkpoint, close, readers_of


def stream_of(source, parallelism=2):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "generator")


class Named(GeneratorFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return f"{self.subtask}:{value}"


def test_a_function_of_numbers(local_engine):
    stream = stream_of(DataGeneratorSource(lambda n: n * n, 5, type_info=Types.LONG()))
    assert stream.get_type() == Types.LONG()
    assert sorted(stream.execute_and_collect()) == [0, 1, 4, 9, 16]


def test_a_generator_function_is_opened(local_engine):
    stream = stream_of(DataGeneratorSource(Named(), 4, type_info=Types.STRING()))
    assert sorted(stream.execute_and_collect()) == ["0:0", "0:1", "1:2", "1:3"]


def test_no_elements(local_engine):
    assert list(stream_of(DataGeneratorSource(str, 0)).execute_and_collect()) == []


def test_without_an_end(local_engine):
    with stream_of(DataGeneratorSource(str), 1).execute_and_collect() as results:
        assert list(itertools.islice(results, 3)) == ["0", "1", "2"]


def test_batch_mode_refuses_what_does_not_end(local_engine):
    stream = stream_of(DataGeneratorSource(str))
    stream._flow.environment.set_runtime_mode(RuntimeExecutionMode.BATCH)
    with pytest.raises(Exception, match=r"(?i)batch"):
        stream.execute_and_collect(limit=1)


def poll(reader):
    bundle = reader.poll()
    return [] if bundle is None else bundle.values


def test_elements_per_second():
    clock = ManualClock(0)
    strategy = RateLimiterStrategy.per_second(8)
    source = DataGeneratorSource(lambda n: n, 1000, strategy)._source
    assert not source.bounded
    one, other = readers_of(source, 2, clock=clock)
    counts = []
    for _ in range(8):
        counts.append(len(poll(one)))
        assert len(poll(other)) == counts[-1]
        clock.advance(125)
    assert counts == [1, 0, 1, 0, 1, 0, 1, 0]
    clock.advance(60_000)
    assert len(poll(one)) == 5
    assert poll(one) == []
    close([one, other])


def test_less_than_one_in_a_second():
    clock = ManualClock(0)
    source = DataGeneratorSource(lambda n: n, 9, RateLimiterStrategy.per_second(0.1))._source
    (reader,) = readers_of(source, 1, clock=clock)
    assert poll(reader) == [0]
    clock.advance(9_999)
    assert poll(reader) == []
    clock.advance(1)
    assert poll(reader) == [1]
    reader.close()


def test_elements_per_checkpoint():
    source = DataGeneratorSource(lambda n: n, 100, RateLimiterStrategy.per_checkpoint(5))._source
    readers = readers_of(source, 2)
    for _ in range(3):
        assert [len(poll(reader)) for reader in readers] == [3, 2]
        assert [poll(reader) for reader in readers] == [[], []]
        for reader in readers:
            reader.notify_checkpoint_complete(1)
    close(readers)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_it_goes_on_from_a_checkpoint(parallelism):
    source = DataGeneratorSource(lambda n: n, 50)._source
    readers = readers_of(source, 2)
    found = []
    for reader in readers:
        reader.limit = 7
        found += poll(reader)
    saved = checkpoint(readers)
    poll(readers[0])
    close(readers)
    readers = readers_of(source, parallelism, saved)
    while not all(reader.ended for reader in readers):
        for reader in readers:
            found += poll(reader)
    close(readers)
    assert sorted(found) == list(range(50))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: DataGeneratorSource("java.Class"), "needs a function of a number"),
        (lambda: DataGeneratorSource(str, -1), "count is a number"),
        (lambda: DataGeneratorSource(str, 2**63), "count is a number"),
        (lambda: RateLimiterStrategy.per_second(0), "records_per_second must be positive"),
        (lambda: RateLimiterStrategy.per_checkpoint(0), "records_per_checkpoint must be positive"),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises((TypeError, ValueError), match=error):
        make()
