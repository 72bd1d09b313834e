"""An open page and Prometheus: what they ask a job's driver for."""

from __future__ import annotations

import json
import time
import urllib.request

from benchmarks.operation import FIGURES

PAGE_SECONDS, SCRAPE_SECONDS = 3.0, 10.0
FIRST_LOOK, FIRST_SCRAPE = 0.5, 1.5


class Watcher:
    """Asks what an open page, which shows the log, and Prometheus ask for.

    Args:
        rest: the port of the REST API.
        prometheus: the port of the reporter.
    """

    def __init__(self, rest, prometheus):
        self._rest, self._prometheus = rest, prometheus

    def watch(self, seconds):
        """Watch for some seconds."""
        began = time.monotonic()
        for due, ask in plan_of(seconds):
            time.sleep(max(0.0, began + due - time.monotonic()))
            if ask == "look":
                self._look()
            else:
                self._ask(self._prometheus, "/metrics")

    def _look(self):
        for job in json.loads(self._ask(self._rest, "/jobs"))["jobs"]:
            path = f"/jobs/{job['id']}"
            told = json.loads(self._ask(self._rest, path))
            for rest in ("/checkpoints", "/exceptions", "/config", "/accumulators", "/state"):
                self._ask(self._rest, path + rest)
            self._ask(self._rest, "/jobmanager/log")
            for vertex in told["vertices"]:
                of = f"{path}/vertices/{vertex['id']}"
                each = ",".join(f"{n}.numRecordsIn" for n in range(vertex["parallelism"]))
                self._ask(self._rest, f"{of}/subtasks/metrics?get={FIGURES}")
                self._ask(self._rest, f"{of}/metrics?get={each}")

    def _ask(self, port, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.read()


def plan_of(seconds):
    """Return when (s) to do what in a slice."""
    looks = int((seconds - FIRST_LOOK) / PAGE_SECONDS) + 1
    scrapes = int((seconds - FIRST_SCRAPE) / SCRAPE_SECONDS) + 1
    plan = [(FIRST_LOOK + number * PAGE_SECONDS, "look") for number in range(looks)]
    plan += [(FIRST_SCRAPE + number * SCRAPE_SECONDS, "scrape") for number in range(scrapes)]
    return sorted(plan)
