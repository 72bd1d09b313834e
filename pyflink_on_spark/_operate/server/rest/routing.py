"""Finds the function that answers a request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._operate.view.jobs import UnknownJob

OK, ACCEPTED, NO_CONTENT = 200, 202, 204
BAD_REQUEST, FORBIDDEN, NOT_FOUND, NOT_ALLOWED, CONFLICT = 400, 403, 404, 405, 409
INTERNAL_ERROR, GATEWAY_TIMEOUT = 500, 504


class RestError(PyFlinkOnSparkError):
    """A request that cannot be answered.

    Args:
        status: the HTTP status.
        text: one sentence for the user.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class FormPart:
    """A part of a body: a file that a client uploads.

    Args:
        name: the file's, as the client says it; not to be trusted.
        content: the bytes.
    """

    name: str
    content: bytes


JsonObject = dict[str, Any]
"""An object of JSON, by names."""


@dataclass(frozen=True)
class Request:
    """A request.

    Args:
        method: ``GET``, ``HEAD``, ``OPTIONS``, ``POST``, ``PUT``, ``PATCH``, ``DELETE``.
        path: without the query.
        query: the query's values by name.
        body: the JSON body.
        parts: the files of a body with parts.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[FormPart, ...] = ()


@dataclass(frozen=True)
class Answer:
    """An answer.

    Args:
        content: what becomes JSON, or bytes as they are.
        status: the HTTP status.
        kind: the content's MIME type.
        allowed: the methods that a path takes, for a request that asks for them.
    """

    content: object
    status: int = OK
    kind: str = "application/json; charset=UTF-8"
    allowed: tuple[str, ...] = ()


Handler = Callable[..., Answer]


class Router:
    """The functions by method and path."""

    def __init__(self) -> None:
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = []

    def add(self, method: str, path: str, handler: Handler) -> None:
        """Add a route.

        Args:
            method: the HTTP method.
            path: its steps that begin with a colon are arguments, for example ``/jobs/:job_id``;
                a last step that begins with an asterisk is all that follows.
            handler: gets the request, and the arguments by name.
        """
        pattern = re.sub(r":(\w+)", r"(?P<\1>[^/]+)", path)
        pattern = re.sub(r"\*(\w+)$", r"(?P<\1>.+)", pattern)
        self._routes.append((method, re.compile(pattern), handler))

    def answer(self, request: Request) -> Answer:
        """Return the answer to a request; an error is an answer, too."""
        try:
            return self._handler(request)
        except UnknownJob as error:
            return Answer({"errors": [str(error)]}, NOT_FOUND)
        except RestError as error:
            return Answer({"errors": [str(error)]}, error.status)

    def _handler(self, request: Request) -> Answer:
        path = request.path.removeprefix("/v1").rstrip("/") or "/"
        found = [(m, match, h) for m, p, h in self._routes if (match := p.fullmatch(path))]
        found.sort(key=lambda route: len(route[1].groups()))  # /jobs/metrics is not a job
        for method, match, handler in found:
            if method == request.method or (method, request.method) == ("GET", "HEAD"):
                return handler(request, **match.groupdict())
        if found and request.method == "OPTIONS":
            return Answer(b"", NO_CONTENT, allowed=tuple(sorted({m for m, _, _ in found})))
        if found:
            raise RestError(NOT_ALLOWED, f"{request.path} does not take {request.method}.")
        raise RestError(NOT_FOUND, f"Not found: {request.path}")
