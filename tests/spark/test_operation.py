"""A driver of its own that is operated from other processes, from its start to its end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink_on_spark.extensions import DataGeneratorSource, GeneratorFunction, RateLimiterStrategy

class Number(GeneratorFunction):
    def map(self, value):
        return value

env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(200)
rate = RateLimiterStrategy.per_second(500)
source = DataGeneratorSource(Number(), 10**9, rate, Types.LONG())
numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
count = numbers.map(lambda n: (n % 7, 1)).key_by(lambda pair: pair[0])
count.reduce(lambda a, b: (a[0], a[1] + b[1])).print()
print(env.get_parallelism(), *sys.argv[1:], flush=True)
env.execute("counter")
"""


class Shell:
    """A shell in a folder with the script ``job.py``, and a home of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "job.py").write_text(SCRIPT)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYFLINK_ON_SPARK_HOME": str(folder / "home"),
        }

    def start(self, *arguments):
        with (self.folder / "output").open("wb") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "pyflink_on_spark", *arguments],
                cwd=self.folder, env=self.environment, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip

    def run(self, *arguments, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "pyflink_on_spark", *arguments],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def records(self):
        files = (self.folder / "home" / "jobs").glob("*/*.json")
        return [json.loads(file.read_text()) for file in files]

    def wait_until(self, seen, seconds=90):
        deadline = time.monotonic() + seconds
        while not seen():
            assert time.monotonic() < deadline, (self.folder / "output").read_text()
            time.sleep(0.1)

    @property
    def settings(self):
        return [
            f"-Dexecution.checkpointing.dir={(self.folder / 'checkpoints').as_uri()}",
            f"-Dexecution.checkpointing.savepoint-dir={(self.folder / 'savepoints').as_uri()}",
        ]


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    for record in shell.records():
        if record["state"] == "RUNNING":
            os.kill(record["pid"], signal.SIGKILL)


def path_in(text):
    return re.search(r"Path: (\S+)", text)[1]


def counted(log):
    """Return the highest count that a log shows."""
    return max((int(n) for n in re.findall(r"\(\d, ?(\d+)\)", Path(log).read_text())), default=0)


def test_a_job_from_shell_to_shell(shell):
    told = shell.run("run", "-d", "-p", "2", *shell.settings, "job.py", "mine")
    job_id = re.search(r"JobID ([0-9a-f]{32})", told)[1]
    (record,) = shell.records()
    assert record["id"] == job_id
    assert f"{job_id} : counter (RUNNING)" in shell.run("list")
    shell.wait_until(lambda: "/chk-" in shell.run("checkpoints", job_id[:6]))
    assert Path(path_in(shell.run("savepoint", "counter"))[7:]).is_dir()
    refused = shell.run("savepoint", "counter", "/proc/none", status=1)
    assert "cannot write a savepoint to /proc/none" in refused
    savepoint = path_in(shell.run("stop", job_id[:8]))
    assert f"{job_id} : counter (FINISHED)" in shell.run("list", "-a")
    log = Path(record["log"])
    assert log.read_text().startswith("2 mine\n")
    before = counted(log)
    assert before > 0

    shell.run("run", "-d", "-s", savepoint, "-p3", *shell.settings, "job.py")
    second = next(r for r in shell.records() if r["id"] != job_id)
    shell.wait_until(lambda: counted(second["log"]) > before)
    assert Path(second["log"]).read_text().startswith("3\n")
    assert "Cancelled job" in shell.run("cancel", "counter")
    shell.wait_until(lambda: not _lives(second["pid"]))
    assert "No running jobs" in shell.run("list")
    assert "Traceback" not in log.read_text()


def test_a_script_without_a_job_ends_with_its_log(shell):
    (shell.folder / "job.py").write_text("raise SystemExit('no such table')")
    told = shell.run("run", "-d", "job.py", status=1)
    assert "has ended without a job" in told
    assert "no such table" in told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_job_and_its_checkpoint_stays(shell, number):
    process = shell.start(*shell.settings, "job.py")
    shell.wait_until(lambda: list(shell.folder.glob("checkpoints/*/chk-*/_metadata")))
    os.killpg(process.pid, number)
    assert process.wait(60) == 128 + number
    told = (shell.folder / "output").read_text()
    assert "its checkpoint stays" in told
    assert "Traceback" not in told
    assert list(shell.folder.glob("checkpoints/*/chk-*/_metadata"))
    assert shell.records()[0]["state"] == "CANCELED"


def test_a_signal_stops_with_a_savepoint_if_that_is_wanted(shell):
    wanted = "-Dpyflink-on-spark.savepoint-on-signal=true"
    process = shell.start(wanted, *shell.settings, "job.py")
    shell.wait_until(lambda: list(shell.folder.glob("checkpoints/*/chk-*/_metadata")))
    process.terminate()
    assert process.wait(60) == 128 + signal.SIGTERM
    assert "was stopped with the savepoint file:" in (shell.folder / "output").read_text()
    assert list(shell.folder.glob("savepoints/*/_metadata"))


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
