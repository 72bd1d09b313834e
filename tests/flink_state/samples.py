"""The savepoints of this folder, unpacked, and jobs that continue from them in this process."""

from __future__ import annotations

import gzip
import importlib
import random
import shutil
from contextlib import contextmanager
from pathlib import Path

import pyflink_on_spark
from pyflink_on_spark._job.moving_out import move_out
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.state import CheckpointContents
from pyflink_on_spark.tools.plan.recording import recording

SAVEPOINTS = Path(__file__).parent / "savepoints"
HOME = b"/tmp/moving-in-00000000"
SCRIPT = """
import pyflink_on_spark
pyflink_on_spark.install()
from pyflink.datastream import StreamExecutionEnvironment
from tests.flink_state import jobs

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
jobs.JOBS[{job!r}](env, {folder!r}, "nowhere", 3)
env.execute()
"""


def metadata_of(name):
    return gzip.decompress((SAVEPOINTS / f"{name}.gz").read_bytes())


def unpacked(name, folder):
    """Unpack a savepoint into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_metadata").write_bytes(metadata_of(name))
    return str(folder)


@contextmanager
def home():
    """Give a folder with a path as long as that of the one in the savepoints."""
    number = random.randrange(10**8)
    path = Path(HOME.decode()[:-8] + f"{number:08}")
    (path / "in").mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def lines(numbers):
    return "".join(f"k{n % 3},{1000 + n * 150},{n}\n" for n in numbers)


def job_of(name):
    """Return the name of the job of a savepoint, which may be in several formats."""
    job = name.replace("-", "_")
    return job if job in jobs() else name.partition("-")[0]


def first_results(name):
    """Return the results of the job on real PyFlink before it was stopped."""
    return (SAVEPOINTS / f"{job_of(name)}.first.txt").read_text().splitlines()


def all_results(job):
    """Return the results of the job on real PyFlink without a stop."""
    return (SAVEPOINTS / f"{job}.txt").read_text().splitlines()


def results(lines):
    """Sort results; when a trigger fires in between depends on when watermarks come."""
    last = {}
    for line in lines:
        if line.startswith("continuous "):
            key = line.split()[1]
            last[key] = max(last.get(key, ""), line, key=len)
    return sorted([*last.values(), *(x for x in lines if not x.startswith("continuous "))])


def jobs():
    pyflink_on_spark.install()
    return importlib.import_module("tests.flink_state.jobs").JOBS


def prepare(name, path, *, parallelism=2, options=None, job=None, more=True):
    """Return an environment with the job that continues from a savepoint."""
    (path / "in" / "a").write_text(lines(range(12)))
    if more:
        (path / "in" / "b").write_text(lines(range(12, 24)))
    content = metadata_of(name).replace(HOME, str(path).encode())
    (path / "savepoint").mkdir()
    (path / "savepoint" / "_metadata").write_bytes(content)
    configuration = Configuration()
    configuration.set_string("execution.state-recovery.path", str(path / "savepoint"))
    for key, value in (options or {}).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    jobs()[job or job_of(name)](env, str(path / "in"), str(path / "out"), parallelism)
    return env


def continued(name, engine, **settings):
    """Run the second half of a job in this process, and return what it emits."""
    with home() as path:
        env = prepare(name, path, **settings)
        client = env.execute_async(name)
        engine.wait_until_idle(60)
        if client.get_job_status().result().name == "RUNNING":
            client.stop_with_savepoint(True, str(path / "drained")).result()
        client.get_job_execution_result().result()
        return (path / "out").read_text().splitlines()


def recorded(name, path, *, parallelism=2, options=None, queries=None):
    """Return the job as the tools see it, which does not run.

    Args:
        queries: those that differ from the job's, by name, or the part that differs: what it was
            and what it is.
    """
    make = jobs()[job_of(name)]
    if queries:
        module = importlib.import_module("tests.flink_state.jobs")
        changed = dict(module.QUERIES)
        for key, query in queries.items():
            changed[key] = query if isinstance(query, str) else changed[key].replace(*query)

        def make(*settings):
            module.queries_of(*settings, changed)

    configuration = Configuration()
    for key, value in (options or {}).items():
        configuration.set_string(key, value)
    with recording() as engine:
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1)
        make(env, str(path / "in"), str(path / "out"), parallelism)
        env.execute(name)
    return engine.jobs[0]


def moved_out(savepoint, name, path, **settings):
    """Write a savepoint of ours for Flink, in a folder; return what became of it."""
    leaves_out = settings.pop("leaves_out", False)
    contents = CheckpointContents(savepoint, trusted=True)
    job = recorded(name, path, **settings)
    return move_out(job, contents, folder(str(path / "flinks")), leaves_out=leaves_out)
