"""Micro-batches of Structured Streaming with two Python stages, and nothing to do."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.continuous.command import parse_arguments, wait_for_end


def pass_on(batches):
    yield from batches


def main():
    arguments = parse_arguments()
    count = arguments.parallelism
    session = (
        SparkSession.builder.master(f"local[{count}]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.adaptive.enabled", "false")  # it costs time, and has nothing to adapt
        .config("spark.sql.shuffle.partitions", count)
        .getOrCreate()
    )
    notes = (Path(arguments.folder) / "batches.jsonl").open("a", buffering=1)

    def run(batch, _):
        begun = int(time.time() * 1000)
        rows = batch.mapInArrow(pass_on, "value LONG")
        rows = rows.repartitionById(count, (rows.value % count).cast("int"))
        rows.sortWithinPartitions("value").mapInArrow(pass_on, "value LONG").collect()
        notes.write(json.dumps([begun, int(time.time() * 1000)]) + "\n")

    ticks = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", count)
        .option("numPartitions", count)
        .load()
        .select("value")
    )
    (
        ticks.writeStream.foreachBatch(run)
        .option("checkpointLocation", f"{arguments.folder}/checkpoint")
        .start()
    )
    wait_for_end()
    os._exit(0)  # stopping a query in the middle of a batch fills the terminal with its errors


if __name__ == "__main__":
    main()
