"""``python -m pyflink_on_spark info``: the plan of a script as Flink's JSON."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from pyflink_on_spark._graph.physical_graph import execution_plan_json
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark.tools.operate.run import check_script, configure, job_files
from pyflink_on_spark.tools.operate.run_options import RunOptions
from pyflink_on_spark.tools.plan.recording import record


def show_plan(options: RunOptions) -> int:
    """Print the plan of a script's first job, as ``flink info`` does.

    Args:
        options: those of ``run``.
    """
    job = first_job(options)
    if job is None or job.graph is None:
        print(f"info: {options.script} ran to its end without executing a job", file=sys.stderr)
        return 1
    print("----------------------- Execution Plan -----------------------")
    print(execution_plan_json(job.graph))
    print("--------------------------------------------------------------")
    return 0


def first_job(options: RunOptions) -> Job | None:
    """The first job that a script would run and that has a graph; None if there is none.

    Args:
        options: those of ``run``.

    Raises:
        UsageError: they cannot be carried out.
        SystemExit: the script fails before.
    """
    configure(options, None)
    script = Path(check_script(options))
    with contextlib.redirect_stdout(sys.stderr):  # what the script itself prints
        jobs = record(script, options.arguments, job_files(), module=options.module)
    return next((job for job in jobs if job.graph is not None), None)
