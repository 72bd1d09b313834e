"""The bulk API of Elasticsearch and OpenSearch, over HTTP."""

from __future__ import annotations

import base64
import json
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError

TOO_MANY_REQUESTS = 429
_REFUSED = 400
_NOT_FOUND = 404
_GATEWAY_ERRORS = frozenset({502, 503, 504})
_LONGEST_REASON = 500
_LARGEST_ANSWER = 64 * 1024 * 1024
_CONNECT_TIMEOUT = 1000
_SOCKET_TIMEOUT = 30_000


class ElasticsearchError(PyFlinkOnSparkError, RuntimeError):
    """A server refuses an action, or no server answers."""


@dataclass(frozen=True)
class SearchHost:
    """A server of a cluster.

    Args:
        name: its name or address.
        port: its port.
        secure: whether it speaks TLS.
    """

    name: str
    port: int
    secure: bool = False

    @classmethod
    def parse(cls, text: str, *, complete: bool) -> SearchHost:
        """Read a server's URL.

        Args:
            text: the URL.
            complete: whether the scheme and the port have to be there; without them it is plain
                HTTP at port 80.

        Raises:
            ValueError: it is no URL of a server, or it is not complete.
        """
        url = _split(text if complete or "://" in text else f"http://{text}")
        if url is None or url.scheme not in {"http", "https"} or not url.hostname:
            raise ValueError("it should follow the format 'http://host_name:port'")
        if url.port is None and complete:
            raise ValueError("it should follow the format 'http://host_name:port': missing port")
        if url.path.strip("/") or url.query or url.username:
            raise ValueError("it has more than a scheme, a name and a port")
        return cls(url.hostname, 80 if url.port is None else url.port, url.scheme == "https")

    def __str__(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.name}:{self.port}"


def _split(text: str) -> SplitResult | None:
    with suppress(ValueError):
        found = urlsplit(text)
        _ = found.port
        return found
    return None


@dataclass(frozen=True)
class SearchCluster:
    """How to reach a cluster.

    Args:
        hosts: its servers.
        username: the user's name, or None.
        password: the user's password, or None.
        path_prefix: what stands before each path, or None.
        connect_timeout: the longest time to connect, in ms.
        socket_timeout: the longest time without data, in ms.
    """

    hosts: tuple[SearchHost, ...] = ()
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    path_prefix: str | None = None
    connect_timeout: int = _CONNECT_TIMEOUT
    socket_timeout: int = _SOCKET_TIMEOUT

    def path(self, name: str) -> str:
        """Return the path of a request."""
        prefix = (self.path_prefix or "").strip("/")
        return f"/{prefix}/{name}" if prefix else f"/{name}"

    def headers(self) -> dict[str, str]:
        """Return the headers of a request."""
        found = {"Content-Type": "application/x-ndjson", "Accept": "application/json"}
        if self.username is not None:
            pair = f"{self.username}:{self.password or ''}"
            found["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        return found


class BulkClient:
    """Sends actions, by one connection at a time.

    Args:
        cluster: how to reach it.
    """

    def __init__(self, cluster: SearchCluster) -> None:
        self._cluster = cluster
        self._path, self._headers = cluster.path("_bulk"), cluster.headers()
        self._connection: HTTPConnection | None = None
        self._host = 0

    def send(self, actions: list[bytes]) -> list[tuple[int, str] | None]:
        """Send a request; return the status and the reason of each action that failed, or None.

        A server that does not answer leads to the next one; each is asked once.

        Raises:
            ElasticsearchError: no server answers, or one refuses the whole request.
        """
        status, text = self._answer(b"".join(actions))
        if status == TOO_MANY_REQUESTS:
            return [(status, "the server refuses the request: too many requests")] * len(actions)
        if status >= _REFUSED:
            raise ElasticsearchError(f"{self._place} refuses the request: {_reason(status, text)}")
        return [_failure(*item) for item in _items(self._place, text, len(actions))]

    def close(self) -> None:
        """Disconnect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def _place(self) -> SearchHost:
        return self._cluster.hosts[self._host]

    def _answer(self, body: bytes) -> tuple[int, str]:
        lost = []
        for _ in self._cluster.hosts:
            try:
                status, text = self._asked(body)
            except (OSError, HTTPException) as error:
                reason = str(error) or type(error).__name__
            else:
                if status not in _GATEWAY_ERRORS:
                    return status, text
                reason = _reason(status, text)
            lost.append(f"{self._place}: {reason}")
            self.close()
            self._host = (self._host + 1) % len(self._cluster.hosts)
        raise ElasticsearchError(f"no server of Elasticsearch answers: {'; '.join(lost)}")

    def _asked(self, body: bytes) -> tuple[int, str]:
        if self._connection is not None:
            # The server may have closed a connection that was not used for a while.
            try:
                return self._request(self._connection, body)
            except (ConnectionError, HTTPException):
                self.close()
        self._connection = self._connect()
        return self._request(self._connection, body)

    def _connect(self) -> HTTPConnection:
        host = self._place
        make: Any = HTTPConnection
        if host.secure:
            make = partial(HTTPSConnection, context=ssl.create_default_context())
        connection: HTTPConnection = make(
            host.name, host.port, timeout=self._cluster.connect_timeout / 1000 or None
        )
        connection.connect()
        connection.sock.settimeout(self._cluster.socket_timeout / 1000 or None)
        return connection

    def _request(self, connection: HTTPConnection, body: bytes) -> tuple[int, str]:
        connection.request("POST", self._path, body, self._headers)
        response = connection.getresponse()
        content = response.read(_LARGEST_ANSWER + 1)
        if response.will_close or len(content) > _LARGEST_ANSWER:
            self.close()
        if len(content) > _LARGEST_ANSWER:
            raise ElasticsearchError(
                f"{self._place} gives an answer of more than {_LARGEST_ANSWER} bytes"
            )
        return response.status, content.decode(errors="replace")


def _items(place: SearchHost, text: str, count: int) -> list[tuple[str, dict[str, Any]]]:
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        items = [
            (name, {**found}) for item in json.loads(text)["items"] for name, found in item.items()
        ]
        if len(items) == count:
            return items
    raise ElasticsearchError(f"{place} gives no answer of a bulk request: {text[:_LONGEST_REASON]}")


def _failure(name: str, item: dict[str, Any]) -> tuple[int, str] | None:
    error, status = item.get("error"), item.get("status")
    status = status if isinstance(status, int) else 0
    if error is not None:
        return status, _error_text(error)
    # The deletion of a document that is not there has a status of its own, and no error.
    if 0 < status < _REFUSED or (name == "delete" and status == _NOT_FOUND):
        return None
    return (
        status,
        f"the server says neither that it is done nor why not: {str(item)[:_LONGEST_REASON]}",
    )


def _reason(status: int, text: str) -> str:
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        return f"{status} {_error_text(json.loads(text)['error'])}"
    return f"{status} {text[:_LONGEST_REASON]}"


def _error_text(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)[:_LONGEST_REASON]
    found = f"{error.get('type')}: {error.get('reason')}"
    cause = error.get("caused_by")
    if isinstance(cause, dict):
        found += f" ({cause.get('reason')})"
    return found[:_LONGEST_REASON]
