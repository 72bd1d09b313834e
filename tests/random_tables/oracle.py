"""Real PyFlink as a process: takes programs as lines, answers each with its outcome.

Run by PyFlink's own interpreter: ``python -m tests.random_tables.oracle``.
"""

from __future__ import annotations

import itertools
from typing import Any

from tests.random_programs.flink_cluster import FlinkCluster, within
from tests.random_programs.oracle import serve
from tests.random_programs.outcome import HANGS, Failure, Outcome
from tests.random_tables.program import Program, from_json
from tests.random_tables.running import run

_SECONDS = 40.0
_labels = itertools.count()


def _outcome(cluster: FlinkCluster, program: Any) -> Outcome:
    assert isinstance(program, Program)
    label = f"p{next(_labels)}"
    returned, outcome = within(
        _SECONDS, lambda: run(program, cluster.environment, cluster.printed, label)
    )
    return outcome if returned else Outcome(failure=Failure(HANGS))


if __name__ == "__main__":
    serve(from_json, _outcome)
