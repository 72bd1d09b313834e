"""A job that starts from the savepoint of another version of its script, as state.md says."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark.common import Configuration, Time, Types
from pyflink_on_spark.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.state import (
    ListStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflink_on_spark.state import CheckpointContents, SavepointWriter
from pyflink_on_spark.testing import local_engine

WORD = Types.STRING()
CHANGED = "pyflink-on-spark.changed-state"
COUNT = ValueStateDescriptor("count", Types.LONG())


@pytest.fixture(autouse=True)
def _in_process():
    with local_engine():
        yield


@pytest.fixture
def savepoint(tmp_path):
    writer = SavepointWriter().put("counter", COUNT, [("a", 3), ("b", 5)], key_type=WORD)
    return writer.write(str(tmp_path / "savepoint"))


class Seen(KeyedProcessFunction):
    """A function that emits the content of a state."""

    def __init__(self, descriptor, read=lambda state: state.value()):
        self.descriptor, self.read = descriptor, read

    def open(self, context):
        kind = self.descriptor._kind
        self.state = getattr(context, {"value": "get_state", "list": "get_list_state"}[kind])(
            self.descriptor
        )

    def process_element(self, key, ctx):
        yield key, self.read(self.state)


def run(savepoint, function, uid="counter", key_type=WORD, maximum=None, **options):
    configuration = Configuration().set_string("execution.state-recovery.path", savepoint)
    for key, value in options.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(3)
    stream = env.from_collection(["a", "b"]).key_by(lambda key: key, key_type=key_type)
    counted = stream.process(function).uid(uid)
    if maximum is not None:
        counted.set_max_parallelism(maximum)
    with counted.execute_and_collect() as found:
        return dict(found)


def test_the_parallelism_may_change(savepoint):
    assert run(savepoint, Seen(COUNT)) == {"a": 3, "b": 5}


def test_a_new_state_is_empty(savepoint):
    new = ValueStateDescriptor("new", Types.LONG())
    assert run(savepoint, Seen(new)) == {"a": None, "b": None}


def test_an_operator_that_is_gone(savepoint):
    with pytest.raises(CheckpointError, match="has state of the operator 'counter', which this"):
        run(savepoint, Seen(COUNT), uid="other")
    ignore = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    assert run(savepoint, Seen(COUNT), uid="other", **ignore) == {"a": None, "b": None}


def test_an_operator_that_is_renamed(savepoint):
    path = SavepointWriter(CheckpointContents(savepoint)).rename_operator("counter", "other")
    assert run(path.write(f"{savepoint}-2"), Seen(COUNT), uid="other") == {"a": 3, "b": 5}


def test_another_kind_of_state(savepoint):
    counts = ListStateDescriptor("count", Types.LONG())
    refused = "has the value state 'count' of type Long, and this job declares the list state"
    for option in ("REFUSE", "TAKE"):
        with pytest.raises(Exception, match=refused):
            run(savepoint, Seen(counts, list), **{CHANGED: option})
    assert run(savepoint, Seen(counts, list), **{CHANGED: "DROP"}) == {"a": [], "b": []}
    writer = SavepointWriter(CheckpointContents(savepoint)).rename("counter", "count", "old")
    old = CheckpointContents(savepoint).entries("counter", "count")
    pairs = [(entry.key, [entry.value]) for entry in old]
    path = writer.put("counter", counts, pairs, key_type=WORD).write(f"{savepoint}-2")
    assert run(path, Seen(counts, list)) == {"a": [3], "b": [5]}


def test_another_type_of_values(savepoint):
    text = ValueStateDescriptor("count", Types.STRING())
    with pytest.raises(Exception, match="of type Long, and this job declares"):
        run(savepoint, Seen(text))
    assert run(savepoint, Seen(text), **{CHANGED: "TAKE"}) == {"a": 3, "b": 5}
    assert run(savepoint, Seen(text), **{CHANGED: "DROP"}) == {"a": None, "b": None}
    writer = SavepointWriter(CheckpointContents(savepoint))
    path = writer.change("counter", "count", lambda entry: str(entry.value)).write(f"{savepoint}-2")
    assert run(path, Seen(text)) == {"a": "3", "b": "5"}


def test_a_time_to_live_may_come_and_go(savepoint):
    count = ValueStateDescriptor("count", Types.LONG())
    count.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    assert run(savepoint, Seen(count)) == {"a": 3, "b": 5}
    expiring = SavepointWriter().put("counter", count, [("a", 7)], key_type=WORD)
    path = expiring.write(f"{savepoint}-2")
    assert run(path, Seen(COUNT)) == {"a": 7, "b": None}


def test_another_type_of_keys(savepoint):
    with pytest.raises(Exception, match="in another key group than a job with no key_type"):
        run(savepoint, Seen(COUNT), key_type=None)


def test_another_max_parallelism(savepoint):
    with pytest.raises(CheckpointError, match=r"Set it with set_max_parallelism\(128\)"):
        run(savepoint, Seen(COUNT), maximum=64)
