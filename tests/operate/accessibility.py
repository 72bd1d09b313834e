"""The page as people with a keyboard, a phone or a screen reader have it; its screenshots.

    python -m tests.operate.accessibility FOLDER [AXE]

writes a screenshot of the list and of a job, light and dark, on a wide and on a narrow screen, and
prints what axe-core finds. AXE is another axe.min.js than that of the package axe-core-python.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyflink_on_spark._operate.server.job_registry import JobRegistry
from pyflink_on_spark._operate.server.rest.server import RestServer
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._runtime.task.subtask_threads import (
    JobProgress,
    StateEntries,
    TaskProgress,
    combine,
)
from tests.operate.browser import Browser, browser
from tests.operate.operated import Handle
from tests.runtime.rounds import CutSource, job_of

SUBTASKS = 64
SCREENS = {"wide": (1280, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
READY = "document.readyState === 'complete' && document.querySelector('main')?.children.length > 0"
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


def operated() -> OperatedJob:
    """Return a job with 64 subtasks, a checkpoint and an exception."""
    job = job_of(
        lambda stream: stream.map(str).name("read").key_by(len).map(str).name("count"),
        CutSource([1]),
        parallelism=SUBTASKS,
        configuration={"parallelism.default": str(SUBTASKS)},
    )
    made = OperatedJob(job, Handle(job))
    with job.history.checkpoint(7, "file:/chk-7", savepoint=False) as record:
        record.size = 2048
    job.history.attempt_failed(RuntimeError("Traceback:\nKeyError: 'the reason'"), 0)
    read = made.tasks[1]
    states = (StateEntries("read", "total", 1000),)
    parts = [
        TaskProgress(
            read.name, 1, 100 + n, 5_000, 1, None, 2.0, n, busy_share=n / SUBTASKS, states=states
        )
        for n in range(SUBTASKS)
    ]
    made.handle.parts = parts
    made.handle.progress = JobProgress("x", 0, None, combine(parts))
    return made


@contextmanager
def served(job: OperatedJob) -> Iterator[str]:
    """Serve a job; yields the URL."""
    driver = JobRegistry()
    driver.jobs.add(job)
    server = RestServer(("127.0.0.1", 0), driver.router)
    server.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.stop()
        server.server_close()


def axe_core() -> Path:
    """Return the script of the installed package."""
    package = importlib.util.find_spec("axe_core_python")
    assert package is not None, "needs axe-core-python"
    assert package.origin is not None
    return Path(package.origin).parent / "axe.min.js"


def violations(page: Browser, axe: Path) -> list[list[str]]:
    """Return the violations that axe-core finds in the page, with all sections open; some rules
    pass.
    """
    page.run(OPEN_ALL)
    page.run(axe.read_text(encoding="utf-8") + "; null")
    found = json.loads(
        page.run(
            "axe.run().then((found) => JSON.stringify({passed: found.passes.length, violated: "
            "found.violations.map((each) => [each.id, each.impact, each.help, "
            "...each.nodes.map((node) => node.html)])}))"
        )
    )
    assert found["passed"] > 10, found
    return found["violated"]


def main(folder: Path, axe: Path) -> int:
    """Write screenshots; return how many rules are violated."""
    count = 0
    job = operated()
    with served(job) as url, browser() as page:
        for what, screen, scheme in itertools.product(("list", "job"), SCREENS, SCHEMES):
            page.screen(*SCREENS[screen], dark=scheme == "dark", phone=screen == "phone")
            page.open(f"{url}#{job.id if what == 'job' else ''}", READY)
            (folder / f"{what}_{screen}_{scheme}.png").write_bytes(page.screenshot())
            found = violations(page, axe)
            print(f"{what}, {screen}, {scheme}: {len(found)} rules violated", *found, sep="\n    ")
            count += len(found)
    return count


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    sys.exit(min(main(given[0], given[1] if len(given) > 1 else axe_core()), 1))
