"""The command line that every job of `jobs/` has: one way of doing the job, on so many records.

A job is a script. Its ways do the same with the same functions, and yield the same few lines:

    flink(env, numbers, n)  a PyFlink pipeline over a stream of 1 to n; returns a stream of str
    spark(session, n)      the same written by hand for PySpark
    spark_...(session, n)  the same, by another part of PySpark's API
    loop(n)                the same in a bare Python loop
    inlined(n)             that loop with the functions written into it
    calls(n)               that loop with the calls that PyFlink's API asks for
"""

from __future__ import annotations

import argparse


def main(**ways):
    """Run the way that the command line names, and print its lines after `result> `."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=[*ways, "ways"])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--execution-mode", choices=["process", "thread"], default="process")
    arguments = parser.parse_args()
    if arguments.way == "ways":
        print(*ways)
    elif arguments.way == "flink":
        _run_flink(ways["flink"], arguments)
    elif arguments.way.startswith("spark"):
        _run_spark(ways[arguments.way], arguments)
    else:
        _print_all(ways[arguments.way](arguments.records))


def _print_all(lines):
    for line in lines:
        print(f"result> {line}")


def _run_flink(pipeline, arguments):
    from pyflink.common import Configuration, Types, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.number_seq import NumberSequenceSource

    configuration = Configuration()
    configuration.set_string("python.execution-mode", arguments.execution_mode)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(arguments.parallelism)
    numbers = env.from_source(
        NumberSequenceSource(1, arguments.records),
        WatermarkStrategy.no_watermarks(),
        "numbers",
        Types.LONG(),
    )
    pipeline(env, numbers, arguments.records).print("result")
    env.execute("benchmark")


def spark_session(parallelism):
    """Return the session of a job that is written by hand for PySpark."""
    from pyspark.sql import SparkSession

    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return (
        SparkSession.builder.master(f"local[{parallelism}]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", parallelism)
        .config("spark.sql.streaming.stateStore.providerClass", store)
        .getOrCreate()
    )


def last_lines(frame, folder, line, mode="append"):
    """Run a streaming query over all there is; return the lines of its rows.

    Args:
        frame: the rows.
        folder: for the query's checkpoint.
        line: makes a line of a row.
        mode: the query's output mode.
    """
    lines = []

    def collect(batch, epoch):
        lines.extend(map(line, batch.collect()))

    query = (
        frame.writeStream.outputMode(mode)
        .foreachBatch(collect)
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return lines


def _run_spark(job, arguments):
    session = spark_session(arguments.parallelism)
    try:
        _print_all(job(session, arguments.records))
    finally:
        session.stop()
