"""Ctrl-C ends a program, and its last checkpoint stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from compat_tests.conftest import QUERIES
from compat_tests.running import Journal

pytestmark = pytest.mark.whole("runs a program of its own, which makes checkpoints itself")

SCRIPT = """
import sys
import time

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

folder, journal = sys.argv[1:3]
configuration = Configuration()
configuration.set_string("execution.checkpointing.interval", "100 ms")
configuration.set_string("execution.checkpointing.dir", f"file://{folder}")
configuration.set_string("python.fn-execution.bundle.size", "1")
if len(sys.argv) > 3:
    configuration.set_string("execution.state-recovery.path", sys.argv[3])
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
source = NumberSequenceSource(0, 1_000_000)
numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


def note(value):
    time.sleep(0.02)
    with open(journal, "a") as file:
        file.write(f"{value}\\n")
    return value


numbers.map(note, Types.LONG())
env.execute()
"""


@pytest.fixture
def command(request, tmp_path):
    """The command that runs the program on the engine under test."""
    engine = request.config.getoption("--engine")
    if engine == "local":
        pytest.skip("a job in this process writes no checkpoints")
    script = tmp_path / "counting.py"
    script.write_text(textwrap.dedent(SCRIPT))
    launcher = [] if engine == "pyflink" else ["-m", "pyflink_on_spark"]
    if engine in QUERIES:
        remote = ["--remote", "local[2]"] if engine == "connect" else []
        launcher += ["run", "--engine", "structured", *remote]
    return [sys.executable, *launcher, str(script)]


def run_until(command, is_enough):
    """Run a program, interrupt it when something is the case; return how it ended."""
    root = Path(__file__).parent.parent
    with subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL) as process:
        try:
            while not is_enough():
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.1)
            process.send_signal(signal.SIGINT)
            return process.wait(60)
        finally:
            process.kill()


def checkpoints(folder):
    """The complete ones, the oldest first; of a query of Spark its folder."""
    found = folder.glob("*/chk-*/_metadata")
    queries = {path.parents[2] for path in folder.glob("*/query/commits/[0-9]*")}
    return sorted((path.parent for path in found), key=lambda p: int(p.name[4:])) or [*queries]


def test_a_job_continues_from_the_checkpoint_of_an_interrupted_one(command, tmp_path):
    folder, journal = tmp_path / "checkpoints", Journal(tmp_path / "journal")
    given = [*command, str(folder), journal.path]
    assert run_until(given, lambda: len(journal.lines()) > 30 and checkpoints(folder)) != 0
    before = len(journal.lines())
    last = checkpoints(folder)[-1]
    assert run_until([*given, str(last)], lambda: len(journal.lines()) > before + 5) != 0
    assert 0 < int(journal.lines()[before]) <= before
