"""A checkpoint as data: what there is, entry by entry, without the code of the job."""

from __future__ import annotations

import datetime
import decimal
import os
import pickle

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._connectors.kafka.partitions import PartitionPosition
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.checkpoints.contents import Opaque, StateEntry, load_safely
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import BASE, DELTA, WHOLE
from pyflink_on_spark.common import Row
from pyflink_on_spark.datastream.window import TimeWindow
from pyflink_on_spark.state import CheckpointContents, to_pandas
from pyflink_on_spark.tools.state import _position, main
from tests.runtime.checkpoints.checkpointed import MAXIMUM, finish, slot_of, slots, write


class Own:
    """A class of the job."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    __hash__ = None


@pytest.fixture
def place(tmp_path):
    """A checkpoint of two slots: keys 0 to 5, with an own object for key 5."""
    all_slots = slots(2)
    for key in range(6):
        states = slot_of(all_slots, key).states
        states["value"].update(key * 10 if key < 5 else Own(7))
        states["list"].update([key, key])
        states["map"].put("of", key)
    all_slots[0].elements = ["a", "b"]
    all_slots[1].elements = ["c"]
    all_slots[0].positions, all_slots[1].positions = [("file", 3)], []
    where = folder((tmp_path / "chk-1").as_uri())
    finish(where, 1, list(write(where, all_slots, 1, WHOLE).values()))
    return where


def entries(contents, state):
    return {entry.key: entry.value for entry in contents.entries("op", state)}


def test_what_there_is(place):
    (operator,) = CheckpointContents(place.uri).operators()
    assert (operator.id, operator.subtasks, operator.max_parallelism) == ("op", 2, MAXIMUM)
    assert operator.size > 0
    assert 0 < operator.key_groups <= MAXIMUM
    kinds = {(state.name, state.kind, state.entries) for state in operator.states}
    assert kinds >= {("v", "value", 6), ("l", "list", 6), ("m", "map", 6), ("elements", "split", 3)}


def test_sources(place):
    (source,) = CheckpointContents(place.uri).sources()
    assert (source.id, source.positions) == ("src", (("file", 3),))


def test_entries(place):
    contents = CheckpointContents(f"{place.path}/_metadata")
    values = entries(contents, "v")
    assert {key: values[key] for key in range(5)} == {key: key * 10 for key in range(5)}
    assert entries(contents, "l")[3] == [3, 3]
    assert entries(contents, "m")[3] == {"of": 3}
    without_keys = list(contents.entries("op", "elements"))
    assert without_keys == [StateEntry(None, None, value) for value in "abc"]


def test_a_class_of_the_job_is_not_loaded_unless_wanted(place):
    hidden = entries(CheckpointContents(place.uri), "v")[5]
    assert isinstance(hidden, Opaque)
    assert repr(hidden) == f"<{__name__}.Own: {{'number': 7}}>"
    assert entries(CheckpointContents(place.uri, trusted=True), "v")[5] == Own(7)


def test_changes_are_applied(tmp_path):
    all_slots = slots(2)
    for key in range(4):
        slot_of(all_slots, key).states["value"].update(key)
    where = folder((tmp_path / "chk-2").as_uri())
    files = list(write(where, all_slots, 1, BASE).values())
    slot_of(all_slots, 0).states["value"].update("changed")
    slot_of(all_slots, 1).states["value"].clear()
    files += write(where, all_slots, 2, DELTA).values()
    finish(where, 2, files)
    contents = CheckpointContents(where.uri)
    assert entries(contents, "v") == {0: "changed", 2: 2, 3: 3}
    (operator,) = contents.operators()
    assert ("v", 3) in {(state.name, state.entries) for state in operator.states}


def test_pandas(place):
    frame = to_pandas(CheckpointContents(place.uri), "op", "m")
    assert list(frame.columns) == ["key", "namespace", "value"]
    assert sorted(frame["key"]) == list(range(6))


@pytest.mark.parametrize(
    ("operator", "state", "told"),
    [("none", "v", "no operator with state .*: op"), ("op", "w", "no state 'w', only: ")],
)
def test_what_is_not_there(place, operator, state, told):
    with pytest.raises(CheckpointError, match=told):
        list(CheckpointContents(place.uri).entries(operator, state))


def test_values_of_python_and_pyflink_are_themselves():
    values = [
        1, "a", b"b", None, 1.5, {1, 2}, frozenset({3}), (4,), [5], {"k": 6}, bytearray(b"7"),
        datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), decimal.Decimal("1.5"),
        Row(a=1, b="x"), TimeWindow(1, 2),
    ]  # fmt: skip
    assert load_safely(pickle.dumps(values, 5)) == values


class Runs:
    def __reduce__(self):
        return os.mkdir, ("/this/must/not/happen",)


def test_nothing_is_run():
    hidden = load_safely(pickle.dumps(Runs(), 5))
    assert isinstance(hidden, Opaque)
    assert "mkdir" in repr(hidden)


def test_opaque_objects_are_keys():
    first, second = (load_safely(pickle.dumps(Own(1), 5)) for _ in range(2))
    assert first == second
    assert {first: 1}[second] == 1
    assert first != load_safely(pickle.dumps(Own(2), 5))


def test_the_command_lists(place, capsys):
    assert main([place.uri]) == 0
    told = capsys.readouterr().out
    assert told.startswith("checkpoint 1 of 'job' (j)\n")
    assert "\noperator op\n" in told
    assert f"\n  v: value, 6 entries (int to int or {__name__}.Own)\n" in told
    assert "\nsource src\n  ('file', 3)\n" in told


def test_a_position_of_kafka_is_shown_by_its_attributes():
    position = PartitionPosition("views", 3, 492)
    assert _position(load_safely(pickle.dumps(position, 5))) == (
        "topic 'views', partition 3, offset 492"
    )
    assert _position(("file", 3)) == "('file', 3)"
    assert _position(load_safely(pickle.dumps(Own(1), 5))).startswith(f"<{__name__}.Own")


def test_the_command_reads(place, capsys):
    assert main([place.uri, "--read", "op", "m", "--limit", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main([place.uri, "--json", "--read", "op", "m"]) == 0
    assert '"value": {"of": 3}' in capsys.readouterr().out
    assert main([place.uri, "--json"]) == 0
    assert '"job_name": "job"' in capsys.readouterr().out


def test_the_command_says_what_is_wrong(place, tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("state: there is no complete checkpoint in ")
    assert main([place.uri, "--read", "op", "w"]) == 1
    assert "no state 'w'" in capsys.readouterr().err
