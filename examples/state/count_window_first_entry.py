"""Counts a key's values in a SortedMapState, and shows the smallest value each time.

    python -m pyflink_on_spark examples/state/count_window_first_entry.py

Prints (1,3,1), (1,3,1), (1,3,2), (1,3,2), (1,3,2), (1,2,1), (1,2,2) and (1,1,1).
"""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction, RuntimeContext, StreamExecutionEnvironment

from pyflink_on_spark.extensions import SortedMapStateDescriptor, get_sorted_map_state

LONG = Types.LONG()


class CountWindowFirstEntry(FlatMapFunction):
    """Emits the smallest value so far, and how often it was seen."""

    def open(self, runtime_context: RuntimeContext):
        descriptor = SortedMapStateDescriptor("sortedmapstate", LONG, LONG)
        self.state = get_sorted_map_state(runtime_context, descriptor)

    def flat_map(self, value):
        self.state.put(value[1], (self.state.get(value[1]) or 0) + 1)
        smallest, count = self.state.first_entry()
        yield value[0], smallest, count


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    values = [(1, 3), (1, 5), (1, 3), (1, 7), (1, 4), (1, 2), (1, 2), (1, 1)]
    pairs = env.from_collection(values, Types.TUPLE([LONG, LONG]))
    smallest = pairs.key_by(lambda pair: pair[0]).flat_map(
        CountWindowFirstEntry(), Types.TUPLE([LONG, LONG, LONG])
    )
    smallest.print()
    env.execute("count window first entry")


if __name__ == "__main__":
    main()
