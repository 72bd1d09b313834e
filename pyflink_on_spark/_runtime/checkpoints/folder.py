"""A folder on any file system that contains whole files only."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO
from urllib.parse import unquote

from pyflink_on_spark._filesystem.location import is_remote, locate
from pyflink_on_spark._options.own import CHECKPOINT_PERMISSIONS

_BUFFER = 1024 * 1024


class Folder:
    """A folder in which a file is complete and durable, or absent.

    Args:
        uri: a URI or a local path.
        configuration: the configuration of the job, which may say how to reach the file system.

    Raises:
        ValueError: there is no such file system, or it is read-only.
        ModuleNotFoundError: a package for the file system is missing.
    """

    def __init__(self, uri: str, configuration: Mapping[str, str] | None = None) -> None:
        self.uri = uri.rstrip("/")
        self._configuration = dict(configuration or {})
        path = unquote(self.uri) if self.uri.startswith("file:") else self.uri
        place = locate(path or "/", self._configuration)
        self.path = place.path
        """The absolute local path, or the URI without a password."""
        self._files = place.files
        self._private = CHECKPOINT_PERMISSIONS.read(self._configuration) == "PRIVATE"
        if not self._files.writable:
            raise ValueError(f"checkpoints cannot be kept in {self.path}: it can only be read")

    @property
    def name(self) -> str:
        """The name of the folder in its parent."""
        return self.uri.rpartition("/")[2]

    @property
    def shown(self) -> str:
        """The folder as error messages name it: without a password."""
        return self.path if is_remote(self.uri) else self.uri

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Write a file. The file appears at the end of the block, and never if the block fails.

        Object stores show a file when it is complete. On other file systems the file has a hidden
        name until it is complete and durable.
        """
        path = f"{self.path}/{name}"
        hidden = path if self._files.whole_files else f"{self.path}/.{name}.{uuid.uuid4().hex}"
        try:
            raw: Any = self._create(hidden)
            with io.BufferedWriter(raw, _BUFFER) as file:
                yield file
            self._files.make_durable(hidden)
            if hidden != path:
                self._files.rename(hidden, path)
                self._files.make_durable(self.path)
        except BaseException:
            with suppress(OSError):
                self._files.remove(hidden)
            raise

    def _create(self, path: str) -> BinaryIO:
        try:
            return self._files.create(path, private=self._private)
        except PermissionError as error:
            if self._private:
                error.add_note(
                    "checkpoints are private to the user of the process that writes them; "
                    f"{CHECKPOINT_PERMISSIONS.key}: umask lets the umask decide"
                )
            raise

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading at any place.

        Raises:
            FileNotFoundError: there is no such file.
        """
        raw: Any = self._files.open(f"{self.path}/{name}")
        return io.BufferedReader(raw, _BUFFER)

    def names(self) -> list[str]:
        """Return the names of the files and folders in this folder, if it exists."""
        return self._files.names(self.path)

    def remove(self, name: str = "") -> None:
        """Remove a file or folder in this folder, or this folder itself, if it exists."""
        path = f"{self.path}/{name}" if name else self.path
        with suppress(FileNotFoundError):
            if self._files.status(path).is_folder:
                self._files.remove_folder(path)
            else:
                self._files.remove(path)

    def write(self, name: str, content: bytes) -> None:
        """Write a file at once."""
        with self.create(name) as file:
            file.write(content)

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: there is no such file.
        """
        with self.open(name) as file:
            return file.read()

    def size(self, name: str) -> int:
        """Return the size of a file in bytes.

        Raises:
            FileNotFoundError: there is no such file.
        """
        return self._files.status(f"{self.path}/{name}").size

    def parent(self) -> Folder:
        """Return the folder that this one is in."""
        return type(self)(self.uri.rpartition("/")[0], self._configuration)

    def inside(self, name: str) -> Folder:
        """Return a folder in this one."""
        return type(self)(f"{self.uri}/{name}", self._configuration)

    def beside(self, name: str) -> Folder:
        """Return a folder next to this one."""
        return self.parent().inside(name)


def folder(uri: str, configuration: Mapping[str, str] | None = None) -> Folder:
    """Return the folder of a URI or a local path; see ``Folder``."""
    return Folder(uri, configuration)
