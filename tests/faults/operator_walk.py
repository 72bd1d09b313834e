"""Operates a job from Kafka to Kafka as a person would, and prints each command with its output.

    python tests/faults/operator_walk.py FOLDER [--python PYTHON] [--servers SERVERS]

The broker is that of the tests, in this process, or a cluster without the topics "views" and
"counts". PYTHON is the interpreter of the operator, for example that of an environment with the
wheel. Views are written all the time. At the end each view has to be counted, once: the counts of
a page in the output topic are 1, 2, 3 and so on.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.connectors.kafka.cluster import Cluster, memory_cluster  # noqa: E402 - needs the path

PAGES = ["home", "news", "shop", "help", "jobs"]
PARTITIONS = 4
RATE = 200
RUN_SECONDS = 5.0
FLINK = "python -m pyflink_on_spark"
OPERATOR = 'pages.filter(lambda page: page != "")'
SETTINGS = """\
execution.checkpointing:
  interval: 1 s
  dir: file://{0}/checkpoints
  savepoint-dir: file://{0}/savepoints
rest.port: 8081
"""


class Writer(threading.Thread):
    """Writes views until it is stopped."""

    def __init__(self, cluster) -> None:
        super().__init__(daemon=True)
        self.cluster, self.written, self.over = cluster, defaultdict(int), threading.Event()

    def run(self) -> None:
        number = 0
        while not self.over.wait(0.25):
            views = [PAGES[(number + n) % len(PAGES)] for n in range(RATE // 4)]
            self.cluster.write("views", views)
            number += len(views)
            for page in views:
                self.written[page] += 1


def shell(folder: Path, python: Path):
    environment = {
        **os.environ,
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "PYFLINK_ON_SPARK_HOME": str(folder / "home"),
        "FLINK_CONF_DIR": "conf",
    }

    def run(command: str) -> str:
        print(f"$ {command}".replace(str(folder), "/srv/views"), flush=True)
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        told = done.stdout + done.stderr
        print(told.replace(str(folder), "/srv/views"), end="", flush=True)
        assert done.returncode == 0, done.returncode
        return told

    return run


def counted(cluster) -> dict[str, list[int]]:
    found = defaultdict(list)
    for value in cluster.values("counts"):
        page, count = value.split()
        found[page].append(int(count))
    return found


def wait_until_counted(cluster, written) -> None:
    deadline = time.monotonic() + 60
    while {page: len(counts) for page, counts in counted(cluster).items()} != written:
        assert time.monotonic() < deadline, "not all views were counted"
        time.sleep(1)


def walk(folder: Path, python: Path, servers: str | None) -> None:
    folder.mkdir(parents=True)
    (folder / "conf").mkdir()
    (folder / "conf" / "config.yaml").write_text(SETTINGS.format(folder))
    script = folder / "page_views.py"
    shutil.copy(ROOT / "examples" / "operations" / "page_views.py", script)
    run = shell(folder, python)
    with memory_cluster() if servers is None else nullcontext(Cluster(servers)) as cluster:
        try:
            operate(script, run, cluster)
        except BaseException:
            run("python -m pyflink_on_spark cancel 'page views'")
            raise


def operate(script: Path, run, cluster) -> None:
    cluster.create("views", PARTITIONS)
    cluster.create("counts", PARTITIONS)
    writer = Writer(cluster)
    writer.start()
    script.write_text(script.read_text().replace("localhost:9092", cluster.servers))
    job = Job(run, f"page_views.py --servers {cluster.servers}")
    look(job)
    savepoint = job.stop()
    run(f"{FLINK} state {savepoint}")
    job.start(3, savepoint)
    savepoint = add_an_operator(job)
    rename_a_state(job, savepoint)
    writer.over.set()
    writer.join()
    wait_until_counted(cluster, writer.written)
    run(f"{FLINK} cancel 'page views'")
    run(f"{FLINK} list -a")
    for page, counts in counted(cluster).items():
        assert sorted(counts) == list(range(1, writer.written[page] + 1)), page
    total = sum(writer.written.values())
    print(f"{total} views were written, and {total} were counted, each once.")


def look(job: Job) -> None:
    job.run(f"{FLINK} info {job.script} | head -n 12")
    job.start(2)
    job.run(f"{FLINK} list")
    job.run("curl -s http://127.0.0.1:8081/jobs/overview | python -m json.tool | head -n 12")
    job.run("curl -s http://127.0.0.1:8081/ | grep title")
    job.run(f"{FLINK} checkpoints 'page views' | head -n 4")
    job.run(f"{FLINK} savepoint 'page views'")


def add_an_operator(job: Job) -> str:
    savepoint = job.stop()
    old, new = "pages.key_by", f'{OPERATOR}.uid("not empty").key_by'
    job.run(f"sed -i 's/{old}/{new}/' page_views.py && grep -n 'not empty' page_views.py")
    job.run(f"{FLINK} check --savepoint {savepoint} page_views.py -- {job.arguments}")
    job.start(3, savepoint)
    return job.stop()


def rename_a_state(job: Job, savepoint: str) -> None:
    job.run(f"{FLINK} state {savepoint} --write renamed --rename counts count viewed")
    job.run('sed -i \'s/Descriptor("count"/Descriptor("viewed"/\' page_views.py')
    job.run(f"{FLINK} check --savepoint renamed page_views.py -- {job.arguments} | head -n 1")
    job.start(3, "renamed")


class Job:
    """The job, as the operator starts and stops it."""

    def __init__(self, run, script: str) -> None:
        self.run, self.script = run, script
        self.arguments = script.partition(" ")[2]

    def start(self, parallelism: int, savepoint: str | None = None) -> None:
        """Start the job, and let it run for some seconds."""
        continued = "" if savepoint is None else f"-s {savepoint} "
        self.run(f"{FLINK} run -d -p {parallelism} {continued}{self.script}")
        time.sleep(RUN_SECONDS)

    def stop(self) -> str:
        """Stop the job with a savepoint."""
        return _path(self.run(f"{FLINK} stop 'page views'"))


def _path(told: str) -> str:
    found = re.search(r"Savepoint completed\. Path: (\S+)", told)
    assert found is not None
    return found[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Operates a job from Kafka to Kafka.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--servers", help="host:port of a cluster")
    given = parser.parse_args()
    walk(given.folder.resolve(), given.python.absolute(), given.servers)
