"""Prints what shares of the hosts' time go to what, in percent, for the jobs of `jobs/`.

    python -m benchmarks.profile PY_SPY [--jobs NAME ...] [--records 3000000] [--parallelism 1 2]

PY_SPY is the command py-spy. It looks 200 times a second which function each busy process is in;
what C code does counts for the function that calls it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.ways import JOBS, OURS, ROOT

_RATE = 200
_PARTS = (
    (
        "the user's functions",
        rf"\((benchmarks/jobs/)?({'|'.join(path.stem for path in JOBS.glob('*.py'))})\.py",
    ),
    ("loops around functions", r"function loop|operators/(stateless|function_loop)"),
    ("copies of what may change", r"_runtime/elements/(immutability|isolation)"),
    ("timestamps and watermarks", r"operators/timestamps|/watermark|elements/(bundle|cursor)"),
    ("timers", r"_runtime/state/timer"),
    ("state", r"_runtime/state|operators/(rolling|process)"),
    ("windows", r"_runtime/windows"),
    ("pickling", r"^(en|de)code "),
    (
        "routing and exchange",
        r"_runtime/task/|key_groups|java_hashes|transport/",
    ),
    ("declared types", r"_runtime/types"),
    ("the source", r"_connectors/|_runtime/contract/connector"),
)
_REST = "everything else"
_HOST = re.compile(r"pyflink_on_spark/_runtime/")


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
    """Return the shares of the parts in percent."""
    command = OURS.command(job, options.records, parallelism)
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/stacks"
        record = [options.py_spy, "record", "--subprocesses", "--format", "raw"]
        subprocess.run(
            [*record, "--rate", str(_RATE), "--output", output, "--", *command],
            env=OURS.env,
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        samples = parts_of(Path(output).read_text().splitlines())
    return {name: 100 * count / samples.total() for name, count in samples.items()}


def main():
    jobs = {path.stem: path for path in sorted(JOBS.glob("[!_]*.py"))}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profile", description=__doc__.splitlines()[0]
    )
    parser.add_argument("py_spy", help="the command")
    parser.add_argument("--jobs", nargs="*", choices=jobs, default=list(jobs))
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    columns = [(name, parallelism) for name in options.jobs for parallelism in options.parallelism]
    found = [profile(jobs[name], options, parallelism) for name, parallelism in columns]
    print("| | " + " | ".join(f"{name}, {parallelism}" for name, parallelism in columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for name in [*(name for name, _ in _PARTS), _REST]:
        print(f"| {name} | " + " | ".join(f"{each.get(name, 0):.0f}" for each in found) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
