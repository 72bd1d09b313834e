"""A sink that writes to a file whenever it has gathered some elements, and loses none at a restart.

    python -m pyflink_on_spark examples/state/buffering_sink.py --output /tmp/buffered.txt

Writes a line for each batch of elements.
"""

from __future__ import annotations

import argparse

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor

from pyflink_on_spark.extensions import CheckpointedFunction, SinkFunction, add_sink

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class BufferingSink(SinkFunction, CheckpointedFunction):
    """Keeps elements until there are ``threshold`` of them; a checkpoint has those it keeps."""

    def __init__(self, path, threshold):
        self.path = path
        self.threshold = threshold
        self.buffered = []

    def invoke(self, value, context):
        self.buffered.append(value)
        if len(self.buffered) >= self.threshold:
            self.send()

    def finish(self):
        if self.buffered:
            self.send()

    def snapshot_state(self, context):
        self.checkpointed.update(self.buffered)

    def initialize_state(self, context):
        descriptor = ListStateDescriptor("buffered-elements", PAIR)
        self.checkpointed = context.get_operator_state_store().get_list_state(descriptor)
        if context.is_restored():
            self.buffered.extend(self.checkpointed.get())

    def send(self):
        with open(self.path, "a", encoding="utf-8") as file:
            print(*self.buffered, file=file)
        self.buffered.clear()


def main(path):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)], PAIR)
    add_sink(stream, BufferingSink(path, threshold=2), "buffering sink")
    env.execute("buffering sink")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes elements in batches of two.")
    parser.add_argument("--output", required=True)
    main(parser.parse_args().output)
