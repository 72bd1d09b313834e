"""Prints where the hosts' time goes for the jobs of `jobs/`, in microseconds for each record.

    python -m benchmarks.profile PY_SPY [--jobs NAME ...] [--records 4000000] [--parallelism 1]
        [--python PYTHON]

PY_SPY is the command py-spy. It looks 200 times a second which function each busy process is in;
what C code does counts for the function that calls it. PYTHON is an interpreter with another
version of this package, to compare.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.ways import JOBS, OURS, ROOT

_RATE = 200
_PARTS = (
    ("the user's functions", r"benchmarks/jobs/"),
    ("loops around functions", r"function loop|operators/(select_key|stateless|function_)"),
    ("copies of what may change", r"_runtime/immutability"),
    ("timestamps and watermarks", r"operators/timestamps|/watermark|/cursor|_timed_parts"),
    ("timers", r"state/timers|timer_driven|function_contexts"),
    ("state", r"_runtime/state|operators/(rolling|process|keyed_)"),
    ("windows", r"_runtime/windows|operators/window"),
    ("pickling", r"^(en|de)code "),
    ("routing and exchange", r"_runtime/task/|key_groups|java_hashes|transport/"),
    ("declared types", r"_runtime/types"),
    ("the source", r"_connectors/|connector/source"),
)
_REST = "everything else"
_HOST = re.compile(r"_runtime/task/(subtask|operator_chain|segment)")


def parts_of(stacks):
    """Return how many samples each part has, of lines of stacks with a count at the end."""
    found = Counter()
    for line in stacks:
        stack, _, count = line.rpartition(" ")
        if _HOST.search(stack):
            leaf = stack.split(";")[-1]
            known = (name for name, pattern in _PARTS if re.search(pattern, leaf))
            found[next(known, _REST)] += int(count)
    return found


def profile(job, options, parallelism):
    """Return how many microseconds a record takes in each part."""
    command = OURS.command(job, options.records, parallelism)
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/stacks"
        record = [options.py_spy, "record", "--subprocesses", "--nonblocking", "--format", "raw"]
        env = OURS.env
        if options.python:
            command[0] = options.python
            tools = os.path.dirname(os.path.abspath(options.python))
            env |= {"PYSPARK_PYTHON": options.python, "PATH": f"{tools}:{env['PATH']}"}
        subprocess.run(
            [*record, "--rate", str(_RATE), "--output", output, "--", *command],
            env=env,
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        samples = parts_of(Path(output).read_text().splitlines())
    return {name: 1e6 * n / _RATE / options.records for name, n in samples.items()}


def main():
    jobs = {path.stem: path for path in sorted(JOBS.glob("[!_]*.py"))}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profile", description=__doc__.splitlines()[0]
    )
    parser.add_argument("py_spy", help="the command")
    parser.add_argument("--jobs", nargs="*", choices=jobs, default=list(jobs))
    parser.add_argument("--records", type=int, default=4_000_000)
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1])
    parser.add_argument("--python", help="an interpreter with another version")
    options = parser.parse_args()
    columns = [(name, parallelism) for name in options.jobs for parallelism in options.parallelism]
    found = [profile(jobs[name], options, parallelism) for name, parallelism in columns]
    print("| | " + " | ".join(f"{name}, {parallelism}" for name, parallelism in columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for name in [*(name for name, _ in _PARTS), _REST]:
        print(f"| {name} | " + " | ".join(f"{each.get(name, 0):.2f}" for each in found) + " |")
    print("| all | " + " | ".join(f"{sum(each.values()):.2f}" for each in found) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
