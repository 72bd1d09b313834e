"""Which subtasks share a level, and which partition each slot gets."""

from __future__ import annotations

import pytest

from pyflink_on_spark._spark.structured.levels import Levels, spark_hash
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.structured.jobs import submitted


@pytest.mark.parametrize(
    ("value", "hashed"), [(0, 933211791), (1, -559580957), (2, 1765031574), (42, 29417773)]
)
def test_the_hash_is_sparks(value, hashed):
    assert spark_hash(value) == hashed


def _levels(parallelism: int, cores: int) -> Levels:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    words = env.from_collection([("a", 1)]).map(lambda pair: pair)
    sums = words.key_by(lambda pair: pair[0]).reduce(lambda a, b: a)
    job = submitted(sums.map(lambda pair: pair))
    return Levels.of(job.stages, cores)


def test_without_parallelism_everything_is_one_level():
    levels = _levels(1, 4)
    assert len(levels.levels) == 1
    assert levels.partitions == 1


@pytest.mark.parametrize(("parallelism", "cores"), [(2, 2), (4, 2), (3, 8)])
def test_slots_are_spread_evenly(parallelism, cores):
    levels = _levels(parallelism, cores)
    partitions = levels.partitions
    assert partitions == min(parallelism, cores)
    for level in levels.levels[1:]:
        places = [spark_hash(target) % partitions for target in level.targets]
        assert places == [slot * partitions // parallelism for slot in range(parallelism)]
    assert [spark_hash(target) % partitions for target in levels.driver] == [*range(partitions)]
    targets = [target for level in levels.levels for target in level.targets]
    assert len({*targets, *levels.driver}) == len(targets) + partitions
