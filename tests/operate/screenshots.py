"""Takes the screenshots of the guide: the page of a job on Spark, light and dark.

    python -m tests.operate.screenshots [docs/images]

The job runs for half a minute with 2 subtasks, and then with 64.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.operate.accessibility import READY, SCHEMES
from tests.operate.browser import browser

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
SIZE = (1540, 1330)
START_SECONDS, RUN_SECONDS = 60.0, 30.0
JOBS = {2: ("page", 20_000), 64: ("page_64", 2000)}
SECTIONS = (
    "document.querySelectorAll('details[id^=subtasks-]')[2]",
    "document.getElementById('functions')",
)


def running_job(url: str) -> str | None:
    """Return the id of the job that runs; None if none does yet."""
    with suppress(OSError), urllib.request.urlopen(f"{url}/jobs") as answer:
        for job in json.loads(answer.read())["jobs"]:
            if job["status"] == "RUNNING":
                return str(job["id"])
    return None


@contextmanager
def page_of(parallelism: int, rate: int) -> Iterator[str]:
    """Run the job for a while; yields the URL of its page."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            sys.executable, "-m", "pyflink_on_spark", "run", "-p", str(parallelism),
            f"-Drest.port={port}", "-Dexecution.checkpointing.interval=3 s",
            f"-Dexecution.checkpointing.dir=file://{folder}/checkpoints",
            str(Path(__file__).with_name("screenshot_job.py")), str(rate),
        ]  # fmt: skip
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
        url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
        try:
            while (job := running_job(url)) is None:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.2)
            time.sleep(RUN_SECONDS)
            yield f"{url}/#{job}"
        finally:
            process.terminate()
            process.wait(60)


def main(folder: Path) -> None:
    """Write the screenshots."""
    for parallelism, (name, rate) in JOBS.items():
        with page_of(parallelism, rate) as url, browser() as page:
            for scheme in SCHEMES:
                page.screen(*SIZE, dark=scheme == "dark")
                page.open(url, READY)
                for section in SECTIONS:
                    page.run(f"{section}.open = true")
                    page.wait(f"{section}.querySelector('table, p')")
                (folder / f"{name}_{scheme}.png").write_bytes(page.screenshot())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
