"""The parts of the soak of Kafka: what they would miss, nobody else finds."""

from __future__ import annotations

import random
import subprocess
import sys
import threading

import pytest

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")

from tests.connectors.kafka.cluster import memory_cluster
from tests.faults.disturbed import Plan
from tests.faults.events import STEP, line_of
from tests.faults.kafka_events import EPOCH, PARTITIONS, write
from tests.faults.kafka_soak import STEPS, KafkaSoak

OFFSETS_OF_A_TRANSACTION, END_OF_A_TRANSACTION = 28, 26


@pytest.fixture
def kafka():
    with memory_cluster() as cluster:
        yield cluster


@pytest.fixture
def soak(kafka, tmp_path):
    made = KafkaSoak(kafka, Plan(tmp_path, 1), random.Random(1))
    made._driver = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield made
    made._driver.kill()
    made._driver.wait()


def test_events_are_dealt_out_in_order_with_their_times(kafka):
    topic = kafka.topic(PARTITIONS)
    count = write(kafka.servers, topic, 0.3, 2_000)
    found = kafka.read(topic)
    assert sorted(m.value().decode() for m in found) == sorted(map(line_of, range(count)))
    assert sum(kafka.ends(topic).values()) == count
    for partition in range(PARTITIONS):
        times = [m.timestamp()[1] for m in found if m.partition() == partition]
        assert times == [EPOCH + n * STEP for n in range(partition, count, PARTITIONS)]


def test_what_is_lost_and_what_is_there_twice_is_found(soak):
    soak._compare("windows", ["a", "b", "b", "d"], ["a", "b", "c", "c"])
    assert soak._report.problems == [
        "2 windows are lost, such as ['c']",
        "2 windows are not expected, such as ['b', 'd']",
    ]


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_driver_is_killed_at_a_step_of_a_transaction(soak, kafka, when):
    class Chosen(random.Random):
        def choice(self, things):
            return when if when in things else OFFSETS_OF_A_TRANSACTION

    soak._choose = Chosen()
    killed = []
    waiting = threading.Thread(
        target=lambda: killed.append(soak._kill_in_transaction(kafka.broker))
    )
    hook = getattr(kafka.broker, when)
    waiting.start()
    while getattr(kafka.broker, when) is hook:
        pass
    getattr(kafka.broker, when)(END_OF_A_TRANSACTION)
    assert soak._driver.poll() is None
    try:
        getattr(kafka.broker, when)(OFFSETS_OF_A_TRANSACTION)
    except ConnectionError:
        assert when == "before"
    waiting.join(30)
    assert soak._driver.wait(30) != 0
    step = STEPS[OFFSETS_OF_A_TRANSACTION]
    assert killed == [(f"driver {when} {step} of a transaction", [])]
    assert getattr(kafka.broker, when) is hook
