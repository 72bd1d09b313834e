"""A driver of its own that is operated from other processes, from its start to its end."""

from __future__ import annotations

import json
import os
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


SAVED = """
from pyflink.common import Configuration
wanted = Configuration().set_string("pyflink-on-spark.savepoint-on-signal", "true")
env.configure(wanted)
"""

COMMITTED = """
from pyflink.common import Encoder
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
files = FileSink.for_row_format("committed", Encoder.simple_string_encoder())
files = files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
numbers.map(str, Types.STRING()).sink_to(files)
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

    def checkpoints(self):
        """Return the ids of the jobs that have a checkpoint."""
        return {path.parts[-3] for path in self.folder.glob("checkpoints/*/chk-*/_metadata")}

    def committed(self):
        """Return the numbers in committed files, in order."""
        files = self.folder.glob("committed/*/part-*")
        return sorted(int(line) for file in files for line in file.read_text().split())

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


def test_a_script_without_a_job_ends_with_its_log(shell):
    (shell.folder / "job.py").write_text("import sys; sys.exit(f'no table {sys.argv[1]}')")
    told = shell.run("run", "-d", "job.py", "mine", status=1)
    assert "has ended without a job" in told
    assert "no table mine" in told


def test_ctrl_c_ends_one_job_and_stops_another_with_a_savepoint(shell):
    """Terminals send Ctrl-C to all processes of a script."""
    (shell.folder / "job.py").write_text(
        SCRIPT.replace("env.execute(", SAVED + "env.execute_async(")
        + SCRIPT.replace('execute("counter")', 'execute("other")')
    )
    process = shell.start("-p1", *shell.settings, "job.py")
    shell.wait_until(lambda: len(shell.checkpoints()) == 2)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    told = (shell.folder / "output").read_text()
    assert "its checkpoint stays" in told
    assert "the job 'counter' was stopped with the savepoint file:" in told
    assert "Traceback" not in told
    states = {record["name"]: (record["id"], record["state"]) for record in shell.records()}
    assert [states[name][1] for name in ("counter", "other")] == ["FINISHED", "CANCELED"]
    assert shell.checkpoints() == {states["other"][0]}
    assert list(shell.folder.glob(f"savepoints/savepoint-{states['counter'][0][:6]}-*/_metadata"))


@pytest.mark.nightly
def test_sigterm_stops_a_job_with_a_savepoint_and_leaves_the_next_one_its_checkpoint(shell):
    """The first one is for the driver alone, as of a supervisor; the second one for all processes.

    What both jobs have committed is each number once.
    """
    (shell.folder / "job.py").write_text(SCRIPT.replace("env.execute(", COMMITTED + "env.execute("))
    saved = "-Dpyflink-on-spark.savepoint-on-signal=true"
    process = shell.start("-p1", saved, *shell.settings, "job.py")
    shell.wait_until(shell.checkpoints)
    process.terminate()
    assert process.wait(60) == 128 + signal.SIGTERM
    told = (shell.folder / "output").read_text()
    (savepoint,) = shell.folder.glob("savepoints/savepoint-*")
    assert f"the job 'counter' was stopped with the savepoint {savepoint.as_uri()}" in told
    assert "Traceback" not in told
    (stopped,) = shell.records()
    assert stopped["state"] == "FINISHED"
    assert not shell.checkpoints()
    before = shell.committed()
    assert before == list(range(len(before)))

    process = shell.start("-p1", "-s", str(savepoint), *shell.settings, "job.py")
    shell.wait_until(lambda: len(shell.committed()) > len(before))
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    told = (shell.folder / "output").read_text()
    assert "its checkpoint stays" in told
    assert "Traceback" not in told
    (ended,) = (record for record in shell.records() if record["id"] != stopped["id"])
    assert shell.checkpoints() == {ended["id"]}
    assert ended["state"] == "CANCELED"
    after = shell.committed()
    assert after == list(range(len(after)))
