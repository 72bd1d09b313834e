"""``python -m pyflink_on_spark check``."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.coordinator import (
    SavepointCheck,
    savepoint_check,
    with_conversion,
)
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.flink_state import is_of_flink
from pyflink_on_spark.state import CheckpointContents
from pyflink_on_spark.tools.check import tables
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.verdict import Findings, Status, Use, Verdict
from pyflink_on_spark.tools.commands import (
    add_key,
    configuration_of_key,
    parser_of,
    split_at_dashes,
)
from pyflink_on_spark.tools.plan.recording import recorded_jobs
from pyflink_on_spark.tools.sql.statements import split_statements


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
    except (CheckpointError, ImportError, OSError, ValueError) as error:
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
    except (SyntaxError, UnicodeDecodeError, RecursionError) as error:
        findings = Findings(str(script))
        verdict = Verdict(Status.UNKNOWN, f"it cannot be read as Python: {error}")
        findings.add("(the whole file)", verdict, getattr(error, "lineno", None) or 1)
        return findings


_OF_TABLES = re.compile(r"'connector(\.type)?'\s*=|\bCREATE\s+CATALOG\b", re.IGNORECASE)
_OF_THE_CLIENT = re.compile(r"(ADD|REMOVE)\s+JAR|QUIT|EXIT|CLEAR|HELP|SHOW\s+JARS", re.IGNORECASE)


def examine_sql(path: str, source: str) -> Findings:
    """Find what a file of SQL uses of Flink; files for other systems have no findings.

    Args:
        path: the file, for the report.
        source: its text.
    """
    findings = Findings(path)
    if not _OF_TABLES.search(source):
        return findings
    for name, verdict, index in tables.in_text(source):
        findings.add(name, verdict, source.count("\n", 0, index) + 1)
    statements, rest = split_statements(source)
    place = 0
    for statement in [*statements, *filter(None, [rest])]:
        place = source.index(statement, place)
        if not _OF_THE_CLIENT.match(statement):
            for name, verdict, _ in tables.in_statement(statement):
                findings.add(name, verdict, source.count("\n", 0, place) + 1)
    return findings


_WIDTH = 100
_INDENT = " " * 8
_MOST_LINES = 12
_MOST_OBSTACLES = 3
_HEADINGS = {
    Status.UNKNOWN: "not known",
    Status.WRONG: "wrong in PyFlink, too",
    Status.NEVER: "never works here",
    Status.NOT_YET: "does not work yet",
    Status.MISSING: "is not installed here",
    Status.DIFFERS: "works, with a difference",
    Status.WORKS: "works",
}


def text_report(findings: Sequence[Findings], everything: bool) -> str:
    """Return the report for people: what does not work first, then what differs.

    Args:
        findings: of each script.
        everything: whether to list what simply works, too.
    """
    parts = [line for found in findings for line in _script(found, everything)]
    return "\n".join([*parts, summary(findings)])


def table_report(findings: Sequence[Findings]) -> str:
    """Return a line for each script: whether it can run, and what prevents it.

    Args:
        findings: of each script.
    """
    rows = [("script", "verdict", "because of"), *map(_row, findings)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [
        f"{path:<{widths[0]}}  {told:<{widths[1]}}  {why}".rstrip() for path, told, why in rows
    ]
    more = "check of one script says what to do; --all reports on each in full"
    return "\n".join([*lines, "", summary(findings), more])


def _row(findings: Findings) -> tuple[str, str, str]:
    obstacles = [use for use in findings.uses if use.called and not use.verdict.status.runs]
    if not obstacles:
        obstacles = [use for use in findings.uses if use.verdict.status is Status.MISSING]
    shown = [f"{use.name} ({_lines(use.lines[:1])})" for use in obstacles[:_MOST_OBSTACLES]]
    if len(obstacles) > _MOST_OBSTACLES:
        shown.append(f"{len(obstacles) - _MOST_OBSTACLES} more")
    return findings.path, _told(findings), ", ".join(shown)


def _told(findings: Findings) -> str:
    if not findings.runs:
        return "cannot run as it is"
    return "can run" if not findings.count(Status.MISSING) else "can run with its modules"


def json_report(findings: Sequence[Findings]) -> str:
    """Return the report for programs."""
    scripts = [
        {"path": f.path, "runs": f.runs, "uses": list(map(_entry, f.uses))} for f in findings
    ]
    return json.dumps({"runs": all(f.runs for f in findings), "scripts": scripts}, indent=2)


def summary(findings: Sequence[Findings]) -> str:
    """Return one line on all scripts."""
    counts = ", ".join(
        f"{count} {status.value}"
        for status in Status
        if (count := sum(found.count(status) for found in findings))
    )
    running = sum(found.runs for found in findings)
    scripts = "script" if len(findings) == 1 else "scripts"
    return f"{running} of {len(findings)} {scripts} can run; names used: {counts or 'none'}"


def _script(findings: Findings, everything: bool) -> Iterator[str]:
    used = (use for use in findings.uses if use.verdict.status is not Status.MISSING)
    names = len({use.name for use in used})
    yield f"{findings.path}: {_told(findings)}; it uses {names} names of PyFlink"
    for status, heading in _HEADINGS.items():
        uses = [use for use in findings.uses if use.verdict.status is status]
        if uses and (everything or status is not Status.WORKS):
            yield f"  {heading}"
            yield from _uses(uses)
    yield ""


def _uses(uses: list[Use]) -> Iterator[str]:
    """Yield the names, and after those that have it in common what there is to say of them."""
    together: dict[Verdict, list[Use]] = {}
    for use in uses:
        together.setdefault(use.verdict, []).append(use)
    for verdict, alike in together.items():
        for use in alike:
            note = "" if use.called or verdict.status.runs else " (not called by the script)"
            yield f"    {use.name}, {_lines(use.lines)}{note}"
        for text in (verdict.reason, verdict.advice and f"-> {verdict.advice}"):
            yield from textwrap.wrap(
                text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT
            )


def _lines(lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:_MOST_LINES]))
    more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"


def _entry(use: Use) -> dict[str, object]:
    verdict = use.verdict
    entry: dict[str, object] = {
        "name": use.name,
        "status": verdict.status.value,
        "lines": use.lines,
        "called": use.called,
    }
    if verdict.reason:
        entry["reason"] = verdict.reason
    if verdict.advice:
        entry["advice"] = verdict.advice
    return entry
