"""Real PyFlink as a process: takes programs as lines, answers each with its outcome.

Run by PyFlink's own interpreter: ``python -m tests.random_programs.oracle``.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.random_programs.flink_cluster import FlinkCluster, within
from tests.random_programs.outcome import HANGS, Failure, Outcome
from tests.random_programs.program import Program, from_json
from tests.random_programs.running import run

_AT_ONCE = 4
_SECONDS = 25.0
_labels = itertools.count()


def serve(read: Callable[[str], Any], outcome: Callable[[FlinkCluster, Any], Outcome]) -> None:
    """Answer the lines of standard input in their order, some of them at a time.

    Args:
        read: makes a program of a line.
        outcome: runs a program on a cluster.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)  # workers log every failure
    cluster = FlinkCluster()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        pending = []
        for line in sys.stdin:
            if line.strip():
                pending.append(pool.submit(outcome, cluster, read(line)))
                continue
            for future in pending:  # an empty line asks for what there is
                print(json.dumps(future.result().to_data(), ensure_ascii=False), file=answers)
            answers.flush()
            pending = []
    os._exit(0)  # threads of workers never end


def _outcome(cluster: FlinkCluster, program: Program) -> Outcome:
    label = f"p{next(_labels)}"
    returned, outcome = within(
        _SECONDS, lambda: run(program, cluster.environment, cluster.printed, label)
    )
    if returned:
        return outcome
    cluster.cancel(label)
    return Outcome(failure=Failure(HANGS))


if __name__ == "__main__":
    serve(from_json, _outcome)
