"""A source that counts, and after a restart resumes where its last checkpoint was.

    python -m pyflink_on_spark examples/state/counter_source.py --until 5

Prints 0, 1, 2, 3 and 4.
"""

from __future__ import annotations

import argparse

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

from pyflink_on_spark.extensions import ListCheckpointed, RichParallelSourceFunction, add_source


class CounterSource(RichParallelSourceFunction, ListCheckpointed):
    """Emits 0, 1, 2, ..., in each of its instances."""

    def __init__(self, until):
        self.until = until
        self.offset = 0
        self.is_running = True

    def run(self, ctx):
        lock = ctx.get_checkpoint_lock()
        while self.is_running and self.offset < self.until:
            with lock:  # what is emitted and the state change together, or not at all
                ctx.collect(self.offset)
                self.offset += 1

    def cancel(self):
        self.is_running = False

    def snapshot_state(self, checkpoint_id, timestamp):
        return [self.offset]

    def restore_state(self, state):
        for offset in state:
            self.offset = offset


def main(until):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    add_source(env, CounterSource(until), "counter", Types.LONG(), bounded=True).print()
    env.execute("counter source")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Counts.")
    parser.add_argument("--until", type=int, default=5)
    main(parser.parse_args().until)
