"""The connectors' examples on Spark."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.connectors.jdbc.mariadb_server import mariadb
from tests.connectors.jdbc.postgresql_server import postgresql
from tests.connectors.kinesis.moto_server import REGION, moto
from tests.connectors.rabbitmq.rabbitmq_server import rabbitmq

ROOT = Path(__file__).resolve().parents[2]
WORD_TABLE = ROOT / "examples" / "connectors" / "word_table.py"
SECONDS = 150


def command(name, *arguments):
    return [sys.executable, "-m", "pyflink_on_spark", f"examples/connectors/{name}", *arguments]


@contextlib.contextmanager
def running_example(log, name, *arguments, **environment):
    """Run an example that does not end by itself until the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(name, *arguments),
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_until(reached, process, log):
    """Wait until something is true while a process runs."""
    until = time.monotonic() + SECONDS
    while not reached():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.2)


def check_table(rows):
    counts = dict(rows)
    assert sum(counts.values()) == 14
    assert (counts["to"], counts["be"], counts["question"]) == (4, 2, 1)


TABLE = "CREATE TABLE words (word VARCHAR(100) PRIMARY KEY, times BIGINT)"


def test_a_table_of_postgresql_is_filled(run_script):
    with postgresql() as server, server.connect() as database:
        database.execute(TABLE)
        run_script(WORD_TABLE, "--url", server.url, "--user", "owner")
        check_table(database.execute("SELECT word, times FROM words").fetchall())


def test_a_table_of_mysql_is_filled(run_script):
    with mariadb() as server, server.connect() as database, database.cursor() as cursor:
        for statement in ("CREATE DATABASE IF NOT EXISTS test", "USE test", TABLE):
            cursor.execute(statement)
        run_script(WORD_TABLE, "--url", server.url, "--user", "root")
        cursor.execute("SELECT word, times FROM words")
        check_table(cursor.fetchall())


@pytest.mark.nightly
def test_messages_are_moved(tmp_path):
    with rabbitmq() as port:
        import pika

        connection = pika.BlockingConnection(
            pika.ConnectionParameters("127.0.0.1", port, heartbeat=0)
        )
        channel = connection.channel()
        for queue in ("in", "out"):
            channel.queue_declare(queue, durable=True)
        channel.confirm_delivery()
        for text in (b"a", b"b", b"c", b"d", b"e"):
            channel.basic_publish("", "in", text)
        found = []

        def all_moved():
            got = channel.basic_get("out", auto_ack=True)
            found.extend([] if got[0] is None else [got[2]])
            return len(found) == 5

        uri = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
        log = tmp_path / "log"
        # A subtask's next message comes when a checkpoint has acknowledged the one before.
        arguments = ["queue_to_queue.py", "--from", "in", "--to", "out", "--prefetch", "1"]
        with running_example(log, *arguments, RABBITMQ_URI=uri) as process:
            wait_until(all_moved, process, log)
        assert sorted(found) == [b"A", b"B", b"C", b"D", b"E"]
        connection.close()


@pytest.mark.nightly
def test_clicks_are_counted(tmp_path):
    with moto() as aws:
        kinesis = aws.client("kinesis")
        for stream in ("clicks", "counts"):
            kinesis.create_stream(StreamName=stream, ShardCount=1)
            kinesis.get_waiter("stream_exists").wait(StreamName=stream)
        for page in ("a", "b", "a"):
            kinesis.put_record(StreamName="clicks", Data=page.encode(), PartitionKey=page)
        shard = kinesis.list_shards(StreamName="counts")["Shards"][0]["ShardId"]
        iterator = kinesis.get_shard_iterator(
            StreamName="counts", ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found = []

        def all_counted():
            records = kinesis.get_records(ShardIterator=iterator)["Records"]
            found[:] = [record["Data"].decode() for record in records]
            return len(found) == 3

        log = tmp_path / "log"
        environment = {
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": aws.endpoint,
            "AWS_ACCESS_KEY_ID": "me",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        arguments = ["clicks_per_page.py", "--from", "clicks", "--to", "counts"]
        with running_example(log, *arguments, **environment) as process:
            wait_until(all_counted, process, log)
    assert sorted(found) == ["a 1", "a 2", "b 1"]


@pytest.mark.nightly
def test_history_then_news(tmp_path):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    from tests.connectors.kafka.cluster import memory_cluster

    history = tmp_path / "history"
    history.mkdir()
    (history / "0.txt").write_text("history 0\n")
    log = tmp_path / "log"
    with memory_cluster() as kafka:
        topic = kafka.topic(1)
        kafka.write(topic, ["news 0"])
        told = ["--history", str(history), "--servers", kafka.servers, "--topic", topic]
        with running_example(log, "history_then_news.py", *told) as process:
            wait_until(lambda: "news 0" in log.read_text(), process, log)
            kafka.write(topic, ["news 1"])
            wait_until(lambda: "news 1" in log.read_text(), process, log)
    lines = [line for line in log.read_text().splitlines() if line.startswith(("hist", "news"))]
    assert lines == ["history 0", "news 0", "news 1"]
