"""Sinks that write documents to Elasticsearch or OpenSearch."""

from __future__ import annotations

import base64
import datetime
import json
import logging
import math
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark.common.typeinfo import MapTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

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


def _items(place: SearchHost, text: str, count: int) -> list[tuple[str, dict[str, object]]]:
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        items = [
            (name, {**found}) for item in json.loads(text)["items"] for name, found in item.items()
        ]
        if len(items) == count:
            return items
    raise ElasticsearchError(f"{place} gives no answer of a bulk request: {text[:_LONGEST_REASON]}")


def _failure(name: str, item: dict[str, object]) -> tuple[int, str] | None:
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


def _error_text(error: object) -> str:
    if not isinstance(error, dict):
        return str(error)[:_LONGEST_REASON]
    found = f"{error.get('type')}: {error.get('reason')}"
    cause = error.get("caused_by")
    if isinstance(cause, dict):
        found += f" ({cause.get('reason')})"
    return found[:_LONGEST_REASON]


_log = logging.getLogger("pyflink_on_spark.connectors")
_LONGEST_PAUSE = 30_000
Document = tuple[str, str]
"""The index and the id of a document."""


class Action(NamedTuple):
    """A document to be written or removed.

    Args:
        target: the index.
        key: the document's id; None lets the server choose one.
        document: the JSON; None removes the document.
        kind: the type of the document, which only old servers have, or None.
    """

    target: str
    key: str | None
    document: bytes | None
    kind: str | None = None

    def lines(self) -> bytes:
        """Return the lines of a bulk request."""
        place = {"_index": self.target}
        if self.kind is not None:
            place["_type"] = self.kind
        if self.key is not None:
            place["_id"] = self.key
        if self.document is None:
            return _line({"delete": place})
        if self.key is None:
            return _line({"index": place}) + self.document + b"\n"
        update = b'{"doc":' + self.document + b',"doc_as_upsert":true}\n'
        return _line({"update": place}) + update


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True)
class MapEmitter:
    """Makes actions of maps.

    Args:
        index: the index, or the key of the entry that names it.
        dynamic: whether an entry names the index.
        key_field: the key of the entry with the document's id, or None.
        kind: the type of the documents, or None.
    """

    index: str
    dynamic: bool
    key_field: str | None
    kind: str | None

    def __call__(self, element: dict[str, object]) -> Action:
        """Return the action of an element."""
        index = self._entry(element, self.index) if self.dynamic else self.index
        key = None if self.key_field is None else self._entry(element, self.key_field)
        return Action(index, key, document_of(element), self.kind)

    def _entry(self, element: dict[str, object], name: str) -> str:
        value = element.get(name)
        if value is None:
            raise ValueError(f"an element for Elasticsearch has no value for {name!r}")
        return str(value).lower() if isinstance(value, bool) else str(value)


def document_of(element: dict[str, object]) -> bytes:
    """Return the JSON of a map.

    Raises:
        ValueError: a number is not finite.
        TypeError: JSON has no such value.
    """
    text = json.dumps(
        element, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
    )
    return text.encode(errors="surrogatepass")


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise TypeError(f"a document for Elasticsearch cannot have a {type(value).__name__}")


def _number(value: Decimal) -> int | float:
    if value.is_finite() and value == value.to_integral_value():
        return int(value)
    number = float(value)
    if Decimal(repr(number)) != value:
        raise ValueError(f"a document for Elasticsearch cannot have {value}: write it as a text")
    return number


class Growth(Enum):
    """The growth of the pause before refused actions are sent again."""

    NONE = 0
    CONSTANT = 1
    EXPONENTIAL = 2


@dataclass(frozen=True)
class Backoff:
    """The attempts for actions that a server refuses for the moment.

    Args:
        growth: of the pause; NONE for no further attempt.
        retries: how many attempts follow the first one; None for no limit.
        delay: the first pause in ms.
    """

    growth: Growth = Growth.NONE
    retries: int | None = 0
    delay: int = 0

    def pauses(self) -> Iterator[float]:
        """Yield the pauses in seconds."""
        attempt = 0
        while self.growth is not Growth.NONE and (self.retries is None or attempt < self.retries):
            more = 0
            if self.growth is Growth.EXPONENTIAL:
                # The exponent has a limit, so that no number overflows.
                more = 10 * (int(math.exp(0.8 * min(attempt, 20))) - 1)
            yield min(self.delay + more, max(_LONGEST_PAUSE, self.delay)) / 1000
            attempt += 1


@dataclass(frozen=True)
class DocumentSinkConfig:
    """The settings of a sink. A negative number stands for no limit.

    Args:
        cluster: how to reach it.
        actions: the most actions of a request.
        in_bytes: the size at which a request is sent.
        interval: the longest time that an action waits, in ms.
        backoff: the attempts for refused actions.
        flushes_at_checkpoints: whether a checkpoint waits for all actions.
        ignores_failures: whether actions that fail are logged and left out.
        emitter: makes actions of the elements; None if they are actions.
    """

    cluster: SearchCluster = field(default_factory=SearchCluster)
    actions: int = 1000
    in_bytes: int = -1
    interval: int = -1
    backoff: Backoff = field(default_factory=Backoff)
    flushes_at_checkpoints: bool = True
    ignores_failures: bool = False
    emitter: MapEmitter | None = None


class DocumentWriter(SinkWriter):
    """Buffers actions, and sends them in bulk requests.

    Args:
        config: the settings of the sink.
        now: returns the processing time in ms.
        pause: waits some seconds between two attempts.
    """

    def __init__(
        self,
        config: DocumentSinkConfig,
        now: Callable[[], int],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config, self._now, self._pause = config, now, pause
        self._client = BulkClient(config.cluster)
        self._waiting: list[tuple[Document | None, bytes]] = []
        self._size = 0
        self._due: int | None = None

    def write(self, elements: Iterator[Any]) -> None:
        config, emitter = self._config, self._config.emitter
        for element in elements:
            if emitter is not None and element is None:
                continue
            action: Action = element if emitter is None else emitter(element)
            lines = action.lines()
            document = None if action.key is None else (action.target, action.key)
            self._waiting.append((document, lines))
            self._size += len(lines)
            if 0 < config.actions <= len(self._waiting) or 0 < config.in_bytes <= self._size:
                self._flush()
        if self._waiting and self._due is None and config.interval > 0:
            self._due = self._now() + config.interval

    def advance_processing_time(self, now: int) -> None:
        """Send all actions once one has waited for too long."""
        if self._due is not None and now >= self._due:
            self._flush()

    def next_processing_time(self) -> int | None:
        """Return when the buffered actions are sent."""
        return self._due

    def prepare_checkpoint(self, checkpoint_id: int) -> list[object]:
        if self._config.flushes_at_checkpoints:
            self._flush()
        return []

    def prepare_commit(self) -> list[object]:
        self._flush()
        return []

    def close(self) -> None:
        self._client.close()

    def _flush(self) -> None:
        actions, self._waiting = self._waiting, []
        self._size, self._due = 0, None
        pauses = self._config.backoff.pauses()
        while actions:
            answers = self._client.send([lines for _, lines in actions])
            failures = [failure for failure in answers if failure is not None]
            refused = [reason for status, reason in failures if status == TOO_MANY_REQUESTS]
            lasting = [reason for status, reason in failures if status != TOO_MANY_REQUESTS]
            if lasting:
                self._fail(len(lasting), len(actions), lasting[0])
            pause = next(pauses, None) if refused else None
            if refused and pause is None:
                self._fail(len(refused), len(actions), refused[0])
                return
            if pause is not None:
                self._pause(pause)
            actions = _to_be_sent_again(actions, answers)

    def _fail(self, count: int, total: int, reason: str) -> None:
        text = f"{count} of {total} actions failed in Elasticsearch: {reason}"
        if not self._config.ignores_failures:
            raise ElasticsearchError(text)
        _log.warning("%s ('failure-handler' = 'ignore')", text)


def _to_be_sent_again(
    actions: list[tuple[Document | None, bytes]], answers: list[tuple[int, str] | None]
) -> list[tuple[Document | None, bytes]]:
    """Return the refused actions, and those that were done with their documents after them.

    Otherwise the refused one would overwrite what a later one has written.
    """
    again, documents = [], set()
    for (document, lines), failure in zip(actions, answers, strict=True):
        if failure is None:
            refused = document in documents
        else:
            refused = failure[0] == TOO_MANY_REQUESTS
        if refused:
            again.append((document, lines))
            if document is not None:
                documents.add(document)
    return again


class DocumentSink(Sink):
    """Writes documents at least once.

    Args:
        config: the settings of the sink.
    """

    def __init__(self, config: DocumentSinkConfig) -> None:
        self._config = config

    def with_input_type(self, type_info: object) -> Sink:
        """Check that the stream consists of maps, if the sink makes actions of maps.

        Raises:
            TypeError: the stream has another type.
        """
        if self._config.emitter is None:
            return self
        if not isinstance(type_info, MapTypeInfo):
            raise TypeError(
                "a sink of Elasticsearch writes maps: declare the stream's type with "
                f"output_type=Types.MAP(Types.STRING(), ...); it is {type_info}"
            )
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        return DocumentWriter(self._config, context.clock.now)
