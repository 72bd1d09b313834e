"""Findings as a text for people and as JSON for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence

from pyflink_on_spark.tools.check.findings import Findings, Use
from pyflink_on_spark.tools.check.verdict import Status, Verdict

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
