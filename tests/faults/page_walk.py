"""Finds and mends a failing job from the page alone, as a person would, and takes the time.

    python -m tests.faults.page_walk FOLDER

A server for all jobs runs on Spark. A script is uploaded and run by the page. It counts lines of
files by key, and one line makes it fail again and again. From the moment when the page says so, the
reason is read on the page, the job is cancelled, the mended script is uploaded, and runs from the
checkpoint that the page names. Each line has to be counted once.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.operate.browser import Browser, browser

ROOT = Path(__file__).resolve().parents[2]
JOB = """\
import sys

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from pyflink.common.serialization import Encoder


def parse(line):
    key, number = line.split(" ")
    {parse}


env = StreamExecutionEnvironment.get_execution_environment()
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), sys.argv[1])
source = source.monitor_continuously(Duration.of_millis(200)).build()
lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").uid("lines")
pairs = lines.map(parse, Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])).name("parse")
sums = pairs.key_by(lambda pair: pair[0], Types.STRING()).reduce(
    lambda one, other: (one[0], one[1] + other[1], one[2] + 1)
).uid("sums")
texts = sums.map(lambda pair: f"{{pair[0]}} {{pair[1]}} {{pair[2]}}", Types.STRING())
sink = FileSink.for_row_format(sys.argv[2], Encoder.simple_string_encoder()).build()
texts.sink_to(sink).uid("sink")
env.execute("orders")
"""
FAILS = "return key, int(number), 1"
MENDED = "return key, int(number) if number.isdigit() else 0, 1"
MAIN = "document.querySelector('main').textContent"
BUTTON = "[...document.querySelectorAll('main button')].find((each) => each.textContent === '{}')"
KEYS, LINES = 5, 200
START_SECONDS = 60.0


class Person:
    """Somebody before the page, who can do what the page can.

    Args:
        page: the browser.
        url: of the server.
    """

    def __init__(self, page: Browser, url: str) -> None:
        self._page, self._url = page, url

    def runs(self, script: Path, answer: str) -> None:
        """Upload a script and run it; the page shows the job then."""
        self._page.run("location.hash = ''")
        self._page.wait("document.getElementById('scripts')")
        self._page.run("document.getElementById('scripts').open = true")
        self._page.choose_file("#script", str(script))
        row = (
            "[...document.querySelectorAll('#scripts tr')]"
            f".find((row) => row.cells[0].textContent === '{script.name}')"
        )
        self._page.wait(row)
        self._page.run(f"{row}.querySelector('button').click()")
        self._answers(answer)
        self._page.wait("/^#[0-9a-f]{32}$/.test(location.hash)")

    def cancels(self) -> None:
        """Cancel the job that the page shows."""
        self._page.run(f"{BUTTON.format('Cancel')}.click()")
        self._answers(None)

    def waits_for(self, expression: str) -> None:
        """Wait for something on the page."""
        self._page.wait(expression)

    def reads(self, expression: str) -> str:
        """Read something on the page."""
        return str(self._page.run(expression))

    def _answers(self, text: str | None) -> None:
        self._page.wait("document.querySelector('dialog').open")
        if text is not None:
            self._page.run(f"document.getElementById('answer').value = {json.dumps(text)}")
        self._page.run("document.querySelector('dialog #yes').click()")


def serve(folder: Path) -> tuple[subprocess.Popen[bytes], str, str]:
    """Start a server; return its process, URL and token."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYFLINK_ON_SPARK_HOME": str(folder / "home"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "pyflink_on_spark", "serve", "-Drest.port=0"],
        cwd=folder, env=environment, stdout=(folder / "serve.log").open("wb"),
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    deadline = time.monotonic() + START_SECONDS
    while not (found := list((folder / "home").rglob("server.json"))):
        assert time.monotonic() < deadline, (folder / "serve.log").read_text()
        time.sleep(0.1)
    told = json.loads(found[0].read_text())
    return process, told["url"], told["token"]


def write(folder: Path, number: int, *more: str) -> None:
    """Write a file of lines, which appears as a whole."""
    lines = [f"k{n % KEYS} {n}" for n in range(LINES)]
    hidden = folder / f".{number}"
    hidden.write_text("\n".join([*lines, *more]) + "\n")
    hidden.rename(folder / f"{number}.txt")


def walk(folder: Path, person: Person) -> float:
    """Break a job and mend it; return the seconds from the alarm to RUNNING."""
    given, results = folder / "in", folder / "out"
    given.mkdir()
    for name, parse in (("orders.py", FAILS), ("orders_mended.py", MENDED)):
        (folder / name).write_text(JOB.format(parse=parse))
    settings = {
        "execution.checkpointing.interval": "1s",
        "execution.checkpointing.dir": f"file://{folder}/checkpoints",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000000",
        "restart-strategy.fixed-delay.delay": "2s",
    }
    options = " ".join(["-p 2", *(f"-D{key}={value}" for key, value in settings.items())])
    arguments = f"-- {given} {results}"
    write(given, 0)
    person.runs(folder / "orders.py", f"{options} {arguments}")
    person.waits_for(f"{MAIN}.includes('RUNNING') && {MAIN}.includes('COMPLETED')")
    time.sleep(3)
    write(given, 1, "k0 oops")
    write(given, 2)
    person.waits_for("document.querySelector('strong.RESTARTING')")
    begun = time.monotonic()
    reason = person.reads(MAIN)
    lines = sorted(set(re.findall(r"orders\.py\D{1,12}(\d+)", reason)))
    (why,) = set(re.findall(r"ValueError: [^\n]{1,70}?'oops'", reason))
    print(f"{time.monotonic() - begun:5.1f} s: the page says {why}, in lines {', '.join(lines)}")
    place = person.reads(
        "[...document.querySelectorAll('main td code')].map((each) => each.textContent)"
        ".find((text) => /chk-\\d+$/.test(text))"
    )
    person.cancels()
    person.waits_for("document.querySelector('strong.CANCELED')")
    print(f"{time.monotonic() - begun:5.1f} s: cancelled; its checkpoint is {Path(place).name}")
    person.runs(folder / "orders_mended.py", f"{options} -s {place} {arguments}")
    print(f"{time.monotonic() - begun:5.1f} s: the mended script is submitted")
    person.waits_for("document.querySelector('h2 strong.RUNNING')")
    return time.monotonic() - begun


def counts(folder: Path) -> dict[str, list[tuple[int, int]]]:
    """The committed results by key."""
    found: dict[str, list[tuple[int, int]]] = {}
    for file in folder.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            for line in file.read_text().splitlines():
                key, total, count = line.split(" ")
                found.setdefault(key, []).append((int(count), int(total)))
    return found


def main(folder: Path) -> int:
    """Walk; print the times."""
    folder.mkdir(parents=True)
    process, url, token = serve(folder)
    try:
        with browser() as page:
            page.screen(1280, 900)
            page.open(f"{url}/#token={token}", "document.querySelector('summary')")
            person = Person(page, url)
            print(f"{walk(folder, person):5.1f} s: RUNNING")
            wanted = {f"k{n}": 3 * LINES // KEYS + (n == 0) for n in range(KEYS)}
            deadline = time.monotonic() + START_SECONDS
            while True:
                found = counts(folder / "out")
                got = {key: sorted(count for count, _ in each) for key, each in found.items()}
                right = {key: list(range(1, count + 1)) for key, count in wanted.items()}
                if got == right:
                    break
                assert time.monotonic() < deadline, {k: len(v) for k, v in got.items()}
                time.sleep(0.5)
            print(f"each of {sum(wanted.values())} lines is counted once")
            person.cancels()
            person.waits_for("document.querySelector('strong.CANCELED')")
    finally:
        process.terminate()
        process.wait(60)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
