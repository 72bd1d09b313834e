"""A job with a key signs its savepoints, and begins with nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyflink_on_spark.errors import CheckpointError
from pyflink_on_spark.testing import local_engine
from tests.table.query_runs import World

QUERY = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
KEY = "pyflink-on-spark.checkpoint-key"


@pytest.fixture(autouse=True)
def in_process():
    with local_engine():
        yield


@pytest.fixture
def keys(tmp_path):
    for name in ("own", "other"):
        (tmp_path / name).write_text(name * 16)
    return {name: {KEY: (tmp_path / name).as_uri()} for name in ("own", "other")}


def test_a_job_continues_with_its_key_only(tmp_path, keys):
    world = World(tmp_path)
    savepoint, _ = world.run(QUERY, **keys["own"])
    assert "signature" in json.loads(Path(savepoint.removeprefix("file:"), "_metadata").read_text())
    with pytest.raises(CheckpointError, match="is signed with another key"):
        world.run(QUERY, savepoint=savepoint, **keys["other"])
    world.add("a,5,1,x\n")
    _, then = world.run(QUERY, rows=1, savepoint=savepoint, **keys["own"])
    assert then == ["-U[a, 4]", "+U[a, 9]"]


def test_a_job_with_a_key_refuses_an_unsigned_savepoint(tmp_path, keys):
    world = World(tmp_path)
    savepoint, _ = world.run(QUERY)
    with pytest.raises(CheckpointError, match="is not signed"):
        world.run(QUERY, savepoint=savepoint, **keys["own"])


def test_a_key_that_is_not_there_is_noticed_when_the_job_is_submitted(tmp_path):
    with pytest.raises(CheckpointError, match="No such file"):
        World(tmp_path).run(QUERY, **{KEY: "file:///no/such/key"})
