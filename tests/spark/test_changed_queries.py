"""On Spark, too, state is found by what it means, and is refused where that has changed."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
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
