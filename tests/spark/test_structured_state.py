"""The state of a query with time to live, as Spark's reader of states and savepoints show it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.checkpoints.contents import key_group_contents, reader_of
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.elements.immutability import deserialize, unwrap_key
from pyflink_on_spark.common import Time, Types
from pyflink_on_spark.common.serialization import Encoder
from pyflink_on_spark.datastream import KeyedProcessFunction
from pyflink_on_spark.datastream.connectors.file_system import FileSink, RollingPolicy
from pyflink_on_spark.datastream.state import StateTtlConfig, ValueStateDescriptor
from pyflink_on_spark.state import CheckpointContents
from tests.spark.test_checkpoints import Slow, environment, numbers, wait_for, written

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


class RemembersForAWhile(KeyedProcessFunction):
    """Keeps each number twice: for an hour, and for a millisecond."""

    def open(self, runtime_context):
        def state(name, time):
            descriptor = ValueStateDescriptor(name, Types.LONG())
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(time).build())
            return runtime_context.get_state(descriptor)

        self.long = state("long", Time.hours(1))
        self.brief = state("brief", Time.milliseconds(1))

    def process_element(self, value, ctx):
        self.long.update(value * 10)
        self.brief.update(value * 10)
        yield f"0,{value},0"


@pytest.fixture
def running(spark, tmp_path):
    """A job that has come to some checkpoints, and keeps its state when it is cancelled."""
    notes = tmp_path / "notes"
    notes.mkdir()
    retention = {
        "execution_checkpointing_externalized__checkpoint__retention": "RETAIN_ON_CANCELLATION"
    }
    env = environment(tmp_path, 1, pyflink__on__spark_engine="structured", **retention)
    slow = numbers(env, 10**6).map(Slow(notes), Types.LONG()).uid("slow")
    remembered = slow.key_by(lambda v: v, Types.LONG()).process(RemembersForAWhile())
    sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder())
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    remembered.uid("memory").map(str, Types.STRING()).sink_to(sink).uid("sink")
    client = env.execute_async()
    try:
        wait_for(lambda: len(written(tmp_path)) > 200, 240)
        yield client
    finally:
        client.cancel().result()


def in_spark(spark, query):
    """The entries of the states after the last micro-batch, from the log of the only slot."""
    batch = max(int(file.name) for file in (query / "commits").glob("[0-9]*"))
    spark.conf.set(FORMAT, "2")
    try:
        logs = spark.read.format("statestore").option("batchId", batch)
        rows = logs.option("stateVarName", "log").load(str(query)).collect()
    finally:
        spark.conf.unset(FORMAT)
    rows.sort(key=lambda row: row["user_map_key"]["number"])
    log = b"".join(bytes(row["user_map_value"]["chunk"]) for row in rows)
    (part,) = SlotState.from_bytes(log).operators["memory"].values()
    found = {"long": {}, "brief": {}}
    for pieces in part.keyed.values():
        contents = key_group_contents(pieces, deserialize)
        for name, entries in found.items():
            read = reader_of(contents.states[name]) if name in contents.states else None
            for table in contents.tables.get(name, {}).values():
                entries.update({unwrap_key(key): read(value) for key, value in table.items()})
    return found


def check(long, brief):
    """All that lives is there; of what has expired only some of the last numbers."""
    assert long == {value: value * 10 for value in range(1, len(long) + 1)}
    assert brief.items() <= long.items()
    assert len(brief) < len(long) / 4


@pytest.mark.timeout(600)
def test_time_to_live_reaches_the_store(spark, running, tmp_path):
    contents = CheckpointContents(running.trigger_savepoint(str(tmp_path / "saved")).result())
    saved = {
        name: {entry.key: entry.value for entry in contents.entries("memory", name)}
        for name in ("long", "brief")
    }
    assert len(saved["long"]) > 200
    check(**saved)
    running.cancel().result()
    (query,) = (tmp_path / "checkpoints").glob("*/query")
    stored = in_spark(spark, query)
    assert len(stored["long"]) >= len(saved["long"])
    check(**stored)
