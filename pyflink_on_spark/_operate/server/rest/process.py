"""The requests about the process that has the jobs: its log, its settings, what it runs on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._operate.server.rest.overview import slots_of
from pyflink_on_spark._operate.server.rest.routing import (
    NOT_FOUND,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.view.jobs import OperatedJobs
from pyflink_on_spark._operate.view.log_tail import LogTail
from pyflink_on_spark._operate.view.operated_job import TASK_MANAGER
from pyflink_on_spark._options.secrets import all_masked

_TEXT = "text/plain; charset=UTF-8"
_MOST_BYTES = 10 * 1024 * 1024


class Process:
    """Answers the requests about this process.

    Args:
        jobs: the jobs.
        log: returns the log file, if the log goes to one.
        tail: the last lines of the log.
    """

    def __init__(self, jobs: OperatedJobs, log: Callable[[], str | None], tail: LogTail) -> None:
        self._jobs, self._log, self._tail = jobs, log, tail

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobmanager/config", self.config)
        router.add("GET", "/jobmanager/log", self.log)
        router.add("GET", "/jobmanager/logs", self.logs)
        router.add("GET", "/jobmanager/logs/:name", self.log)
        router.add("GET", "/taskmanagers", self.task_managers)

    def config(self, request: Request) -> Answer:
        """Return the options of the last job; what is secret is hidden."""
        jobs = self._jobs.all()
        options = dict(jobs[-1].job.settings.configuration) if jobs else {}
        shown = all_masked(options)
        return Answer([{"key": key, "value": value} for key, value in shown.items()])

    def logs(self, request: Request) -> Answer:
        """Return the name and size of the log."""
        path = self._log()
        if path is None:
            return Answer({"logs": []})
        status = os.stat(path)
        about = {"name": os.path.basename(path), "size": status.st_size}
        return Answer({"logs": [{**about, "mtime": round(status.st_mtime * 1000)}]})

    def log(self, request: Request, name: str | None = None) -> Answer:
        """Return the end of the log file, or the last lines of a log that goes elsewhere."""
        path = self._log()
        if name is not None and (path is None or name != os.path.basename(path)):
            raise RestError(NOT_FOUND, f"there is no log {name}")
        if path is None:
            return Answer(self._tail.text().encode(), kind=_TEXT)
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - _MOST_BYTES))
            return Answer(file.read(), kind=_TEXT)

    def task_managers(self, request: Request) -> Answer:
        """Return the hosts of all jobs as one task manager."""
        slots = sum(slots_of(job) for job in self._jobs.running())
        about: dict[str, Any] = {
            "id": TASK_MANAGER,
            "path": TASK_MANAGER,
            "dataPort": -1,
            "jmxPort": -1,
            "timeSinceLastHeartbeat": 0,
            "slotsNumber": slots,
            "freeSlots": 0,
            "blocked": False,
        }
        return Answer({"taskmanagers": [about]})
