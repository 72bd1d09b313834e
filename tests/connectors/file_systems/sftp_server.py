"""A server of SFTP, for the whole machine: `python -m tests.connectors.file_systems.sftp_server`."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.servers import free_port, running

USER, PASSWORD = "me", "open sesame"


@contextlib.contextmanager
def sftp_server() -> Iterator[str]:
    """Start a server and yield the URI of a folder; skips the test where there is none to start."""
    pytest.importorskip("paramiko", reason="paramiko is not installed")
    port = free_port()

    def ready() -> None:
        with socket.create_connection(("127.0.0.1", port), 5) as called:
            assert called.recv(4) == b"SSH-"

    with tempfile.TemporaryDirectory() as folder:
        served = Path(folder) / "served"
        served.mkdir()
        command = [sys.executable, "-m", "tests.connectors.file_systems.sftp_server", str(port)]
        with running(command, ready, Path(folder) / "log"):
            yield f"sftp://{USER}:open%20sesame@127.0.0.1:{port}{served}"


def serve(port: int) -> None:
    """Serve for ever."""
    import paramiko

    key = paramiko.ECDSAKey.generate()

    def code(act: Callable[..., Any], *arguments: Any) -> int:
        try:
            act(*arguments)
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)
        return paramiko.SFTP_OK

    class Login(paramiko.ServerInterface):
        def check_auth_password(self, username, password):
            known = (username, password) == (USER, PASSWORD)
            return paramiko.AUTH_SUCCESSFUL if known else paramiko.AUTH_FAILED

        def check_channel_request(self, kind, chanid):
            return paramiko.OPEN_SUCCEEDED

    class Handle(paramiko.SFTPHandle):
        def stat(self):
            return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))

    class Files(paramiko.SFTPServerInterface):
        def list_folder(self, path):
            try:
                return [self.stat(os.path.join(path, name)) for name in os.listdir(path)]
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)

        def stat(self, path):
            try:
                return paramiko.SFTPAttributes.from_stat(os.stat(path), os.path.basename(path))
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)

        lstat = stat

        def open(self, path, flags, attr):
            try:
                descriptor = os.open(path, flags, 0o644)
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)
            mode = "wb" if flags & os.O_WRONLY else "r+b" if flags & os.O_RDWR else "rb"
            handle = Handle(flags)
            handle.filename = path
            handle.readfile = handle.writefile = os.fdopen(descriptor, mode)
            return handle

        def remove(self, path):
            return code(os.remove, path)

        def rename(self, oldpath, newpath):
            return code(os.link, oldpath, newpath) or code(os.remove, oldpath)

        def posix_rename(self, oldpath, newpath):
            return code(os.replace, oldpath, newpath)

        def mkdir(self, path, attr):
            return code(os.mkdir, path)

        def rmdir(self, path):
            return code(os.rmdir, path)

    kept = []
    with socket.create_server(("127.0.0.1", port)) as door:
        while True:
            transport = paramiko.Transport(door.accept()[0])
            transport.add_server_key(key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
            with contextlib.suppress(Exception):
                transport.start_server(server=Login())
            kept.append(transport)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
