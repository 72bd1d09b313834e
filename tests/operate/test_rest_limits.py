"""Requests of strangers, before their token is checked, cost little."""

from __future__ import annotations

import contextlib
import re
import socket
import threading

import pytest

from pyflink_on_spark._operate.server.rest.routing import Answer, Router
from pyflink_on_spark._operate.server.rest.server import Access, RestLimits, RestServer

CHUNKED = (
    b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2b\r\nDELETE /echo HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n0\r\n\r\n"
)


def request(body=b"", method="POST", *headers):
    head = [f"{method} /echo HTTP/1.1", "Host: localhost", *headers]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


class Served:
    """A server with limits, and its connections."""

    def __init__(self, limits, token=None):
        self.answered, self.hold = [], threading.Event()
        self.hold.set()
        router = Router()
        for method in ("GET", "POST", "DELETE"):
            router.add(method, "/echo", self.echo)
        self.server = RestServer(("127.0.0.1", 0), router, Access(token), limits)
        self.server.start()
        self.open = []

    def echo(self, request):
        self.answered.append(request.method)
        self.hold.wait(20)
        return Answer(dict(request.body))

    def connect(self, content=b""):
        connection = socket.create_connection(self.server.server_address[:2], timeout=20)
        self.open.append(connection)
        connection.sendall(content)
        return connection

    def send(self, content):
        """Send bytes; return the status lines of the answers until the server closes."""
        connection = self.connect(content)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        return statuses(connection)

    def close(self):
        self.hold.set()
        for connection in self.open:
            connection.close()
        self.server.stop()
        self.server.server_close()


def statuses(connection):
    content = b""
    try:
        while chunk := connection.recv(65536):
            content += chunk
    except ConnectionError:
        pass
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", content)]


@pytest.fixture
def serve():
    servers = []

    def start(token=None, **limits):
        servers.append(Served(RestLimits(**limits), token))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_whole_request_is_answered(serve):
    assert serve().send(request(b'{"a": 1}') + request()) == [200, 200]


def test_a_chunked_body_is_no_second_request(serve):
    served = serve()
    assert served.send(CHUNKED) == [400]
    assert served.answered == []


@pytest.mark.parametrize("length", ["1_0", "+2", "-1", "2, 2", "99999999999999999999999", "x"])
def test_lengths_that_are_none(serve, length):
    content = request().replace(b"Content-Length: 0", f"Content-Length: {length}".encode())
    assert serve().send(content + b"{}") == [400]


def test_two_lengths(serve):
    assert serve().send(request(b"{}", "POST", "Content-Length: 40")) == [400]


def test_nested_json_is_a_bad_request(serve):
    assert serve().send(request(b"[" * 500_000)) == [400]


@pytest.mark.parametrize(
    "head",
    [
        b"GET /echo HTTP/1.1\r\n" + b"A: " + b"x" * 100_000,
        b"GET /echo HTTP/1.1\r\n" + b"".join(b"A%d: %s\r\n" % (n, b"x" * 900) for n in range(90)),
        b"GET /" + b"x" * 100_000,
    ],
    ids=["line", "headers", "path"],
)
def test_heads_that_are_too_long(serve, head):
    served = serve()
    assert all(status in (414, 431) for status in served.send(head + b"\r\n\r\n"))
    assert served.answered == []


def test_a_slow_request_ends(serve):
    """Each byte comes in time, but the whole does not."""
    clock = iter(range(0, 1000, 5))
    served = serve(request=20.0, clock=lambda: next(clock))
    connection = served.connect()
    assert sends_all(connection, request() * 10) is False
    assert served.answered == []


def sends_all(connection, content):
    """Send byte by byte, and tell whether the server takes all of them."""
    connection.settimeout(0.05)
    for byte in content:
        try:
            connection.sendall(bytes([byte]))
            if not connection.recv(1):
                return False
        except TimeoutError:
            continue
        except OSError:
            return False
    return True


def test_idle_connections_make_room(serve):
    served = serve(connections=5)
    for _ in range(40):
        served.connect(b"GET /echo HTTP/1.1\r\n")
    assert served.send(request(b"", "GET")) == [200]


def test_answers_in_work_are_kept(serve):
    served = serve(connections=2)
    served.hold.clear()
    busy = [served.connect(request()) for _ in range(2)]
    while len(served.answered) < 2:
        threading.Event().wait(0.01)
    assert served.send(request()) == []
    served.hold.set()
    for connection in busy:
        connection.shutdown(socket.SHUT_WR)
        assert statuses(connection) == [200]


def test_a_body_is_not_read_without_the_token(serve):
    served = serve(token="secret")
    connection = served.connect(request(b"{}", "POST")[:-2].replace(b": 2", b": 500000"))
    assert statuses(connection) == [403]
