"""Kafka and databases have each record once, whatever happens to micro-batches and their driver."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from pyflink_on_spark._job.job import install_engine, installed_engine
from pyflink_on_spark._runtime.elements.time import watch
from pyflink_on_spark.common import Configuration, Row, SimpleStringSchema, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.jdbc import JdbcConnectionOptions
from pyflink_on_spark.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
from pyflink_on_spark.extensions import jdbc_exactly_once_sink
from tests.structured.in_process import QueryEngine, Trouble
from tests.structured.test_steps import SETTINGS, STEPS

pytestmark = pytest.mark.slow

LINE = Types.ROW_NAMED(["line"], [Types.STRING()])
COUNT, KEYS = 30, 5


class Table:
    """A table of SQLite, which rows are written to exactly once."""

    def __init__(self, folder):
        self._file = folder / "lines.db"
        self._run("CREATE TABLE lines (line TEXT)")

    def write(self, lines):
        options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        options.with_url(f"jdbc:sqlite:{self._file}")
        rows = lines.map(Row, LINE)
        rows.sink_to(
            jdbc_exactly_once_sink("INSERT INTO lines VALUES (?)", LINE, options.build())
        ).uid("table")

    def lines(self):
        return [line for (line,) in self._run("SELECT line FROM lines")]

    def _run(self, statement):
        with closing(sqlite3.connect(self._file)) as connection, connection:
            return connection.execute(statement).fetchall()


class Topic:
    """A topic of Kafka, which records are written to exactly once."""

    def __init__(self, cluster):
        self._cluster, self._topic = cluster, cluster.topic(2)

    def write(self, lines):
        records = KafkaRecordSerializationSchema.builder().set_topic(self._topic)
        records.set_value_serialization_schema(SimpleStringSchema())
        builder = KafkaSink.builder().set_bootstrap_servers(self._cluster.servers)
        builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        builder.set_transactional_id_prefix(f"of-{self._topic}")
        lines.sink_to(builder.set_record_serializer(records.build()).build()).uid("topic")

    def lines(self):
        return self._cluster.values(self._topic)


@pytest.fixture(scope="module")
def kafka():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    from tests.connectors.kafka.cluster import memory_cluster

    with memory_cluster() as cluster:
        yield cluster


@pytest.fixture(params=["table", "topic"])
def place(request, tmp_path):
    return Table(tmp_path) if request.param == "table" else Topic(request.getfixturevalue("kafka"))


def run_job(place, trouble, parallelism):
    """Writes how many elements each key has had so far, for each element."""
    configuration = Configuration()
    for key, value in SETTINGS.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    ones = env.from_collection([(number % KEYS, 1) for number in range(COUNT)])
    counts = ones.rebalance().key_by(lambda pair: pair[0])
    sums = counts.reduce(lambda one, two: (one[0], one[1] + two[1]))
    place.write(sums.rebalance().map(str, Types.STRING()))
    before = installed_engine()
    install_engine(QueryEngine(trouble))
    try:
        env.execute()
    finally:
        install_engine(before)


def check(place):
    expected = [str((key, count)) for key in range(KEYS) for count in range(1, COUNT // KEYS + 1)]
    assert Counter(place.lines()) == Counter(expected)


@pytest.mark.parametrize("seed", range(2))
def test_micro_batches_that_fail_and_slots_that_move(place, seed):
    trouble = Trouble(seed, moves=0.3, losses=0.2, failures=0.4)
    run_job(place, trouble, random.Random(seed).choice([1, 2, 3]))
    assert trouble.batches > len(trouble.stored), "no micro-batch has failed"
    check(place)


@pytest.mark.parametrize("name", STEPS)
def test_a_driver_that_fails_at_a_step(place, name):
    seen = 0

    def fail(step):
        nonlocal seen
        seen += step == name
        if step == name and seen in (2, 4):
            raise RuntimeError(f"the driver fails at the step {name!r}")

    end = watch(fail)
    try:
        run_job(place, Trouble(3, moves=0.3, failures=0.3), 2)
    finally:
        end()
    assert seen > 4, "the job has not come that far"
    check(place)
