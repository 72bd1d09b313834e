"""Kafka topics read and written on Spark, while processes are killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pyflink_on_spark.common import Configuration, JobStatus, Types, WatermarkStrategy
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka import KafkaSource
from pyflink_on_spark.datastream.state import ValueStateDescriptor

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")

from tests.connectors.kafka.cluster import memory_cluster
from tests.connectors.kafka.jobs import reading, writing
from tests.faults.processes import descendants

EXAMPLE = Path(__file__).parent.parent.parent / "examples/connectors/kafka_word_count.py"
KEYS = 5
SECRET = "s3cr3t-W0rd"


@pytest.fixture
def kafka():
    with memory_cluster() as cluster:
        yield cluster


class CountPerKey(MapFunction):
    """Emits a number and how many of its key there were; leaves the id of its process."""

    def __init__(self, folder):
        self.folder = str(folder)

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        Path(self.folder, f"{runtime_context.get_attempt_number()}-{os.getpid()}").touch()

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value % KEYS},{value},{count}"


def environment(folder):
    settings = {
        "execution.checkpointing.interval": "300 ms",
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "5",
        "restart-strategy.fixed-delay.delay": "0 ms",
    }
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    return env


def unbounded(kafka, topic) -> KafkaSource:
    builder = reading(kafka.servers, topic).set_group_id("counts")
    builder.set_property("sasl.password", SECRET)
    builder._stopping, builder._bounded = None, False
    return builder.build()


def wait_for(condition, job=None, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        assert job is None or job.get_job_status() is not JobStatus.FAILED
        time.sleep(0.1)


def files_with(text, folder):
    """Return the files that have a text, in their names or inside; some may go meanwhile."""
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            inside = path.is_file() and text.encode() in path.read_bytes()
            if inside or text in path.name:
                found.append(path)
    return found


def test_exactly_once_though_a_host_is_killed(kafka, tmp_path):
    source, target = kafka.topic(3), kafka.topic(2)
    env = environment(tmp_path)
    numbers = env.from_source(
        unbounded(kafka, source), WatermarkStrategy.for_monotonous_timestamps(), "numbers"
    )
    counted = numbers.map(int, Types.LONG()).key_by(lambda n: n % KEYS)
    texts = counted.map(CountPerKey(tmp_path), Types.STRING())
    once = DeliveryGuarantee.EXACTLY_ONCE
    texts.sink_to(writing(kafka.servers, target, once, sasl_password=SECRET))
    job = env.execute_async("counts")
    for attempt in range(2):
        kafka.write(source, [str(n) for n in range(attempt * 500, attempt * 500 + 500)])
        wait_for(lambda n=attempt: len(kafka.read(target)) > n * 500, job)
        if attempt < 1:
            host = next(tmp_path.glob(f"{attempt}-*")).name.partition("-")[2]
            os.kill(int(host), signal.SIGKILL)
            wait_for(lambda n=attempt: list(tmp_path.glob(f"{n + 1}-*")), job)
    wait_for(lambda: len(kafka.read(target)) >= 1000, job)
    assert SECRET not in " ".join(process.command for process in descendants(os.getpid()))
    wait_for(lambda: sum(kafka.committed("counts", source, 3).values()) == 1000, job)
    job.cancel().result()
    assert files_with(SECRET, tmp_path) == []
    rows = [tuple(map(int, text.split(","))) for text in kafka.values(target)]
    assert sorted(value for _, value, _ in rows) == list(range(1000))
    total = Counter(key for key, _, _ in rows)
    for key in range(KEYS):
        assert sorted(n for k, _, n in rows if k == key) == list(range(1, total[key] + 1))


def test_the_example(kafka):
    kafka.broker.create("lines", 3)
    kafka.broker.create("counts", 1)
    for minute, text in enumerate(["to be or not", "to be"]):
        kafka.write("lines", [text], partition=minute, since=60_000 * (minute + 1))
    command = [sys.executable, "-m", "pyflink_on_spark", str(EXAMPLE), "--bounded"]
    command += ["--servers", kafka.servers, "--jar", "file:///flink-sql-connector-kafka.jar"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(kafka.values("counts")) == [
        "120 be 1",
        "120 to 1",
        "60 be 1",
        "60 not 1",
        "60 or 1",
        "60 to 1",
    ]
    assert "pipeline.jars is recorded" in done.stderr
