"""Serves requests over HTTP, each in a thread.

Nothing that a client sends before its token is checked costs more than the limits here allow: a
number of connections, the bytes of a head, and the time for a whole request.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import io
import ipaddress
import json
import logging
import socket
import socketserver
import ssl
import threading
import time
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    FORBIDDEN,
    Answer,
    FormPart,
    Request,
    Router,
)

if TYPE_CHECKING:
    from collections.abc import Callable


_SCHEME, _WITH_NAME = "Bearer ", "Basic "


@dataclass(frozen=True)
class Access:
    """The rule of one server.

    A browser sends requests for any page that it shows. So a request that a page of another place
    sends is refused, and so is one under a name that an attacker's name server has given to this
    machine.

    Args:
        token: what a client has to know; None if everybody on this machine may ask.
    """

    token: str | None

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Return why a request is refused; None if it is not.

        Args:
            headers: the request's.
        """
        known = {name.lower(): value for name, value in headers.items()}
        host = known.get("host", "")
        origin = known.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"Requests of the page {origin} are refused."
        if self.token is None:
            return None if is_loopback(_name(host)) else f"This server is not called {host}."
        given = _token(known)
        right = given is not None and hmac.compare_digest(given.encode(), self.token.encode())
        return None if right else "The token is wrong: send 'Authorization: Bearer TOKEN'."


def _token(headers: Mapping[str, str]) -> str | None:
    """The token of a request: alone, or as the password of a user of any name.

    A browser adds a name and a password by itself to each request that any page makes, so that
    only other programs may send these.
    """
    given = headers.get("authorization", "")
    if given.startswith(_SCHEME):
        return given.removeprefix(_SCHEME)
    if given.startswith(_WITH_NAME) and not {"origin", "sec-fetch-site"} & set(headers):
        with contextlib.suppress(ValueError):
            return b64decode(given.removeprefix(_WITH_NAME)).decode().partition(":")[2]
    return None


def is_loopback(host: str) -> bool:
    """Return whether an address or name means this machine, and nobody else can reach it."""
    if host in {"", "localhost"}:
        return host == "localhost"
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """Return a host without its port."""
    return urlsplit(f"//{host}").hostname or ""


_FOLDER = Path(__file__).with_name("page_files")
PAGES = {
    "/": ("index.html", "text/html; charset=UTF-8"),
    "/page.css": ("page.css", "text/css; charset=UTF-8"),
    "/page.js": ("page.js", "text/javascript; charset=UTF-8"),
}
"""The files by path, with their types."""


class PageRoutes:
    """Answers the requests of a browser for the page itself."""

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        for path in PAGES:
            router.add("GET", path, self.file)

    def file(self, request: Request) -> Answer:
        """Return a file."""
        name, kind = PAGES[request.path]
        return Answer((_FOLDER / name).read_bytes(), kind=kind)


_LONGEST_BODY = 1024 * 1024
_LONGEST_HEAD = 64 * 1024
_MOST_QUERY_FIELDS = 100
_MOST_CONNECTIONS = 64
_IDLE_SECONDS = 60.0
_REQUEST_SECONDS = 20.0
_UPLOAD_SECONDS = 600.0
_MOST_PARTS = 20
_POLL_SECONDS = 2.0  # how long a shutdown waits where no connection ends the wait
_log = logging.getLogger("pyflink_on_spark")


class _RequestInput(io.RawIOBase):
    """The bytes of a connection's requests, each of which has to arrive in a limited time.

    Args:
        connection: the socket.
        limits: the limits of the server.
    """

    def __init__(self, connection: socket.socket, limits: RestLimits) -> None:
        self._connection, self._limits = connection, limits
        self._deadline: float | None = None
        self._left = 0

    def next_request(self) -> None:
        """Wait for a request, for as long as a connection may be idle."""
        self._deadline, self._left = None, _LONGEST_HEAD

    def head_is_read(self, longest: int = _LONGEST_BODY, seconds: float = 0.0) -> None:
        """Allow a body.

        Args:
            longest: its bytes at most.
            seconds: how much more time the request has than others.
        """
        self._left = longest
        if self._deadline is not None:
            self._deadline += seconds

    def readable(self) -> bool:
        """True: the stream is readable."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes.

        Raises:
            TimeoutError: the request takes too long, or is too long.
        """
        now = self._limits.clock()
        idle = self._deadline is None
        seconds = self._limits.idle if self._deadline is None else self._deadline - now
        if seconds <= 0 or self._left <= 0:
            raise TimeoutError("the request is too long")
        self._connection.settimeout(seconds)
        count = self._connection.recv_into(memoryview(buffer)[: self._left])
        if idle:
            self._deadline = self._limits.clock() + self._limits.request
        self._left -= count
        return count


class RestLimits:
    """The limits of a server.

    Args:
        connections: the number of open connections.
        idle: the time for which a connection may be idle, in s.
        request: the time in which a whole request has to arrive, in s.
        clock: a monotonic clock, in s.
        upload: the bytes of a body with files; 0 for a server that takes no files.
    """

    def __init__(
        self,
        connections: int = _MOST_CONNECTIONS,
        idle: float = _IDLE_SECONDS,
        request: float = _REQUEST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        upload: int = 0,
    ) -> None:
        self.connections, self.idle, self.request, self.clock = connections, idle, request, clock
        self.upload = upload


def parts_of(kind: str, content: bytes) -> tuple[FormPart, ...]:
    """The files of a body with parts; fields without a file are left out.

    Args:
        kind: the Content-Type with the boundary.
        content: the body.

    Raises:
        ValueError: the body is not what the type says.
    """
    about = Message()
    about["Content-Type"] = kind
    boundary = about.get_boundary()
    if not boundary:
        raise ValueError("a body with parts needs a boundary")
    pieces = (b"\r\n" + content).split(b"\r\n--" + boundary.encode())
    if len(pieces) > _MOST_PARTS or not pieces[-1].startswith(b"--"):
        raise ValueError("a body with too many parts, or without an end")
    found = []
    for piece in pieces[1:-1]:
        head, blank, file = piece.partition(b"\r\n\r\n")
        if not blank:
            raise ValueError("a part without a head")
        name = BytesHeaderParser().parsebytes(head.lstrip(b"\r\n")).get_filename()
        if name is not None:
            found.append(FormPart(name, file))
    return tuple(found)


class RestHandler(BaseHTTPRequestHandler):
    """Reads a request, and writes what the router answers."""

    server: RestServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        """Bound the input."""
        super().setup()
        self._input = _RequestInput(self.connection, self.server.limits)
        self.rfile = io.BufferedReader(self._input)

    def handle_one_request(self) -> None:
        """Answer a request."""
        self._input.next_request()
        super().handle_one_request()
        self.server.answered(self.connection)

    def do_GET(self) -> None:
        """Answer."""
        self._serve()

    do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - as above

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log a request at DEBUG."""
        _log.debug(format, *args)

    def address_string(self) -> str:
        """Return where the request comes from; a Unix socket has no address."""
        return str(self.client_address)

    def _serve(self) -> None:
        try:
            answer = self._answer()
        except TimeoutError:
            self.close_connection = True
            return
        except (ValueError, RecursionError) as error:
            answer = Answer({"errors": [f"Bad request: {error}"]}, BAD_REQUEST)
            self.close_connection = True
        except Exception as error:  # noqa: BLE001 - the client gets it, and the log
            _log.exception("a request failed: %s %s", self.command, self.path)
            answer = Answer({"errors": [f"Internal error: {error!r}"]}, 500)
        self._write(answer)

    def _answer(self) -> Answer:
        parts = urlsplit(self.path)
        length = self._length()
        refusal = None if self.server.access is None else self._refusal(parts.path)
        if refusal is not None:
            self.close_connection = self.close_connection or length > 0
            return refusal
        body, files = self._body(length)
        self.server.answering(self.connection)
        query = dict(parse_qsl(parts.query, max_num_fields=_MOST_QUERY_FIELDS))
        return self.server.router.answer(Request(self.command, parts.path, query, body, files))

    def _body(self, length: int) -> tuple[dict[str, object], tuple[FormPart, ...]]:
        """The body as JSON, or the files in it.

        Raises:
            ValueError: the body is neither.
        """
        if self._uploads():
            self._input.head_is_read(length, _UPLOAD_SECONDS)
            return {}, parts_of(self.headers["Content-Type"], self.rfile.read(length))
        self._input.head_is_read()
        body = json.loads(self.rfile.read(length)) if length else {}
        if not isinstance(body, dict):
            raise ValueError("the body is no JSON object")
        return body, ()

    def _uploads(self) -> bool:
        """True for a body with files, if this server takes files."""
        kind = self.headers.get_content_type()
        return self.server.limits.upload > 0 and kind == "multipart/form-data"

    def _length(self) -> int:
        """The length of the body.

        Raises:
            ValueError: the body has no length, several, or is too long.
        """
        if "Transfer-Encoding" in self.headers:
            raise ValueError("a body needs a Content-Length, without Transfer-Encoding")
        given = self.headers.get_all("Content-Length", ["0"])
        if len(set(given)) > 1 or not (given[0].isascii() and given[0].isdigit()):
            raise ValueError(f"a Content-Length of {', '.join(given)[:100]}")
        length = int(given[0][:20])
        if length > (self.server.limits.upload if self._uploads() else _LONGEST_BODY):
            raise ValueError(f"a body of {length} bytes")
        return length

    def _refusal(self, path: str) -> Answer | None:
        """Return the answer to one who may not ask; the page itself has no secrets."""
        assert self.server.access is not None
        refusal = self.server.access.refusal(dict(self.headers.items()))
        if refusal is None or (path in PAGES and "Origin" not in self.headers):
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
        if answer.allowed:
            self.send_header("Allow", ", ".join(answer.allowed))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


class RestServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves a router.

    Args:
        address: where to listen.
        router: what answers.
        access: who may ask; None for everybody who can connect.
        limits: on connections and requests.
        tls: the context of TLS; None for plain HTTP.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(
        self,
        address: Any,
        router: Router,
        access: Access | None = None,
        limits: RestLimits | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.router, self.access, self._tls = router, access, tls
        self.limits = limits or RestLimits()
        self._waiting: dict[socket.socket, None] = {}
        self._answering: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, RestHandler)

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection; the thread that reads its first request shakes hands."""
        connection, address = super().get_request()
        if self._tls is not None:
            connection = self._tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection; if there are too many, the one that has waited longest ends."""
        with self._lock:
            if len(self._waiting) + len(self._answering) >= self.limits.connections:
                oldest = next(iter(self._waiting), request)
                self._waiting.pop(oldest, None)
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
                if oldest is request:
                    request.close()
                    return
            self._waiting[request] = None
        super().process_request(request, client_address)

    def answering(self, connection: socket.socket) -> None:
        """Keep a connection whose request is being answered."""
        with self._lock:
            self._waiting.pop(connection, None)
            self._answering.add(connection)

    def answered(self, connection: socket.socket) -> None:
        """Count a connection among those that wait for a request."""
        with self._lock:
            if connection in self._answering:
                self._answering.discard(connection)
                self._waiting[connection] = None

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        with self._lock:
            self._waiting.pop(request, None)
            self._answering.discard(request)
        super().shutdown_request(request)

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

    def handle_error(self, request: object, client_address: object) -> None:
        """Log what went wrong with a connection; most often the client has hung up."""
        _log.debug("a connection failed", exc_info=True)


def _json(content: object) -> bytes:
    return json.dumps(content).encode()
