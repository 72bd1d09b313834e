"""The file system of SFTP, as fsspec makes it with paramiko, without a server."""

from __future__ import annotations

from typing import ClassVar

from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import infer_storage_options


class Session:
    """Paramiko's client, transport and channel in one."""

    def __init__(self):
        self.closed = False

    def get_transport(self):
        return self

    def get_channel(self):
        return self

    def is_active(self):
        return not self.closed

    def close(self):
        self.closed = True


class SshFileSystem(LocalFileSystem):
    """Local files, that can be reached while a session is open."""

    protocol = "sftp"
    made: ClassVar[list[SshFileSystem]] = []

    def __init__(self, host, **told):
        unknown = set(told) - {"port", "username", "password"}
        if unknown:
            raise TypeError(f"connect() got an unexpected keyword argument: {unknown}")
        super().__init__()
        self.client = self.ftp = Session()
        self.made.append(self)

    @classmethod
    def _strip_protocol(cls, path):
        return infer_storage_options(path)["path"]

    @staticmethod
    def _get_kwargs_from_urls(path):
        found = infer_storage_options(path)
        return {name: found[name] for name in found if name not in {"path", "protocol"}}

    def _open(self, path, mode="rb", **options):
        return _File(self, open(path, mode, buffering=0))

    def ls(self, path, detail=False, **options):
        self.check()
        return super().ls(path, detail=detail, **options)

    def rmdir(self, path):
        self.check()
        try:
            super().rmdir(path)
        except OSError:
            raise OSError("Failure") from None

    def check(self):
        if self.client.closed:
            raise OSError("Socket is closed")


class _File:
    def __init__(self, connected, file):
        self._connected, self._file = connected, file

    def __getattr__(self, name):
        self._connected.check()
        return getattr(self._file, name)
