"""Prints what the seconds of a cold start of the word count go to, one after the other.

    python -m benchmarks.waterfall PY_SPY [--repeat 5]

PY_SPY is the command py-spy, which looks 100 times a second what each thread of the driver does.
Shown is the median of the runs, in seconds from the start of the command: when a step begins first
and ends last. Steps of other threads overlap with those of the main thread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.ways import OURS, ROOT

_STEPS = {
    "Spark: JVM and session": ("_build", "session/session.py"),
    "of it: until Java answers": ("launch_gateway", "java_gateway.py"),
    "meanwhile: libraries of the first job": ("_load_libraries", "session/session.py"),
}


def spans(events):
    """Return from when to when each step lasted (s), of the events of a trace."""
    found = {}
    for event in events:
        for name, (function, file) in _STEPS.items():
            where = event.get("args", {}).get("filename", "")
            if event["name"].startswith(function) and file in where:
                at = event["ts"] / 1e6
                first, _ = found.get(name, (at, at))
                found[name] = first, at
    return found


def one_run(py_spy):
    """Run the word count once; return its steps and how long all of it took."""
    script = str(ROOT / "examples" / "word_count.py")
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/trace"
        watch = [py_spy, "record", "--nonblocking", "--format", "chrometrace", "--rate", "100"]
        start = time.monotonic()
        subprocess.run(
            [*watch, "--threads", "--output", output, "--", *OURS.interpreter, script],
            env=OURS.env,
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        took = time.monotonic() - start
        return spans(json.loads(Path(output).read_text())), took


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.waterfall", description=__doc__.splitlines()[0]
    )
    parser.add_argument("py_spy", help="the command")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    runs = [one_run(options.py_spy) for _ in range(options.repeat)]
    print("| step | from | to |\n| --- | ---: | ---: |")
    for name in _STEPS:
        known = [found[name] for found, _ in runs if name in found]
        if known:
            begin, end = (statistics.median(times) for times in zip(*known, strict=True))
            print(f"| {name} | {begin:.2f} | {end:.2f} |")
    print(f"| all, with Python's own end | 0.00 | {statistics.median(t for _, t in runs):.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
