"""The records of a checkpoint are written once, despite failures in between."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest

from pyflink_on_spark._connectors.kafka.records import TransactionBatch
from pyflink_on_spark._connectors.kafka.sink import Transactions, _defaults
from pyflink_on_spark._runtime.contract.connector import pack

PRODUCE, ADD_OFFSETS, COMMIT_OFFSETS, END = 0, 25, 28, 26


@pytest.fixture(autouse=True)
def client_is_there():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")


def batch(topic, checkpoint, *values, run="run-0"):
    records = [(topic, None, value.encode(), 0) for value in values]
    return TransactionBatch(pack(records), run, checkpoint, "sink", topic)


@pytest.fixture
def open_transactions(kafka):
    opened = []

    def open_(name="sink", **properties):
        given = {"bootstrap.servers": kafka.servers, "default.api.timeout.ms": "8000"}
        opened.append(Transactions(name, given | properties))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


@pytest.fixture
def topic(kafka):
    return kafka.topic(1)


@pytest.mark.parametrize("name", ["buffer.memory", "queue.buffering.max.kbytes"])
def test_a_buffer_that_a_property_limits_has_no_other_limit(name):
    assert "queue.buffering.max.kbytes" in _defaults({})
    assert "queue.buffering.max.kbytes" not in _defaults({name: "1048576"})


def test_what_is_written_is_not_written_again(kafka, open_transactions, topic):
    first = open_transactions()
    first.write([batch(topic, 1, "a"), batch(topic, 1, "b")])
    first.write([batch(topic, 1, "a"), batch(topic, 1, "b")])
    first.write([batch(topic, 2, "c")])
    second = open_transactions()
    second.write([batch(topic, 2, "c")])
    second.write([batch(topic, 3, "d")])
    assert kafka.values(topic) == ["a", "b", "c", "d"]
    offset, mark = kafka.broker.committed["sink-written"][topic, 0]
    assert (offset, mark.rstrip("\0")) == (3, "run-0=3")


class TestTopicsThatDifferFromBatchToBatch:
    """As a topic selector makes them."""

    @pytest.fixture
    def topics(self, kafka):
        return sorted([kafka.topic(1), kafka.topic(1)])

    def test_a_savepoint_of_some_of_what_was_written_together(
        self, kafka, open_transactions, topics
    ):
        a, b = topics
        of_savepoint = batch(b, 6, "six")
        open_transactions().write([of_savepoint, batch(a, 7, "seven")])
        again = open_transactions()
        again.write([of_savepoint])
        again.write([batch(a, 7, "other", run="run-1")])
        assert (kafka.values(a), kafka.values(b)) == (["seven", "other"], ["six"])

    def test_more_than_what_was_written_at_first(self, kafka, open_transactions, topics):
        a, b = topics
        open_transactions().write([batch(b, 6, "six")])
        both = [batch(b, 6, "six"), batch(a, 7, "seven")]
        for _ in range(2):
            open_transactions().write(both)
        assert (kafka.values(a), kafka.values(b)) == (["seven"], ["six"])

    def test_marks_that_are_only_at_the_first_topic(self, kafka, open_transactions, topics):
        """So they were written formerly."""
        a, b = topics
        kafka.broker.committed["sink-written"] = {(a, 0): (7, "run-0=7")}
        both = [batch(b, 6, "six"), batch(a, 7, "seven")]
        open_transactions().write(both)
        assert (kafka.values(a), kafka.values(b)) == ([], [])

    def test_no_mark_where_nothing_is_written(self, kafka, open_transactions, topics):
        """The topic may be gone since."""
        a, b = topics
        first = batch(b, 6, "six")
        open_transactions().write([first])
        before = kafka.broker.committed["sink-written"][b, 0]
        open_transactions().write([first, batch(a, 7, "seven")])
        assert kafka.broker.committed["sink-written"][b, 0] == before


def test_nothing_to_write(kafka, open_transactions):
    open_transactions().write([])
    assert "sink-written" not in kafka.broker.committed


def test_a_checkpoint_of_another_run_is_written_though_its_number_is_lower(
    kafka, open_transactions, topic
):
    """A job that was given an old checkpoint begins to count there again."""
    open_transactions().write([batch(topic, 5, "a")])
    again = open_transactions()
    again.write([batch(topic, 3, "b", run="run-1")])
    again.write([batch(topic, 5, "a")])
    assert kafka.values(topic) == ["a", "b"]


def test_runs_of_long_ago_are_forgotten(kafka, open_transactions, topic):
    transactions = open_transactions()
    for number in range(60):
        transactions.write([batch(topic, 1, str(number), run=f"{number:016x}-0")])
    mark = kafka.broker.committed["sink-written"][topic, 0][1]
    assert len(mark.split(",")) == 50
    assert f"{59:016x}-0=1" in mark


def test_whoever_was_shut_out_writes_nothing_more(kafka, open_transactions, topic):
    old = open_transactions()
    old.write([batch(topic, 1, "a")])
    open_transactions()
    with pytest.raises(RuntimeError, match=r"another job writes to Kafka under .* 'sink'"):
        old.write([batch(topic, 2, "b")])
    assert kafka.values(topic) == ["a"]


def test_a_record_that_is_refused_takes_the_others_along(kafka, open_transactions, topic):
    soon = {"topic.metadata.propagation.max.ms": "50"}
    transactions = open_transactions(**soon)
    with pytest.raises(RuntimeError, match="'nowhere' could not be written"):
        transactions.write([batch(topic, 1, "a"), batch("nowhere", 1, "b")])
    assert kafka.values(topic) == []
    assert "sink-written" not in kafka.broker.committed


def test_a_broker_that_goes_away_for_a_while(kafka, open_transactions, topic):
    quickly = {"reconnect.backoff.ms": "10", "reconnect.backoff.max.ms": "50"}
    transactions = open_transactions(**quickly)
    transactions.write([batch(topic, 1, "a")])
    kafka.broker.stop()
    kafka.broker.start()
    transactions.write([batch(topic, 2, "b")])
    assert kafka.values(topic) == ["a", "b"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("api", [PRODUCE, ADD_OFFSETS, COMMIT_OFFSETS, END])
def test_a_driver_that_is_killed(kafka, open_transactions, topic, api, when):
    """At each step: the next one writes what the last one did not, and nothing twice."""
    open_transactions().write([batch(topic, 1, "a")])
    context = multiprocessing.get_context("spawn")
    process = context.Process(
        target=_write, args=(kafka.servers, [batch(topic, 2, "b"), batch(topic, 2, "c")])
    )
    process.start()

    def kill(found):
        if found == api:
            setattr(kafka.broker, when, lambda _: None)
            os.kill(process.pid, signal.SIGKILL)

    setattr(kafka.broker, when, kill)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    last = open_transactions()
    last.write([batch(topic, 2, "b"), batch(topic, 2, "c")])
    last.write([batch(topic, 3, "d")])
    assert kafka.values(topic) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_whose_outcome_nobody_knows(kafka, open_transactions, topic, when):
    """The broker goes away with the question, or with its answer, for longer than anyone waits."""
    quickly = {"reconnect.backoff.ms": "10", "reconnect.backoff.max.ms": "50"}
    first = open_transactions(**quickly, **{"default.api.timeout.ms": "1500"})
    first.write([batch(topic, 1, "a")])

    def vanish(api):
        if api == END:
            kafka.broker.stop()
            if when == "before":
                raise ValueError("gone before it has done anything")

    setattr(kafka.broker, when, vanish)
    with pytest.raises(ConnectionError, match="did not answer within"):
        first.write([batch(topic, 2, "b")])
    setattr(kafka.broker, when, lambda api: None)
    kafka.broker.start()
    second = open_transactions(**quickly)
    second.write([batch(topic, 2, "b")])
    second.write([batch(topic, 3, "c")])
    assert kafka.values(topic) == ["a", "b", "c"]


def test_what_was_refused_is_not_taken_for_written(kafka, open_transactions, topic):
    transactions = open_transactions(**{"topic.metadata.propagation.max.ms": "50"})
    for _ in range(2):
        with pytest.raises(RuntimeError, match="'nowhere' could not be written"):
            transactions.write([batch(topic, 1, "a"), batch("nowhere", 1, "b")])


def _write(servers, batches):
    Transactions("sink", {"bootstrap.servers": servers}).write(batches)
