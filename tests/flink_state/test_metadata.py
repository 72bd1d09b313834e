"""The ``_metadata`` of Flink: versions, handles, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark.flink_state import FlinkCheckpoint, is_of_flink
from pyflink_on_spark.flink_state.metadata import (
    FileReference,
    InlineFile,
    ListHandle,
    SubtaskState,
    parse_metadata,
)
from tests.flink_state import written
from tests.flink_state.samples import metadata_of, unpacked


def test_a_savepoint_of_2_3_names_its_operators():
    found = parse_metadata(metadata_of("states"), "it")
    assert found.version == 6
    operators = {operator.uid: operator for operator in found.operators if operator.uid}
    assert sorted(operators) == ["all", "lines"]
    stateful = operators["all"]
    assert stateful.name.startswith("KEYED PROCESS")
    assert (stateful.parallelism, stateful.max_parallelism) == (2, 128)
    assert [state.keyed.first for state in stateful.subtasks.values()] == [0, 64]


@pytest.mark.parametrize("version", [3, 4, 5, 6])
def test_every_version_has_the_same_state(version):
    content = metadata_of("states")
    found = parse_metadata(written.in_version(content, version), "it")
    expected = parse_metadata(content, "it")
    if version < 5:
        nameless = [replace(o, name=None, uid=None) for o in expected.operators]
        expected = replace(expected, operators=tuple(nameless))
    assert found == replace(expected, version=version)


@pytest.mark.parametrize("version", [0, 1, 2, 7])
def test_other_versions_are_refused(version):
    content = written.in_version(metadata_of("states"), version)
    with pytest.raises(CheckpointError, match=rf"at byte 4: .* of version {version} .* 3 to 6"):
        parse_metadata(content, "it")


def test_something_else_is_no_checkpoint_of_flink(tmp_path):
    (tmp_path / "_metadata").write_text('{"format": 4}')
    assert not is_of_flink(str(tmp_path))
    assert not is_of_flink(str(tmp_path / "nowhere"))
    with pytest.raises(CheckpointError, match="no checkpoint of Flink"):
        FlinkCheckpoint(str(tmp_path))


def test_a_folder_and_its_metadata_are_one(tmp_path):
    path = unpacked("states", tmp_path)
    assert is_of_flink(path)
    assert is_of_flink(f"{path}/_metadata")
    assert FlinkCheckpoint(path).metadata == FlinkCheckpoint(f"{path}/_metadata").metadata


def entries_of(path, uid="all"):
    checkpoint = FlinkCheckpoint(path)
    found = checkpoint.entries(checkpoint.operator(uid))
    return sorted(
        (group, e.state.name, str(e.key), str(e.namespace), str(e.value)) for group, e in found
    )


@pytest.mark.parametrize("kind", ["relative", "absolute", "part"])
def test_state_in_files_is_read(kind, tmp_path):
    expected = entries_of(unpacked("states", tmp_path / "inline"))
    found = parse_metadata(metadata_of("states"), "it")
    folder = tmp_path / "files"
    folder.mkdir()
    operators = [
        replace(operator, subtasks=in_files(operator, folder, kind)) for operator in found.operators
    ]
    content = written.metadata(replace(found, operators=tuple(operators)), 6)
    (folder / "_metadata").write_bytes(content)
    assert entries_of(str(folder)) == expected


def in_files(operator, folder, kind):
    subtasks = {}
    for index, state in operator.subtasks.items():
        if state.keyed is not None:
            name = f"{operator.hash}-{index}"
            content = state.keyed.file.content
            before = b"other" if kind == "part" else b""
            (folder / name).write_bytes(before + content + before)
            path = name if kind == "relative" else f"file://{folder}/{name}"
            place = FileReference(path, len(content), len(before), relative=kind == "relative")
            state = replace(state, keyed=replace(state.keyed, file=place))
        subtasks[index] = state
    return subtasks


def test_a_file_that_is_gone_is_named(tmp_path):
    found = parse_metadata(metadata_of("states"), "it")
    operators = [
        replace(operator, subtasks=in_files(operator, tmp_path, "relative"))
        for operator in found.operators
    ]
    content = written.metadata(replace(found, operators=tuple(operators)), 6)
    (tmp_path / "_metadata").write_bytes(content)
    for file in tmp_path.glob("*-0"):
        file.unlink()
    with pytest.raises(CheckpointError, match=r"cannot read .*-0"):
        entries_of(str(tmp_path))


@pytest.mark.parametrize(
    ("kind", "way_out"),
    [
        (5, "incremental checkpoint of RocksDB.*canonical savepoint"),
        (8, "changelog.*canonical savepoint"),
        (99, "kind 99 .* not known"),
    ],
)
def test_other_handles_of_keyed_state_are_refused(kind, way_out):
    content = metadata_of("states")
    at = content.index(b"\x07\x00\x00\x00\x00\x00\x00\x00\x40")
    changed = content[:at] + bytes([kind]) + content[at + 1 :]
    with pytest.raises(CheckpointError, match=rf"at byte {at}: .*{way_out}"):
        parse_metadata(changed, "it")


def test_elements_in_flight_are_refused():
    found = parse_metadata(metadata_of("states"), "it")
    last = next(operator for operator in found.operators if operator.uid == "all")
    content = written.metadata(replace(found, operators=(last,)), 6)
    assert content.endswith(written.integers(0, 0))
    changed = content[:-8] + written.integers(1, 0)
    with pytest.raises(CheckpointError, match=r"unaligned checkpoint.*take a savepoint"):
        parse_metadata(changed, "it")


def test_an_operator_is_found_by_uid_name_and_hash(tmp_path):
    checkpoint = FlinkCheckpoint(unpacked("states", tmp_path))
    found = checkpoint.operator("all")
    assert checkpoint.operator(found.hash) == checkpoint.operator(found.hash[:9]) == found
    with pytest.raises(CheckpointError, match=r"no operator .*'all'.*'lines'"):
        checkpoint.operator("nobody")


def test_merged_files_of_operators_without_state_are_empty(tmp_path):
    found = parse_metadata(metadata_of("states"), "it")
    empty = SubtaskState(managed=ListHandle({}, InlineFile(b"")))
    operators = [replace(o, subtasks={0: empty}) for o in found.operators]
    content = written.metadata(replace(found, operators=tuple(operators)), 6)
    (tmp_path / "_metadata").write_bytes(content)
    checkpoint = FlinkCheckpoint(str(tmp_path))
    assert not [list(checkpoint.lists(o)) for o in operators if list(checkpoint.lists(o))]
