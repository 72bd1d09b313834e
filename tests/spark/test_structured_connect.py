"""Jobs on a server of Spark Connect, which runs in a process of its own."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="needs pyflink_on_spark[connect]")
from tests.faults.processes import descendants
from tests.spark.test_checkpoints import check, let_go, wait_for, written

ROOT = Path(__file__).resolve().parents[2]
WITH_TESTS = {**os.environ, "PYTHONPATH": str(ROOT)}  # scripts and functions import them
SCRIPT = """
import sys
from pathlib import Path
from tests.spark.test_checkpoints import count_job, environment
folder, how, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
settings = {}
if len(sys.argv) > 4:
    settings["execution_state__recovery_path"] = sys.argv[4]
client = count_job(environment(folder, **settings), folder, count, rolls=True).execute_async()
if how != "run":
    from tests.spark.test_checkpoints import wait_for, written
    wait_for(lambda: written(folder), 150)
    if how == "save":
        print("saved", client.trigger_savepoint(str(folder / "saved")).result())
        (folder / "notes" / "free").touch()
    else:
        print("saved", client.stop_with_savepoint(False, str(folder / "saved")).result())
client.get_job_execution_result().result()
"""
# Its second job has a micro-batch for each element: so a result comes before the error.
PLAIN = """
from pathlib import Path
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment

def divide(value):
    from brought_along import divide
    return divide(value)

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism({parallelism})
env.add_python_file(str(Path(__file__).parent / "brought" / "brought_along.py"))
divided = env.from_collection([0, 1, 2], Types.INT()).map(divide, Types.INT())
divided.key_by(lambda v: v % 2).reduce(lambda a, b: a + b).print()
env.execute()
configuration = Configuration()
configuration.set_string("pyflink-on-spark.checkpoint-elements", "1")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
quotients = env.from_collection([2, 0], Types.INT()).map(lambda v: 100 // v, Types.INT())
with quotients.execute_and_collect() as found:
    for value in found:
        print("collected", value)
"""

# The first subtask of the sink is done, and the second one waits in the middle.
BATCH = """
import sys, time
from pathlib import Path
from pyflink.common import Configuration, Encoder, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink

folder = Path(sys.argv[1])

def wait(value):
    if value == 1500:
        (folder / "waits").touch()
        while not (folder / "free").exists():
            time.sleep(0.1)
    return str(value)

configuration = Configuration()
configuration.set_string("pyflink-on-spark.connect-timeout", "3 s")
configuration.set_string("restart-strategy.type", "fixed-delay")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
env.set_parallelism(2)
numbers = env.from_collection(range(2000), Types.INT())
halves = numbers.partition_custom(lambda key, count: key * count // 2000, lambda value: value)
sink = FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder())
halves.map(wait, Types.STRING()).sink_to(sink.build())
env.execute()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server that PySpark's own script has started, without this package."""
    with started_server(tmp_path_factory) as (address, _):
        yield address


@contextlib.contextmanager
def started_server(tmp_path_factory):
    """Starts a server; gives its address and its process."""
    log = tmp_path_factory.mktemp("server") / "log"
    python, site = python_of_a_server(tmp_path_factory.mktemp("python"))
    home = site / "pyspark"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(home / "bin" / "spark-submit"), "--master", "local[3]", "--class",
               "org.apache.spark.sql.connect.service.SparkConnectServer",
               "--conf", f"spark.connect.grpc.binding.port={port}",
               "--conf", "spark.python.authenticate.socketTimeout=120s",
               "spark-internal"]  # fmt: skip
    # A server of two minutes: to compile its code further costs more than it brings.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    environment = {**os.environ, "PYSPARK_PYTHON": str(python), "SPARK_HOME": str(home)}
    environment["SPARK_SUBMIT_OPTS"] = java
    # Each query starts Python processes, and each of them would compile PySpark.
    environment["PYTHONPATH"] = str(site)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=log.parent, env=environment
        )
    wait_for(lambda: "Spark Connect server started" in log.read_text(), 100)
    yield f"sc://localhost:{port}", process
    family = descendants(process.pid)
    process.terminate()
    process.wait(30)
    for left in family:
        left.kill()


def python_of_a_server(place):
    """Makes an environment with PySpark and what it needs on a server; returns where that is."""
    venv.create(place, symlinks=True)
    site = Path(next(place.glob("lib/python*/site-packages")))
    wanted, seen = ["pyspark", "pyarrow", "pandas", "grpcio", "grpcio-status", "zstandard"], set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        found = importlib.metadata.distribution(name)
        for top in {str(file).split("/")[0] for file in found.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(found.locate_file(top))
        needed = [each for each in found.requires or [] if "extra ==" not in each]
        wanted += [re.match(r"[\w.-]+", each)[0] for each in needed]
    return place / "bin" / "python", site


def run(server, tmp_path, script, *arguments, code=0):
    """Runs a script as its user would in another shell."""
    file = tmp_path / "script.py"
    file.write_text(script)
    command = [sys.executable, "-m", "pyflink_on_spark", "run", "--remote", server, str(file)]
    done = subprocess.run(
        [*command, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=200,
        env=WITH_TESTS,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if not line.startswith("\tat ")]
    assert done.returncode == code, "\n".join(told)[-6000:]
    return done


@pytest.mark.parametrize("parallelism", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_an_unchanged_program_and_its_error(server, tmp_path, parallelism):
    text = PLAIN.format(parallelism=parallelism)
    (tmp_path / "brought").mkdir()
    module = tmp_path / "brought" / "brought_along.py"
    module.write_text("def divide(value):\n    return 100 // (value + 1)\n")
    done = run(server, tmp_path, text, code=1)
    plain = [line.rpartition("> ")[2] for line in done.stdout.splitlines()]
    assert sorted(plain) == sorted(["100", "150", "33", "collected 50"])
    assert plain.index("100") < plain.index("150")
    told = done.stderr[done.stderr.rindex("JobExecutionError") :]
    assert told.startswith("JobExecutionError: Traceback (most recent call last):\n")
    assert "ZeroDivisionError" in told
    assert "org.apache.spark" not in told


@pytest.mark.nightly
@pytest.mark.timeout(290)
def test_savepoints(server, tmp_path):
    saved = run(server, tmp_path, SCRIPT, tmp_path, "stop", 20_000).stdout.split()[-1]
    before = len(written(tmp_path))
    assert 0 < before < 20_000
    again = run(server, tmp_path, SCRIPT, tmp_path, "save", 20_000, saved).stdout.split()[-1]
    assert Path(again.removeprefix("file://"), "_metadata").exists()
    check(tmp_path, 20_000)


@pytest.mark.nightly
def test_a_query_of_a_killed_client_can_be_continued(server, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    command = [sys.executable, "-m", "pyflink_on_spark", "run", "--remote", server, str(file)]
    client = subprocess.Popen([*command, str(tmp_path), "run", "20000"], env=WITH_TESTS)
    wait_for(lambda: written(tmp_path) or client.poll() is not None, 150)
    assert client.poll() is None
    client.kill()
    client.wait()
    time.sleep(1)
    (home,) = (tmp_path / "checkpoints").glob("*")
    let_go(tmp_path)
    run(server, tmp_path, SCRIPT, tmp_path, "run", 20_000, home.as_uri())
    check(tmp_path, 20_000)


@pytest.mark.nightly
def test_a_job_ends_with_its_server(tmp_path, tmp_path_factory):
    patience = "settings = {'pyflink__on__spark_connect__timeout': '3 s'}"
    script = SCRIPT.replace("settings = {}", patience)
    arguments = [tmp_path, "run", "20000"]
    told = killed_server(tmp_path_factory, tmp_path, script, arguments, lambda: written(tmp_path))
    (home,) = (tmp_path / "checkpoints").glob("*")
    assert re.search(f"the state of the job stays in file:/*{home}[.]", told)


@pytest.mark.nightly
def test_a_batch_job_ends_with_its_server_and_commits_nothing(server, tmp_path, tmp_path_factory):
    waits = (tmp_path / "waits").exists
    killed_server(tmp_path_factory, tmp_path, BATCH, [tmp_path], waits)
    assert lines_of(tmp_path / "out") == []
    (tmp_path / "free").touch()
    run(server, tmp_path, BATCH, tmp_path)
    assert sorted(map(int, lines_of(tmp_path / "out"))) == list(range(2000))


def lines_of(folder):
    """Returns the lines of the files that a sink has committed."""
    committed = [path for path in folder.rglob("*") if path.is_file() and path.name[0] != "."]
    return [line for path in committed for line in path.read_text().splitlines()]


def killed_server(tmp_path_factory, tmp_path, script, arguments, begun):
    """Kills the server of a job that has begun; returns what the client tells."""
    file = tmp_path / "script.py"
    file.write_text(script)
    with started_server(tmp_path_factory) as (address, process):
        command = [sys.executable, "-m", "pyflink_on_spark", "run", "--remote", address, str(file)]
        client = subprocess.Popen(
            [*command, *map(str, arguments)], env=WITH_TESTS, stderr=subprocess.PIPE, text=True
        )
        wait_for(lambda: begun() or client.poll() is not None, 150)
        family = descendants(process.pid)
        process.kill()
        _, told = client.communicate(timeout=30)
    for left in family:
        left.kill()
    assert client.returncode == 1
    assert told.count("JobExecutionError: ") == 1
    assert "the Spark Connect server on localhost does not answer any more" in told
    return told
