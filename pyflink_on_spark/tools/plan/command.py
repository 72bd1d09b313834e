"""``python -m pyflink_on_spark plan``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from pyflink_on_spark._graph.execution_plan import execution_plan_json
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark.tools.commands import parser_of, split_at_dashes
from pyflink_on_spark.tools.plan.diagram import diagram_of
from pyflink_on_spark.tools.plan.recording import recorded_jobs
from pyflink_on_spark.tools.plan.svg import svg_of
from pyflink_on_spark.tools.plan.text import text_of

_SUFFIXES = {"": "text", ".txt": "text", ".json": "json", ".svg": "svg"}


def main(arguments: list[str]) -> int:
    """Show the plan of a script.

    Returns:
        0, 1 if the script runs no job, or 2 for a wrong command line.
    """
    own, given = split_at_dashes(arguments)
    options = _parser().parse_args(own)
    script = Path(options.script)
    form = options.format or _format_for(options.output)
    if form is None:
        known = ", ".join(f"*{suffix}" for suffix in _SUFFIXES if suffix)
        print(
            f"plan: which format is {options.output}? Name it {known}, or say --format",
            file=sys.stderr,
        )
        return 2
    if not script.is_file():
        print(f"plan: there is no script {script}", file=sys.stderr)
        return 2
    jobs = recorded_jobs("plan", script, given)
    if not jobs:
        return 1
    shown = _shown(jobs, form)
    if options.output is None:
        print(shown)
    else:
        Path(options.output).write_text(shown + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "plan",
        "Show the graph of a script. The script is run, its jobs are not; what it "
        "prints itself goes to standard error.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="its own arguments follow after --")
    parser.add_argument(
        "--format",
        choices=("text", "json", "svg"),
        help="text (the default), Flink's JSON, or a picture; else by the name of FILE",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it")
    return parser


def _format_for(output: str | None) -> str | None:
    return _SUFFIXES.get(Path(output or "").suffix)


def _shown(jobs: list[Job], form: str) -> str:
    if form == "json":
        plans = [json.loads(execution_plan_json(job.graph)) for job in jobs if job.graph]
        return json.dumps(plans[0] if len(plans) == 1 else plans, indent=2)
    diagrams = list(map(diagram_of, jobs))
    return svg_of(diagrams) if form == "svg" else "\n\n\n".join(map(text_of, diagrams))
