"""Jobs that ran half on real PyFlink, and continue here from its savepoint."""

from __future__ import annotations

import pytest

from tests.flink_state.samples import all_results, continued, first_results


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("job", ["states", "windows"])
def test_both_halves_give_what_flink_gives_without_a_stop(local_engine, job, parallelism):
    second = continued(job, local_engine, parallelism=parallelism)
    assert second
    assert sorted(first_results(job) + second) == sorted(all_results(job))


def test_state_on_disk_continues(local_engine):
    options = {"state.backend.type": "rocksdb"}
    second = continued("states", local_engine, options=options)
    assert sorted(first_results("states") + second) == sorted(all_results("states"))
