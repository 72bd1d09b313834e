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
from pathlib import Path
from tempfile import TemporaryDirectory

from pyflink_on_spark._operate.view.job_records import VARIABLE as HOME
from pyflink_on_spark._spark.session.jvm_archive import (
    SWITCH,
    JvmArchive,
    recorder_environment,
    remove_unused,
)
from pyflink_on_spark._spark.session.session import obtain_session
from pyflink_on_spark._spark.session.spark_defaults import JAVA_OPTIONS
from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

_STEP_SECONDS = 300


def record(archive: JvmArchive, *, wait: bool = False) -> None:
    """Record an archive, unless there is one or another process is at it.

    Args:
        archive: its place.
        wait: whether to wait for the other process.
    """
    with archive.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
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
    # The user's list of jobs is not for these.
    with TemporaryDirectory() as folder, contextlib.suppress(subprocess.TimeoutExpired):
        job = subprocess.run(
            [sys.executable, "-m", __spec__.name, "--job", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**recorder_environment(), SWITCH: "off", HOME: folder},
            timeout=_STEP_SECONDS,
            check=False,
        )
        return job.returncode == 0
    return False


def run_typical_jobs(options: list[str]) -> None:
    """Run a job of each kind, so that the classes that jobs use are loaded.

    Args:
        options: options for the JVM.
    """
    obtain_session({JAVA_OPTIONS: " ".join(options)})
    for mode in (RuntimeExecutionMode.BATCH, RuntimeExecutionMode.STREAMING):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_runtime_mode(mode)
        env.set_parallelism(2)
        counted = env.from_collection([("a", 1), ("b", 1)]).key_by(lambda pair: pair[0]).sum(1)
        counted.print()
        env.execute()


def main(arguments: list[str]) -> None:
    """Record the archive named on the command line, or run the job that fills it."""
    if arguments[0] == "--job":
        run_typical_jobs(arguments[1:])
    else:
        os.nice(19)
        record(JvmArchive(Path(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
