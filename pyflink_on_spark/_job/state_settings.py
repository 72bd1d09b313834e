"""What a job's configuration says of its keyed state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from pyflink_on_spark._runtime.task.plan import StagePlan
from pyflink_on_spark._runtime.state.disk.settings import DiskSettings
from pyflink_on_spark._runtime.state.settings import StateSettings
from pyflink_on_spark.common._option import boolean_option
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream import _checkpoint_options as options
from pyflink_on_spark.datastream.state_backend import state_backend_kind

CHANGELOG = boolean_option("state.changelog.enabled", False)
_SLOT_MEMORY = options.memory_option(
    "state.backend.rocksdb.memory.fixed-per-slot", 128 * 1024 * 1024
)
_BLOCK_CACHE = options.memory_option("state.backend.rocksdb.block.cache-size", 0)


def state_settings(configuration: Mapping[str, str], operators: int = 1) -> StateSettings:
    """Return what a configuration says of keyed state.

    Args:
        configuration: the job's.
        operators: how many operators of a slot have keyed state, and share its memory.

    Raises:
        ValueError: if an option cannot be read.
    """
    values = Configuration.from_dict(dict(configuration))
    disk = None
    if state_backend_kind(values) == "rocksdb":
        memory, pages = values._read(_SLOT_MEMORY), values._read(_BLOCK_CACHE)
        folders = values._read(options.ROCKSDB_DIRECTORIES)
        disk = DiskSettings(
            memory=memory // max(1, operators),
            folders=tuple(map(_path, folders.split(","))) if folders else (),
            page_cache=pages // max(1, operators) if pages else None,
        )
    return StateSettings(disk, writes_changes(values))


def writes_changes(values: Configuration) -> bool:
    """Tell whether changes are written: a changelog, or a backend that can, and shall."""
    if values._read(CHANGELOG):
        return True
    return state_backend_kind(values) == "rocksdb" and options.read_first(
        values, options.INCREMENTAL, options.INCREMENTAL_OLD
    )


def _path(folder: str) -> str:
    parts = urlsplit(folder)
    return parts.path if parts.scheme else folder


def keyed_operators(levels: Iterable[StagePlan], slot: int) -> int:
    """Return how many operators with keyed state a slot has."""
    return sum(
        plan.operator.keyed
        for level in levels
        for region in level.regions
        if slot < region.parallelism
        for segment in region.segments
        for plan in segment.operators
    )
