"""Serves the REST API and its page to the network, or to this user through a socket of Unix."""

from __future__ import annotations

import http.client
import logging
import os
import secrets
import socket
import ssl
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._operate.server.rest.routing import Router
from pyflink_on_spark._operate.server.rest.server import Access, RestServer, is_loopback
from pyflink_on_spark._operate.view.server_record import (
    ServerRecord,
    known_token,
    port_range,
    running_server,
)
from pyflink_on_spark._options.flink import REST_BIND_ADDRESS, REST_PORT
from pyflink_on_spark._options.own import REST_CERTIFICATE, REST_KEY, REST_TOKEN

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.server import RestLimits


_log = logging.getLogger("pyflink_on_spark")
_LONGEST = 100
"""How many bytes the path of a socket may have on every system."""


class NetworkServer:
    """The server of this process; started when a job first asks for it.

    Args:
        router: what answers.
        limits: on connections and requests.
    """

    def __init__(self, router: Router, limits: RestLimits | None = None) -> None:
        self._router, self._limits = router, limits
        self._scheme = "http"
        self._server: RestServer | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str | None:
        """The URL of the server; None while it does not run."""
        if self._server is None:
            return None
        host, port = self._server.server_address[:2]
        return f"{self._scheme}://{host!s}:{port}"

    def start(self, configuration: Mapping[str, str]) -> None:
        """Start the server if a configuration says on which port.

        Raises:
            EnvironmentSetupError: no port is free, or others can reach the address, and there is
                no token, or the certificate cannot be read.
        """
        ports = REST_PORT.read(configuration)
        with self._lock:
            if ports is None or self._server is not None:
                return
            host = REST_BIND_ADDRESS.read(configuration) or "127.0.0.1"
            token = known_token(configuration)
            if not is_loopback(host) and not token:
                raise EnvironmentSetupError(
                    f"rest.bind-address is {host}, which others can reach: set "
                    f"{REST_TOKEN.key} to what a client has to know"
                )
            shared = _shared(ports)
            if shared is not None:
                _log.info("the jobs of this process are shown at %s", shared.url)
                return
            self._server = self._bound(host, ports, Access(token), _tls(configuration))
            self._server.start()
            _log.info("the jobs of this process are shown at %s", self.url)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.stop()
            self._server.server_close()

    def _bound(
        self, host: str, ports: str, access: Access, tls: ssl.SSLContext | None
    ) -> RestServer:
        from pyflink_on_spark._operate.server.rest.server import RestServer

        failure: OSError | None = None
        for port in port_range(ports, REST_PORT.key):
            try:
                made = RestServer((host, port), self._router, access, self._limits, tls)
                self._scheme = "http" if tls is None else "https"
                return made
            except OSError as error:
                failure = error
        raise EnvironmentSetupError(
            f"the REST API cannot listen on {host}, port {ports}: {failure}; set rest.port to "
            "another one, or to a range such as 8081-8090"
        )


def _shared(ports: str) -> ServerRecord | None:
    """The server of all jobs, if the port that a driver is to use is the server's."""
    found = running_server()
    wished = port_range(ports, REST_PORT.key)
    own = found is not None and found.pid == os.getpid()
    return found if found is not None and not own and wished == [found.port] else None


def _tls(configuration: Mapping[str, str]) -> ssl.SSLContext | None:
    """The TLS of the server; None if it has none.

    Raises:
        EnvironmentSetupError: certificate or key cannot be read.
    """
    certificate, key = REST_CERTIFICATE.read(configuration), REST_KEY.read(configuration)
    if certificate is None and key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(str(certificate), key)
    except OSError as error:
        raise EnvironmentSetupError(
            f"{REST_CERTIFICATE.key} is {certificate} and {REST_KEY.key} is {key}, and they cannot "
            f"be used: {error}"
        ) from error
    return context


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
