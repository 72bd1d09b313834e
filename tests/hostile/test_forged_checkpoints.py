"""A checkpoint whose content was changed and whose checksums are right again is data, or refused.

Nothing of the checkpoint runs, and nothing but a ``CheckpointError`` comes out.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import zlib
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import _checksum
from pyflink_on_spark._runtime.checkpoints.contents import CheckpointContents, load_safely
from pyflink_on_spark._runtime.checkpoints.state_file import _PREFIX
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflink_on_spark.state import SavepointWriter
from pyflink_on_spark.testing import local_engine
from tests.hostile.changes import changed
from tests.table.query_runs import World


@pytest.fixture
def savepoint(tmp_path):
    writer = SavepointWriter()
    writer.put("a", ValueStateDescriptor("v", Types.LONG()), [("x", 1), ("y", 2)])
    writer.put("a", MapStateDescriptor("m", Types.STRING(), Types.LONG()), [("x", {"p": 1})])
    writer.put("b", ListStateDescriptor("l", Types.STRING()), [(1, ["one", "two"])])
    return Path(writer.write(str(tmp_path / "savepoint")).removeprefix("file://"))


def records(content):
    """Split a state file into its headers and payloads."""
    found = []
    while content:
        length, _ = _PREFIX.unpack(content[: _PREFIX.size])
        header, content = content[_PREFIX.size :][:length], content[_PREFIX.size + length :]
        size = json.loads(header)[4]
        found.append((header, content[:size]))
        content = content[size:]
    return found


def forge(place, name, index, header=None, payload=None):
    """Replace a record of a file, and make all checksums right."""
    parts = records((place / name).read_bytes())
    old_header, old_payload = parts[index]
    if payload is not None:
        head = json.loads(old_header)
        head[4:] = [len(payload), zlib.crc32(payload)]
        old_header, old_payload = json.dumps(head).encode(), payload
    parts[index] = (old_header if header is None else header, old_payload)
    content = b"".join(
        _PREFIX.pack(len(head), zlib.crc32(head)) + head + body for head, body in parts
    )
    (place / name).write_bytes(content)
    metadata = json.loads((place / "_metadata").read_text(encoding="utf-8"))
    for file in metadata["files"]:
        if file["name"] == name:
            file["size"], file["checksum"] = len(content), zlib.crc32(content)
    sign(place, metadata)


def sign(place, metadata):
    metadata.pop("checksum", None)
    metadata["checksum"] = _checksum(metadata)
    (place / "_metadata").write_text(json.dumps(metadata), encoding="utf-8")


def read_all(place):
    contents = CheckpointContents(str(place))
    contents.sources()
    return [
        (operator.id, state.name, repr(entry))
        for operator in contents.operators()
        for state in operator.states
        for entry in contents.entries(operator.id, state.name)
    ]


def places_of(savepoint):
    return [
        (file.name, index)
        for file in sorted(savepoint.iterdir())
        if file.name not in ("_metadata", "committables")
        for index in range(len(records(file.read_bytes())))
    ]


_TENTH = 10
"""A savepoint of queries has more records."""


@pytest.fixture
def savepoint_of_queries(tmp_path):
    queries = {
        "sums": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY k",
        "pairs": "SELECT a.k, a.v, b.w FROM t AS a JOIN t AS b ON a.k = b.k AND a.v > b.w",
    }
    with local_engine():
        path, _ = World(tmp_path).run(queries)
    return Path(path.removeprefix("file://"))


@pytest.mark.parametrize("part", ["header", "payload"])
def test_changed_records_with_right_checksums(savepoint, part, hostile_seeds):
    change_records(savepoint, part, hostile_seeds)


@pytest.mark.parametrize("part", ["header", "payload"])
def test_changed_records_of_queries(savepoint_of_queries, part, hostile_seeds):
    change_records(savepoint_of_queries, part, hostile_seeds[: len(hostile_seeds) // _TENTH])


def change_records(savepoint, part, hostile_seeds):
    refused = 0
    for name, index in places_of(savepoint):
        original = (savepoint / name).read_bytes(), (savepoint / "_metadata").read_bytes()
        old = records(original[0])[index][part == "payload"]
        for _seed, other in changed(old, hostile_seeds):
            forge(savepoint, name, index, **{part: other})
            try:
                read_all(savepoint)
            except CheckpointError:
                refused += 1
            (savepoint / name).write_bytes(original[0])
            (savepoint / "_metadata").write_bytes(original[1])
    assert refused


class Runs:
    def __reduce__(self):
        return os.mkdir, ("it-ran",)


@pytest.mark.parametrize("part", ["header", "payload"])
def test_nothing_of_a_record_runs(savepoint, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, index in places_of(savepoint):
        original = (savepoint / name).read_bytes()
        forge(savepoint, name, index, **{part: pickle.dumps(Runs(), 5)})
        with pytest.raises(CheckpointError):
            read_all(savepoint)
        (savepoint / name).write_bytes(original)
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.parametrize("kind", [list, set, tuple, bytearray, frozenset])
def test_a_small_pickle_makes_no_large_object(savepoint, kind):
    class Large:
        def __reduce__(self):
            return kind, (10**12 if kind is bytearray else range(10**12),)

    name, index = places_of(savepoint)[0]
    forge(savepoint, name, index, payload=pickle.dumps(Large(), 5))
    with pytest.raises(CheckpointError):
        read_all(savepoint)


def test_a_file_of_another_folder_is_not_read(savepoint, tmp_path):
    (tmp_path / "secret").write_bytes(b"x")
    metadata = json.loads((savepoint / "_metadata").read_text(encoding="utf-8"))
    metadata["files"][0]["name"] = "../secret"
    sign(savepoint, metadata)
    with pytest.raises(CheckpointError, match="names a file in another folder"):
        read_all(savepoint)


LARGE = [
    b"\x80\x05Nr\xff\xff\xff\x7f.",  # the memo of 2**31 objects
    b"Np2147483647\n.",
    b"\x80\x05\x96\xff\xff\xff\xff\xff\x00\x00\x00.",  # a bytearray of 2**40 bytes
    b"\x80\x05\x8e\xff\xff\xff\xff\xff\x00\x00\x00.",
    b"\x80\x05\x8b\xff\xff\xff\x7f.",
]


@pytest.mark.parametrize("content", LARGE)
def test_a_number_in_a_small_pickle_allocates_nothing(content):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match="larger than the pickle"):
        load_safely(content)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_with_such_numbers_are_read(protocol):
    shared = ["report", b"r" * 300, bytearray(b"p\n.") * 100, 2**80, 1.5, {"r": ("p", None)}]
    value = {"first": shared, "second": shared, "text": "\n".join("pr") * 100}
    assert load_safely(pickle.dumps(value, protocol)) == value
