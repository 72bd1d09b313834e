"""How many files of the package two small jobs enter: what a reader has to follow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import sys, threading

from pyflink_on_spark._job.job import install_engine
from pyflink_on_spark.testing import LocalEngine

PACKAGE = "/pyflink_on_spark/"
entered = set()


def note(frame, event, arg):
    code = frame.f_code
    if event == "call" and PACKAGE in code.co_filename and code.co_name != "<module>":
        entered.add(code.co_filename.rpartition(PACKAGE)[2])


def streams():
    from pyflink_on_spark.common import Types
    from pyflink_on_spark.datastream import StreamExecutionEnvironment

    pairs = Types.TUPLE([Types.INT(), Types.INT()])
    yield
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([(1, 2), (2, 3), (1, 4)], pairs)
    doubled = stream.map(lambda pair: (pair[0], pair[1] * 2), pairs)
    keyed = doubled.key_by(lambda pair: pair[0], Types.INT())
    keyed.reduce(lambda one, two: (one[0], one[1] + two[1])).print()
    env.execute()


def tables():
    from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment

    yield
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    columns = "(k INT, v INT)"
    datagen = "('connector' = 'datagen', 'number-of-rows' = '5')"
    env.execute_sql(f"CREATE TABLE origin {columns} WITH {datagen}")
    env.execute_sql(f"CREATE TABLE target {columns} WITH ('connector' = 'print')")
    env.execute_sql("INSERT INTO target SELECT k, SUM(v) FROM origin GROUP BY k").wait()


install_engine(LocalEngine())
job = {"streams": streams, "tables": tables}[sys.argv[1]]()
next(job)
threading.setprofile(note)
sys.setprofile(note)
next(job, None)
sys.setprofile(None)
threading.setprofile(None)
print("entered:", *sorted(entered))
"""


@pytest.mark.parametrize(("job", "most"), [("streams", 49), ("tables", 79)])
def test_a_small_job_enters_no_more_files(job, most):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, job],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    entered = done.stdout.rpartition("entered: ")[2].split()
    assert len(entered) <= most, f"{len(entered)} files, {most} before: {' '.join(entered)}"
    assert len(entered) > most - 4, f"only {len(entered)} files: lower the bound of this test"
