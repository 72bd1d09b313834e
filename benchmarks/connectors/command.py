"""The command line that every job of `jobs/` has.

A job is a script. Its ways read the same input and write the same output:

    flink(env, options)     a PyFlink pipeline
    anything else(options)  the same with the connector's own library, without this package
"""

from __future__ import annotations

import argparse


def main(**ways):
    """Run the way that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=[*ways, "ways"])
    parser.add_argument("--input", help="a file, or a topic")
    parser.add_argument("--output", help="a folder, or a topic")
    parser.add_argument("--servers", help="of a Kafka cluster")
    parser.add_argument("--parallelism", type=int, default=1)
    options = parser.parse_args()
    if options.way == "ways":
        print(*ways)
    elif options.way == "flink":
        from pyflink.datastream import StreamExecutionEnvironment

        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(options.parallelism)
        ways["flink"](env, options)
        env.execute("benchmark")
    else:
        ways[options.way](options)
