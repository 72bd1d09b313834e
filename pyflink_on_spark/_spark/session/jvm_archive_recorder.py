"""Records the JVM's class-data archive into the file that the command line names.

One process at a time records, into a file of another name; the archive gets its name only after a
JVM has started from it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyflink_on_spark._spark.session.jvm_archive import (
    SWITCH,
    JvmArchive,
    recorder_environment,
    remove_unused,
)
from pyflink_on_spark._spark.session.spark_defaults import JAVA_OPTIONS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_STEP_SECONDS = 300
_ROWS = "subtask_id int, channel int, seq long, payload binary"


def record(archive: JvmArchive) -> None:
    """Record an archive, unless there is one or another process is at it.

    Args:
        archive: its place.
    """
    with archive.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        if archive.file() is not None:
            return
        unproven = archive.stem.with_name(f"{archive.stem.name}.{os.getpid()}.unproven")
        try:
            if _make(unproven) and _proves_fit(unproven):
                archive.publish(unproven)
            else:
                archive.failure.touch()
        finally:
            unproven.unlink(missing_ok=True)
            remove_unused(archive.stem.parent)


def _make(file: Path) -> bool:
    """Run a small job in a JVM that writes the archive when it ends."""
    _run_job(f"-XX:ArchiveClassesAtExit={file}", "-Xlog:disable")
    return file.is_file()


def _proves_fit(file: Path) -> bool:
    """Return whether a JVM that must use the archive starts."""
    return _run_job("-Xshare:on", f"-XX:SharedArchiveFile={file}")


def _run_job(*options: str) -> bool:
    """Run this module as a job; its output ends when its JVM has, which is what is waited for."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        job = subprocess.run(
            [sys.executable, "-m", __spec__.name, "--job", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**recorder_environment(), SWITCH: "off"},
            timeout=_STEP_SECONDS,
            check=False,
        )
        return job.returncode == 0
    return False


def run_typical_job(options: list[str]) -> None:
    """Use what jobs use of Spark, so that its classes are loaded.

    Args:
        options: options for the JVM.
    """
    from pyflink_on_spark._spark.session.session import obtain_session

    session = obtain_session({JAVA_OPTIONS: " ".join(options)})
    _two_stages(session.range(0, 8, 1, 2)).toArrow()
    stream = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 4).load()
    with contextlib.suppress(Exception):  # what a later Spark lacks of this is not worth more
        query = stream.writeStream.foreachBatch(_run_batch).trigger(availableNow=True).start()
        query.awaitTermination(_STEP_SECONDS)
    session.stop()


def _run_batch(batch: DataFrame, _: int) -> None:
    _two_stages(batch).write.format("noop").mode("overwrite").save()


def _two_stages(rows: DataFrame) -> DataFrame:
    first = rows.mapInArrow(_to_buffers, _ROWS)
    exchanged = first.repartition(2, "subtask_id").sortWithinPartitions("seq", "channel")
    return exchanged.mapInArrow(_unchanged, _ROWS)


def _to_buffers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        numbers = list(range(batch.num_rows))
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(numbers, pa.int32()),
                pa.array(numbers, pa.int32()),
                pa.array(numbers, pa.int64()),
                pa.array([b"payload"] * len(numbers), pa.binary()),
            ],
            names=["subtask_id", "channel", "seq", "payload"],
        )


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def main(arguments: list[str]) -> None:
    """Record the archive named on the command line, or run the job that fills it."""
    if arguments[0] == "--job":
        run_typical_job(arguments[1:])
    else:
        os.nice(19)
        record(JvmArchive(Path(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
