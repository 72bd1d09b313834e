"""A program with more than usual in one place: entries of a key, bytes of a record, jobs."""

from __future__ import annotations

import sys

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import ListStateDescriptor

from tests.faults.large import KEYS, bytes_of, digest_of


class Entries(KeyedProcessFunction):
    """Adds each number to the list of its key, and emits count and sum of the list at the last."""

    def __init__(self, last):
        self.last = last

    def open(self, runtime_context):
        self.entries = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))

    def process_element(self, value, ctx):
        self.entries.add(value)
        if value == self.last:
            entries = list(self.entries.get())
            yield f"{len(entries)} {sum(entries)}"


def numbers(env, last):
    """Return a stream of the numbers from 0 to the last one."""
    source = NumberSequenceSource(0, last)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


def entries(env, count):
    """Keep so many entries in the list of one key."""
    env.set_parallelism(1)
    all_of_one = numbers(env, count - 1).key_by(lambda value: "all", Types.STRING())
    all_of_one.process(Entries(count - 1), Types.STRING()).print()
    env.execute()


def record(env, size):
    """Send a record of so many bytes to two subtasks, one of which is in another process."""
    env.set_parallelism(2)
    large = env.from_collection([size], Types.LONG()).map(bytes_of, Types.PICKLED_BYTE_ARRAY())
    large.broadcast().map(digest_of, Types.STRING()).print()
    env.execute()


def jobs(env, count):
    """Run so many jobs at a time, each of which adds up numbers by key."""
    clients = []
    for job in range(count):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        keyed = numbers(env, 9_999 + job).map(lambda value: (value % KEYS, value))
        sums = keyed.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
        name = f"job {job}"
        sums.map(lambda pair, name=name: f"{name} key {pair[0]} {pair[1]}", Types.STRING()).print()
        clients.append(env.execute_async(name))
    for client in clients:
        client.get_job_execution_result().result()


if __name__ == "__main__":
    kind, much = sys.argv[1], int(sys.argv[2])
    environment = StreamExecutionEnvironment.get_execution_environment()
    {"entries": entries, "record": record, "jobs": jobs}[kind](environment, much)
