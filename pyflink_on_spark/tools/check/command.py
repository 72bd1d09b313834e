"""``python -m pyflink_on_spark check``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.savepoint_check import (
    SavepointCheck,
    savepoint_check,
    with_conversion,
)
from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.flink_state import is_of_flink
from pyflink_on_spark.state import CheckpointContents
from pyflink_on_spark.tools.check.findings import Findings
from pyflink_on_spark.tools.check.report import json_report, table_report, text_report
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.sql_file import examine_sql
from pyflink_on_spark.tools.check.verdict import Status, Verdict
from pyflink_on_spark.tools.commands import (
    add_key,
    configuration_of_key,
    parser_of,
    split_at_dashes,
)
from pyflink_on_spark.tools.plan.recording import recorded_jobs


def check_savepoint(
    path: str, script: Path, arguments: list[str], as_json: bool, key: str | None = None
) -> int:
    """Print whether a script can start from a savepoint.

    The script is run, its jobs are not.

    Args:
        path: of the checkpoint or savepoint.
        script: the script's file.
        arguments: the script's own.
        as_json: whether to print JSON.
        key: the place of the key that must have signed the savepoint.

    Returns:
        0 if the script can start from the savepoint, else 1.
    """
    try:
        if key is None and is_of_flink(path):
            return _check_moving_in(path, script, arguments, as_json)
        contents = CheckpointContents(path, configuration_of_key(key))
        jobs = recorded_jobs("check", script, arguments)
        if not jobs:
            return 1
        job = _job_of(jobs, contents)
        check = savepoint_check(job, contents)
    except (CheckpointError, OSError, ValueError) as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    return _show(check, job, path, as_json)


def _check_moving_in(path: str, script: Path, arguments: list[str], as_json: bool) -> int:
    """Do the same for a savepoint of Flink."""
    jobs = recorded_jobs("check", script, arguments)
    if not jobs:
        return 1
    with tempfile.TemporaryDirectory(prefix="moved-in-") as home:
        found = moved_in(jobs[0], path, folder(home))
        check = with_conversion(savepoint_check(jobs[0], CheckpointContents(home)), found, jobs[0])
    return _show(check, jobs[0], path, as_json)


def _show(check: SavepointCheck, job: Job, path: str, as_json: bool) -> int:
    if as_json:
        print(json.dumps(asdict(check), indent=2))
    else:
        _print(check, job, path)
    return 1 if check.problems else 0


def _job_of(jobs: list[Job], contents: CheckpointContents) -> Job:
    """Return the job that has the name of the one that wrote the savepoint, or the first."""
    return next((job for job in jobs if job.name == contents.metadata.job_name), jobs[0])


def _print(check: SavepointCheck, job: Job, path: str) -> None:
    verdict = "cannot start" if check.problems else "can start"
    print(f"the job {job.name!r} {verdict} from {path}")
    for title, lines in (
        ("problems", check.problems),
        ("continues with its state", check.restored),
        ("is left out", check.dropped),
        ("is not in the savepoint, and starts empty", check.empty),
    ):
        if lines:
            print(f"\n{title}:", *(f"  {line}" for line in lines), sep="\n")


def main(arguments: list[str]) -> int:
    """Report on scripts.

    Returns:
        0 if all of it works, 1 if something does not, 2 for a wrong command line.
    """
    own, given = split_at_dashes(arguments)
    options = _parser().parse_args(own)
    missing = [path for path in options.paths if not Path(path).exists()]
    if missing:
        print(f"check: there is no {', '.join(missing)}", file=sys.stderr)
        return 2
    if options.savepoint is not None:
        if len(options.paths) != 1 or Path(options.paths[0]).is_dir():
            print("check: --savepoint takes one script", file=sys.stderr)
            return 2
        script = Path(options.paths[0])
        return check_savepoint(options.savepoint, script, given, options.json, options.key)
    findings = list(_examine_all([Path(path) for path in options.paths]))
    if options.json:
        print(json_report(findings))
    elif any(Path(path).is_dir() for path in options.paths) and not options.all:
        print(table_report(findings))
    else:
        print(text_report(findings, options.all))
    return 0 if all(found.runs for found in findings) else 1


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "check",
        "Report what scripts use of PyFlink and how it fares on Spark. Nothing is run.",
        epilog="Exit status: 0 if all of it works, 1 if something does not.",
    )
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a script, a file of SQL, or a folder of them"
    )
    parser.add_argument("--all", action="store_true", help="list what simply works, too")
    parser.add_argument(
        "--savepoint", metavar="PATH",
        help="tell whether the script can start from a savepoint or checkpoint; for this the "
        "script is run, its jobs are not. The script's own arguments follow --",
    )  # fmt: skip
    add_key(parser)
    parser.add_argument("--json", action="store_true", help="report as JSON")
    return parser


def _examine_all(paths: list[Path]) -> Iterator[Findings]:
    """Yield the findings of scripts, of the scripts in folders, and of the modules beside them."""
    waiting, seen = list(paths), set[Path]()
    named = set(paths)
    while waiting:
        path = waiting.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        if path.is_dir():
            scripts = _scripts_in(path)
            waiting = [*scripts, *waiting]
            named.update(scripts)
            continue
        found = _examine(path, imported=path not in named)
        if found.uses or path in paths:
            yield found
        waiting += found.own_modules


def _scripts_in(folder: Path) -> list[Path]:
    """Return the scripts and files of SQL in a folder, but for those of installed packages."""
    found = [*folder.rglob("*.py"), *folder.rglob("*.sql")]
    return sorted(p for p in found if not _NO_SCRIPTS & {*p.relative_to(folder).parts})


_NO_SCRIPTS = {".git", ".tox", ".venv", "node_modules", "site-packages", "venv"}


def _examine(script: Path, *, imported: bool) -> Findings:
    if script.suffix == ".sql":
        return examine_sql(str(script), script.read_text(encoding="utf-8", errors="replace"))
    try:
        with tokenize.open(script) as file:
            return examine(str(script), file.read(), imported=imported)
    except (SyntaxError, UnicodeDecodeError) as error:
        findings = Findings(str(script))
        verdict = Verdict(Status.UNKNOWN, f"it cannot be read as Python: {error}")
        findings.add("(the whole file)", verdict, getattr(error, "lineno", None) or 1)
        return findings
