"""The ways of the connectors' benchmark do the same."""

from __future__ import annotations

import argparse
import importlib

import pytest

from benchmarks.connectors.__main__ import JOBS, Files, kafka
from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark.testing import local_engine as engine

pytestmark = pytest.mark.slow

RECORDS = 3_000
NAMES = sorted(path.stem for path in JOBS.glob("[!_]*.py"))


def results(name, place):
    """Return the results of each way of a job for the same input."""
    job = importlib.import_module(f"benchmarks.connectors.jobs.{name}")
    told = argparse.Namespace(
        input=place.input(RECORDS), servers=getattr(place, "servers", None), parallelism=1
    )
    found = {}
    for way in place.ways:
        told.output = place.output()
        if way.way == "flink":
            run_here(job, told)
        else:
            getattr(job, way.way)(told)
        found[way.name] = place.result(told.output)
    return found


def run_here(job, told):
    install()
    from pyflink.datastream import StreamExecutionEnvironment

    with engine():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        job.flink(env, told)
        env.execute()


@pytest.mark.parametrize("name", NAMES)
def test_all_ways_have_the_same_result(name, tmp_path):
    if name.startswith("kafka"):
        pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
        with kafka(None) as place:
            found = results(name, place)
    else:
        found = results(name, Files(tmp_path, name.partition("_")[0]))
    assert len(set(found.values())) == 1, found
    assert next(iter(found.values()))[0] == RECORDS
