"""Damaged savepoints of Flink: refused or read, and nothing else happens."""

from __future__ import annotations

import os
import random
import re
import shutil
import uuid
import zipfile
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.moving_in import move_in, moved_in
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.checkpoints.contents import load_safely
from pyflink_on_spark.flink_state import FlinkCheckpoint
from pyflink_on_spark.flink_state.conversion import convert, heirs_without_job
from pyflink_on_spark.state import CheckpointContents
from pyflink_on_spark.tools.state import main as state_command
from tests.effort import TRIES_ALL
from tests.flink_state.samples import SAVEPOINTS, metadata_of, recorded, unpacked
from tests.flink_state.test_moving_out import everything

pytestmark = pytest.mark.slow

NAMES = [
    "states",
    "states-native",
    "states-compressed",
    "states-1.20",
    "windows",
    "types",
    "keys",
    "functions",
    "half-read",
    "assigners",
    "file-sinks",
    "states-1.18",
    "states-native-compressed",
]
BY_JOB = ["tables", "more-tables", "aging-tables", "old-kinesis", "nameless", "numbers"]
"""Those of which only a job with the same operators can take something over."""
ROCKSDB = ["states-rocksdb", "states-rocksdb-checkpoint"]
FOR_FLINK = Path(__file__).parent / "for_flink"
MANY = int(os.environ.get("HOSTILE_CHANGES", "200"))
# Many more of what each run of the tests begins with.
all_faults = pytest.mark.skipif(
    not TRIES_ALL and "HOSTILE_CHANGES" not in os.environ, reason="a run of all faults has it"
)


def mutated(content, chance):
    """Change a few bytes, cut a piece out, or repeat one."""
    changed = bytearray(content)
    kind = chance.randrange(4)
    at = chance.randrange(len(changed))
    if kind == 0:
        changed[at] = chance.randrange(256)
    elif kind == 1:
        changed[at] ^= 1 << chance.randrange(8)
    elif kind == 2:
        del changed[at : at + chance.randrange(1, 20)]
    else:
        changed[at:at] = changed[at : at + chance.randrange(1, 20)]
    return bytes(changed)


def everything_of(path):
    """Read all that there is, as far as it can be read."""
    checkpoint = FlinkCheckpoint(path)
    for operator in checkpoint.metadata.operators:
        list(checkpoint.lists(operator))
        list(checkpoint.entries(operator))


def converted(path):
    """Convert all that there is, which reads it, too; return what became of it."""
    checkpoint = FlinkCheckpoint(str(path))
    return convert(checkpoint, folder(str(path / "ours")), heirs_without_job, load_safely)


def campaign(name, count, path, take=converted):
    """Count the mutations that were refused; every other one was read."""
    content, chance = metadata_of(name), random.Random(name)
    refused = 0
    for number in range(count):
        place = path / str(number)
        place.mkdir()
        (place / "_metadata").write_bytes(mutated(content, chance))
        try:
            refused += bool(take(place).refused)
        except CheckpointError:
            refused += 1
        shutil.rmtree(place)
    return refused


def by_the_job(name, path):
    """Make what converts a savepoint as its job does."""
    job = recorded(name, path)
    assert moved_in(job, unpacked(name, path / "given"), folder(str(path / "whole"))).taken
    return lambda place: moved_in(job, str(place), folder(str(place / "ours")))


@pytest.mark.parametrize("name", NAMES)
def test_a_mutation_is_refused_or_read(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert campaign(name, 40, tmp_path) > 10


@pytest.mark.parametrize("name", BY_JOB)
def test_a_mutation_for_its_job_is_refused_or_read(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert campaign(name, 12, tmp_path, by_the_job(name, tmp_path)) > 0


@pytest.mark.parametrize("name", ROCKSDB)
def test_a_mutation_of_rocksdb_is_refused_or_read(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert campaign(name, 20, tmp_path) > 3


@all_faults
@pytest.mark.slow
@pytest.mark.parametrize("name", BY_JOB)
def test_no_mutation_for_its_job_does_anything_else(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert campaign(name, MANY // 2, tmp_path, by_the_job(name, tmp_path)) > MANY // 8


@all_faults
@pytest.mark.slow
@pytest.mark.parametrize("name", ROCKSDB)
def test_no_mutation_of_rocksdb_does_anything_else(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert campaign(name, MANY, tmp_path) > MANY // 20


@all_faults
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_mutation_of_many_does_anything_else(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert campaign(name, MANY, tmp_path) > MANY // 4


def test_subtasks_that_do_not_agree_are_refused(tmp_path):
    content = metadata_of("states")
    at = content.rindex(b"python-state-fired")
    damaged = content[:at] + content[at:].replace(b"\x00\x04LIST", b"\x00\x04LOST", 1)
    (tmp_path / "_metadata").write_bytes(damaged)
    (reason,) = [text for text in converted(tmp_path).refused if "'all'" in text]
    assert "has another state 'python-state-fired' than other subtasks" in reason


def test_every_cut_is_refused_where_it_matters(tmp_path):
    content = metadata_of("states")
    for end in range(0, len(content) * 9 // 10, 97):
        (tmp_path / "_metadata").write_bytes(content[:end])
        with pytest.raises(CheckpointError):
            everything_of(str(tmp_path))


def test_a_conversion_tells_which_operator_is_damaged(tmp_path):
    content = metadata_of("states")
    damaged = content.replace(b"ByteArrayWrapperSerializer$", b"ByteArrayWrapperSerialized$")
    (tmp_path / "_metadata").write_bytes(damaged)
    checkpoint = FlinkCheckpoint(str(tmp_path))
    found = convert(checkpoint, folder(str(tmp_path / "ours")), heirs_without_job, load_safely)
    (reason,) = [text for text in found.refused if "'all'" in text]
    assert "ByteArrayWrapperSerialized" in reason
    assert "at byte" in reason


def in_files(path):
    """Unpack a savepoint whose state is in a file of its own; return that file."""
    with zipfile.ZipFile(FOR_FLINK / "states.zip") as packed:
        packed.extractall(path)
    (file,) = path.glob("operator-*")
    return file


def test_a_file_that_is_cut_gives_no_half_of_the_state(tmp_path):
    """At no place, whether the size tells it or only the content."""
    job = recorded("states", tmp_path)
    file = in_files(tmp_path / "given")
    content = file.read_bytes()
    for number, end in enumerate(range(0, len(content), 311)):
        for rest in (b"", bytes(len(content) - end)):
            file.write_bytes(content[:end] + rest)
            ours = tmp_path / f"ours-{number}-{len(rest)}"
            found = moved_in(job, str(tmp_path / "given"), folder(str(ours)))
            assert found.taken == {"lines": "its positions"}
            assert len(found.refused) == 1
            assert CheckpointContents(str(ours)).operators() == []


@pytest.mark.parametrize("damage", ["gone", "cut", "overwritten"])
def test_damaged_state_is_not_left_out_even_if_the_job_may(tmp_path, damage, capsys):
    options = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    job = recorded("states", tmp_path, options=options)
    given = tmp_path / "given"
    file = in_files(given)
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes(damage == "overwritten"))
    if damage == "gone":
        file.unlink()
    with pytest.raises(CheckpointError, match=r"given is damaged:\n  the operator '12cdad59"):
        move_in(job, str(given), folder(str(tmp_path / "ours")))
    assert state_command([str(given), "--write", str(tmp_path / "written")]) == 1
    assert "is damaged" in capsys.readouterr().err


def test_a_copy_is_as_good_and_more_bytes_do_not_matter(tmp_path):
    file = in_files(tmp_path / "given")
    file.write_bytes(file.read_bytes() + b"more")
    (tmp_path / "given").rename(tmp_path / "elsewhere")
    job = recorded("states", tmp_path)
    found = moved_in(job, str(tmp_path / "elsewhere"), folder(str(tmp_path / "ours")))
    assert (found.taken["all"], found.refused) == ("39 entries", [])


@pytest.fixture
def retained():
    """A retained checkpoint of RocksDB, whose files are in folders beside it."""
    job = uuid.uuid4().hex
    place = Path("/tmp/moving-in-checkpoints") / job
    with zipfile.ZipFile(SAVEPOINTS / "states-rocksdb-files.zip") as packed:
        packed.extractall(place)
    (metadata,) = place.glob("chk-*/_metadata")
    content = metadata.read_bytes()
    former = re.search(rb"/moving-in-checkpoints/(\w{32})/", content)[1]
    metadata.write_bytes(content.replace(former, job.encode()))
    yield metadata.parent
    shutil.rmtree(place, ignore_errors=True)


def test_a_retained_checkpoint_has_its_state_in_shared_files(retained, tmp_path):
    paths = unpacked("states-rocksdb", tmp_path), str(retained)
    found = [everything(FlinkCheckpoint(path)) for path in paths]
    given, read = (sorted(re.sub(r"\d{13}", "a time", repr(entry)) for entry in f) for f in found)
    assert read == given
    assert len(read) > 30
    found = moved_in(recorded("states", tmp_path), str(retained), folder(str(tmp_path / "ours")))
    assert (found.taken["all"], found.refused) == ("31 entries", [])


@pytest.mark.parametrize("lost", ["a file", "a part", "all files"])
def test_a_retained_checkpoint_without_its_shared_files_is_refused(retained, tmp_path, lost):
    shared = retained.parent / "shared"
    name = re.search(rb"/shared/([-\w]{36})", (retained / "_metadata").read_bytes())[1]
    file = shared / name.decode()
    if lost == "all files":  # the checkpoint was moved without them
        shared.rename(tmp_path / "elsewhere")
    elif lost == "a part":
        file.write_bytes(file.read_bytes()[:-1])
    else:
        file.unlink()
    options = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    job = recorded("states", tmp_path, options=options)
    with pytest.raises(CheckpointError, match=r"is damaged:\n.*/shared/"):
        move_in(job, str(retained), folder(str(tmp_path / "ours")))


def test_a_folder_without_metadata_is_refused(tmp_path):
    in_files(tmp_path)
    (tmp_path / "_metadata").rename(tmp_path / "_metadata.inprogress")
    with pytest.raises(CheckpointError, match=r"cannot read .*_metadata"):
        everything_of(str(tmp_path))


def test_a_damaged_file_of_rocksdb_is_refused(tmp_path):
    content = bytearray(metadata_of("states-rocksdb"))
    for found in re.finditer(rb"\.sst\x01\x00\$.{36}", bytes(content), re.DOTALL):
        content[found.end() + 4 + 3] ^= 1  # after the length: in the first block
    (tmp_path / "_metadata").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"RocksDB cannot read its files: .*[Cc]orruption"):
        everything_of(str(tmp_path))
