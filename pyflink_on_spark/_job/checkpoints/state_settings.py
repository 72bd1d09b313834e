"""What a job's configuration says of its keyed state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from pyflink_on_spark._job.checkpoints.state_backend import keeps_state_on_disk
from pyflink_on_spark._options import checkpointing, own, state
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.state.disk.settings import DiskSettings
from pyflink_on_spark._runtime.state.settings import StateSettings


def state_settings(configuration: Mapping[str, str], operators: int = 1) -> StateSettings:
    """Return what a configuration says of keyed state.

    Args:
        configuration: the job's.
        operators: how many operators of a slot have keyed state, and share its memory.

    Raises:
        ValueError: if an option cannot be read.
    """
    disk = None
    if keeps_state_on_disk(configuration):
        memory = state.ROCKSDB_SLOT_MEMORY.read(configuration)
        pages = state.ROCKSDB_BLOCK_CACHE.read(configuration)
        folders = state.ROCKSDB_DIRECTORIES.read(configuration)
        disk = DiskSettings(
            memory=memory // max(1, operators),
            folders=tuple(map(_path, folders.split(","))) if folders else (),
            page_cache=pages // max(1, operators) if pages else None,
        )
    return StateSettings(disk, writes_changes(configuration), own.CHANGED_STATE.read(configuration))


def writes_changes(configuration: Mapping[str, str]) -> bool:
    """Tell whether checkpoints have only what changed: with a changelog, or RocksDB if asked to.

    Args:
        configuration: the job's.
    """
    if state.CHANGELOG.read(configuration):
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
