"""Runs the commands of docs/operate/operations.md; they have to print what the page shows.

Between them, in the same drivers, further commands are tried.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyflink_on_spark.state import CheckpointContents

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operate" / "operations.md").read_text(encoding="utf-8")
# What differs from run to run, and what stands for it.
VARIES = [
    (r"\b[0-9a-f]{32}\b", "ID"),
    (r"savepoint-[0-9a-f]{6}-[0-9a-f]{12}", "SAVEPOINT"),
    (r"\S*/log/counter-[-\d]+\.log", "LOG"),
    (r"\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d", "TIME"),
]
MARK = "==end of a command=="


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def steps():
    """Yield the commands of the page with what each prints."""
    for block in blocks("console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def plain(text, folder):
    text = text.replace(str(folder), "/srv/counter")
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text)
    return text


def checkpoint_since(file):
    """A command that waits for files of a checkpoint; asking a driver costs a process each time."""
    found = f"find checkpoints -path '*/chk-*' -newer {file} 2>/dev/null | grep -q ."
    return f"until {found}; do sleep 0.1; done"


FLINK = "python -m pyflink_on_spark"
BETWEEN = {
    "list": [
        checkpoint_since("conf"),
        f"until {FLINK} checkpoints counter | grep -q /chk-; do sleep 0.1; done",
        f"{FLINK} savepoint counter /proc/none || true",
    ],
    "list -a": ["cp -r $(ls -td savepoints/savepoint-* | head -n 1) before"],
    "run -d -p 3": [
        checkpoint_since("before"),
        f"until [ $({FLINK} checkpoints counter | grep -c /chk-) -gt 1 ]; do sleep 0.1; done",
        f"{FLINK} savepoint counter after",
    ],
    "cancel counter": [f"{FLINK} list"],
}
"""The command tried after the page's command that begins like this."""


def tried():
    """Yield all commands, with what the page shows of each; None for a command between."""
    for command, shown in steps():
        yield command, shown
        given = command.removeprefix(f"{FLINK} ")
        for beginning, more in BETWEEN.items():
            if given == beginning or (beginning[-1].isdigit() and given.startswith(beginning)):
                yield from ((each, None) for each in more)


@pytest.fixture
def printed(tmp_path):
    """Run all commands in one shell; return what each prints, and to standard error if between."""
    folder = tmp_path.resolve()
    (folder / "conf").mkdir()
    settings = blocks("yaml")[0].replace("/srv/counter", str(folder))
    (folder / "conf" / "config.yaml").write_text(settings)
    shutil.copy(ROOT / "examples" / "operations" / "counter.py", folder)
    commands = [
        command if shown is not None else f"{{ {command}; }} 2>&1" for command, shown in tried()
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYFLINK_ON_SPARK_HOME": str(folder / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", f"; echo {MARK}\n".join([*commands, ""])],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=250,
    )  # fmt: skip
    assert done.stderr == ""
    yield done.stdout.split(f"{MARK}\n")[:-1]
    for record in records(folder):
        if record["state"] == "RUNNING":
            os.kill(record["pid"], signal.SIGKILL)


def records(folder):
    """Return the records that drivers keep of their jobs, by the time of their start."""
    found = (folder / "home" / "jobs").glob("*/*.json")
    return sorted((json.loads(file.read_text()) for file in found), key=lambda r: r["started"])


def lives(pid):
    """True for a process that has not ended; zombies have."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def counts(savepoint):
    """Return the counts in a savepoint."""
    contents = CheckpointContents(str(savepoint))
    (state,) = next(each for each in contents.operators() if each.id == "counts").states
    return dict(entry.value for entry in contents.entries("counts", state.name))


def test_the_page(tmp_path, printed):
    folder = tmp_path.resolve()
    between = []
    for (command, shown), output in zip(tried(), printed, strict=True):
        if shown is None:
            between.append(output)
        else:
            assert plain(output, folder) == plain(shown, folder), command
    _, _, refused, _, _, _, _, listed = between
    assert "savepoint: cannot write a savepoint to /proc/none" in refused
    assert "Traceback" not in refused
    assert "No running jobs" in listed

    before, after = counts(folder / "before"), counts(*folder.glob("after/*"))
    assert set(before) == {"even", "odd"}
    assert all(after[name] > before[name] > 0 for name in before)
    assert len(list(folder.glob("savepoints/*/_metadata"))) == 1

    first, second = records(folder)
    assert (first["state"], second["state"]) == ("FINISHED", "CANCELED")
    logs = [Path(record["log"]).read_text() for record in (first, second)]
    assert f"job - 'counter' ({first['id']}) begins: " in logs[0]
    assert "counts" in logs[0]
    assert [re.findall(r"counts\b.*? x(\d)", log)[0] for log in logs] == ["2", "3"]
    assert re.search(r"'counter': savepoint \d+ has [\d,]+ bytes in \d+ ms: file:", logs[0])
    assert "'counter' begins with checkpoint" in logs[1]
    assert "Traceback" not in "".join(logs)
    deadline = time.monotonic() + 60
    while lives(second["pid"]):
        assert time.monotonic() < deadline, "the driver of the cancelled job stays"
        time.sleep(0.1)
