"""Savepoints from data: new ones, and others with changes; jobs start from them."""

from __future__ import annotations

import pandas as pd
import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import BASE, DELTA
from pyflink_on_spark.common import Time, Types
from pyflink_on_spark.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflink_on_spark.state import CheckpointContents, SavepointWriter, StateEntry
from pyflink_on_spark.tools.state import main
from tests.runtime.checkpoints.checkpointed import (
    MAXIMUM,
    content,
    finish,
    restored,
    slot_of,
    slots,
    write,
)


class Own:
    """A class of the job."""

    def __repr__(self):
        return "Own()"


COUNT = ValueStateDescriptor("v", Types.LONG())


@pytest.fixture
def place(tmp_path):
    """A checkpoint of two slots, with changes, and an own object for key 5."""
    all_slots = slots(2)
    for key in range(6):
        states = slot_of(all_slots, key).states
        states["value"].update(key)
        states["map"].put("of", key if key < 5 else Own())
    all_slots[0].elements, all_slots[1].elements = ["a", "b"], ["c"]
    all_slots[0].positions = [("file", 3)]
    where = folder((tmp_path / "chk-1").as_uri())
    files = list(write(where, all_slots, 1, BASE).values())
    slot_of(all_slots, 0).states["value"].update(100)
    files += write(where, all_slots, 2, DELTA).values()
    finish(where, 2, files)
    return where


@pytest.fixture
def target(tmp_path):
    return (tmp_path / "new").as_uri()


def entries(path, operator, state, **how):
    found = CheckpointContents(path, **how).entries(operator, state)
    return {entry.key: entry.value for entry in found}


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_copy_is_restored_as_the_original_is(place, target, parallelism):
    SavepointWriter(CheckpointContents(place.uri)).write(target)
    assert content(restored(folder(target), parallelism)) == content(restored(place, parallelism))
    copied, original = (CheckpointContents(path) for path in (target, place.uri))
    assert copied.metadata.savepoint
    assert copied.metadata.checkpoint_id == original.metadata.checkpoint_id
    assert copied.sources() == original.sources()


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_new_entries_are_restored_by_the_subtasks_that_own_the_keys(target, parallelism):
    writer = SavepointWriter(max_parallelism=MAXIMUM)
    writer.put("op", COUNT, ((key, key * 2) for key in range(50)))
    writer.put_timers("op", [(1, 1000)])
    writer.put_list("op", "elements", "abc")
    writer.write(target)
    again = restored(folder(target), parallelism)
    found, timers = content(again)
    assert found == {("v", None, key, repr(key * 2)) for key in range(50)}
    assert timers == [("event", 1000, 1, None)]
    assert sorted(element for slot in again for element in slot.elements) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("descriptor", "value"),
    [
        (ListStateDescriptor("s", Types.LONG()), [1, 2]),
        (MapStateDescriptor("s", Types.STRING(), Types.LONG()), {"a": 1}),
        (ReducingStateDescriptor("s", lambda a, b: a + b, Types.LONG()), 3),
    ],
)
@pytest.mark.parametrize("expires", [False, True])
def test_each_kind_of_state(target, descriptor, value, expires):
    if expires:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    SavepointWriter().put("op", descriptor, [("k", value)], key_type=Types.STRING()).write(target)
    assert entries(target, "op", "s") == {"k": value}
    (state,) = CheckpointContents(target).operator("op").states
    assert (state.kind, state.expires) == (descriptor._kind, expires)
    assert state.key_types == ("str",)


def test_the_frame_of_pandas(target):
    frame = pd.DataFrame({"value": [1, 2], "key": ["a", "b"]})
    SavepointWriter().put("op", COUNT, frame, key_type=Types.STRING()).write(target)
    assert entries(target, "op", "v") == {"a": 1, "b": 2}
    (state,) = CheckpointContents(target).operator("op").states
    assert state.value_types == ("int",)


def test_keys_of_any_type(target):
    SavepointWriter().put("op", COUNT, [((1, "a"), 5), (2.5, 6)]).write(target)
    assert entries(target, "op", "v") == {(1, "a"): 5, 2.5: 6}


def test_windows_are_namespaces(target):
    SavepointWriter().put("op", COUNT, [StateEntry("k", 7, 1), ("k", 2)]).write(target)
    found = list(CheckpointContents(target).entries("op", "v"))
    assert sorted(found, key=str) == [StateEntry("k", 7, 1), StateEntry("k", None, 2)]


def test_what_has_another_type_is_refused():
    writer = SavepointWriter()
    with pytest.raises(TypeError) as raised:
        writer.put("op", COUNT, [("k", "text")])
    assert "It is the entry of the key 'k'." in raised.value.__notes__
    with pytest.raises(TypeError, match="is no state descriptor"):
        writer.put("op", "v", [])


def test_entries_are_added_and_replaced(place, target):
    trusted(place).put("op", COUNT, [(0, 7), (77, 8)]).write(target)
    expected = {0: 7, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 77: 8}
    assert entries(target, "op", "v", trusted=True) == expected
    with pytest.raises(CheckpointError, match=r"of the class .*\.Own, which was not loaded"):
        SavepointWriter(CheckpointContents(place.uri)).drop("op", "v").write(f"{target}-2")


def trusted(place):
    return SavepointWriter(CheckpointContents(place.uri, trusted=True))


def test_states_are_dropped_and_renamed(place, target):
    trusted(place).drop("op", "m").rename("op", "v", "w").rename("op", "elements", "e").write(
        target
    )
    states = {s.name: s.entries for s in CheckpointContents(target).operator("op").states}
    assert states["w"] == 6
    assert states["e"] == 3
    assert not {"m", "v", "elements"} & states.keys()


def test_states_are_changed(place, target):
    writer = trusted(place).change("op", "v", lambda entry: entry.value * 2 or None)
    writer.change("op", "elements", lambda entry: {"a": "A", "b": None}.get(entry.value, "z"))
    writer.put_broadcast("op", "rules", {"x": 1}).change("op", "m", lambda _: {})
    writer.write(target)
    assert entries(target, "op", "v") == {0: 200, 1: 2, 2: 4, 3: 6, 4: 8, 5: 10}
    assert entries(target, "op", "m") == {}
    without_keys = CheckpointContents(target).entries("op", "elements")
    assert sorted(entry.value for entry in without_keys) == ["A", "z"]
    assert {e.value for e in CheckpointContents(target).entries("op", "rules")} == {("x", 1)}


def test_operators_and_sources_are_dropped_and_renamed(place, target):
    writer = SavepointWriter(CheckpointContents(place.uri))
    writer.rename_operator("op", "other").drop_operator("src").write(target)
    contents = CheckpointContents(target)
    assert [operator.id for operator in contents.operators()] == ["other"]
    assert contents.sources() == []
    SavepointWriter(contents).drop_operator("other").write(f"{target}-2")
    assert CheckpointContents(f"{target}-2").operators() == []


def test_what_expires_stays_as_old_as_it_is(target):
    count = ValueStateDescriptor("v", Types.LONG())
    count.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    SavepointWriter().put("op", count, [("k", 1)]).write(target)
    contents = CheckpointContents(target)
    SavepointWriter(contents).change("op", "v", lambda entry: entry.value + 1).write(f"{target}-2")
    before, after = (
        [
            stamped
            for part in CheckpointContents(path).whole.operators["op"].values()
            for group in part.keyed.values()
            for piece in group
            for stamped in [CheckpointContents(path).load(piece.read()).tables["v"][None]["k"]]
        ]
        for path in (target, f"{target}-2")
    )
    assert [(stamp, value + 1) for stamp, value in before] == after


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda w: w.drop("op", "none"), "has no state 'none', only: "),
        (lambda w: w.drop("none", "v"), "no operator with state"),
        (lambda w: w.rename("op", "v", "m"), "has a state 'm' already"),
        (lambda w: w.drop("op", "v").drop("op", "v"), "has no state 'v'"),
        (lambda w: w.rename_operator("op", "src"), "there is state of 'src' already"),
        (lambda w: w.put("op", ListStateDescriptor("v", Types.LONG()), [(0, [1])]).write("{}"),
         "the state 'v' is a value state: drop it first to write a list state"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed(place, tmp_path, monkeypatch, wrong, told):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match=told):
        wrong(trusted(place))


def test_nothing_is_overwritten(place, target):
    SavepointWriter().write(target)
    with pytest.raises(CheckpointError, match=r"there is a checkpoint or savepoint in .* already"):
        SavepointWriter().write(target)
    with pytest.raises(CheckpointError, match="a new savepoint has no state"):
        SavepointWriter().drop("op", "v")


def test_a_failed_savepoint_leaves_none(place, target):
    writer = trusted(place).change("op", "v", lambda entry: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        writer.write(target)
    with pytest.raises(CheckpointError, match="no complete checkpoint"):
        CheckpointContents(target)


def test_the_command_changes(place, target, capsys):
    assert main([place.uri, "--rename", "op", "v", "w"]) == 1
    assert capsys.readouterr().err == "state: where to? Add --write NEW\n"
    changes = ["--rename", "op", "v", "w", "--drop", "op", "m", "--drop-operator", "src"]
    assert main([place.uri, "--trusted", *changes, "--write", target]) == 0
    assert capsys.readouterr().out == f"savepoint written: {folder(target).shown}\n"
    assert main([target]) == 0
    told = capsys.readouterr().out
    assert "\n  w: value, 6 entries (int to int)\n" in told
    assert "source src" not in told
    assert main([place.uri, "--write", target]) == 1
    assert "already" in capsys.readouterr().err
