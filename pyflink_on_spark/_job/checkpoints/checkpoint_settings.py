"""The settings of checkpoints, the layout of their storage, and the state backend."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._options import checkpointing, own
from pyflink_on_spark._options import checkpointing as options
from pyflink_on_spark._options.registry import note_unmet_needs
from pyflink_on_spark._runtime.checkpoints.checkpoint import JobLayout
from pyflink_on_spark._runtime.contract.plan import OperatorPlan, StagePlan
from pyflink_on_spark._runtime.contract.state_meaning import Meanings
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from pyflink_on_spark._runtime.state.disk import DiskSettings, StateSettings

JOB_MANAGER = "jobmanager"
FILE_SYSTEM = "filesystem"
UNSET = -1
MAX_THRESHOLD = 1024 * 1024
HASHMAP = "hashmap"
ROCKSDB = "rocksdb"
MEMORY = "jobmanager"
FILES = "filesystem"
OLD_ROCKSDB = "org.apache.flink.contrib.streaming.state.RocksDBStateBackendFactory"
_KINDS = (HASHMAP, ROCKSDB, MEMORY, FILES, OLD_ROCKSDB)
_ON_DISK = (ROCKSDB, OLD_ROCKSDB)


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


def write_storage(values: MutableMapping[str, object], spec: StorageSpec) -> None:
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


def read_storage(values: Mapping[str, object]) -> StorageSpec | None:
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


def backend_kind(values: Mapping[str, object]) -> str | None:
    """Return the kind of state backend that a configuration names; None if it names none.

    Raises:
        UnsupportedFlinkFeature: the configuration names a Java class.
    """
    name = checkpointing.BACKEND.read(values)
    if name is None:
        return None
    kind = name if name == OLD_ROCKSDB else name.lower()
    if kind not in _KINDS:
        refuse_java(
            f"the state backend {name!r}",
            instead=f"Set {checkpointing.BACKEND.key} to {HASHMAP!r} or {ROCKSDB!r}.",
        )
    return kind


def keeps_state_on_disk(values: Mapping[str, object]) -> bool:
    """True if keyed state is kept in a database on disk, rather than in memory.

    Raises:
        UnsupportedFlinkFeature: the configuration names a Java class.
    """
    return backend_kind(values) in _ON_DISK


def state_settings(configuration: Mapping[str, str], operators: int = 1) -> StateSettings:
    """Return the settings of keyed state in a configuration.

    Args:
        configuration: the job's.
        operators: how many operators of a slot have keyed state, and share its memory.

    Raises:
        ValueError: if an option cannot be read.
    """
    disk = None
    if keeps_state_on_disk(configuration):
        memory = checkpointing.ROCKSDB_SLOT_MEMORY.read(configuration)
        pages = checkpointing.ROCKSDB_BLOCK_CACHE.read(configuration)
        folders = checkpointing.ROCKSDB_DIRECTORIES.read(configuration)
        disk = DiskSettings(
            memory=memory // max(1, operators),
            folders=tuple(map(_path, folders.split(","))) if folders else (),
            page_cache=pages // max(1, operators) if pages else None,
        )
    return StateSettings(disk, writes_changes(configuration), own.CHANGED_STATE.read(configuration))


def writes_changes(configuration: Mapping[str, str]) -> bool:
    """True if checkpoints contain changes only: with a changelog, or incremental RocksDB.

    Args:
        configuration: the job's.
    """
    if checkpointing.CHANGELOG.read(configuration):
        return True
    return checkpointing.INCREMENTAL.read(configuration) and keeps_state_on_disk(configuration)


def _path(folder: str) -> str:
    parts = urlsplit(folder)
    return parts.path if parts.scheme else folder


def keyed_operators(stages: Iterable[StagePlan], slot: int) -> int:
    """Return how many operators with keyed state a slot has."""
    return sum(
        plan.operator.keyed
        for stage in stages
        for vertex in stage.vertices
        if slot < vertex.parallelism
        for chain in vertex.chains
        for plan in chain.operators
    )


@dataclass(frozen=True)
class CheckpointSettings:
    """The settings of checkpoints; times in ms.

    Args:
        interval: from the beginning of one to the next; None for none.
        minimum_pause: from the end of one to the beginning of the next.
        timeout: how long one may take.
        tolerable_failures: how many may fail before the job does.
        directory: the URI of a folder; None for the driver's memory.
        max_state_size: how many bytes of an operator's state a slot may keep in memory.
        retained: how many are kept while the job runs.
        kept_when_cancelled: whether the last one stays when the job is cancelled.
        kept_when_failed: whether it stays when the job fails.
        savepoint_directory: where savepoints go if nothing else is said.
        restore: a checkpoint or savepoint to begin with.
        ignore_unclaimed: whether state of operators that are gone may be left out.
        changed_state: what happens to state that means something else in the job.
        incremental: whether a checkpoint has only what has changed since the one before.
        materialize_interval: how often one is whole nevertheless; None for only when it pays.
        configuration: all of it; says how file systems are reached.
    """

    interval: int | None
    minimum_pause: int
    timeout: int
    tolerable_failures: int
    directory: str | None
    max_state_size: int
    retained: int
    kept_when_cancelled: bool
    kept_when_failed: bool
    savepoint_directory: str | None
    restore: str | None
    ignore_unclaimed: bool
    changed_state: str = own.REFUSE
    incremental: bool = False
    materialize_interval: int | None = None
    configuration: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> CheckpointSettings:
        """Return the settings in a configuration.

        Raises:
            ValueError: if an option cannot be read.
        """
        interval = options.INTERVAL.read(configuration)
        if interval is not None:
            note_unmet_needs(configuration, options.DIRECTORY)
        storage = read_storage(configuration)
        directory = None if storage is None else storage.checkpoint_path
        retention = options.RETENTION.read(configuration)
        return cls(
            interval=interval,
            minimum_pause=options.MIN_PAUSE.read(configuration),
            timeout=options.TIMEOUT.read(configuration),
            tolerable_failures=options.TOLERABLE_FAILURES.read(configuration),
            directory=directory,
            max_state_size=own.MAX_STATE_SIZE.read(configuration),
            retained=max(1, options.RETAINED.read(configuration)),
            kept_when_cancelled=retention == options.RETAIN_ON_CANCELLATION,
            kept_when_failed=retention != options.NO_RETENTION,
            savepoint_directory=options.SAVEPOINT_DIRECTORY.read(configuration),
            restore=options.RESTORE_PATH.read(configuration),
            ignore_unclaimed=options.IGNORE_UNCLAIMED.read(configuration),
            changed_state=own.CHANGED_STATE.read(configuration),
            incremental=directory is not None and writes_changes(configuration),
            materialize_interval=_materialize_interval(configuration),
            configuration=dict(configuration),
        )


def _materialize_interval(configuration: Mapping[str, str]) -> int | None:
    if checkpointing.CHANGELOG.read(configuration) and checkpointing.MATERIALIZE.read(
        configuration
    ):
        return checkpointing.MATERIALIZE_INTERVAL.read(configuration)
    return None


def sink_names(operators: Iterable[OperatorPlan]) -> dict[int, str]:
    """Return the stable names of a job's sinks by their numbers."""
    return {
        plan.operator.sink_id: plan.state_id or ""
        for plan in operators
        if isinstance(plan.operator, SinkOperator)
    }


def layout_of(
    operators: Collection[OperatorPlan],
    sources: Collection[str],
    of_sources: Meanings | None = None,
) -> JobLayout:
    """Return the owners of state in a job.

    Args:
        operators: all of the job.
        sources: the stable names of its sources.
        of_sources: what the positions of sources mean, by the stable name of each.
    """
    meanings = {
        plan.state_id: plan.meaning
        for plan in operators
        if plan.state_id is not None and plan.meaning is not None
    }
    return JobLayout(
        {plan.state_id: plan.max_parallelism for plan in operators if plan.state_id},
        sources,
        set(sink_names(operators).values()),
        {plan.state_id for plan in operators if plan.state_id and not plan.max_parallelism_set},
        {**(of_sources or {}), **meanings},
    )
