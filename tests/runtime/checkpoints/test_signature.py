"""A job with a key begins with nothing that its key has not signed, and unpickles nothing of it."""

from __future__ import annotations

import json
import pickle
import shutil
import zlib
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._options.own import CHECKPOINT_KEY
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Restore,
    _checksum,
    read_committables,
    read_metadata,
    restored_states,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder, store_frames
from pyflink_on_spark._runtime.checkpoints.forked_records import ForkedRecords
from pyflink_on_spark._runtime.checkpoints.slot_state import records_of
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import BASE, DELTA, WHOLE
from pyflink_on_spark._runtime.checkpoints.state_file import HeadsDigest
from pyflink_on_spark.state import CheckpointContents, SavepointWriter
from tests.hostile.test_forged_checkpoints import forge, records
from tests.runtime.checkpoints.checkpointed import (
    content,
    finish,
    restored,
    slot_of,
    slots,
    stages,
    write,
)
from tests.runtime.checkpoints.test_stored_frames import finish as finish_with
from tests.runtime.checkpoints.test_stored_frames import rows

LOADED: list[str] = []


class Attack:
    """Notes that it was loaded."""

    def __reduce__(self):
        return LOADED.append, ("loaded",)


@pytest.fixture(autouse=True)
def nothing_is_loaded():
    LOADED.clear()
    yield
    assert not LOADED


def configuration(tmp_path, name="key", key=b"k" * 32):
    path = tmp_path / name
    path.write_bytes(key)
    return {CHECKPOINT_KEY.key: path.as_uri()}


@pytest.fixture
def signed(tmp_path):
    """A signed checkpoint with keyed state, its folder, and what it restores."""
    place = folder(str(tmp_path / "job" / "chk-1"), configuration(tmp_path))
    before = slots(2)
    for key in range(20):
        slot_of(before, key).states["value"].update(key)
    finish(place, 1, list(write(place, before, 1, WHOLE).values()))
    return place, content(before)


def test_what_the_key_has_signed_is_restored(signed):
    place, before = signed
    assert content(restored(place, 1)) == before
    assert read_committables(place, read_metadata(place)) == [("sink", 1)]


def test_a_moved_checkpoint_is_restored(signed, tmp_path):
    place, before = signed
    shutil.move(place.path, tmp_path / "moved")
    assert content(restored(folder(str(tmp_path / "moved"), configuration(tmp_path)), 2)) == before


def test_another_key_is_refused(signed, tmp_path):
    other = folder(signed[0].path, configuration(tmp_path, "other", b"o" * 32))
    with pytest.raises(CheckpointError, match="is signed with another key, or was changed"):
        read_metadata(other)


def test_a_checkpoint_without_signature_is_refused(tmp_path):
    place = folder(str(tmp_path / "chk-1"))
    finish(place, 1, list(write(place, slots(1), 1, WHOLE).values()))
    with pytest.raises(CheckpointError, match=r"is not signed.*--sign KEY"):
        read_metadata(folder(place.path, configuration(tmp_path)))


def test_without_a_key_a_signed_checkpoint_is_read(signed):
    assert content(restored(folder(signed[0].path), 1)) == signed[1]


@pytest.mark.parametrize("checksums", ["old", "right"])
def test_changed_metadata_are_refused(signed, checksums):
    path = Path(signed[0].path, "_metadata")
    metadata = json.loads(path.read_text())
    metadata["job_name"] = "another"
    if checksums == "right":
        kept = {k: v for k, v in metadata.items() if k not in ("checksum", "signature")}
        metadata["checksum"] = _checksum(kept)
    path.write_text(json.dumps(metadata))
    with pytest.raises(CheckpointError, match=r"another key|checksum"):
        read_metadata(signed[0])


def forged_committables(place, payload):
    path = Path(place.path)
    (path / "committables").write_bytes(payload)
    metadata = json.loads((path / "_metadata").read_text())
    metadata["committables"] |= {"size": len(payload), "checksum": zlib.crc32(payload)}
    kept = {k: v for k, v in metadata.items() if k not in ("checksum", "signature")}
    metadata["checksum"] = _checksum(kept)
    (path / "_metadata").write_text(json.dumps(metadata))


def test_forged_committables_are_refused(signed):
    forged_committables(signed[0], pickle.dumps([("sink", Attack())]))
    with pytest.raises(CheckpointError, match="another key"):
        read_metadata(signed[0])


def with_crc_of(wanted, start):
    """Bytes that begin with ``start`` and have a certain CRC-32."""
    table = []
    for n in range(256):
        value = n
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table.append(value)
    state, indexes = wanted ^ 0xFFFFFFFF, []
    for _ in range(4):
        index = next(n for n in range(256) if table[n] >> 24 == state >> 24)
        indexes.append(index)
        state = ((state ^ table[index]) << 8) & 0xFFFFFFFF
    value, added = zlib.crc32(start) ^ 0xFFFFFFFF, b""
    for index in reversed(indexes):
        added += bytes([(value ^ index) & 0xFF])
        value = (value >> 8) ^ table[index]
    assert zlib.crc32(start + added) == wanted
    return start + added


def test_forged_committables_with_the_same_checksum_and_size_are_refused(signed):
    place = signed[0]
    metadata = read_metadata(place)
    file = metadata.committables
    forged = with_crc_of(file.checksum, b"\0" * (file.size - 4))
    Path(place.path, "committables").write_bytes(forged)
    with pytest.raises(CheckpointError, match="is not what was signed"):
        read_committables(place, metadata)


def test_forged_records_with_the_same_checksums_are_refused(signed):
    """CRC-32 is no protection: the content is another one of the same size and checksum."""
    place = signed[0]
    metadata = read_metadata(place)
    path = Path(place.path, "slot-0")
    original = path.read_bytes()
    forged, offset = bytearray(original), 0
    for header, payload in records(original):
        offset += 8 + len(header)
        if len(payload) > 8 and json.loads(header)[0] == "keyed":
            new = with_crc_of(zlib.crc32(payload), b"\0" * (len(payload) - 4))
            forged[offset : offset + len(payload)] = new
        offset += len(payload)
    assert bytes(forged) != original
    path.write_bytes(bytes(forged))
    restore = Restore(1, place.uri, digest=metadata.digest())
    found = restored_states(restore, stages(1), [0], {})
    with pytest.raises(ValueError, match="is not what was signed"):
        list(found[0].operators["op"].keyed.values())


@pytest.mark.parametrize("part", ["payload", "cut", "swapped"])
def test_forged_files_with_right_checksums_are_refused(signed, part):
    place = signed[0]
    path = Path(place.path, "slot-0")
    metadata = read_metadata(place)
    if part == "payload":
        forge(Path(place.path), "slot-0", 0, payload=pickle.dumps(Attack()))
    elif part == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.write_bytes(Path(place.path, "slot-1").read_bytes())
    with pytest.raises(CheckpointError):
        restored(place, 1)
    restore = Restore(1, place.uri, digest=metadata.digest())
    with pytest.raises(CheckpointError):
        restored_states(restore, stages(1), [0], {})


def test_a_host_refuses_metadata_that_the_driver_has_not_seen(signed):
    """The host has no key; the file may have changed since the driver looked at it."""
    place = signed[0]
    restore = Restore(1, place.uri, digest=read_metadata(place).digest())
    host = {CHECKPOINT_KEY.key: "file:///not/on/this/machine"}
    assert restored_states(restore, stages(1), [0], host)
    finish(place, 2, list(read_metadata(place).files))
    with pytest.raises(CheckpointError, match="has changed since the driver has read it"):
        restored_states(restore, stages(1), [0], host)


def test_increments_are_signed(tmp_path):
    own = configuration(tmp_path)
    before = slots(1)
    files = []
    for number, contents in ((1, BASE), (2, DELTA)):
        place = folder(str(tmp_path / "job" / f"chk-{number}"), own)
        slot_of(before, number).states["value"].update(number)
        files += write(place, before, number, contents).values()
        finish(place, number, files)
    assert content(restored(place, 1)) == content(before)
    path = next(Path(tmp_path, "job", "shared").glob("delta-*"))
    path.write_bytes(path.read_bytes().replace(b'"op"', b'"oq"'))
    with pytest.raises(CheckpointError):
        restored(place, 1)


def test_frames_of_committables_are_signed(tmp_path):
    place = folder(str(tmp_path / "chk-1"), configuration(tmp_path))
    finish_with(place, store_frames([("sink", rows(1))], place, 0))
    metadata = read_metadata(place)
    ((_, thing),) = read_committables(place, metadata)
    assert list(thing.frames) == list(rows(1).frames)
    path = Path(place.path, "committables-0")
    original = path.read_bytes()
    _, payload = records(original)[1]
    at = original.index(payload)
    forged = with_crc_of(zlib.crc32(payload), b"\0" * (len(payload) - 4))
    path.write_bytes(original[:at] + forged + original[at + len(payload) :])
    with pytest.raises(CheckpointError, match="is not what was signed"):
        list(thing.frames)


def test_a_copy_of_the_process_writes_digests():
    slot = slots(1)[0]
    for key in range(5):
        slot.backend.key = key
        slot.states["value"].update(key)
    copy = ForkedRecords(records_of(0, slot.state(1, WHOLE)), digests=True)
    parts: list[bytes] = []
    copy.copy_to(type("Into", (), {"write": staticmethod(parts.append)})())
    whole = b"".join(parts)
    at_once, in_pieces = HeadsDigest(), HeadsDigest()
    at_once.update(whole)
    for place in range(0, len(whole), 7):
        in_pieces.update(whole[place : place + 7])
    assert at_once.hexdigest() == in_pieces.hexdigest()
    assert all(len(json.loads(header)) == 7 for header, _ in records(whole))


def test_a_key_in_an_environment_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("KEY_OF_TESTS", "x" * 64)
    place = folder(str(tmp_path / "chk-1"), {CHECKPOINT_KEY.key: "env:KEY_OF_TESTS"})
    finish(place, 1, list(write(place, slots(1), 1, WHOLE).values()))
    assert read_metadata(place).checkpoint_id == 1


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("env:NOT_SET_AT_ALL", "the environment variable NOT_SET_AT_ALL, which is not set"),
        ("file:///no/such/key", "No such file"),
        ("file://{tmp_path}/short", "has 5 bytes, and needs at least 32"),
    ],
)
def test_keys_that_are_not_there(tmp_path, where, message):
    (tmp_path / "short").write_bytes(b"short\n")
    configured = {CHECKPOINT_KEY.key: where.format(tmp_path=tmp_path)}
    with pytest.raises(CheckpointError, match=message):
        read_metadata(folder(str(tmp_path), configured))


def test_the_key_itself_is_no_place_and_is_not_shown(tmp_path):
    with pytest.raises(ValueError, match="never is the key") as raised:
        folder(str(tmp_path), {CHECKPOINT_KEY.key: "c0ffee" * 8})
    assert "c0ffee" not in str(raised.value)


def test_a_copy_of_an_unsigned_savepoint_is_signed(tmp_path):
    own = configuration(tmp_path)
    place = folder(str(tmp_path / "chk-1"))
    finish(place, 1, list(write(place, slots(1), 1, WHOLE).values()))
    copy = SavepointWriter(CheckpointContents(place.path)).write(str(tmp_path / "copy"), own)
    assert CheckpointContents(copy, own).operators()[0].id == "op"


def test_a_savepoint_is_copied_without_loading_what_sinks_commit(tmp_path):
    place = folder(str(tmp_path / "chk-1"))
    finish_with(place, [("sink", Attack())])
    writer = SavepointWriter(CheckpointContents(place.path))
    copy = folder(writer.write(str(tmp_path / "copy")))
    assert read_metadata(copy).committables == read_metadata(place).committables


def test_what_sinks_commit_is_not_renamed_without_loading_it(tmp_path):
    place = folder(str(tmp_path / "chk-1"))
    finish_with(place, [("op", Attack())])
    writer = SavepointWriter(CheckpointContents(place.path))
    writer._names["op"] = "other"
    with pytest.raises(CheckpointError, match="--trusted"):
        writer.write(str(tmp_path / "copy"))


def test_the_key_is_shown_nowhere(signed, tmp_path):
    key = b"k" * 32
    assert not any(key in path.read_bytes() for path in Path(signed[0].path).iterdir())
    assert "kkkk" not in repr(signed[0].signer())
