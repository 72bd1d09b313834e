"""Finds the checkpoint with which a job should continue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, Metadata, read_metadata
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import SHARED
from pyflink_on_spark._runtime.checkpoints.folder import Folder, folder

_DEPTH = 2
"""A savepoint is in the folder of savepoints, a checkpoint in a folder of its job."""


def latest_checkpoint(*folders: str, configuration: Mapping[str, str] | None = None) -> str | None:
    """Return the path of the latest complete checkpoint or savepoint.

    Args:
        folders: folders of checkpoints (``execution.checkpointing.dir``) and savepoints
            (``execution.checkpointing.savepoint-dir``) of one job; those that do not exist are
            empty.
        configuration: says how file systems are reached.

    Returns:
        None if there is none.

    Raises:
        CheckpointError: one is damaged, or of another version.
    """
    found = [
        (metadata.time, metadata.checkpoint_id, place.uri)
        for name in folders
        for place in _places(folder(name, configuration), _DEPTH)
        for metadata in _complete(place)
    ]
    return max(found)[2] if found else None


def _places(place: Folder, depth: int) -> Iterator[Folder]:
    names = place.names()
    if METADATA in names:
        yield place
    elif depth:
        for name in names:
            if name != SHARED and not name.startswith("."):
                yield from _places(place.inside(name), depth - 1)


def _complete(place: Folder) -> Iterator[Metadata]:
    try:
        yield read_metadata(place)
    except CheckpointError as error:
        if not isinstance(error.__cause__, FileNotFoundError):  # it was removed meanwhile
            raise
