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

from pyflink_on_spark._spark.session.java_home import JavaRuntime
from pyflink_on_spark._spark.session.spark_defaults import (
    PACKAGE_ROOT,
    configuration_folder,
    spark_home,
)

SWITCH = "PYFLINK_ON_SPARK_JVM_ARCHIVE"
_RECORDER = "pyflink_on_spark.tools.archive.recorder"
_UNUSED_DAYS = 60
_SECONDS_TO_NEXT_TRY = 3600
_MOST_BYTES = 1024**3

# What the JVM has to say about an archive helps nobody; any other error of its must still be seen.
_SILENT = ["-Xlog:disable", "-Xlog:all=error:stderr", "-Xlog:cds*=off:stderr"]


@dataclass(frozen=True)
class JvmArchive:
    """The place of one archive.

    A JVM dies of a file that was cut off, so its length is part of the file's name.

    Args:
        stem: the file's path without the length and the suffix.
    """

    stem: Path

    def file(self) -> Path | None:
        """Return the archive if it exists, whole."""
        for file in self.stem.parent.glob(f"{self.stem.name}.*.jsa"):
            with contextlib.suppress(OSError):
                if file.name == self._name_of(file):
                    return file
        return None

    def publish(self, recorded: Path) -> None:
        """Give a recorded archive the name under which it is found.

        Args:
            recorded: the file, in the same folder.
        """
        recorded.replace(recorded.with_name(self._name_of(recorded)))

    def start_options(self) -> list[str]:
        """Return the JVM options that use the archive; none while there is no archive."""
        file = self.file()
        if file is None:
            return []
        with contextlib.suppress(OSError):
            os.utime(file)
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={file}", *_SILENT]

    def record_at_exit(self) -> None:
        """Have the archive recorded in the background once this process has ended."""
        if self.file() is None and not self._has_failed():
            atexit.register(self._record_detached, os.getpid())

    def discard(self) -> None:
        """Remove an archive with which a JVM did not start; record it again after an hour.

        The archive need not be the reason: the operating system may have ended the JVM.
        """
        with contextlib.suppress(OSError):
            self.failure.touch()
            for file in self.stem.parent.glob(f"{self.stem.name}.*.jsa"):
                file.unlink()

    @property
    def failure(self) -> Path:
        """The file that says that recording failed, and when."""
        return self.stem.with_name(f"{self.stem.name}.failed")

    @property
    def lock(self) -> Path:
        """The file that the one process that records has locked."""
        return self.stem.with_name(f"{self.stem.name}.lock")

    def _has_failed(self) -> bool:
        """Return whether recording failed within the last hour."""
        try:
            return time.time() - self.failure.stat().st_mtime < _SECONDS_TO_NEXT_TRY
        except OSError:
            return False

    def _name_of(self, file: Path) -> str:
        return f"{self.stem.name}.{file.stat().st_size}.jsa"

    def _record_detached(self, process: int) -> None:
        if os.getpid() != process or self.file() is not None:
            return
        with contextlib.suppress(OSError):
            subprocess.Popen(
                [sys.executable, "-m", _RECORDER, str(self.stem)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.stem.parent,
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
    return None if folder is None else JvmArchive(folder / f"jvm-{_key(java)}")


def recorder_environment() -> dict[str, str]:
    """Return the environment of a process that records: ours, where this package is found."""
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, [str(PACKAGE_ROOT), inherited]))
    return {**os.environ, "PYTHONPATH": path}


def remove_unused(folder: Path) -> None:
    """Remove what no JVM has used for two months, and the archives that make more than 1 GiB.

    Those that were used last stay.

    Args:
        folder: the cache folder.
    """
    oldest = time.time() - _UNUSED_DAYS * 24 * 3600
    for file in folder.glob("jvm-*"):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()
    total = 0
    for _, size, file in sorted(_archives(folder), reverse=True):
        total += size
        if total > _MOST_BYTES:
            with contextlib.suppress(OSError):
                file.unlink()


def _archives(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield when each archive was used last, its size in bytes, and the file."""
    for file in folder.glob("jvm-*.jsa"):
        with contextlib.suppress(OSError):
            status = file.stat()
            yield status.st_mtime, status.st_size, file


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
    """Yield the properties of the class path that a JVM compares: names, sizes, times of jars."""
    for jar in sorted((spark_home() / "jars").glob("*.jar")):
        status = jar.stat()
        yield f"{jar} {status.st_size} {status.st_mtime_ns}"


def _has_files(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
