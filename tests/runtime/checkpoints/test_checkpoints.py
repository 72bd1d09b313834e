"""Checkpoints: whole or in changes, restored with any parallelism, refused when damaged."""

from __future__ import annotations

import json
import tempfile
from typing import BinaryIO, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_committables,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import SHARED, Folder, StateFile, folder
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    DRIVER,
    SlotState,
    shares,
    stateful_operators,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import (
    BASE,
    DELTA,
    WHOLE,
    Changelog,
    remove_unneeded,
)
from pyflink_on_spark._runtime.elements.immutability import serialize, wrap_key
from tests.effort import share
from tests.runtime.checkpoints.checkpointed import (
    MAXIMUM,
    Slot,
    content,
    finish,
    restored,
    slot_of,
    slots,
    stages,
    write,
)
from tests.runtime.harness import FakeClock
from tests.runtime.state.backends import kept

KEYS = ["a", "b", "", 1, -1, 2**70, None, b"a", wrap_key(1.5), wrap_key((1, "x")), wrap_key(True)]
OPERATIONS = [
    lambda slot, n: slot.states["value"].update(n),
    lambda slot, _: slot.states["value"].clear(),
    lambda slot, n: slot.states["list"].add([n]),
    lambda slot, n: slot.states["map"].put(n % 3, n),
    lambda slot, n: slot.states["map"].remove(n % 3),
    lambda slot, n: slot.states["reducing"].add(n),
    lambda slot, _: slot.backend.drop_key(slot.backend.key),
    lambda slot, n: slot.backend.timers.event.register(n, slot.backend.key, "w"),
    lambda slot, n: slot.backend.timers.processing.register(n, slot.backend.key, None),
    lambda slot, n: slot.backend.timers.event.pop_due(n),
    lambda slot, n: slot.elements.append(n),
    lambda slot, n: slot.positions.append(n),
]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(OPERATIONS),
        st.sampled_from(KEYS),
        st.integers(0, 9),
        st.sampled_from([None, "w1"]),
    ),
    max_size=12,
)


@pytest.fixture(autouse=True, params=[False, True], ids=["memory", "disk"])
def state_backend(request):
    with kept(request.param):
        yield


def run(all_slots, steps):
    for operation, key, number, namespace in steps:
        slot = slot_of(all_slots, key)
        for state in slot.states.values():
            state.set_current_namespace(namespace)
        operation(slot, number)


@pytest.fixture
def place(tmp_path):
    return folder(str(tmp_path / "chk-1"))


@pytest.mark.slow
@settings(max_examples=share(40), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(STEPS, st.sampled_from([WHOLE, BASE, DELTA])), min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_state_comes_back_whatever_was_written_and_whoever_restores(rounds, before, after):
    running = slots(before)
    changelog = Changelog(None, FakeClock())
    with tempfile.TemporaryDirectory() as parent:
        for number, (steps, wanted) in enumerate(rounds):
            run(running, steps)
            place = folder(f"{parent}/chk-{number}")
            contents = changelog.next() if wanted == DELTA else wanted
            files = write(place, running, number, contents)
            known = list(files.values())
            finish(
                place, number, known if contents == WHOLE else changelog.written(contents, files)
            )
            again = restored(place, after)
            assert content(again) == content(running)
            elements = sorted(element for slot in running for element in slot.elements)
            assert sorted(element for slot in again for element in slot.elements) == elements
            positions = [position for slot in running for position in slot.positions]
            assert all(slot.positions == positions for slot in again)


def test_a_delta_has_only_what_changed(tmp_path):
    running = slots(1)
    for key in range(500):
        slot_of(running, key).states["value"].update(f"{key} " * 20)
    place = folder(str(tmp_path / "chk-1"))
    base = write(place, running, 1, BASE)[0]
    slot_of(running, 7).states["value"].update("another")
    delta = write(place, running, 2, DELTA)[0]
    assert delta.size < base.size / 20
    nothing = write(place, running, 3, DELTA)[0]
    assert nothing.size < delta.size


def test_a_savepoint_between_takes_nothing_from_the_changes(tmp_path):
    running = slots(2)
    changelog = Changelog(None, FakeClock())
    chk = folder(str(tmp_path / "chk-1"))
    slot_of(running, "a").states["value"].update(1)
    changelog.written(BASE, write(chk, running, 1, BASE))
    slot_of(running, "a").states["value"].update(2)
    savepoint = folder(str(tmp_path / "savepoint"))
    finish(savepoint, 2, list(write(savepoint, running, 2, WHOLE).values()))
    finish(chk, 3, changelog.written(DELTA, write(chk, running, 3, DELTA)))
    assert content(restored(savepoint, 1)) == content(restored(chk, 3)) == content(running)


def file_of(size):
    return StateFile(f"f{size}", size, 0, shared=True)


def test_when_state_is_written_whole():
    clock = FakeClock()
    changelog = Changelog(1000, clock)
    assert changelog.next() == BASE
    base = changelog.written(BASE, {0: file_of(100), 1: file_of(101)})
    assert [file.size for file in base] == [100, 101]
    assert changelog.next() == DELTA
    all_files = changelog.written(DELTA, {0: file_of(150), 1: file_of(51)})
    assert [file.size for file in all_files] == [100, 150, 101, 51]
    assert changelog.next() == DELTA  # as large as the base, not larger
    changelog.written(DELTA, {0: file_of(1), 1: file_of(0)})
    assert changelog.next() == BASE
    changelog.written(BASE, {0: file_of(10)})
    assert changelog.next() == DELTA
    clock.time += 999
    assert changelog.next() == DELTA
    clock.time += 1
    assert changelog.next() == BASE
    changelog.written(BASE, {0: file_of(10)})
    changelog.broken()
    assert changelog.next() == BASE


def test_shared_files_go_with_the_last_checkpoint_that_needs_them(tmp_path):
    running = slots(1)
    changelog = Changelog(None, FakeClock())
    kept = []
    for number, contents in enumerate([BASE, DELTA, BASE, DELTA]):
        place = folder(str(tmp_path / f"chk-{number}"))
        files = changelog.written(contents, write(place, running, number, contents))
        kept.append(finish(place, number, files))
    job = folder(str(tmp_path))
    shared = job.inside(SHARED)
    assert len(shared.names()) == 4
    remove_unneeded(job, kept[1:])
    assert len(shared.names()) == 4
    remove_unneeded(job, kept[2:])
    assert shared.names() == ["base-2-slot-0", "delta-3-slot-0"]
    remove_unneeded(job, [])
    assert SHARED not in job.names()


def test_a_checkpoint_can_be_moved_with_what_it_shares(tmp_path):
    running = slots(1)
    slot_of(running, "a").states["value"].update(1)
    changelog = Changelog(None, FakeClock())
    place = folder(str(tmp_path / "here" / "chk-1"))
    finish(place, 1, changelog.written(BASE, write(place, running, 1, BASE)))
    (tmp_path / "here").rename(tmp_path / "there")
    assert content(restored(folder(str(tmp_path / "there" / "chk-1")), 2)) == content(running)


def test_what_a_checkpoint_says_of_itself(place):
    running = slots(2)
    slot_of(running, "a").states["value"].update(1)
    metadata = finish(place, 5, list(write(place, running, 5, WHOLE).values()))
    for path in (place.uri, f"{place.uri}/", f"{place.uri}/_metadata"):
        assert read_metadata(find_checkpoint(path)) == metadata
    assert read_committables(place, metadata) == [("sink", 5)]
    assert stateful_operators(read_states(place, metadata)) == {"op": MAXIMUM}


def test_operators_without_state_do_not_count():
    state = SlotState()
    state.add(0, Slot().state(1, WHOLE))
    again = SlotState.from_bytes(state.to_bytes())
    assert set(again.operators) == {"op"}
    slot = Slot()
    slot.elements.append(1)
    state.add(0, slot.state(1, WHOLE))
    assert stateful_operators(state) == {"op": MAXIMUM}


@pytest.fixture
def written(place):
    running = slots(1)
    for key in range(50):
        slot_of(running, key).states["value"].update("x" * 50)
    finish(place, 1, list(write(place, running, 1, WHOLE).values()))
    return place


def test_a_file_that_is_missing(written):
    written.remove("slot-0")
    with pytest.raises(CheckpointError, match=r"cannot read .*slot-0"):
        restored(written, 1)


@pytest.mark.parametrize("position", [0, 5, 40, 1000, -1])
def test_a_byte_that_is_another(written, position):
    content = bytearray(written.read("slot-0"))
    content[position] ^= 1
    written.write("slot-0", bytes(content))
    with pytest.raises(CheckpointError, match="slot-0 is damaged"):
        restored(written, 1)


def test_a_byte_that_is_another_is_found_without_reading_all(written):
    content = bytearray(written.read("slot-0"))
    content[3] ^= 1
    written.write("slot-0", bytes(content))
    with pytest.raises(CheckpointError, match="slot-0 cannot be taken over"):
        read_states(written, read_metadata(written))


def test_metadata_in_which_a_byte_is_another(written):
    content = written.read("_metadata").replace(b'"checkpoint_id": 1', b'"checkpoint_id": 2')
    written.write("_metadata", content)
    with pytest.raises(CheckpointError, match=r"_metadata is damaged: .* its checksum"):
        read_metadata(written)


def test_metadata_without_a_checksum(written):
    text = json.loads(written.read("_metadata"))
    del text["checksum"]
    written.write("_metadata", json.dumps(text).encode())
    with pytest.raises(CheckpointError, match="does not have its checksum"):
        restored(written, 1)


@pytest.mark.parametrize("cut", [1, 100])
def test_a_file_that_is_too_short(written, cut):
    written.write("slot-0", written.read("slot-0")[:-cut])
    with pytest.raises(CheckpointError, match=r"slot-0 is damaged: .* bytes that are not the"):
        restored(written, 1)


def test_a_checkpoint_that_was_never_finished(written):
    written.remove("_metadata")
    with pytest.raises(CheckpointError, match="there is no complete checkpoint"):
        restored(written, 1)


@pytest.mark.parametrize("text", [b"", b"{}", b'{"format": 1}', b"[]"])
def test_metadata_that_makes_no_sense(written, text):
    written.write("_metadata", text)
    with pytest.raises(CheckpointError, match="_metadata"):
        restored(written, 1)


@pytest.mark.parametrize("number", [2, 99])
def test_metadata_of_another_version(written, number):
    text = json.loads(written.read("_metadata"))
    text["format"] = number
    written.write("_metadata", json.dumps(text).encode())
    with pytest.raises(
        CheckpointError, match=f"another version: it has format {number}, .*format 5"
    ):
        restored(written, 1)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot write"):
        write(folder(str(tmp_path / "file" / "chk-1")), slots(1), 1, WHOLE)


def test_after_a_hundred_changes_state_is_written_whole():
    changelog = Changelog(None, FakeClock())
    written = []
    for _ in range(203):
        written.append(changelog.next())
        size = 1000 if written[-1] == BASE else 0
        changelog.written(written[-1], {0: file_of(size), 1: file_of(size)})
    assert [n for n, contents in enumerate(written) if contents == BASE] == [0, 101, 202]


class CountedFolder(Folder):
    """A folder that knows which of its files are open."""

    opened: ClassVar[list[BinaryIO]] = []
    most: ClassVar[int] = 0

    def open(self, name):
        stream = super().open(name)
        self.opened.append(stream)
        CountedFolder.most = max(self.most, sum(not stream.closed for stream in self.opened))
        return stream


@pytest.fixture
def counted(tmp_path):
    CountedFolder.opened.clear()
    CountedFolder.most = 0
    return CountedFolder(str(tmp_path / "chk-1"))


def test_files_are_open_one_at_a_time_while_state_is_restored(counted):
    running = slots(2)
    changelog = Changelog(None, FakeClock())
    count = 20
    for number in range(count):
        for key in range(10):
            slot_of(running, key).states["list"].add([number, key])
        contents = BASE if number == 0 else DELTA
        files = changelog.written(contents, write(counted, running, number, contents))
    finish(counted, count, files)
    assert content(restored(counted, 3)) == content(running)
    assert CountedFolder.most == 1
    assert all(stream.closed for stream in CountedFolder.opened)


def test_a_file_is_opened_once_for_all_that_is_in_it(counted):
    running = slots(1)
    for key in range(50):
        slot_of(running, key).states["value"].update(key)
    finish(counted, 1, list(write(counted, running, 1, WHOLE).values()))
    metadata = read_metadata(counted)
    whole = read_states(counted, metadata)
    before = len(CountedFolder.opened)
    state = shares(stages(1), 0, whole, 1)[0]
    assert len(CountedFolder.opened) == before, "little state was read with what there is"
    assert len(list(state.operators["op"].keyed.values())) == MAXIMUM
    assert len(CountedFolder.opened) == before + 1


def test_a_file_that_goes_while_it_is_wanted(counted):
    running = slots(1)
    slot_of(running, "a").states["value"].update(1)
    finish(counted, 1, list(write(counted, running, 1, WHOLE).values()))
    whole = read_states(counted, read_metadata(counted))
    state = shares(stages(1), 0, whole, 1)[0]
    counted.remove("slot-0")
    with pytest.raises(CheckpointError, match=r"cannot read .*slot-0"):
        list(state.operators["op"].keyed.values())


def test_what_an_enumerator_keeps_is_read_again():
    state = SlotState(sources={"files": {DRIVER: serialize(["a"]), 0: serialize(["b"])}})
    assert SlotState.from_bytes(state.to_bytes()).sources == state.sources
