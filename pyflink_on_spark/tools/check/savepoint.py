"""``python -m pyflink_on_spark check --savepoint``."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.savepoint_check import SavepointFit, fit_of, with_conversion
from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._runtime.checkpoints.folder import folder
from pyflink_on_spark.flink_state import is_of_flink
from pyflink_on_spark.state import CheckpointContents
from pyflink_on_spark.tools.plan.recording import recorded_jobs


def check_savepoint(path: str, script: Path, arguments: list[str], as_json: bool) -> int:
    """Print whether a script can start from a savepoint.

    The script is run, its jobs are not.

    Args:
        path: of the checkpoint or savepoint.
        script: the script's file.
        arguments: the script's own.
        as_json: whether to print JSON.

    Returns:
        0 if the script can start from the savepoint, else 1.
    """
    try:
        if is_of_flink(path):
            return _check_moving_in(path, script, arguments, as_json)
        contents = CheckpointContents(path)
        jobs = recorded_jobs("check", script, arguments)
        if not jobs:
            return 1
        job = _job_of(jobs, contents)
        fit = fit_of(job, contents)
    except (CheckpointError, OSError) as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    return _show(fit, job, path, as_json)


def _check_moving_in(path: str, script: Path, arguments: list[str], as_json: bool) -> int:
    """Do the same for a savepoint of Flink."""
    jobs = recorded_jobs("check", script, arguments)
    if not jobs:
        return 1
    with tempfile.TemporaryDirectory(prefix="moved-in-") as home:
        found = moved_in(jobs[0], path, folder(home))
        fit = with_conversion(fit_of(jobs[0], CheckpointContents(home)), found, jobs[0])
    return _show(fit, jobs[0], path, as_json)


def _show(fit: SavepointFit, job: Job, path: str, as_json: bool) -> int:
    if as_json:
        print(json.dumps(asdict(fit), indent=2))
    else:
        _print(fit, job, path)
    return 1 if fit.problems else 0


def _job_of(jobs: list[Job], contents: CheckpointContents) -> Job:
    """Return the job that has the name of the one that wrote the savepoint, or the first."""
    return next((job for job in jobs if job.name == contents.metadata.job_name), jobs[0])


def _print(fit: SavepointFit, job: Job, path: str) -> None:
    verdict = "cannot start" if fit.problems else "can start"
    print(f"the job {job.name!r} {verdict} from {path}")
    for title, lines in (
        ("problems", fit.problems),
        ("continues with its state", fit.restored),
        ("is left out", fit.dropped),
        ("is not in the savepoint, and starts empty", fit.empty),
    ):
        if lines:
            print(f"\n{title}:", *(f"  {line}" for line in lines), sep="\n")
