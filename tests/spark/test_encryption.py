"""A job whose Spark encrypts; in a process of its own, for Spark's settings hold for all of it."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from pyspark import SparkConf

from pyflink_on_spark._spark.session.task_slots import ASKS_FOR_ENCRYPTION, is_encrypted


class Context:
    def __init__(self, conf):
        self._conf = conf

    def getConf(self):  # noqa: N802 - as PySpark has it
        return self._conf


SCRIPT = """
from pyflink_on_spark._cluster.transport import handshake
from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment

admitted = []
wire = handshake._wire
def watched(connection, *arguments, **more):
    admitted.append(connection.version())  # a plain socket has none
    return wire(connection, *arguments, **more)
handshake._wire = watched

settings = {"spark.io.encryption.enabled": "true", "spark.master": "local[4]",
            "pyflink-on-spark.hosts": "2"}
env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
env.set_parallelism(2)
numbers = env.from_collection(list(range(1000)), Types.LONG())
counted = numbers.key_by(lambda n: n % 7, Types.LONG()).map(lambda n: n * 2, Types.LONG())
print(sum(counted.execute_and_collect()), sorted(set(admitted)), len(admitted) >= 4)
"""


def test_a_job_of_two_hosts():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["999000 ['TLSv1.3'] True"], done.stderr[-3000:]


@pytest.mark.parametrize("key", [*ASKS_FOR_ENCRYPTION, None])
def test_what_asks_for_encryption(key):
    conf = SparkConf(loadDefaults=False)
    if key is not None:
        conf.set(key, "true")
    assert is_encrypted(SimpleNamespace(sparkContext=Context(conf))) is (key is not None)
