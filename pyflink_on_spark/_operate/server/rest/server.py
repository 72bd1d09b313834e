"""Serves requests over HTTP, each in a thread."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pyflink_on_spark._operate.server.rest.access import Access
from pyflink_on_spark._operate.server.rest.page import PAGES
from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    FORBIDDEN,
    Answer,
    Request,
    Router,
)

_LONGEST_BODY = 1024 * 1024
_IDLE_SECONDS = 60.0
_POLL_SECONDS = 2.0  # how long a shutdown waits where no connection ends the wait
_log = logging.getLogger("pyflink_on_spark")


class RestHandler(BaseHTTPRequestHandler):
    """Reads a request, and writes what the router answers."""

    server: RestServer
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        """Answer."""
        self._serve()

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - as above

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log a request at DEBUG."""
        _log.debug(format, *args)

    def address_string(self) -> str:
        """Return where the request comes from; a Unix socket has no address."""
        return str(self.client_address)

    def _serve(self) -> None:
        try:
            request = self._request()
            refusal = None if self.server.access is None else self._refusal(request)
            answer = self.server.router.answer(request) if refusal is None else refusal
        except ValueError as error:
            answer = Answer({"errors": [f"Bad request: {error}"]}, BAD_REQUEST)
            self.close_connection = True
        except Exception as error:  # noqa: BLE001 - the client gets it, and the log
            _log.exception("a request failed: %s %s", self.command, self.path)
            answer = Answer({"errors": [f"Internal error: {error!r}"]}, 500)
        self._write(answer)

    def _refusal(self, request: Request) -> Answer | None:
        """Return the answer to one who may not ask; the page itself has no secrets."""
        assert self.server.access is not None
        refusal = self.server.access.refusal(dict(self.headers.items()))
        if refusal is None or (request.path in PAGES and "Origin" not in self.headers):
            return None
        return Answer({"errors": [refusal]}, FORBIDDEN)

    def _write(self, answer: Answer) -> None:
        content = answer.content if isinstance(answer.content, bytes) else _json(answer.content)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def _request(self) -> Request:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= _LONGEST_BODY:
            raise ValueError(f"a body of {length} bytes")
        body = json.loads(self.rfile.read(length)) if length else {}
        if not isinstance(body, dict):
            raise ValueError("the body is no JSON object")
        return Request(self.command, parts.path, dict(parse_qsl(parts.query)), body)


class RestServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves a router.

    Args:
        address: where to listen.
        router: what answers.
        access: who may ask; None for everybody who can connect.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, address: Any, router: Router, access: Access | None = None) -> None:
        self.router, self.access = router, access
        super().__init__(address, RestHandler)

    def start(self) -> None:
        """Serve from now on, in threads."""
        serve = functools.partial(self.serve_forever, _POLL_SECONDS)
        threading.Thread(target=serve, name="rest", daemon=True).start()

    def stop(self) -> None:
        """Serve no more; returns when the threads take no request any more."""
        ending = threading.Thread(target=self.shutdown, name="rest ends")
        ending.start()
        with contextlib.suppress(OSError), socket.socket(self.address_family) as knock:
            knock.connect(self.server_address)
        ending.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what went wrong with a connection; most often the client has hung up."""
        _log.debug("a connection failed", exc_info=True)


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()
