"""Runs the examples about state in a process of their own, and says what they have to give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "examples" / "state"

PRINTED = {
    "count_window_average": ["(1,4)", "(1,5)"],
    "count_window_first_entry": [
        "(1,3,1)",
        "(1,3,1)",
        "(1,3,2)",
        "(1,3,2)",
        "(1,3,2)",
        "(1,2,1)",
        "(1,2,2)",
        "(1,1,1)",
    ],
    "stateful_map": ["(a,0)", "(b,0)", "(a,1)", "(a,4)", "(b,2)"],
    "counter_source": ["0", "1", "2", "3", "4"],
    "buffering_sink": [],
}
BUFFERED = ["('a', 1) ('b', 2)", "('c', 3) ('d', 4)", "('e', 5)"]

_PROGRAM = """
import runpy, sys
import pyflink_on_spark
pyflink_on_spark.install()
if sys.argv[1] == "local":
    from pyflink_on_spark.testing import install_local_engine
    install_local_engine()
folder, output, examples = sys.argv[2], sys.argv[3], sys.argv[4:]
for example in examples:
    sys.argv = [example] + (["--output", output] if example == "buffering_sink" else [])
    print("#", example, flush=True)
    runpy.run_path(f"{folder}/{example}.py", run_name="__main__")
"""


def run_all(engine, output):
    """Return the output of each example; ``output`` is the folder for buffering_sink."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, engine, FOLDER, output, *PRINTED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = {}
    for line in done.stdout.splitlines():
        if line.startswith("# "):
            lines = printed[line[2:]] = []
        else:
            lines.append(line)
    return printed
