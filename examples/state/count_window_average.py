"""Averages every two values of a key, which it keeps in a ValueState.

    python -m pyflink_on_spark examples/state/count_window_average.py

Prints (1,4) and (1,5).
"""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction, RuntimeContext, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


class CountWindowAverage(FlatMapFunction):
    """Emits the average and starts over when it has seen two values of a key."""

    def open(self, runtime_context: RuntimeContext):
        self.sum = runtime_context.get_state(ValueStateDescriptor("average", PAIR))

    def flat_map(self, value):
        count, total = self.sum.value() or (0, 0)
        count, total = count + 1, total + value[1]
        if count < 2:
            self.sum.update((count, total))
        else:
            self.sum.clear()
            yield value[0], total // count


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pairs = env.from_collection([(1, 3), (1, 5), (1, 7), (1, 4), (1, 2)], PAIR)
    pairs.key_by(lambda pair: pair[0]).flat_map(CountWindowAverage(), PAIR).print()
    env.execute("count window average")


if __name__ == "__main__":
    main()
