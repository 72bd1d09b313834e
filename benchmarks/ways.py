"""The ways a job can be done: which command, in which environment."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOBS = ROOT / "benchmarks" / "jobs"


@dataclass(frozen=True)
class Way:
    """Its name in the table, the interpreter's command, its name in the job's script, options."""

    name: str
    interpreter: tuple[str, ...]
    way: str
    options: tuple[str, ...] = ()

    def command(self, job, records, parallelism):
        sizes = ["--records", str(records), "--parallelism", str(parallelism)]
        return [*self.interpreter, str(job), self.way, *sizes, *self.options]

    @property
    def env(self):
        """The environment: the interpreter's own tools first, and this folder importable."""
        tools = os.path.dirname(os.path.abspath(self.interpreter[0]))
        return os.environ | {
            "PATH": tools + os.pathsep + os.environ.get("PATH", ""),
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
        }


OURS = Way("pyflink_on_spark", (sys.executable, "-m", "pyflink_on_spark"), "flink")
SPARK_BY_HAND = Way("PySpark by hand", (sys.executable,), "spark")
SPARK_OTHERWISE = [
    Way("PySpark in pandas", (sys.executable,), "spark_pandas"),
    Way("PySpark by state", (sys.executable,), "spark_state"),
]
LOOP = Way("Python loop", (sys.executable,), "loop")
CALLS = Way("loop through calls", (sys.executable,), "calls")


def flink_ways(python):
    """The two modes of real PyFlink, in the environment of the given interpreter."""
    return [
        Way(f"PyFlink, {mode}", (python,), "flink", ("--execution-mode", mode))
        for mode in ("process", "thread")
    ]


def peer_ways(python):
    """Other libraries for streams, in the environment of the given interpreter."""
    return [Way(name, (python,), name) for name in ("bytewax", "pathway")]
