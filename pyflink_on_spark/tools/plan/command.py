"""``python -m pyflink_on_spark plan``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pyflink_on_spark._graph.physical_graph import execution_plan_json
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.plan import JobSettings, OperatorPlan, VertexPlan
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, loop_texts
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskBuilder, SubtaskContext
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark.tools.commands import parser_of, split_at_dashes
from pyflink_on_spark.tools.plan.diagram import Arrow, Box, Diagram, Role, diagram_of, svg_of
from pyflink_on_spark.tools.plan.recording import recorded_jobs

_NAME = 44


def text_of(diagram: Diagram) -> str:
    """Return a job as text."""
    mode = "BATCH" if diagram.batch else "STREAMING"
    stages = diagram.stages
    counts = f"{_count(stages, 'stage')}, {_count(diagram.exchanges, 'exchange')}"
    lines = [f"{diagram.title} ({mode}, {counts})"]
    for number, boxes in enumerate(stages, 1):
        lines += ["", f"stage {number}"]
        for box in boxes:
            lines += _box(diagram, box)
    return "\n".join(lines)


def _box(diagram: Diagram, box: Box) -> Iterator[str]:
    subtasks = "1 subtask" if box.parallelism == 1 else f"{box.parallelism} subtasks"
    yield f"  [{box.number}] {subtasks}"
    for place, row in enumerate(box.rows):
        mark = "" if row.role is Role.OPERATOR else f"{row.role.value}: "
        name = f"{mark}{row.name}{_reads_from(diagram, box, place)}"
        yield f"      {name:<{_NAME}}  {row.place}".rstrip()
    for arrow in diagram.exchanges:
        if arrow.sender in box.rows:
            target = diagram.box_of(arrow.receiver).number
            yield f"      => {_label(arrow)} to [{target}] {arrow.receiver.name}"


def _reads_from(diagram: Diagram, box: Box, place: int) -> str:
    """Return the operators that an operator reads, unless it reads the one above it."""
    row = box.rows[place]
    inside = [a for a in diagram.arrows if a.receiver is row and not a.label]
    if place == 0 or (inside and [a.sender for a in inside] == [box.rows[place - 1]]):
        plain = not any(arrow.side for arrow in inside)
        return "" if plain else "  (its side output)"
    names = ", ".join(arrow.sender.name + (" (side)" if arrow.side else "") for arrow in inside)
    return f"  (after {names})" if names else ""


def _count(things: Sequence[object], name: str) -> str:
    return f"1 {name}" if len(things) == 1 else f"{len(things)} {name}s"


def _label(arrow: Arrow) -> str:
    return f"{arrow.label} (side output)" if arrow.side else arrow.label


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
    shown = "\n\n\n".join(map(code_of, jobs)) if options.code else _shown(jobs, form)
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
    parser.add_argument(
        "--code",
        action="store_true",
        help="show the generated Python code in place of the graph",
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


def code_of(job: Job) -> str:
    """The loops and programs of a job's chains as text, in the order of the flow.

    User functions are loaded, but not opened.

    Args:
        job: a recorded job.
    """
    chains = [
        text
        for stage in job.stages
        for vertex in stage.vertices
        for text in _chains(vertex, job.settings)
    ]
    return "\n\n\n".join(chains)


def _chains(vertex: VertexPlan, settings: JobSettings) -> Iterator[str]:
    context = SubtaskContext(vertex, 0, settings, SystemClock(), lambda channel: _to_nobody)
    builder = SubtaskBuilder(context, _to_nobody, time.monotonic)
    built = builder.build()
    for plan, opened_with in built.contexts:
        if isinstance(plan.operator, FusableOperator):
            plan.operator.open(replace(opened_with, opens_functions=False))
    for described, chain in zip(builder.vertex.chains, built.chains, strict=True):
        names = dict.fromkeys(operator.name for operator in described.operators)
        shown = " -> ".join(name for name in names if not name.startswith("_"))
        timed = described.source is None or described.source.timestamped
        programs = [text for plan in described.operators for text in _programs(plan)]
        texts = [*programs, *loop_texts(chain.operators, timed)]
        if texts:
            yield "\n".join([f"# {shown}", *texts])


def _programs(plan: OperatorPlan) -> Iterator[str]:
    """Yield the compiled programs of an operator of SQL that is not part of a loop."""
    for name, value in vars(plan.operator).items():
        for thing in value if isinstance(value, tuple) else (value,):
            if isinstance(thing, Program):
                yield f"# {plan.name}: {name.lstrip('_')}\n{thing.text.rstrip()}"


def _to_nobody(_: object) -> None:
    """Drop what nobody receives."""
