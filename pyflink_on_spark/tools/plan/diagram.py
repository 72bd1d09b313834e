"""A job as boxes, rows and arrows: what every way of showing it has in common."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass, field

from pyflink_on_spark._compat.own_frames import CallSite
from pyflink_on_spark._graph.physical_graph import PhysicalEdge, PhysicalNode, build_physical_graph
from pyflink_on_spark._graph.stream_graph import Transformation
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.elements.clock import WatermarkRhythm

_PLAIN_NAMES = {
    "_stream_key_by_map_operator": "key by",
    "_keyed_stream_values_operator": "values of the keyed stream",
    "_partition_custom_map_operator": "key to partition by",
}


class Role(enum.Enum):
    """The role of an operator in its job."""

    SOURCE = "source"
    OPERATOR = "operator"
    SINK = "sink"


@dataclass(eq=False)
class DiagramRow:
    """One operator.

    Args:
        name: as people call it.
        role: what it is in its job.
        place: the script's line that added it; empty if it is not known.
    """

    name: str
    role: Role
    place: str


@dataclass(eq=False)
class Box:
    """Operators that run in the same subtasks, one handing elements to the next.

    Args:
        number: from 1, in the order of the flow.
        stage: its column.
        parallelism: how many subtasks it has.
    """

    number: int
    stage: int
    parallelism: int
    rows: list[DiagramRow] = field(default_factory=list)


@dataclass(eq=False)
class Arrow:
    """An arrow from one operator to another.

    Args:
        sender: the operator that emits.
        receiver: the operator that reads.
        label: how elements are spread; empty if they stay in their subtask.
        side: whether it is a side output.
    """

    sender: DiagramRow
    receiver: DiagramRow
    label: str = ""
    side: bool = False


@dataclass
class Diagram:
    """One job.

    Args:
        title: the job's name.
        boxes: in the order of the flow.
        arrows: between any two operators.
        batch: whether it runs with BATCH semantics.
    """

    title: str
    boxes: list[Box]
    arrows: list[Arrow]
    batch: bool

    @property
    def stages(self) -> list[list[Box]]:
        """The boxes of each stage."""
        count = 1 + max((box.stage for box in self.boxes), default=-1)
        return [[box for box in self.boxes if box.stage == stage] for stage in range(count)]

    def box_of(self, row: DiagramRow) -> Box:
        """Return the box that an operator is in."""
        return next(box for box in self.boxes if row in box.rows)

    @property
    def exchanges(self) -> list[Arrow]:
        """The arrows from box to box."""
        return [arrow for arrow in self.arrows if arrow.label]


def diagram_of(job: Job) -> Diagram:
    """Return the picture of a job."""
    assert job.graph is not None
    return _Drawing(build_physical_graph(job.graph, WatermarkRhythm())).diagram(job)


class _Drawing:
    def __init__(self, steps: list[PhysicalNode]) -> None:
        self._steps = steps
        self._rows: dict[Transformation, DiagramRow] = {}
        self._group = {step: step for step in steps}

    def diagram(self, job: Job) -> Diagram:
        for step in self._steps:
            self._rows.setdefault(step.origin, _row(step.origin))
            for link in step.inputs:
                if link.local:
                    self._group[self._root(step)] = self._root(link.sender)
        boxes: dict[PhysicalNode, Box] = {}
        for step in self._steps:
            root = self._root(step)
            if root not in boxes:
                boxes[root] = Box(len(boxes) + 1, step.stage, step.parallelism)
            row = self._rows[step.origin]
            if row not in boxes[root].rows:
                boxes[root].rows.append(row)
        return Diagram(job.name, list(boxes.values()), self._arrows(), job.settings.batch)

    def _arrows(self) -> list[Arrow]:
        links = (link for step in self._steps for link in step.inputs)
        return [
            Arrow(
                self._rows[link.sender.origin],
                self._rows[link.receiver.origin],
                "" if link.local else link.partitioner.strategy,
                _is_side(link),
            )
            for link in links
            if link.sender.origin is not link.receiver.origin
        ]

    def _root(self, step: PhysicalNode) -> PhysicalNode:
        while self._group[step] is not step:
            step = self._group[step]
        return step


def _is_side(link: PhysicalEdge) -> bool:
    """True for a link of a side output, also after a conversion on the sender's side."""
    while link.side_tag is None and link.sender.inputs and not link.sender.state_id:
        link = link.sender.inputs[0]
    return link.side_tag is not None


def _row(node: Transformation) -> DiagramRow:
    role = Role.SOURCE if node.source else Role.SINK if node.sink else Role.OPERATOR
    return DiagramRow(_PLAIN_NAMES.get(node.name, node.name), role, _place(node.call_site))


def _place(site: CallSite | None) -> str:
    return "" if site is None else f"{os.path.basename(site.file)}:{site.line}"
