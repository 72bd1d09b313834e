"""State of many keys on both engines, and in PySpark by hand: throughput, size on disk, memory.

    python -m benchmarks.many_keys [--keys 1000000 10000000]
                                   [--ways hosts structured by-hand pandas aggregation]

Each way is a process of its own. It reads numbers, counts them by key in a value state with
parallelism 1, and emits one line. Our engines see each key twice, and commit every 10 s. PySpark by
hand reads files with RocksDB: ``transformWithState`` sees only ``--by-hand`` numbers, and
``applyInPandasWithState`` ten times as many, each with another key, and Spark's own aggregation,
in which no Python runs, sees as many as our engines do. Printed are rows: keys, way, records,
records per second from the start of the job to its end, MB of its checkpoints or store at the
largest, and MB of memory of all processes (PSS) at the largest.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.command import last_lines, spark_session
from benchmarks.engines import environment
from benchmarks.measure import processes_of

BY_HAND, PANDAS, AGGREGATION = "by-hand", "pandas", "aggregation"
_SPREAD = 7_919
"""Brings neighbours far from each other; a prime, so that each key comes as often."""
_SAMPLE_SECONDS = 0.25
_MEMORY_SECONDS = 2.0
_FILES = 4


def engine_seconds(engine: str, records: int, keys: int, folder: Path) -> float:
    """Run the job on one of our engines; return its seconds."""
    from pyflink_on_spark.common import Types, WatermarkStrategy
    from pyflink_on_spark.datastream import MapFunction
    from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
    from pyflink_on_spark.datastream.state import ValueStateDescriptor

    class Count(MapFunction):
        def open(self, runtime_context: Any) -> None:
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

        def map(self, value: int) -> tuple[int, int]:
            count = (self.count.value() or 0) + 1
            self.count.update(count)
            return value, count

    settings = {
        "execution.checkpointing.dir": folder.as_uri(),
        "execution.checkpointing.interval": "10 s",
    }
    env = environment(engine, 1, settings)
    source = NumberSequenceSource(1, records)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    counted = numbers.key_by(lambda n: n * _SPREAD % keys, Types.LONG()).map(
        Count(), Types.TUPLE([Types.LONG(), Types.LONG()])
    )
    counted.filter(lambda pair: pair[0] == records).print()
    begun = time.monotonic()
    env.execute("many keys")
    return time.monotonic() - begun


def counted_by_state(numbers: Any, records: int) -> Any:
    """Count in a value state, for which Spark is asked key by key."""
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    class Count(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.count = handle.getValueState("count", "count long")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803 - PySpark's names
            count = self.count.get()[0] if self.count.exists() else 0
            last = False
            for row in rows:
                count += 1
                last = last or row.id == records
            self.count.update((count,))
            if last:
                yield Row(key=key[0], count=count)

        def close(self) -> None:
            pass

    grouped = numbers.groupBy("key")
    return grouped.transformWithState(Count(), "key long, count long", "Append", "None")


def counted_in_pandas(numbers: Any, records: int) -> Any:
    """Count in pandas; states come and go with the rows."""
    import pandas

    def count(key: Any, frames: Iterable[pandas.DataFrame], state: Any) -> Iterator[Any]:
        found = state.get[0] if state.exists else 0
        last = False
        for frame in frames:
            found += len(frame)
            last = last or bool((frame["id"] == records).any())
        state.update((found,))
        if last:
            yield pandas.DataFrame({"key": [key[0]], "count": [found]})

    grouped = numbers.groupBy("key")
    schema = "key long, count long"
    return grouped.applyInPandasWithState(count, schema, "count long", "append", "NoTimeout")


def counted_by_spark(numbers: Any, records: int) -> Any:
    """Count as Spark does."""
    from pyspark.sql import functions as F  # noqa: N812 - PySpark's own habit

    counted = numbers.groupBy("key").agg(F.count("*").alias("count"), F.max("id").alias("last"))
    return counted.where(F.col("last") == records)


COUNTED = {
    BY_HAND: (counted_by_state, "append"),
    PANDAS: (counted_in_pandas, "append"),
    AGGREGATION: (counted_by_spark, "update"),
}


def by_hand_seconds(way: str, records: int, keys: int, folder: Path) -> float:
    """Run the job as one would write it for PySpark; return the seconds of its query."""
    session = spark_session(1)
    numbers = session.range(1, records + 1, 1, _FILES)
    numbers.selectExpr(f"id * {_SPREAD} % {keys} AS key", "id").write.parquet(f"{folder}/numbers")
    numbers = (
        session.readStream.schema("key long, id long")
        .option("maxFilesPerTrigger", 1)
        .parquet(f"{folder}/numbers")
    )
    counted, mode = COUNTED[way]
    begun = time.monotonic()
    print(*last_lines(counted(numbers, records), folder, str, mode), sep="\n")
    took = time.monotonic() - begun
    session.stop()
    return took


def run(way: str, records: int, keys: int, folder: Path) -> None:
    """Run the job one way, and print its seconds in the last line."""
    if way in COUNTED:
        print(by_hand_seconds(way, records, keys, folder))
    else:
        print(engine_seconds(way, records, keys, folder))


def measure(way: str, records: int, keys: int) -> list[str]:
    """Measure one way; return the cells of its row."""
    words = ["--run", way, str(records), str(keys)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.many_keys", *words, place],
            stdout=subprocess.PIPE, text=True, start_new_session=True,
            env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
        disk = memory = 0
        due = 0.0
        while process.poll() is None:
            disk = max(disk, size_of(Path(place)))
            if time.monotonic() >= due:
                memory = max(memory, memory_of(process.pid))
                due = time.monotonic() + _MEMORY_SECONDS
            time.sleep(_SAMPLE_SECONDS)
        assert process.stdout is not None
        lines = process.stdout.read().split()
    if process.returncode != 0:
        raise SystemExit(f"{way} failed with {keys} keys")
    rate = records / float(lines[-1])
    figures = (records, rate, disk / 1e6, memory / 1e6)
    return [f"{keys:,}", way, *(f"{figure:,.0f}" for figure in figures)]


def size_of(folder: Path) -> int:
    """Return how many bytes the files of checkpoints in a folder have."""
    found = 0
    for where, _, names in os.walk(folder):
        if Path(where).name != "numbers":  # the input
            for name in names:
                with contextlib.suppress(OSError):
                    found += os.stat(os.path.join(where, name)).st_size
    return found


def memory_of(leader: int) -> int:
    """Return the memory of the processes of a session in bytes; shared pages count once."""
    found = 0
    for process in processes_of(leader):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process.id}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    found += 1024 * int(line.split()[1])
    return found


def main() -> None:
    """Print the rows of a table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", nargs="+", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--ways", nargs="+", default=["hosts", "structured", *COUNTED])
    parser.add_argument("--by-hand", type=int, default=200_000)
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is not None:
        way, records, keys, folder = options.run
        run(way, int(records), int(keys), Path(folder))
        return
    for keys in options.keys:
        for way in options.ways:
            most = {BY_HAND: options.by_hand, PANDAS: 10 * options.by_hand}
            records = min(most.get(way, 2 * keys), 2 * keys)
            print(json.dumps(measure(way, records, keys)), flush=True)


if __name__ == "__main__":
    main()
