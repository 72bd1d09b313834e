"""The ids that Flink makes of a graph, compared with those in savepoints of real PyFlink."""

from __future__ import annotations

import pytest

from pyflink_on_spark._graph.operator_hashes import flink_ids
from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.flink_state import FlinkCheckpoint
from tests.flink_state.samples import metadata_of, recorded, unpacked

NAMES = [
    "assigners",
    "file-sink",
    "file-sinks",
    "functions",
    "half-read",
    "keys",
    "nameless",
    "numbers",
    "others",
    "states",
    "states-1.18",
    "states-1.20",
    "windows",
    "windows-1.18",
]
RENAMED = (b"counting", b"numbered")


def taken_by(place, content, **settings):
    """Let the job without uids take over a savepoint; return the conversion."""
    job = recorded("nameless", place, **settings)
    (place / "_metadata").write_bytes(content)
    return moved_in(job, str(place), folder(str(place / "ours")))


@pytest.mark.parametrize("name", NAMES)
def test_all_ids_are_those_of_flink(name, tmp_path):
    found = FlinkCheckpoint(unpacked(name, tmp_path))
    ids = flink_ids(recorded(name, tmp_path).graph)
    assert ids.all == {operator.hash for operator in found.metadata.operators}


def test_an_operator_with_another_name_is_found_in_the_same_graph(tmp_path):
    found = taken_by(tmp_path, metadata_of("nameless").replace(*RENAMED))
    assert sum("counting" in name for name in found.taken) == 1
    assert found.refused == []


def test_in_another_graph_the_name_counts_too(tmp_path):
    content = metadata_of("nameless").replace(*RENAMED)
    found = taken_by(tmp_path, content, parallelism=1)
    assert len(found.taken) == 2
    (reason,) = found.refused
    assert "the operator 'numbered' of Flink" in reason
    assert "set_uid_hash" in reason


def test_operators_of_flink_1_have_no_names_and_are_found(tmp_path):
    content = metadata_of("states-1.20")
    job = recorded("states", tmp_path)
    (tmp_path / "_metadata").write_bytes(content)
    ids = flink_ids(job.graph)
    operators = FlinkCheckpoint(str(tmp_path)).metadata.operators
    assert not any(operator.name for operator in operators)
    assert set(ids.generated.values()) < {operator.hash for operator in operators}
