"""File systems of fsspec's: shared by threads where possible, otherwise one for each thread."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from pyflink_on_spark._filesystem.file_system import Scheme, SessionUse, SshSession, uses_arrow

# Servers close idle connections after five minutes and more.
_REST_SECONDS = 30.0


class Connection:
    """A file system of fsspec's, and its paths.

    Args:
        fs: the file system.
        top: its path for the root of all URIs.
        copies: whether a rename has to copy the file.
        has_folders: whether folders exist without files.
        shared: whether several threads may use it at the same time.
        tells_renamed: whether a rename that fails raises an error.
        session: the session to end when the file system is not used any more.
    """

    def __init__(
        self,
        fs: Any,
        top: str,
        *,
        copies: bool,
        has_folders: bool,
        shared: bool,
        tells_renamed: bool = True,
        session: SshSession | None = None,
    ) -> None:
        self._fs, self._top, self.shared = fs, top, shared
        self._copies, self._has_folders = copies, has_folders
        self._tells_renamed = tells_renamed
        self._used = time.monotonic()
        self.session = SessionUse(session)

    @property
    def rested(self) -> bool:
        """True after an idle time so long that the server may have closed the connection."""
        return time.monotonic() - self._used >= _REST_SECONDS

    def fresh(self) -> Any:
        """Return the file system with an empty cache of folders."""
        self._used = time.monotonic()
        self._fs.invalidate_cache()
        return self._fs

    def is_lost(self, error: Exception) -> bool:
        """True if the connection may be lost: the error is not an answer of the server."""
        if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
            return True
        # A server's "Failure" and a closed socket are the same to SFTP.
        return not self.session.lives

    def inner_path(self, rest: str) -> str:
        """Return the file system's path for the part of a URI after the root."""
        return self._top.rstrip("/") + rest if rest else self._top

    def rename(self, fs: Any, source: str, target: str) -> None:
        """Rename a file."""
        if self._copies:
            fs.cp_file(source, target)
            fs.rm_file(source)
        else:
            fs.mv(source, target)
            if not self._tells_renamed:
                self._check_renamed(fs, source, target)

    def _check_renamed(self, fs: Any, source: str, target: str) -> None:
        if fs.exists(source):  # a file of the new name is in the way
            fs.rm_file(target)
            fs.mv(source, target)
        if fs.exists(source):
            raise OSError(f"it cannot be renamed to {target}")
        if not fs.exists(target):
            raise FileNotFoundError(source)

    def remove_empty_folder(self, fs: Any, path: str) -> None:
        """Remove an empty folder, if the file system has folders."""
        if self._has_folders and path.strip("/"):
            fs.rmdir(path)


class _Own(dict[str, Connection]):
    """The connections of a thread, which are released when the thread ends."""

    def __del__(self, exits: Callable[[], bool] = sys.is_finalizing) -> None:
        if not exits():
            for one in self.values():
                one.session.release()


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.process = os.getpid()
        self.connections = _Own()


class _OfProcess:
    def __init__(self) -> None:
        self.process = os.getpid()
        self.connections: dict[str, Connection] = {}
        self.lock = threading.Lock()


_OWN = _OfThread()
_shared = _OfProcess()


def _forget() -> None:
    """Forget all connections."""
    global _shared  # noqa: PLW0603 - a process has one
    _shared = _OfProcess()
    _OWN.__init__()  # type: ignore[misc]


def connection(root: str, scheme: Scheme, options: Mapping[str, object]) -> Connection:
    """Return the connection for this thread.

    Args:
        root: the common beginning of all URIs.
        scheme: the scheme of the URIs.
        options: the arguments of fsspec's file system.
    """
    if {_OWN.process, _shared.process} != {os.getpid()}:  # a forked process must not share sockets
        _forget()
    key = _key(root, options)
    found = _shared.connections.get(key) or _OWN.connections.get(key)
    if found is not None and (found.shared or not found.rested):
        return found
    forget_connection(root, options)
    with _shared.lock:
        found = _shared.connections.get(key)
        if found is None:
            found = _connect(root, scheme, options)
            (_shared if found.shared else _OWN).connections[key] = found
    return found


def forget_connection(root: str, options: Mapping[str, object]) -> None:
    """Forget the connection of this thread; a shared one reconnects by itself."""
    found = _OWN.connections.pop(_key(root, options), None)
    if found is not None:
        found.session.release()


def _key(root: str, options: Mapping[str, object]) -> str:
    return f"{root} {sorted(options.items())!r}"


def options_of_uri(scheme: Scheme, root: str) -> dict[str, object]:
    """Return the arguments of a file system that a URI contains, such as the host.

    Args:
        scheme: the scheme of the URI.
        root: the scheme and the authority of the URI, without a password.
    """
    if uses_arrow(scheme):
        return {}
    registry: Any = importlib.import_module("fsspec.registry")
    rest = root.partition("://")[2]
    kind = registry.get_filesystem_class(scheme.protocol)
    return dict(kind._get_kwargs_from_urls(f"{scheme.protocol}://{rest}/"))


def _connect(root: str, scheme: Scheme, options: Mapping[str, Any]) -> Connection:
    if uses_arrow(scheme):
        return _connect_arrow(root, scheme, options)
    fsspec: Any = importlib.import_module("fsspec")
    spec: Any = importlib.import_module("fsspec.spec")
    # SFTP's has no cache of folders, and passes unknown arguments to paramiko.
    cache = {} if scheme.protocol == "sftp" else {"use_listings_cache": False}
    fs = fsspec.filesystem(scheme.protocol, skip_instance_cache=True, **cache, **options)
    rest = root.partition("://")[2]
    top = str(fs._strip_protocol(f"{scheme.protocol}://{rest}/"))
    copies = type(fs).mv is spec.AbstractFileSystem.mv
    shared = bool(getattr(fs, "async_impl", False))
    return Connection(
        fs,
        top,
        copies=copies,
        has_folders=not scheme.object_store,
        shared=shared,
        # WebHDFS answers "false", which fsspec drops.
        tells_renamed=scheme.protocol != "webhdfs",
        session=SshSession(fs) if scheme.protocol == "sftp" and not shared else None,
    )


def _connect_arrow(root: str, scheme: Scheme, options: Mapping[str, object]) -> Connection:
    from pyarrow import fs as arrow

    wrapper: Any = importlib.import_module("fsspec.implementations.arrow").ArrowFSWrapper
    rest = root.partition("://")[2]
    if scheme.protocol == "s3":
        found, top = arrow.S3FileSystem(**options), rest
    elif scheme.protocol == "abfs":
        found, top = arrow.AzureFileSystem(**options), rest.partition("@")[0]
    elif options:
        raise ModuleNotFoundError(
            f"pyarrow has no options {', '.join(sorted(options))} for the scheme "
            f"{scheme.protocol!r}: pip install {scheme.package}"
        )
    else:
        found, top = arrow.FileSystem.from_uri(f"{root}/")
    wrapped = wrapper(found, use_listings_cache=False, skip_instance_cache=True)
    return Connection(wrapped, top, copies=False, has_folders=True, shared=True)
