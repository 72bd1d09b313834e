"""The state store does not grow with keys that are gone: they expire, or are removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pyflink_on_spark._spark.structured import state_log
from pyflink_on_spark.common import Configuration, Time, Types
from pyflink_on_spark.datastream import (
    KeyedProcessFunction,
    MapFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.state import (
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from tests.structured.in_process import QueryEngine, Trouble
from tests.structured.jobs import results_of, submitted

KEYS, ALIVE, CUT = 1000, 30, 50


class _Clock:
    def __init__(self) -> None:
        self.time = 1_000_000

    def now(self) -> int:
        return self.time


CLOCK = _Clock()


class _Ticks(MapFunction):
    """Lets a millisecond pass for each element."""

    def map(self, value: int) -> int:
        CLOCK.time += 1
        return value


class _Remembers(KeyedProcessFunction):
    """Keeps a value and a map for each key, which never comes again.

    Args:
        until: `expires`, `cleared` by a timer, or `ever`.
    """

    def __init__(self, until: str) -> None:
        self._until = until

    def open(self, runtime_context: RuntimeContext) -> None:
        value = ValueStateDescriptor("value", Types.STRING())
        entries = MapStateDescriptor("entries", Types.STRING(), Types.LONG())
        if self._until == "expires":
            rules = StateTtlConfig.new_builder(Time.milliseconds(ALIVE)).build()
            value.enable_time_to_live(rules)
            entries.enable_time_to_live(rules)
        self._value = runtime_context.get_state(value)
        self._entries = runtime_context.get_map_state(entries)

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        self._value.update(f"{value:0100}")
        self._entries.put("only", value)
        if self._until == "cleared":
            ctx.timer_service().register_processing_time_timer(CLOCK.time + ALIVE)
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> list[Any]:
        self._value.clear()
        self._entries.clear()
        return []


def _stored(until: str, trouble: Trouble, **settings: str) -> list[int]:
    """The bytes in the store after each micro-batch."""
    configuration = Configuration()
    cut = {
        "execution.checkpointing.interval": "10 ms",
        "pyflink-on-spark.checkpoint-elements": str(CUT),
    }
    for key, value in {**cut, **settings}.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    keyed = env.from_collection(range(KEYS), Types.LONG()).map(_Ticks(), Types.LONG())
    stream = keyed.key_by(lambda value: value, Types.LONG())
    found = results_of(stream.process(_Remembers(until)), QueryEngine(trouble, CLOCK))
    assert sorted(found) == list(range(KEYS))
    return trouble.stored


@pytest.fixture(autouse=True)
def _small_logs(monkeypatch):
    monkeypatch.setattr(state_log, "_LITTLE", 4096)
    monkeypatch.setattr(state_log, "CHUNK_BYTES", 1024)


def test_keys_that_stay_fill_the_store():
    sizes = _stored("ever", Trouble())
    assert sizes[-1] > 150 * KEYS


@pytest.mark.parametrize(
    ("until", "backend", "moves"),
    [("expires", "hashmap", 0.0), ("expires", "rocksdb", 0.5), ("cleared", "hashmap", 0.5)],
)
def test_keys_that_are_gone_leave_the_store(until, backend, moves):
    trouble = Trouble(7, moves=moves, failures=moves / 2)
    sizes = _stored(until, trouble, **{"state.backend.type": backend})
    assert len(sizes) >= KEYS // CUT
    assert max(sizes) < 60 * KEYS
    half = len(sizes) // 2
    assert max(sizes[half:]) <= 1.5 * max(sizes[:half])


def test_the_history_of_a_job_has_the_bytes_in_the_store():
    trouble = Trouble(3, moves=0.3, failures=0.3)
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "10 ms")
    configuration.set_string("pyflink-on-spark.checkpoint-elements", "5")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    keyed = env.from_collection(range(40), Types.LONG()).key_by(lambda value: value, Types.LONG())
    job = submitted(keyed.process(_Remembers("ever")))
    assert sorted(QueryEngine(trouble).submit(job).collected()) == list(range(40))
    sizes = [each.size for each in job.history.checkpoints]
    assert sizes[-3:] == trouble.stored[-3:]
    assert min(sizes[-3:]) > 0
