"""``python -m pyflink_on_spark check``."""

from __future__ import annotations

import argparse
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from pyflink_on_spark.tools.check.findings import Findings
from pyflink_on_spark.tools.check.report import json_report, text_report
from pyflink_on_spark.tools.check.savepoint import check_savepoint
from pyflink_on_spark.tools.check.script import examine
from pyflink_on_spark.tools.check.verdict import Status, Verdict
from pyflink_on_spark.tools.commands import parser_of, split_at_dashes


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
        return check_savepoint(options.savepoint, Path(options.paths[0]), given, options.json)
    findings = [found for path in options.paths for found in _examine(Path(path))]
    if options.json:
        print(json_report(findings))
    else:
        print(text_report(findings, options.all))
    return 0 if all(found.runs for found in findings) else 1


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "check",
        "Report what scripts use of PyFlink and how it fares on Spark. Nothing is run.",
        epilog="Exit status: 0 if all of it works, 1 if something does not.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a script, or a folder of them")
    parser.add_argument("--all", action="store_true", help="list what simply works, too")
    parser.add_argument(
        "--savepoint", metavar="PATH",
        help="tell whether the script can start from a savepoint or checkpoint; for this the "
        "script is run, its jobs are not. The script's own arguments follow --",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="report as JSON")
    return parser


def _examine(path: Path) -> Iterator[Findings]:
    scripts = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    for script in scripts:
        found = _examine_script(script)
        if found.uses or not path.is_dir():
            yield found


def _examine_script(script: Path) -> Findings:
    try:
        with tokenize.open(script) as file:
            return examine(str(script), file.read())
    except (SyntaxError, UnicodeDecodeError) as error:
        findings = Findings(str(script))
        verdict = Verdict(Status.UNKNOWN, f"it cannot be read as Python: {error}")
        findings.add("(the whole file)", verdict, getattr(error, "lineno", None) or 1)
        return findings
