"""Starts a job from its latest savepoint or checkpoint; from the beginning if there is none.

python start.py FOLDER [FOLDER ...] -- ARGUMENTS OF "python -m pyflink_on_spark run"

The folders are those of the job's checkpoints and savepoints, and of no other job.
"""

from __future__ import annotations

import sys

from pyflink_on_spark.__main__ import main
from pyflink_on_spark.state import latest_checkpoint


def start(arguments):
    end = arguments.index("--")
    latest = latest_checkpoint(*arguments[:end])
    given = arguments[end + 1 :]
    return main(["run", *([] if latest is None else ["-s", latest]), *given])


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
