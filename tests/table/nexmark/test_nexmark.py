"""The queries of Nexmark give what they give on real PyFlink."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.nexmark.events import Events
from benchmarks.nexmark.queries import QUERIES
from tests.table.nexmark.results import COMPARED, EVENTS, NOT_COMPARED, outcome

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nexmark")
    Events(EVENTS).write(folder)
    return folder


@pytest.fixture
def t_env(events):
    import pyflink_on_spark.testing
    from benchmarks.nexmark.events import tables
    from pyflink_on_spark.datastream import StreamExecutionEnvironment
    from pyflink_on_spark.table import StreamTableEnvironment

    with pyflink_on_spark.testing.local_engine():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        made = StreamTableEnvironment.create(env)
        for statement in tables(events):
            made.execute_sql(statement)
        yield made


@pytest.mark.parametrize("query", COMPARED)
def test_results(t_env, query):
    assert outcome(t_env, query) == RECORDED[query]


def test_all_queries_are_compared():
    assert RECORDED.keys() == set(COMPARED) == QUERIES.keys() - NOT_COMPARED
