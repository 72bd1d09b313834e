"""HTTP over a Unix socket that only its user can open."""

from __future__ import annotations

import http.client
import os
import secrets
import socket
import tempfile
from pathlib import Path
from typing import Any

from pyflink_on_spark._operate.server.rest.routing import Router
from pyflink_on_spark._operate.server.rest.server import RestServer

_LONGEST = 100
"""How many bytes the path of a socket may have on every system."""


class UnixRestServer(RestServer):
    """Serves a router on a Unix socket of mode 600.

    Args:
        path: the socket's, which must not exist.
        router: what answers.
    """

    address_family = socket.AF_UNIX
    allow_reuse_address = False

    def __init__(self, path: Path, router: Router) -> None:
        super().__init__(str(path), router)

    def server_bind(self) -> None:
        """Make the socket, closed to others from its first moment on."""
        before = os.umask(0o177)
        try:
            self.socket.bind(self.server_address)
        finally:
            os.umask(before)

    def get_request(self) -> tuple[Any, Any]:
        """Accept a connection."""
        connection, _ = self.socket.accept()
        return connection, "a local user"


class UnixConnection(http.client.HTTPConnection):
    """An HTTP connection to a Unix socket.

    Args:
        path: the socket's.
        timeout: how long an answer may take, in s.
    """

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect.

        Raises:
            OSError: nobody listens.
        """
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def new_socket_path(folder: Path) -> Path:
    """Return a path for a socket; in a folder of its own if that of the jobs is too long.

    Args:
        folder: where the socket belongs.
    """
    name = f"{os.getpid()}-{secrets.token_hex(4)}.sock"
    path = folder / name
    if len(os.fsencode(path)) <= _LONGEST:
        return path
    return Path(tempfile.mkdtemp(prefix="pyflink-on-spark-")) / name
