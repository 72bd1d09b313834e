"""Jobs that ran half on real PyFlink, and continue here from its savepoint."""

from __future__ import annotations

import sys

import pytest

from pyflink_on_spark.testing import local_engine as running_here
from tests.flink_state.samples import (
    all_results,
    continued,
    first_results,
    job_of,
    jobs,
    results,
)

pytestmark = pytest.mark.slow


def equal_flinks(name, second):
    assert second
    assert results(first_results(name) + second) == results(all_results(job_of(name)))


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize(
    "job", ["states", "windows", "assigners", "types", "keys", "functions", "others", "clocks"]
)
def test_both_halves_give_what_flink_gives_without_a_stop(local_engine, job, parallelism):
    more = job != "clocks"  # no elements come in its second half: only time passes
    equal_flinks(job, continued(job, local_engine, parallelism=parallelism, more=more))


@pytest.mark.parametrize(
    "name",
    [
        "states-native",
        "states-compressed",
        "states-native-compressed",
        "states-4096",
        *(
            f"{job}-4096"
            for job in ("windows", "assigners", "types", "keys", "functions", "others")
        ),
        "windows-native",
        "states-fused",
        "states-rocksdb",
        "states-rocksdb-4096",
        "states-rocksdb-checkpoint",
        "windows-rocksdb",
        "states-1.20",
        "states-1.20-native",
        "windows-1.20",
        "states-1.18",
        "windows-1.18",
    ],
)
def test_every_format_has_the_same_state(local_engine, name):
    equal_flinks(name, continued(name, local_engine))


def test_state_on_disk_continues(local_engine):
    options = {"state.backend.type": "rocksdb"}
    second = continued("states", local_engine, options=options)
    assert sorted(first_results("states") + second) == sorted(all_results("states"))


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize(
    ("name", "numbers"), [("numbers", range(1, 101)), ("half-read", range(24))]
)
def test_sources_continue_where_they_were_stopped(
    local_engine, monkeypatch, name, numbers, parallelism
):
    slowly = sys.modules[next(iter(jobs().values())).__module__].Slowly
    monkeypatch.setattr(slowly, "map", lambda _, value: value)  # only the first half is stopped
    first = first_results(name)
    second = continued(name, local_engine, parallelism=parallelism)
    assert 2 < len(first) < 20
    found = [int(line.split()[1]) for line in first + second]
    assert sorted(found) == list(numbers)


@pytest.mark.parametrize("options", [{}, {"state.changelog.enabled": "true"}])
@pytest.mark.parametrize("job", ["states", "windows", "functions", "others"])
def test_checkpoints_and_restarts_change_nothing(job, options):
    options = {"execution.checkpointing.interval": "1h", **options}
    with running_here(checkpoint_each_turn=True, restart_each_checkpoint=True) as engine:
        equal_flinks(job, continued(job, engine, options=options))
