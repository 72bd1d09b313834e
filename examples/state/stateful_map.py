"""Shows with each element what its key's elements before it add up to.

    python -m pyflink_on_spark examples/state/stateful_map.py

Prints (a,0), (b,0), (a,1), (a,4) and (b,2).
"""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

from pyflink_on_spark.extensions import map_with_state

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def count(element, so_far):
    """Return the result, and the key's new state; the state is None at first."""
    if so_far is None:
        return (element[0], 0), element[1]
    return (element[0], so_far), so_far + element[1]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 5), ("b", 7)], PAIR)
    map_with_state(stream.key_by(lambda pair: pair[0]), count, PAIR, Types.INT()).print()
    env.execute("stateful map")


if __name__ == "__main__":
    main()
