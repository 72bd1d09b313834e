"""The contract of a file system with sources, sinks and checkpoints, by scheme and by session."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any, BinaryIO

_MAGIC = re.compile(r"[*?\[]")
EXTRA = "pip install 'pyflink_on_spark[filesystems]'"
_FIRST_YEAR = 2021
# Protocols for files in other files, for cached copies, and for this machine.
_NOT_A_PLACE = frozenset(
    {"zip", "tar", "libarchive", "dir", "root", "data", "reference", "generic", "local", "file"}
    | {"filecache", "blockcache", "simplecache", "cached", "async_wrapper", "asyncwrapper"}
    | {"asynclocal"}
)


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file or folder that exists.

    Args:
        path: the path, as the file system represents it.
        size: the size in bytes; 0 for a folder.
        is_folder: whether it is a folder.
    """

    path: str
    size: int
    is_folder: bool = False


class FileSystem(ABC):
    """Files by their paths: absolute local paths, or URIs. Picklable.

    All methods raise OSError with the path in the message.
    """

    resumable: bool
    """True if another process can resume an unfinished file."""
    whole_files: bool = False
    """True if a new file appears only when it is closed."""
    writable: bool = True
    """True if files can be written."""

    @abstractmethod
    def status(self, path: str) -> FileStatus:
        """Return the status of a path.

        Raises:
            FileNotFoundError: the path does not exist.
        """

    @abstractmethod
    def exists(self, path: str) -> bool:
        """True if a path exists."""

    def visible_files(self, path: str) -> Iterator[FileStatus]:
        """Yield a file, or all files in a folder and its sub-folders, in order of names.

        Names that begin with ``.`` or ``_`` are skipped, also that of the path itself.

        Raises:
            FileNotFoundError: the path does not exist.
        """
        try:
            found = self.status(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"the file or folder to read does not exist: {path}") from None
        if is_hidden(path):
            return
        if found.is_folder:
            yield from self.visible_in(path)
        else:
            yield found

    @abstractmethod
    def visible_in(self, folder: str) -> Iterator[FileStatus]:
        """Yield the visible files of a folder and its sub-folders, in order of names."""

    @abstractmethod
    def new_files(self, path: str, known: set[str]) -> Iterator[str]:
        """Yield the paths of ``visible_files`` that are not known, in any order.

        Raises:
            FileNotFoundError: the path does not exist.
        """

    @abstractmethod
    def matches(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern of ``*``, ``?``, ``[...]`` and ``**``, in order."""

    @abstractmethod
    def all_files(self, folder: str) -> Iterator[str]:
        """Yield the paths of all files in a folder and its sub-folders, if the folder exists."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names of files and folders in a folder, in order, if the folder exists."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """Open a file for reading at any place.

        Raises:
            FileNotFoundError: there is no such file.
        """

    @abstractmethod
    def create(self, path: str, *, private: bool = False) -> BinaryIO:
        """Create a file, and the folders of its path.

        Args:
            path: of the file.
            private: whether only the user of the process may read the file and the new folders;
                object stores have permissions of their own.
        """

    @abstractmethod
    def make_durable(self, path: str) -> None:
        """Write a closed file, or the names in a folder, to the disk."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Rename a file; replace a file at the new path.

        Raises:
            FileNotFoundError: there is no such file.
        """

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file if it exists."""

    @abstractmethod
    def remove_folder(self, path: str) -> None:
        """Remove a folder with its content if it exists."""

    def input_path(self, path: str) -> Any:
        """Return the path of a file in the form that formats open; see ``open_input``."""
        return path

    def expand(self, path: str) -> list[str]:
        """Return a path, or the matches of a pattern if no file has the pattern as its name.

        Raises:
            FileNotFoundError: the pattern has no match.
        """
        if not is_pattern(path) or self.exists(path):
            return [path]
        found = self.matches(path)
        if not found:
            raise FileNotFoundError(f"no file or folder to read matches {path}")
        return found


def is_hidden(path: str) -> bool:
    """True for the name of a file or folder that is skipped when files are read."""
    return os.path.basename(path).startswith((".", "_"))


def is_pattern(path: str) -> bool:
    """True for a path that may be a pattern."""
    return _MAGIC.search(path) is not None


class SshSession:
    """The SSH session of fsspec's SFTP. A thread of paramiko's keeps it open until ``close``.

    Args:
        fs: the file system of fsspec's.
    """

    def __init__(self, fs: Any) -> None:
        self._client = fs.client
        self._transport, self._channel = fs.client.get_transport(), fs.ftp.get_channel()

    @property
    def lives(self) -> bool:
        """True if the session is open, as far as is known."""
        return bool(self._transport.is_active()) and not self._channel.closed

    def close(self) -> None:
        """End the session."""
        self._client.close()


class SessionUse:
    """Counts the users of a session, which ends with its last user. Thread-safe.

    Args:
        session: the session, or None.
    """

    def __init__(self, session: SshSession | None) -> None:
        self._session, self._process = session, os.getpid()
        self._lock = threading.Lock()
        self._users = 1  # the thread that connected

    @property
    def lives(self) -> bool:
        """True if the session is known to be open."""
        return self._session is not None and self._session.lives

    def add(self) -> None:
        """Add an open file as a user."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Remove a user: a file is closed, or the thread does not need the session."""
        if self._process != os.getpid():  # after a fork the session belongs to the parent
            return
        with self._lock:
            self._users -= 1
            if self._users:
                return
            session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(Exception):  # the server may be unreachable
                session.close()


@dataclass(frozen=True)
class Scheme:
    """A kind of file system.

    Args:
        protocol: the name in fsspec.
        package: the package that it needs besides fsspec; "" for none.
        module: the name under which the package is imported.
        by_arrow: whether pyarrow supports it without that package.
        object_store: whether a file appears when it is complete, and folders are only names.
        writable: whether files can be written.
    """

    protocol: str
    package: str = ""
    module: str = ""
    by_arrow: bool = False
    object_store: bool = False
    writable: bool = True


_S3 = Scheme("s3", "s3fs", "s3fs", by_arrow=True, object_store=True)
_GCS = Scheme("gs", "gcsfs", "gcsfs", by_arrow=True, object_store=True)
_AZURE = Scheme("abfs", "adlfs", "adlfs", by_arrow=True, object_store=True)
_SFTP = Scheme("sftp", "paramiko", "paramiko")
_HTTP = Scheme("http", "aiohttp", "aiohttp", writable=False)
_KNOWN = {
    **dict.fromkeys(("s3", "s3a", "s3n", "s3p"), _S3),
    **dict.fromkeys(("gs", "gcs"), _GCS),
    **dict.fromkeys(("abfs", "abfss", "az"), _AZURE),
    **dict.fromkeys(("sftp", "ssh"), _SFTP),
    "http": _HTTP,
    "https": Scheme("https", "aiohttp", "aiohttp", writable=False),
    "oss": Scheme("oss", "ossfs", "ossfs", object_store=True),
    "hdfs": Scheme("hdfs", "pyarrow", "pyarrow"),
    "webhdfs": Scheme("webhdfs", "requests", "requests"),
    "ftp": Scheme("ftp"),
    "memory": Scheme("memory", object_store=True),
}


def find_scheme(name: str) -> Scheme:
    """Return the file system of a scheme.

    Args:
        name: the name of the scheme.

    Raises:
        ModuleNotFoundError: a package is missing. The message says which one.
        ValueError: there is no such file system.
    """
    name = name.lower()
    known = _KNOWN.get(name)
    if importlib.util.find_spec("fsspec") is None:
        more = f" {known.package}" if known and known.package and not known.by_arrow else ""
        raise _missing(name, f"{EXTRA}{more}")
    if known is None:
        return _found_by_fsspec(name)
    if known.by_arrow or not known.module or importlib.util.find_spec(known.module):
        return known
    raise _missing(name, f"pip install {known.package}")


def uses_arrow(scheme: Scheme) -> bool:
    """True if pyarrow's own file system is used, because fsspec's is not installed."""
    return scheme.by_arrow and not _is_there(scheme.package)


def _is_there(package: str) -> bool:
    """True if a usable package of fsspec's family is installed; pip may install 0.4 of 2020."""
    try:
        return int(metadata.version(package).partition(".")[0]) >= _FIRST_YEAR
    except (metadata.PackageNotFoundError, ValueError):
        return False


def _found_by_fsspec(name: str) -> Scheme:
    registry = importlib.import_module("fsspec.registry")
    if name in _NOT_A_PLACE or name not in registry.available_protocols():
        raise ValueError(
            f"Could not find a file system implementation for scheme {name!r}: fsspec does not "
            "support it. Mount or copy the files, and give their local path."
        )
    try:
        registry.get_filesystem_class(name)
    except ImportError as error:
        raise _missing(name, str(error)) from error
    return Scheme(name)


def _missing(scheme: str, way_out: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"Could not find a file system implementation for scheme {scheme!r}: {way_out}"
    )
