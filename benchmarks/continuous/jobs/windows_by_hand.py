"""The job of `windows.py`, written by hand for PySpark: `transformWithState` in event time.

State is in RocksDB. Records come from `rate-micro-batch`, so many in each micro-batch, or at a rate
from a Python data source that makes those of the time since the micro-batch before.
"""

from __future__ import annotations

import os
import time

import numpy
import pyarrow
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own habit
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming import StatefulProcessor

from benchmarks.continuous.command import parse_arguments, wait_for_end
from benchmarks.continuous.recorder import Recorder

MIX = 2_654_435_761
OUTPUT = "end long, records long"


class Count(StatefulProcessor):
    """The count of the key's window, emitted when a later one begins or event time passes it.

    The elements of a key come in the order of their time.
    """

    def __init__(self, window):
        self.window = window

    def init(self, handle):
        self.handle = handle
        self.open = handle.getValueState("open", OUTPUT)

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803 - PySpark's names
        kept = self.open.get()
        end, records = kept if kept is not None else (0, 0)
        for row in rows:
            created = row.created
            if created < end:
                records += 1
                continue
            if records:
                yield Row(end=end, records=records)
            end, records = created - created % self.window + self.window, 1
        self.open.update((end, records))
        if kept is None or kept[0] != end:
            self.handle.registerTimer(end - 1)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: N802, N803
        kept = self.open.get()
        if kept is not None and kept[0] - 1 == expiredTimerInfo.getExpiryTimeInMs():
            self.open.clear()
            yield Row(end=kept[0], records=kept[1])

    def close(self):
        pass


class Span(InputPartition):
    """The records that one of several tasks makes: those of a stretch of time (ms)."""

    def __init__(self, start, end, index):
        self.start, self.end, self.index = start, end, index


class PacedReader(DataSourceStreamReader):
    """Makes a record each so often, by the clock; offsets are times."""

    def __init__(self, options):
        self.keys, self.tasks = int(options["keys"]), int(options["tasks"])
        self.rate = float(options["rate"]) / self.tasks

    def initialOffset(self):  # noqa: N802 - PySpark's name
        return {"time": int(time.time() * 1000)}

    def latestOffset(self):  # noqa: N802
        return {"time": int(time.time() * 1000)}

    def partitions(self, start, end):
        return [Span(start["time"], end["time"], index) for index in range(self.tasks)]

    def read(self, partition):
        first = int(partition.start * self.rate / 1000)
        numbers = numpy.arange(first, int(partition.end * self.rate / 1000), dtype=numpy.int64)
        keys = (numbers * self.tasks + partition.index) * MIX % 4_294_967_296 % self.keys
        created = (numbers / self.rate * 1000).astype(numpy.int64)
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(keys), pyarrow.array(created)], names=["key", "created"]
        )


class PacedSource(DataSource):
    @classmethod
    def name(cls):
        return "paced"

    def schema(self):
        return "key long, created long"

    def streamReader(self, schema):  # noqa: N802 - PySpark's name
        return PacedReader(self.options)


def elements(session, arguments):
    if arguments.rate:
        session.dataSource.register(PacedSource)
        return (
            session.readStream.format("paced")
            .option("keys", arguments.keys)
            .option("rate", arguments.rate)
            .option("tasks", arguments.parallelism)
            .load()
        )
    numbers = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", arguments.rows)
        .option("numPartitions", arguments.parallelism)
        .load()
    )
    key = F.expr(f"value * {MIX} % 4294967296 % {arguments.keys}")
    return numbers.select(key.alias("key"), F.unix_millis(F.current_timestamp()).alias("created"))


def main():
    arguments = parse_arguments()
    session = (
        SparkSession.builder.master(f"local[{arguments.parallelism}]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", arguments.parallelism)
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    recorder = Recorder(arguments.folder)

    def record(batch, _):
        begun = int(time.time() * 1000)
        if arguments.rate:
            counts = batch.groupBy("end").agg(F.sum("records").alias("records"), F.count("*"))
            for end, records, results in counts.collect():
                recorder.note(end, records, results)
        else:
            batch.write.format("noop").mode("append").save()
            recorder.note(begun, arguments.rows)
        recorder.flush()

    counts = (
        elements(session, arguments)
        .withColumn("time", F.timestamp_millis("created"))
        .withWatermark("time", "0 seconds")
        .groupBy("key")
        .transformWithState(Count(arguments.window), OUTPUT, "Append", "EventTime")
    )
    (
        counts.writeStream.foreachBatch(record)
        .option("checkpointLocation", f"{arguments.folder}/checkpoint")
        .start()
    )
    wait_for_end()
    os._exit(0)  # stopping a query in the middle of a batch fills the terminal with its errors


if __name__ == "__main__":
    main()
