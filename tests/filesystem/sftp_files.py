"""A server of SFTP for all files of the machine; its arguments: a port, a user, a password."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from paramiko import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    OPEN_SUCCEEDED,
    SFTP_OK,
    ECDSAKey,
    ServerInterface,
    SFTPAttributes,
    SFTPHandle,
    SFTPServer,
    SFTPServerInterface,
    Transport,
)


def answer(act: Callable[[], Any]) -> Any:
    """Return the result of a call, SFTP's code for success, or the code of an error."""
    try:
        found = act()
    except OSError as error:
        return SFTPServer.convert_errno(error.errno)
    return SFTP_OK if found is None else found


class Login(ServerInterface):
    """Lets one user in."""

    known = tuple(sys.argv[2:4])

    def check_auth_password(self, username, password):
        return AUTH_SUCCESSFUL if (username, password) == self.known else AUTH_FAILED

    def check_channel_request(self, kind, chanid):
        return OPEN_SUCCEEDED


class OpenFile(SFTPHandle):
    """A file that is read or written."""

    def __init__(self, path, flags):
        super().__init__(flags)
        descriptor = os.open(path, flags, 0o644)
        mode = "wb" if flags & os.O_WRONLY else "r+b" if flags & os.O_RDWR else "rb"
        self.readfile = self.writefile = os.fdopen(descriptor, mode)

    def stat(self):
        return SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))


class Files(SFTPServerInterface):
    """The operations on files."""

    def list_folder(self, path):
        return answer(lambda: [self.stat(os.path.join(path, name)) for name in os.listdir(path)])

    def stat(self, path):
        return answer(lambda: SFTPAttributes.from_stat(os.stat(path), os.path.basename(path)))

    lstat = stat

    def open(self, path, flags, attr):
        return answer(lambda: OpenFile(path, flags))

    def remove(self, path):
        return answer(lambda: os.remove(path))

    def rename(self, oldpath, newpath):
        def without_replacing():
            os.link(oldpath, newpath)
            os.remove(oldpath)

        return answer(without_replacing)

    def posix_rename(self, oldpath, newpath):
        return answer(lambda: os.replace(oldpath, newpath))

    def mkdir(self, path, attr):
        return answer(lambda: os.mkdir(path))

    def rmdir(self, path):
        return answer(lambda: os.rmdir(path))


def serve(port: int) -> None:
    """Serve without limit."""
    key, kept = ECDSAKey.generate(), []
    with socket.create_server(("127.0.0.1", port)) as door:
        while True:
            transport = Transport(door.accept()[0])
            transport.add_server_key(key)
            transport.set_subsystem_handler("sftp", SFTPServer, Files)
            with contextlib.suppress(Exception):
                transport.start_server(server=Login())
            kept.append(transport)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
