"""Where checkpoints are stored, according to a configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._options import checkpointing, own

JOB_MANAGER = "jobmanager"
FILE_SYSTEM = "filesystem"
UNSET = -1
MAX_THRESHOLD = 1024 * 1024


@dataclass(frozen=True)
class StorageSpec:
    """A place for checkpoints.

    Args:
        kind: ``jobmanager``, which is the driver's memory, or ``filesystem``.
        checkpoint_path: the URI of the folder of checkpoints, or None.
        savepoint_path: the URI of the folder of savepoints, or None.
        max_state_size: how many bytes of state a subtask may have in memory; -1 if not set.
        inline_threshold: Flink's size in bytes below which state gets no file; -1 if not set.
        write_buffer: Flink's size in bytes of the buffer of a file; -1 if not set.
    """

    kind: str
    checkpoint_path: str | None = None
    savepoint_path: str | None = None
    max_state_size: int = UNSET
    inline_threshold: int = UNSET
    write_buffer: int = UNSET


def job_manager_spec(path: str | None, max_state_size: int) -> StorageSpec:
    """Describe the storage in the driver's memory.

    Raises:
        ValueError: the path has no scheme, or the size is not positive.
    """
    if max_state_size <= 0:
        raise ValueError("maxStateSize must be > 0")
    folder = None if path is None else checkpoint_directory(path)
    return StorageSpec(JOB_MANAGER, checkpoint_path=folder, max_state_size=max_state_size)


def file_system_spec(path: Any, inline_threshold: int, write_buffer: int) -> StorageSpec:
    """Describe the storage in a folder.

    Raises:
        ValueError: there is no path, it has no scheme, or a size is out of bounds.
    """
    if path is None:
        raise ValueError("checkpoint_path must not be None")
    if not UNSET <= inline_threshold <= MAX_THRESHOLD:
        raise ValueError(
            f"The threshold for file state size must be in [-1, {MAX_THRESHOLD}], where '-1' "
            "means to use the value from the deployment's configuration."
        )
    if write_buffer < UNSET:
        raise ValueError(
            "The write buffer size must be not less than '-1', where '-1' means to use the value "
            "from the deployment's configuration."
        )
    return StorageSpec(
        FILE_SYSTEM,
        checkpoint_path=checkpoint_directory(path),
        inline_threshold=inline_threshold,
        write_buffer=write_buffer,
    )


def checkpoint_directory(uri: str) -> str:
    """Return the URI of a folder as Flink writes it: ``file:/data``, no slash at the end.

    Raises:
        ValueError: the URI has no scheme, or is the root directory.
    """
    if not uri:
        raise ValueError("Can not create a Path from an empty string")
    parts = urlsplit(uri)
    if not parts.scheme:
        raise ValueError(
            "The scheme (hdfs://, file://, etc) is null. Please specify the file system scheme "
            "explicitly in the URI."
        )
    path = re.sub("/+", "/", parts.path).rstrip("/")
    if not path:
        raise ValueError("Cannot use the root directory for checkpoints.")
    authority = f"//{parts.netloc}" if parts.netloc else ""
    return f"{parts.scheme}:{authority}{path}"


def write_storage(values: MutableMapping[str, Any], spec: StorageSpec) -> None:
    """Set a storage in a configuration, in place of the one that it had."""
    for option in (checkpointing.STORAGE, checkpointing.DIRECTORY):
        option.remove(values)
    checkpointing.STORAGE.write(values, spec.kind)
    for path_option, path in (
        (checkpointing.DIRECTORY, spec.checkpoint_path),
        (checkpointing.SAVEPOINT_DIRECTORY, spec.savepoint_path),
    ):
        if path is not None:
            path_option.write(values, path)
    for size_option, size in (
        (own.MAX_STATE_SIZE, spec.max_state_size),
        (checkpointing.INLINE_THRESHOLD, spec.inline_threshold),
        (checkpointing.WRITE_BUFFER, spec.write_buffer),
    ):
        if size != UNSET:
            size_option.write(values, size)


def read_storage(values: Mapping[str, Any]) -> StorageSpec | None:
    """Return the storage that a configuration describes, or None if it describes none.

    Raises:
        UnsupportedFlinkFeature: it names a Java class.
        ValueError: a path has no scheme, or a size is out of bounds.
    """
    kind = checkpointing.STORAGE.read(values)
    path = checkpointing.DIRECTORY.read(values)
    if kind is None and path is None:
        return None
    name = (kind or FILE_SYSTEM).lower()
    if name == JOB_MANAGER:
        return job_manager_spec(path, own.MAX_STATE_SIZE.read(values))
    if name != FILE_SYSTEM:
        refuse_java(
            f"the checkpoint storage {kind!r}",
            instead=f"Set {checkpointing.STORAGE.key} to {FILE_SYSTEM!r} or {JOB_MANAGER!r}.",
        )
    return file_system_spec(
        path,
        checkpointing.INLINE_THRESHOLD.read(values),
        checkpointing.WRITE_BUFFER.read(values),
    )
