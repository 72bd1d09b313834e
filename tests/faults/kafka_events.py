"""Writes the numbered events of the soak to a Kafka topic, at a steady rate.

    python -m tests.faults.kafka_events SERVERS TOPIC --seconds 60 --rate 500

The partitions get them in turn; the time of a record is that of its event.
"""

from __future__ import annotations

import argparse
import time

import confluent_kafka

from tests.faults.events import STEP, line_of

PARTITIONS = 3
EPOCH = 1_700_000_000_000
"""The event time of the first event, in ms."""


def write(servers: str, topic: str, seconds: float, rate: float) -> int:
    """Write events for some time; return how many."""
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "linger.ms": 100})
    begun = time.monotonic()
    number = 0
    while (elapsed := time.monotonic() - begun) < seconds:
        if number <= elapsed * rate:
            where = {"partition": number % PARTITIONS, "timestamp": EPOCH + number * STEP}
            producer.produce(topic, line_of(number), **where)
            number += 1
        else:
            producer.poll(0.01)
    if producer.flush(60):
        raise RuntimeError("the cluster does not take the events")
    return number


def main() -> None:
    """Write events as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("servers")
    parser.add_argument("topic")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=float, required=True, help="events a second")
    options = parser.parse_args()
    write(options.servers, options.topic, options.seconds, options.rate)


if __name__ == "__main__":
    main()
