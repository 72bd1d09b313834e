"""Paths as PyFlink takes them, and the local files that they name."""

from __future__ import annotations

import os
import re

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")


def local_path(path: str) -> str:
    """Return the absolute local path that a path or a ``file:`` URI names.

    Relative paths are resolved here, in the driver, because a worker may run in another folder.

    Raises:
        TypeError: if it is not a string.
        ValueError: if it is empty, or names a host.
        UnsupportedFlinkFeature: if it is on another file system.
    """
    if not isinstance(path, str):
        raise TypeError(f"a path must be a str, not {type(path).__name__}: {path!r}")
    if not path:
        raise ValueError("Can not create a Path from an empty string")
    scheme = _SCHEME.match(path)
    if scheme is None:
        return os.path.abspath(path)
    if scheme.group(1) != "file":
        raise_unsupported(
            f"the path {path!r}",
            kind=Gap.NOT_YET,
            reason="only local paths and file:// URIs can be read and written, "
            f"not {scheme.group(1)!r}",
            instead="Mount or copy the files, and give their local path.",
        )
    return os.path.abspath(_without_authority(path, path[scheme.end() :]))


def _without_authority(uri: str, rest: str) -> str:
    if not rest.startswith("//"):
        return rest
    host, slash, path = rest[2:].partition("/")
    if host not in ("", "localhost"):
        raise ValueError(f"a file URI cannot name a host ({host!r}): {uri!r}")
    return slash + path
