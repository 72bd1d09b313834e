"""Runs the commands of docs/operations.md; they have to print what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
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


def test_the_page(tmp_path):
    folder = tmp_path.resolve()
    (folder / "conf").mkdir()
    settings = blocks("yaml")[0].replace("/srv/counter", str(folder))
    (folder / "conf" / "config.yaml").write_text(settings)
    shutil.copy(ROOT / "examples" / "operations" / "counter.py", folder)
    commands = [command for command, _ in steps()]
    script = f"; echo {MARK}\n".join([*commands, ""])
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYFLINK_ON_SPARK_HOME": str(folder / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
        check=False, timeout=250,
    )  # fmt: skip
    printed = done.stdout.split(f"{MARK}\n")[:-1]
    assert done.stderr == ""
    for (command, shown), output in zip(steps(), printed, strict=True):
        assert plain(output, folder) == plain(shown, folder), command
    logs = "".join(path.read_text() for path in (folder / "home" / "log").iterdir())
    assert re.search(r"job - 'counter' \([0-9a-f]{32}\) begins: ", logs)
    assert re.search(r"'counter': savepoint \d+ has [\d,]+ bytes in \d+ ms: file:", logs)
    assert "'counter' begins with checkpoint" in logs
    assert "Traceback" not in logs
