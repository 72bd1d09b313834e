"""Paths of files that must be on this machine."""

from __future__ import annotations

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._filesystem.location import is_remote, locate


def local_path(path: str) -> str:
    """Return the absolute local path of a path or of a ``file:`` URI.

    Call this function in the driver: a worker may run in another folder.

    Raises:
        TypeError: the path is not a string.
        ValueError: the path is empty, or names a host.
        UnsupportedFlinkFeature: the path is on another file system.
    """
    if isinstance(path, str) and is_remote(path):
        raise_unsupported(
            f"the path {path!r}",
            kind=Gap.NOT_YET,
            reason="the file must be on this machine",
            instead="Mount or copy the files, and give their local path.",
        )
    return locate(path).path
