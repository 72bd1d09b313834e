"""The sink that writes documents in bulk requests, at least once."""

from __future__ import annotations

import base64
import datetime
import json
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflink_on_spark._connectors.elasticsearch.client import (
    TOO_MANY_REQUESTS,
    BulkClient,
    ElasticsearchError,
    SearchCluster,
)
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark.common.typeinfo import MapTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

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


def _line(value: Any) -> bytes:
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

    def __call__(self, element: dict[str, Any]) -> Action:
        """Return the action of an element."""
        index = self._entry(element, self.index) if self.dynamic else self.index
        key = None if self.key_field is None else self._entry(element, self.key_field)
        return Action(index, key, document_of(element), self.kind)

    def _entry(self, element: dict[str, Any], name: str) -> str:
        value = element.get(name)
        if value is None:
            raise ValueError(f"an element for Elasticsearch has no value for {name!r}")
        return str(value).lower() if isinstance(value, bool) else str(value)


def document_of(element: dict[str, Any]) -> bytes:
    """Return the JSON of a map.

    Raises:
        ValueError: a number is not finite.
        TypeError: JSON has no such value.
    """
    text = json.dumps(
        element, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
    )
    return text.encode(errors="surrogatepass")


def _plain(value: Any) -> Any:
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

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        if self._config.flushes_at_checkpoints:
            self._flush()
        return []

    def prepare_commit(self) -> list[Any]:
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

    def with_input_type(self, type_info: Any) -> Sink:
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
