"""Operates a job from Kafka to Kafka as a person would, and prints each command with its output.

    python tests/faults/operator_walk.py FOLDER

Views are written all the time. At the end each view has to be counted, once: the counts of a page
in the output topic are 1, 2, 3 and so on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.connectors.kafka.cluster import memory_cluster  # noqa: E402 - needs the path

PAGES = ["home", "news", "shop", "help", "jobs"]
PARTITIONS = 4
RATE = 200
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


def shell(folder: Path):
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYFLINK_ON_SPARK_HOME": str(folder / "home"),
        "FLINK_CONF_DIR": "conf",
    }

    def run(command: str) -> str:
        print(f"$ {command}", flush=True)
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


def walk(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "conf").mkdir()
    (folder / "conf" / "config.yaml").write_text(SETTINGS.format(folder))
    script = folder / "page_views.py"
    shutil.copy(ROOT / "examples" / "operations" / "page_views.py", script)
    run = shell(folder)
    with memory_cluster() as cluster:
        try:
            operate(script, run, cluster)
        except BaseException:
            run("python -m pyflink_on_spark cancel 'page views'")
            raise


def operate(script: Path, run, cluster) -> None:
    flink = "python -m pyflink_on_spark"
    cluster.broker.create("views", PARTITIONS)
    cluster.broker.create("counts", PARTITIONS)
    writer = Writer(cluster)
    writer.start()
    script.write_text(script.read_text().replace("localhost:9092", cluster.servers))
    start = f"{flink} run -d -p {{}} page_views.py --servers {cluster.servers}"
    run(start.format(2))
    run(f"{flink} list")
    time.sleep(5)
    run("curl -s http://127.0.0.1:8081/jobs/overview | python -m json.tool | head -n 12")
    run("curl -s http://127.0.0.1:8081/ | grep title")
    run(f"{flink} checkpoints 'page views' | head -n 4")
    run(f"{flink} savepoint 'page views'")
    savepoint = _path(run(f"{flink} stop 'page views'"))
    run(f"{flink} state {savepoint}")
    run(start.format(f"3 -s {savepoint}"))
    time.sleep(5)
    savepoint = _path(run(f"{flink} stop 'page views'"))
    old, new = "pages.key_by", f'{OPERATOR}.uid("not empty").key_by'
    run(f"sed -i 's/{old}/{new}/' page_views.py && grep -n 'not empty' page_views.py")
    run(f"{flink} check --savepoint {savepoint} page_views.py -- --servers {cluster.servers}")
    run(start.format(f"3 -s {savepoint}"))
    time.sleep(5)
    writer.over.set()
    writer.join()
    wait_until_counted(cluster, writer.written)
    run(f"{flink} cancel 'page views'")
    run(f"{flink} list -a")
    for page, counts in counted(cluster).items():
        assert sorted(counts) == list(range(1, writer.written[page] + 1)), page
    total = sum(writer.written.values())
    print(f"{total} views were written, and {total} were counted, each once.")


def _path(told: str) -> str:
    found = re.search(r"Savepoint completed\. Path: (\S+)", told)
    assert found is not None
    return found[1]


if __name__ == "__main__":
    walk(Path(sys.argv[1]).resolve())
