"""Which masters there can be, and whether one is there."""

from __future__ import annotations

import socket

import pytest

from pyflink_on_spark._spark.session.connect_server import check_server
from pyflink_on_spark._spark.session.java_home import gist
from pyflink_on_spark._spark.session.session import check_master
from pyflink_on_spark.errors import EnvironmentSetupError

TRACE = """\
An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: org.apache.spark.SparkIllegalArgumentException: Insufficient driver memory.
Please increase heap size.
\tat org.apache.spark.memory.UnifiedMemoryManager$.getMaxMemory(UnifiedMemoryManager.scala:478)
\t... 12 more
"""


@pytest.mark.parametrize(
    "master", ["local", "local[*]", "local[4]", "local[2,3]", "local-cluster[2,1,1024]", "yarn",
               "k8s://https://host:6443"],
)  # fmt: skip
def test_masters_that_spark_knows(master):
    check_master(master)


@pytest.mark.parametrize("master", ["bogus", "spark", "spark://", "localhost:7077", "mesos://h:1"])
def test_what_is_no_master(master):
    with pytest.raises(EnvironmentSetupError, match=r"there is no Spark master .* local\[4]"):
        check_master(master)


def test_a_master_that_does_not_answer_and_one_that_does():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_master(f"spark://127.0.0.1:{port}")
        check_master(f"spark://nowhere.invalid:1,127.0.0.1:{port}")
    with pytest.raises(EnvironmentSetupError, match=r"no Spark master answers at .*refused"):
        check_master(f"spark://127.0.0.1:{port}")


def test_a_master_without_a_port():
    with pytest.raises(EnvironmentSetupError, match="spark://host is not HOST:PORT"):
        check_master("spark://host")


@pytest.mark.parametrize("address", ["localhost:15002", "sc:/host", "local(2)", "spark://h:7077"])
def test_what_is_no_server_of_spark_connect(address):
    with pytest.raises(EnvironmentSetupError, match=r"no Spark Connect server .* sc://HOST:PORT"):
        check_server(address)


def test_a_server_that_does_not_answer_and_one_that_does(monkeypatch):
    for proxy in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    check_server("local[2]")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"sc://127.0.0.1:{server.getsockname()[1]}"
        check_server(f"{address}/;token=secret;use_ssl=true")
    with pytest.raises(EnvironmentSetupError, match=r"no Spark .* at 127.0.0.1:\d+: .*refused"):
        check_server(f"{address}/;token=secret")
    with pytest.raises(EnvironmentSetupError, match=r"answers at nowhere\.invalid:15002: "):
        check_server("sc://nowhere.invalid")
    monkeypatch.setenv("https_proxy", "http://proxy:8080")
    check_server(address)


def test_the_gist_of_a_java_error():
    assert gist(TRACE) == (
        "org.apache.spark.SparkIllegalArgumentException: Insufficient driver memory.\n"
        "Please increase heap size."
    )
    assert gist("one line") == "one line"


def test_the_gist_of_an_error_of_pyspark_ends_with_the_cause():
    told = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/pyspark/worker.py", line 4197, in invoke_udf
    func, profiler, deserializer, serializer = read_command(pickleSer, init_info.udf_info)
                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/pyspark/worker_util.py", line 75, in read_command
    command = serializer.loads(file)
              ^^^^^^^^^^^^^^^^^^^^^^
  File "/pyspark/serializers.py", line 180, in loads
    return self._loads(obj)
           ^^^^^^^^^^^^^^^^
ModuleNotFoundError: No module named 'theirs'
"""
    assert gist(told) == (
        "An exception was thrown from the Python worker:\n"
        "ModuleNotFoundError: No module named 'theirs'"
    )
    in_one_line = told.replace("worker:\n", "worker: ")
    assert gist(in_one_line) == gist(told).replace("worker:\n", "worker: ")


def test_a_gist_is_short():
    many = gist("\n".join(map(str, range(100))))
    assert many.splitlines() == ["0", "1", "2", "3", "4", "5", "6", "7 ..."]
    assert len(gist("x" * 10_000)) == 1004
