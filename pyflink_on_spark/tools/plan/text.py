"""A job as text: stages, boxes, operators, and where elements go from each box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyflink_on_spark.tools.plan.diagram import Arrow, Box, Diagram, Role

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
    """Return what an operator reads, where that is not just the operator above it."""
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
