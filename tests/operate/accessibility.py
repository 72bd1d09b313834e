"""Checks the page with axe-core in a real browser; not part of CI, for axe-core comes from npm.

    npm install axe-core
    python -m tests.operate.accessibility node_modules/axe-core/axe.min.js [FOLDER]

Checks the list and a job, light and dark, on a wide and on a narrow screen. The job has 64
subtasks, a checkpoint and an exception. With a folder, it gets a screenshot of each.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

from pyflink_on_spark._operate.driver import Driver
from pyflink_on_spark._operate.operated_job import OperatedJob
from pyflink_on_spark._operate.rest.page import PAGES
from pyflink_on_spark._operate.rest.routing import Answer
from pyflink_on_spark._operate.rest.server import RestServer
from pyflink_on_spark._runtime.task.progress import (
    JobProgress,
    StateEntries,
    TaskProgress,
    combine,
)
from tests.operate.operated import Handle
from tests.runtime.rounds import CutSource, job_of

SUBTASKS = 64
SCREENS = {"wide": "1280,2400", "phone": "390,3600"}
SCHEMES = {"light": 1, "dark": 0}
RUN = """
const wanted = () => document.querySelector("main").children.length;
const wait = setInterval(() => {
  if (!wanted()) return;
  clearInterval(wait);
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  axe.run().then((found) => {
    const result = document.createElement("pre");
    result.id = "axe";
    result.textContent = JSON.stringify({
      passed: found.passes.length,
      violations: found.violations.map((each) => [each.id, each.impact, each.help,
        each.nodes.map((node) => node.html)]),
    });
    document.body.append(result);
  });
}, 50);
"""


def operated() -> OperatedJob:
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


def serve(axe: Path) -> tuple[RestServer, str]:
    """Serve a job, with axe-core in the page."""
    driver = Driver()
    job = operated()
    driver.jobs.add(job)
    index = driver.router.answer(_get("/")).content
    scripts = b'<script src="axe.js"></script><script src="run.js"></script></body>'
    with_axe = index.replace(b"</body>", scripts)
    script = "text/javascript"
    files = {
        "/checked": (with_axe, "text/html"), "/axe.js": (axe.read_bytes(), script),
        "/run.js": (RUN.encode(), script),
    }  # fmt: skip
    for path, (content, kind) in files.items():
        driver.router.add("GET", path, lambda _, c=content, k=kind: Answer(c, kind=k))
    server = RestServer(("127.0.0.1", 0), driver.router)
    server.start()
    return server, job.id


def _get(path: str):
    from pyflink_on_spark._operate.rest.routing import Request

    assert path in PAGES
    return Request("GET", path)


def main(arguments: list[str]) -> int:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser is not None, "needs Chromium"
    server, job_id = serve(Path(arguments[0]))
    url = f"http://127.0.0.1:{server.server_address[1]}"
    shots = Path(arguments[1]).resolve() if len(arguments) > 1 else None
    failed = False
    for fragment, screen, scheme in itertools.product(("", job_id), SCREENS, SCHEMES):
        name = f"{'job' if fragment else 'list'}, {screen}, {scheme}"
        with tempfile.TemporaryDirectory() as profile:
            command = [
                browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={profile}", f"--window-size={SCREENS[screen]}",
                f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
                "--virtual-time-budget=8000",
            ]  # fmt: skip
            page = subprocess.run(
                [*command, "--dump-dom", f"{url}/checked#{fragment}"],
                capture_output=True, text=True, check=True, timeout=120,
            ).stdout  # fmt: skip
            if shots is not None:
                shot = shots / f"{name.replace(', ', '_')}.png"
                subprocess.run(
                    [*command, f"--screenshot={shot}", f"{url}/#{fragment}"],
                    capture_output=True, check=True, timeout=120,
                )  # fmt: skip
        told = re.search(r'<pre id="axe">(.*?)</pre>', page, re.DOTALL)
        assert told is not None, page
        found = json.loads(unescape(told[1]))
        print(f"{name}: {found['passed']} rules passed, {len(found['violations'])} violated")
        for violation in found["violations"]:
            failed = True
            print("   ", *violation)
    server.shutdown()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
