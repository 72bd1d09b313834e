"""fsspec's file systems: those that threads cannot share, once for each thread."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from pyflink_on_spark._filesystem.schemes import Scheme, uses_arrow
from pyflink_on_spark._filesystem.session import SessionUse, SshSession

# Servers end connections that are not used, after five minutes and more.
_REST_SECONDS = 30.0


class Connection:
    """A file system of fsspec's, and how it takes paths.

    Args:
        fs: the file system.
        top: its path of the root of all URIs.
        copies: whether a file gets another name by being copied.
        has_folders: whether folders are there without files in them.
        shared: whether several threads may use it at the same time.
        tells_renamed: whether it is an error if a file did not get another name.
        session: what has to be ended when it is not used any more.
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
        """Whether it was not used for so long that the server may have ended it."""
        return time.monotonic() - self._used >= _REST_SECONDS

    def fresh(self) -> Any:
        """Return the file system, without what it remembers of folders."""
        self._used = time.monotonic()
        self._fs.invalidate_cache()
        return self._fs

    def is_lost(self, error: Exception) -> bool:
        """Whether it may be gone after an error, which then is not what the server answered."""
        if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
            return True
        # A server's "Failure" and a closed socket are the same to SFTP.
        return not self.session.lives

    def inner_path(self, rest: str) -> str:
        """Return the file system's path for what follows the root in a URI."""
        return self._top.rstrip("/") + rest if rest else self._top

    def rename(self, fs: Any, source: str, target: str) -> None:
        """Give a file another path."""
        if self._copies:
            fs.cp_file(source, target)
            fs.rm_file(source)
        else:
            fs.mv(source, target)
            if not self._tells_renamed:
                self._see_that_it_is_renamed(fs, source, target)

    def _see_that_it_is_renamed(self, fs: Any, source: str, target: str) -> None:
        if fs.exists(source):  # what has that name is in the way
            fs.rm_file(target)
            fs.mv(source, target)
        if fs.exists(source):
            raise OSError(f"it cannot be renamed to {target}")
        if not fs.exists(target):
            raise FileNotFoundError(source)

    def remove_empty_folder(self, fs: Any, path: str) -> None:
        """Remove a folder that has no files, if there is such a thing."""
        if self._has_folders and path.strip("/"):
            fs.rmdir(path)


class _Own(dict[str, Connection]):
    """A thread's connections, which it does without when it ends."""

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
    """Connect anew, for all that is asked for from now on."""
    global _shared  # noqa: PLW0603 - a process has one
    _shared = _OfProcess()
    _OWN.__init__()  # type: ignore[misc]


def connection(root: str, scheme: Scheme, options: Mapping[str, Any]) -> Connection:
    """Return the connection that this thread is to use.

    Args:
        root: what all URIs begin with.
        scheme: of the URIs.
        options: the arguments of fsspec's file system.
    """
    if {_OWN.process, _shared.process} != {os.getpid()}:  # a fork must not share a socket
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


def forget_connection(root: str, options: Mapping[str, Any]) -> None:
    """Let this thread connect anew; what threads share does so by itself."""
    found = _OWN.connections.pop(_key(root, options), None)
    if found is not None:
        found.session.release()


def _key(root: str, options: Mapping[str, Any]) -> str:
    return f"{root} {sorted(options.items())!r}"


def options_of_uri(scheme: Scheme, root: str) -> dict[str, Any]:
    """Return what the beginning of a URI says of its file system, such as the host.

    Args:
        scheme: of the URI.
        root: its scheme and place, without a password.
    """
    if uses_arrow(scheme):
        return {}
    registry: Any = importlib.import_module("fsspec.registry")
    behind = root.partition("://")[2]
    kind = registry.get_filesystem_class(scheme.protocol)
    return dict(kind._get_kwargs_from_urls(f"{scheme.protocol}://{behind}/"))


def _connect(root: str, scheme: Scheme, options: Mapping[str, Any]) -> Connection:
    if uses_arrow(scheme):
        return _connect_arrow(root, scheme, options)
    fsspec: Any = importlib.import_module("fsspec")
    spec: Any = importlib.import_module("fsspec.spec")
    # SFTP's remembers no folders, and hands on to paramiko what it does not know.
    cache = {} if scheme.protocol == "sftp" else {"use_listings_cache": False}
    fs = fsspec.filesystem(scheme.protocol, skip_instance_cache=True, **cache, **options)
    behind = root.partition("://")[2]
    top = str(fs._strip_protocol(f"{scheme.protocol}://{behind}/"))
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


def _connect_arrow(root: str, scheme: Scheme, options: Mapping[str, Any]) -> Connection:
    from pyarrow import fs as arrow

    wrapper: Any = importlib.import_module("fsspec.implementations.arrow").ArrowFSWrapper
    behind = root.partition("://")[2]
    if scheme.protocol == "s3":
        found, top = arrow.S3FileSystem(**options), behind
    elif scheme.protocol == "abfs":
        found, top = arrow.AzureFileSystem(**options), behind.partition("@")[0]
    elif options:
        raise ModuleNotFoundError(
            f"pyarrow cannot be told {', '.join(sorted(options))} for the scheme "
            f"{scheme.protocol!r}: pip install {scheme.package}"
        )
    else:
        found, top = arrow.FileSystem.from_uri(f"{root}/")
    wrapped = wrapper(found, use_listings_cache=False, skip_instance_cache=True)
    return Connection(wrapped, top, copies=False, has_folders=True, shared=True)
