"""Moves messages from one queue of RabbitMQ to another, in capital letters.

    python -m pyflink_on_spark examples/connectors/queue_to_queue.py --from in --to out

Runs until it is stopped. RABBITMQ_URI says where the broker is, if it is not on this host.
"""

from __future__ import annotations

import argparse
import os

from pyflink.common import SimpleStringSchema, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource


def move_messages(source_queue, sink_queue, prefetch):
    env = StreamExecutionEnvironment.get_execution_environment()
    # Messages are acknowledged with the checkpoints.
    env.enable_checkpointing(1000)
    uri = os.environ.get("RABBITMQ_URI", "amqp://guest:guest@localhost:5672/%2F")
    broker = RMQConnectionConfig.Builder().set_uri(uri).set_prefetch_count(prefetch).build()
    (
        env.add_source(RMQSource(broker, source_queue, False, SimpleStringSchema()))
        .map(str.upper, Types.STRING())
        .add_sink(RMQSink(broker, sink_queue, SimpleStringSchema()))
    )
    env.execute("queue to queue")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", required=True, help="a queue")
    parser.add_argument("--to", dest="sink", required=True, help="another queue")
    parser.add_argument(
        "--prefetch", type=int, default=10_000, help="how many messages between two checkpoints"
    )
    arguments = parser.parse_args()
    move_messages(arguments.source, arguments.sink, arguments.prefetch)
