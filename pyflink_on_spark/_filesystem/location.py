"""Paths as users write them, and their file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import unquote

from pyflink_on_spark._filesystem.connection import options_of_uri
from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._filesystem.remote_files import RemoteFiles
from pyflink_on_spark._filesystem.schemes import find_scheme, uses_arrow
from pyflink_on_spark._filesystem.storage_options import storage_options

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Location:
    """A path and its file system.

    Args:
        path: an absolute local path, or a URI without a password.
        files: the file system.
    """

    path: str
    files: FileSystem

    def has(self, path: str) -> bool:
        """True for a path on this file system."""
        if not isinstance(self.files, RemoteFiles):
            return path.startswith("/")
        return f"{path}/".startswith(f"{self.files.root}/")


def locate(path: str, configuration: Mapping[str, str] = _NOTHING) -> Location:
    """Return the location of a path.

    Call this function in the driver if the path may be relative: a worker may run in another
    folder.

    Args:
        path: a local path or a URI.
        configuration: the configuration of the job, which may say how to reach the file system.

    Raises:
        TypeError: the path is not a string.
        ValueError: the path is not valid, or its file system is unknown.
        ModuleNotFoundError: a package for the file system is missing.
    """
    if not isinstance(path, str):
        raise TypeError(f"a path must be a str, not {type(path).__name__}: {path!r}")
    if not path:
        raise ValueError("Can not create a Path from an empty string")
    scheme = _SCHEME.match(path)
    if scheme is None:
        return Location(os.path.abspath(path), LOCAL)
    rest = path[scheme.end() :]
    if scheme.group(1) == "file":
        return Location(os.path.abspath(_without_authority(path, rest)), LOCAL)
    return _locate_remote(scheme.group(1), rest, configuration)


def absolute(path: str) -> str:
    """Return the absolute path of a local path, and a URI unchanged.

    Raises:
        ValueError: the path is not valid, or its file system is unknown.
        ModuleNotFoundError: a package for the file system is missing.
    """
    found = locate(path)
    return path if is_remote(path) else found.path


def is_remote(path: str) -> bool:
    """True for the URI of a file system that is not local."""
    scheme = _SCHEME.match(path)
    return scheme is not None and scheme.group(1) != "file"


def _locate_remote(name: str, rest: str, configuration: Mapping[str, str]) -> Location:
    authority, slash, path = rest.removeprefix("//").partition("/")
    user, at, host = authority.rpartition("@")
    user, colon, password = user.partition(":")
    scheme = find_scheme(name)
    if colon and scheme.object_store:
        raise ValueError(
            f"keys do not belong in a URI ({name}://...@{host}): give them in the configuration "
            "or in the environment"
        )
    root = f"{name}://{user}{at}{host}"
    options = {
        **options_of_uri(scheme, root),
        **({"password": unquote(password)} if colon else {}),
        **storage_options(scheme.protocol, authority, configuration, arrow=uses_arrow(scheme)),
    }
    whole = f"{root}{slash}{path}".rstrip("/")
    return Location(max(whole, root, key=len), RemoteFiles(root, scheme, options))


def _without_authority(uri: str, rest: str) -> str:
    if not rest.startswith("//"):
        return rest
    host, slash, path = rest[2:].partition("/")
    if host not in ("", "localhost"):
        raise ValueError(f"a file URI cannot name a host ({host!r}): {uri!r}")
    return slash + path
