"""How long jobs wait for a Spark Connect server that does not answer.

Import it where a session of Spark Connect exists: it needs the libraries of the extra `connect`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import time
from collections.abc import Callable

from pyspark.errors import PySparkException
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql import SparkSession
from pyspark.sql.connect.client import SparkConnectClient
from pyspark.sql.connect.client.retries import DefaultPolicy, RetryPolicyState

_PAUSE_MS = 1000
_SESSION_GONE = "INVALID_HANDLE.SESSION_"


class Patience(DefaultPolicy):
    """Tries requests again for some time; once that was in vain, others are tried only once.

    PySpark tries each request for ten minutes, and a job makes several when it ends.

    Args:
        timeout_ms: how long, from a request's first failure.
        now: the time in seconds; any clock that never goes back.
    """

    def __init__(self, timeout_ms: int, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(max_retries=None, max_backoff=_PAUSE_MS)
        self.seconds = timeout_ms / 1000
        self.now = now

    def to_state(self) -> RetryPolicyState:
        """Begin to count the retries of a request."""
        return _Waiting(self)


class _Waiting(RetryPolicyState):
    """The retries of one request."""

    def __init__(self, patience: Patience) -> None:
        super().__init__(patience)
        self._patience = patience
        self._deadline: float | None = None

    def next_attempt(self, exception: BaseException | None = None) -> int | None:
        """Return how long to wait (ms) before the next try; None after the last one."""
        now = self._patience.now()
        if self._deadline is None:
            self._deadline = now + self._patience.seconds
        left = self._deadline - now
        if left <= 0:
            self._patience.seconds = 0.0
            return None
        pause = super().next_attempt(exception)
        return None if pause is None else min(pause, int(left * 1000) + 1)


def _client_of(session: SparkSession) -> SparkConnectClient:
    client: SparkConnectClient = session.client
    return client


def wait_at_most(session: SparkSession, timeout_ms: int) -> None:
    """Let the requests of a session of this package wait for a server as long as a job is to."""
    _client_of(session).set_retry_policies([Patience(timeout_ms)])


def wait_no_more(session: SparkSession) -> None:
    """Let the requests of a session fail at once if no server answers."""
    _client_of(session).set_retry_policies([])


def leave_at_exit(session: SparkSession) -> Callable[[], None]:
    """Let the program end at once if no server answers, and not after 20 minutes.

    Returns:
        A function that closes the session before the program ends.
    """
    leave = functools.partial(wait_no_more, session)
    atexit.register(leave)  # runs before what PySpark has registered

    def close() -> None:
        wait_no_more(session)
        client = _client_of(session)
        with contextlib.suppress(PySparkException):  # the server closes it by itself, but later
            client.release_session()
        client.close()
        atexit.unregister(leave)

    return close


def why_lost(session: SparkSession, error: BaseException) -> str | None:
    """Return why a session is of no use any more; None if it is.

    Args:
        session: one of Spark Connect.
        error: what a request has failed with, after all that was to be tried.
    """
    if not isinstance(error, SparkConnectGrpcException):
        return None
    server = f"the Spark Connect server on {_client_of(session).host}"
    if error.getGrpcStatusCode().name in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
        return f"{server} does not answer any more"
    if (error.getCondition() or "").startswith(_SESSION_GONE):
        return f"{server} was restarted, or has closed the session"
    return None
