"""A class-data archive for Spark's JVM, with which it starts in about half the time.

The JVM loads some twenty thousand classes before the first record is read. An archive of them, kept
in the user's cache folder per Spark and Java build, is mapped instead. It is recorded once, in a
detached process of low priority after the first script has ended, so that no script waits for it. A
missing or unfit archive is passed over by the JVM without a word.

``PYFLINK_ON_SPARK_JVM_ARCHIVE=off`` in the environment switches all of this off.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pyflink_on_spark._spark.java_home import JavaRuntime
from pyflink_on_spark._spark.spark_defaults import PACKAGE_ROOT, configuration_folder, spark_home

SWITCH = "PYFLINK_ON_SPARK_JVM_ARCHIVE"
_RECORDER = "pyflink_on_spark._spark.jvm_archive_recorder"
_UNUSED_DAYS = 60

# The JVM speaks of archives in warnings only; what is an error must still be seen.
_SILENT = ["-Xlog:disable", "-Xlog:all=error:stderr"]


@dataclass(frozen=True)
class JvmArchive:
    """The place of one archive.

    Args:
        path: the file; it may not exist yet.
    """

    path: Path

    def start_options(self) -> list[str]:
        """Return the JVM options that use the archive; none while there is no archive."""
        if not self.path.is_file():
            return []
        with contextlib.suppress(OSError):
            os.utime(self.path)
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={self.path}", *_SILENT]

    def record_at_exit(self) -> None:
        """Have the archive recorded in the background once this process has ended."""
        if not self.path.exists() and not self.failure.exists():
            atexit.register(self._record_detached, os.getpid())

    @property
    def failure(self) -> Path:
        """The file that says that recording failed, and need not be tried again."""
        return self.path.with_suffix(".failed")

    def _record_detached(self, process: int) -> None:
        if os.getpid() != process or self.path.exists():
            return
        with contextlib.suppress(OSError):
            subprocess.Popen(
                [sys.executable, "-m", _RECORDER, str(self.path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.path.parent,
                env=recorder_environment(),
                start_new_session=True,
            )


def find_archive(java: JavaRuntime) -> JvmArchive | None:
    """Return where the archive for this Spark and Java is, or None where there can be none.

    Args:
        java: the Java that Spark will run on.
    """
    switched_off = os.environ.get(SWITCH, "").lower() in {"off", "0", "false", "no"}
    if switched_off or os.name != "posix" or _has_files(configuration_folder()):
        return None  # a JVM refuses archives when a folder on its class path has files
    folder = _cache_folder()
    return None if folder is None else JvmArchive(folder / f"jvm-{_key(java)}.jsa")


def recorder_environment() -> dict[str, str]:
    """Return the environment of a process that records: ours, where this package is found."""
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, [str(PACKAGE_ROOT), inherited]))
    return {**os.environ, "PYTHONPATH": path}


def remove_unused(folder: Path) -> None:
    """Remove the archives that no JVM has used for two months, and what recordings left behind.

    Args:
        folder: the cache folder.
    """
    oldest = time.time() - _UNUSED_DAYS * 24 * 3600
    for file in folder.glob("jvm-*"):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def _cache_folder() -> Path | None:
    """Return our cache folder if it is the user's own and nobody else can write to it."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "pyflink_on_spark"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):
        return None
    is_private = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return folder if is_private and os.access(folder, os.W_OK) else None


def _key(java: JavaRuntime) -> str:
    digest = hashlib.sha256()
    for part in (java.identity, platform.platform(), *_class_path()):
        digest.update(part.encode() + b"\0")
    return f"spark{version('pyspark')}-java{java.major}-{digest.hexdigest()[:16]}"


def _class_path() -> Iterator[str]:
    """Yield what a JVM compares of its class path: names, sizes and times of the jars."""
    for jar in sorted((spark_home() / "jars").glob("*.jar")):
        status = jar.stat()
        yield f"{jar} {status.st_size} {status.st_mtime_ns}"


def _has_files(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
