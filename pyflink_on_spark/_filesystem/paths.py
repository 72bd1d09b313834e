"""Paths of files that have to be on this machine."""

from __future__ import annotations

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._filesystem.location import is_remote, locate


def local_path(path: str) -> str:
    """Return the absolute local path that a path or a ``file:`` URI names.

    Relative paths are resolved here, in the driver, because a worker may run in another folder.

    Raises:
        TypeError: if it is not a string.
        ValueError: if it is empty, or names a host.
        UnsupportedFlinkFeature: if it is on another file system.
    """
    if isinstance(path, str) and is_remote(path):
        raise_unsupported(
            f"the path {path!r}",
            kind=Gap.NOT_YET,
            reason="a file on this machine is needed, not one on another file system",
            instead="Mount or copy the files, and give their local path.",
        )
    return locate(path).path
