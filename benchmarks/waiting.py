"""Prints how many elements a second pass functions that wait, here and in real PyFlink.

    python -m benchmarks.waiting [PYTHON] [--elements 1000] [--stages 3] [--milliseconds 10]

PYTHON is the interpreter of PyFlink. Each of the stages sleeps for each element, as a call of a
service does, and an exchange follows it. The parallelism is 1. One stage alone would take
``elements * milliseconds``; that is what stages which wait side by side take together, too. A run
with few elements is taken off the whole time: the start costs that.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from benchmarks.ways import ROOT


def run(elements, stages, seconds):
    """Run the job; return how many seconds it takes from the first to the last result, and all."""
    from pyflink.common import Types
    from pyflink.datastream import StreamExecutionEnvironment

    def wait(value):
        time.sleep(seconds)
        return value

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection(list(range(elements)), type_info=Types.LONG())
    for _ in range(stages):
        stream = stream.rebalance().map(wait, output_type=Types.LONG())
    begun, first, found = time.monotonic(), None, 0
    with stream.execute_and_collect() as results:
        for _ in results:
            first, found = first or time.monotonic(), found + 1
    assert found == elements
    return time.monotonic() - first, time.monotonic() - begun


_FEW = 10


def measured(python, options, elements, *more):
    """Return the measured time of the job in an interpreter."""
    sizes = [str(elements), str(options.stages), str(options.milliseconds)]
    tools = os.path.dirname(os.path.abspath(python))
    path = tools + os.pathsep + os.environ.get("PATH", "")
    done = subprocess.run(
        [python, "-m", "benchmarks.waiting", *more, "--run", *sizes],
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": python},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return map(float, done.stdout.split()[-2:])


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.waiting", description=__doc__.splitlines()[0]
    )
    parser.add_argument("pyflink", nargs="?", metavar="PYTHON", help="PyFlink's interpreter")
    parser.add_argument("--elements", type=int, default=1_000)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--milliseconds", type=float, default=10.0)
    parser.add_argument("--run", nargs=3, type=float, help=argparse.SUPPRESS)
    parser.add_argument("--install", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.install:
        import pyflink_on_spark

        pyflink_on_spark.install()
    if options.run is not None:
        elements, stages, milliseconds = options.run
        print(*run(int(elements), int(stages), milliseconds / 1000))
        return 0
    ways = {"pyflink_on_spark": (sys.executable, "--install")}
    if options.pyflink is not None:
        ways["PyFlink"] = (options.pyflink,)
    least = options.elements * options.milliseconds / 1000
    print(f"one stage alone: {least:.1f} s; one after the other: {least * options.stages:.1f} s")
    for name, (python, *more) in ways.items():
        after, total = measured(python, options, options.elements, *more)
        _, start = measured(python, options, _FEW, *more)
        rate = (options.elements - _FEW) / (total - start)
        print(
            f"{name}: {total:.1f} s, {after:.1f} s after the first result, {total - start:.1f} s "
            f"without the start, {rate:.0f} elements/s"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
