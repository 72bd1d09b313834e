"""No result depends on hosts, nor on when rows arrive, checkpoints are made, and hosts are lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.effort import share
from tests.runtime.courses import Course, run
from tests.runtime.random_jobs import IN_ANY_ORDER, IN_ORDER, MERGES, RandomJob, random_jobs

pytestmark = pytest.mark.slow

some = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)

events = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 60), st.integers(0, 99)),
    min_size=5,
    max_size=40,
)
moments = st.frozensets(st.integers(1, 30), max_size=8)
courses = st.builds(
    Course,
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple),
    turns=st.sampled_from([3, 11, 40, 1_000_000]),
    parallelism=st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple),
    hosts=st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple),
    checkpoints=moments,
    savepoints=moments,
    refused=moments,
    late=moments,
    crashes=moments,
    lost=moments,
    seed=st.integers(0, 9),
    threads=st.booleans(),
)
ELEMENTS = [("abcd"[i * i % 4], i * 7 % 60, i * 13 % 100) for i in range(40)]
CUT = Course(
    sizes=(3, 5, 2),
    parallelism=(2, 1, 3),
    hosts=(2, 1, 3),
    checkpoints=frozenset({2, 3, 5, 6, 8, 9, 12}),
    savepoints=frozenset({3, 4, 7, 10}),
    refused=frozenset({3, 9}),
    late=frozenset({8}),
    crashes=frozenset({4, 5, 7, 11}),
    lost=frozenset({6}),
)


def agree(job, elements, course, path=None):
    expected = job.comparable(run(job.build, elements, Course()))
    assert job.comparable(run(job.build, elements, course, path)) == expected


@settings(some, max_examples=share(80))
@given(random_jobs, events, courses)
def test_any_job_cut_anywhere(job, elements, course):
    agree(job, elements, course)


@settings(some, max_examples=share(40))
@given(random_jobs, events, courses, st.sampled_from(["AUTO", "THREAD"]))
def test_functions_in_threads(job, elements, course, where):
    course = replace(course, threads=True, settings={"pyflink-on-spark.waiting-functions": where})
    agree(job, elements, course)


@settings(some, max_examples=share(20))
@given(random_jobs, events, courses, st.integers(1, 3))
def test_checkpoints_of_changes(job, elements, course, retained):
    more = {
        "state.changelog.enabled": "true",
        "execution.checkpointing.num-retained": str(retained),
    }
    course = replace(course, settings=more)
    with TemporaryDirectory() as path:
        agree(job, elements, course, Path(path))
        assert list(Path(path).iterdir()) == []  # a job that has finished needs none


@pytest.mark.parametrize(
    "job",
    [RandomJob((name,), "none", ()) for name in IN_ORDER]
    + [RandomJob(("map",), name, ()) for name in MERGES]
    + [RandomJob(("map",), "union", (name,)) for name in IN_ANY_ORDER],
    ids=str,
)
def test_each_step_by_itself(job):
    assert run(job.build, ELEMENTS, Course())
    agree(job, ELEMENTS, CUT)
