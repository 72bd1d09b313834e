"""The driver's requests to all slots take effect in the same micro-batch everywhere."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._spark.structured.levels import Levels
from pyflink_on_spark._spark.structured.slot import (
    DRAINS,
    ENDS,
    Limits,
    SlotReport,
    level_plans,
    wish,
)
from pyflink_on_spark.common import Configuration, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from tests.structured.in_process import FakeQuery, Trouble
from tests.structured.jobs import submitted


def _query(parallelism: int) -> FakeQuery:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "10 ms")
    configuration.set_string("pyflink-on-spark.checkpoint-elements", "10")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    source = NumberSequenceSource(1, 1000)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    keyed = numbers.map(lambda value: value).key_by(lambda value: value % 3)
    job = submitted(
        keyed.count_window(1000)
        .reduce(lambda a, b: a + b)
        .union(numbers.rebalance().map(lambda v: v))
    )
    levels = Levels.of(job.stages, 4)
    settings = replace(job.settings, checkpointed=True)
    plans = level_plans(levels, settings, 0, None, Limits.of(True, 10_000))
    return FakeQuery(plans, levels, Trouble(), SystemClock())


def _outcome(rows: list[dict[str, Any]]) -> tuple[list[bool], list[Any]]:
    closed, elements = [], []
    for row in rows:
        thing = pickle.loads(row["payload"])
        if isinstance(thing, SlotReport):
            closed.append(thing.closed)
        else:
            for part in thing:
                _, things = pickle.loads(part)
                elements += [deserialize(each) for each in things if isinstance(each, bytes)]
    return closed, elements


@pytest.mark.parametrize("parallelism", [1, 2])
def test_all_slots_end_with_the_same_micro_batch(parallelism):
    query = _query(parallelism)
    query.wishes = [wish(ENDS, 2)]
    for batch in range(2):
        closed, elements = _outcome(query.run(batch))
        assert not any(closed)
        assert len(elements) == 10 * parallelism
    closed, elements = _outcome(query.run(2))
    assert all(closed)
    assert elements == []


@pytest.mark.parametrize("parallelism", [1, 2])
def test_sources_end_and_everything_after_them(parallelism):
    query = _query(parallelism)
    query.wishes = [wish(DRAINS, 1)]
    closed, _ = _outcome(query.run(0))
    assert not any(closed)
    closed, elements = _outcome(query.run(1))
    assert elements == []
    while not all(closed):
        closed, elements = _outcome(query.run(2))
        assert elements == []
