"""On Spark, too, state is found by what it means, and is refused where that has changed."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from tests.spark.test_checkpoints import wait_for
from tests.table.query_runs import World

BY_K = "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY k"
BY_G = "SELECT g, COUNT(*) AS n, SUM(w) AS s FROM t GROUP BY g"


def test_queries_that_have_moved_and_one_that_has_changed(env, tmp_path):
    world = World(tmp_path)
    path, _ = world.run({"o1": BY_K, "o2": BY_G})
    with pytest.raises(CheckpointError, match="means something else in this job"):
        world.run({"o1": BY_K.replace("(v)", "(w)"), "o2": BY_G}, savepoint=path)
    world.add("a,5,50,y\n")
    most = "SELECT k, MAX(v) AS m FROM t GROUP BY k"
    _, printed = world.run({"o3": most, "o2": BY_G, "o1": BY_K}, rows=1, savepoint=path)
    assert {line for line in printed if "+" in line} == {
        "o3:+I[a, 5]", "o2:+U[y, 2, 70]", "o1:+U[a, 3, 9]"
    }  # fmt: skip


@pytest.mark.nightly
def test_the_folder_of_a_streaming_query_says_what_its_state_means(env, tmp_path):
    world, saved = World(tmp_path), tmp_path / "checkpoints"
    engine = {"pyflink-on-spark.engine": "structured"}
    kept = {
        **engine,
        "execution.checkpointing.dir": saved.as_uri(),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }
    job = world.statements(world.tables(**kept), {"o1": BY_K}).execute().get_job_client()
    wait_for(lambda: list(saved.glob("*/query/commits/2")), 100)
    job.cancel().result()
    (home,) = (path.as_uri() for path in saved.iterdir())
    with pytest.raises(CheckpointError, match="means something else in this job"):
        world.run({"o1": BY_K.replace("(v)", "(w)")}, savepoint=home, **engine)
    world.add("a,5,50,y\n")
    _, printed = world.run({"o2": BY_G, "o1": BY_K}, rows=1, savepoint=home, **engine)
    assert "o1:+U[a, 3, 9]" in printed
