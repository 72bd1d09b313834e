"""Serves the REST API and its page to the network: to this machine unless told otherwise."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._operate.server.rest.routing import Router
from pyflink_on_spark._operate.server.rest.server import Access, is_loopback
from pyflink_on_spark._operate.view.ports import port_range
from pyflink_on_spark._options.operation import REST_BIND_ADDRESS, REST_PORT
from pyflink_on_spark._options.own import REST_TOKEN

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.server import RestServer

_log = logging.getLogger("pyflink_on_spark")


class NetworkServer:
    """The server of this process; started when a job first asks for it.

    Args:
        router: what answers.
    """

    def __init__(self, router: Router) -> None:
        self._router = router
        self._server: RestServer | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str | None:
        """The URL of the server; None while it does not run."""
        if self._server is None:
            return None
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def start(self, configuration: Mapping[str, str]) -> None:
        """Start the server if a configuration says on which port.

        Raises:
            EnvironmentSetupError: no port is free, or others can reach the address, and there is
                no token.
        """
        ports = REST_PORT.read(configuration)
        with self._lock:
            if ports is None or self._server is not None:
                return
            host = REST_BIND_ADDRESS.read(configuration) or "127.0.0.1"
            token = REST_TOKEN.read(configuration)
            if not is_loopback(host) and not token:
                raise EnvironmentSetupError(
                    f"rest.bind-address is {host}, which others can reach: set "
                    f"{REST_TOKEN.key} to what a client has to know"
                )
            self._server = self._bound(host, ports, Access(token))
            self._server.start()
            _log.info("the jobs of this process are shown at %s", self.url)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.stop()
            self._server.server_close()

    def _bound(self, host: str, ports: str, access: Access) -> RestServer:
        from pyflink_on_spark._operate.server.rest.server import RestServer

        failure: OSError | None = None
        for port in port_range(ports, REST_PORT.key):
            try:
                return RestServer((host, port), self._router, access)
            except OSError as error:
                failure = error
        raise EnvironmentSetupError(
            f"the REST API cannot listen on {host}, port {ports}: {failure}; set rest.port to "
            "another one, or to a range such as 8081-8090"
        )
