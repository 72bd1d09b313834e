"""What was asked of a job and takes its time: each in a thread, its result kept for who asks."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

_log = logging.getLogger("pyflink_on_spark")


class Operations:
    """The operations of this process by their request.

    Args:
        finished: called with a job's id, the request and the result, before the result is seen.
    """

    def __init__(self, finished: Callable[[str, str, dict[str, Any]], None]) -> None:
        self._finished = finished
        self._results: dict[tuple[str, str], dict[str, Any] | None] = {}
        self._threads: list[threading.Thread] = []

    def begin(self, job_id: str, call: Callable[[], str], request: str | None = None) -> str:
        """Begin an operation, and return its request: 32 hexadecimal digits.

        Args:
            job_id: the job's.
            call: returns a path, or raises.
            request: a request of the client's own; one that is known begins nothing.
        """
        request = request or uuid.uuid4().hex
        place = job_id, request
        if place not in self._results:
            self._results[place] = None
            thread = threading.Thread(target=self._run, args=(place, call), daemon=True)
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
            thread.start()
        return request

    def known(self, job_id: str, request: str) -> bool:
        """Return whether an operation was begun."""
        return (job_id, request) in self._results

    def result(self, job_id: str, request: str) -> dict[str, Any] | None:
        """Return an operation's result: a ``location`` or a ``failure``; None while it runs."""
        return self._results[job_id, request]

    def wait(self, seconds: float) -> None:
        """Wait until all operations have ended, or the time is over."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, place: tuple[str, str], call: Callable[[], str]) -> None:
        try:
            result = {"location": call()}
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            result = {"failure": str(error) or repr(error), "class": type(error).__name__}
        try:
            self._finished(*place, result)
        except OSError as error:
            _log.warning("the result of an operation cannot be kept on disk: %s", error)
        self._results[place] = result
