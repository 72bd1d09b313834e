"""Jobs on a cluster whose workers know nothing of this package: Spark's own, on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.standalone import Standalone

ROOT = Path(__file__).resolve().parents[2]
JOB = """
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


def place(_):
    import pyflink_on_spark
    return pyflink_on_spark.__file__


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
words = env.from_collection("to be or not to be".split(), Types.STRING())
for interval in (None, 1000):
    if interval is not None:
        env.enable_checkpointing(interval)
    with words.key_by(lambda word: word).process(Count()).execute_and_collect() as counts:
        print(sorted(counts))
with words.map(place).execute_and_collect() as places:
    print(*set(places))
"""


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """The address of a cluster with two slots."""
    with Standalone(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.add_worker()
        yield cluster.url


def test_workers_are_brought_what_they_need(master, tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # it ends after seconds
    }
    conf = [f"--conf={key}={value}" for key, value in settings.items()]
    command = [sys.executable, "-m", "pyflink_on_spark", "--master", master, *conf, "job.py"]
    done = subprocess.run(
        command,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    expected = str([("be", 1), ("be", 2), ("not", 1), ("or", 1), ("to", 1), ("to", 2)])
    *counts, places = done.stdout.splitlines()
    assert counts == [expected, expected]
    assert all(".zip" in place for place in places.split())
