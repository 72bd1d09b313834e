"""A job as boxes, rows and arrows, and its picture as SVG: readable on a light and a dark page."""

from __future__ import annotations

import enum
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from pyflink_on_spark._compat.own_frames import CallSite
from pyflink_on_spark._graph.physical_graph import PhysicalEdge, PhysicalNode, build_physical_graph
from pyflink_on_spark._graph.stream_graph import Transformation
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm

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


_LABEL_HEIGHT = 20
_BETWEEN_JOBS = 12
_LEAST_WIDTH = 260
_TITLE_LETTER = 10.5
_ROLE_TEXT = {Role.SOURCE: "SOURCE", Role.SINK: "SINK", Role.OPERATOR: ""}
_TRIES = (0.5, 0.38, 0.62, 0.28, 0.72)

_STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
.page { fill: #ffffff; }
.title { font-size: 17px; font-weight: 600; fill: #17202b; }
.about { font-size: 12px; fill: #66727f; }
.lane { fill: #f5f7fa; }
.stage { font-size: 10.5px; letter-spacing: 1.2px; fill: #8a95a3; }
.box { fill: #ffffff; stroke: #c9d2dc; stroke-width: 1.2; }
.subtasks { font-size: 11px; fill: #66727f; }
.row { fill: #eaf1fb; }
.row.source { fill: #e4f5ea; }
.row.sink { fill: #fdefe0; }
.bar { fill: #3b78d8; }
.bar.source { fill: #2a9d57; }
.bar.sink { fill: #dd7a17; }
.name { font-size: 13px; font-weight: 500; fill: #17202b; }
.place { font-size: 10.5px; fill: #66727f; }
.role { font-size: 9px; letter-spacing: 0.8px; font-weight: 600; }
.role.source { fill: #1f7d44; }
.role.sink { fill: #a9590c; }
.line { fill: none; stroke: #8593a3; stroke-width: 1.5; }
.side { stroke-dasharray: 4 3; }
.tip { fill: #8593a3; }
.label { fill: #ffffff; stroke: #8593a3; stroke-width: 1; }
.spread { font-size: 10px; letter-spacing: 0.5px; font-weight: 600; fill: #44505d; }
@media (prefers-color-scheme: dark) {
  .page { fill: #11161d; }
  .title, .name { fill: #e8edf3; }
  .about, .subtasks, .place { fill: #97a3b1; }
  .lane { fill: #171e27; }
  .stage { fill: #7b8896; }
  .box { fill: #1c2530; stroke: #364453; }
  .row { fill: #22344d; }
  .row.source { fill: #1d3a2a; }
  .row.sink { fill: #46311b; }
  .bar { fill: #6ba0f0; }
  .bar.source { fill: #4fc37e; }
  .bar.sink { fill: #f2a154; }
  .role.source { fill: #6fd698; }
  .role.sink { fill: #f7b877; }
  .line { stroke: #7c8b9b; }
  .tip { fill: #7c8b9b; }
  .label { fill: #1c2530; stroke: #7c8b9b; }
  .spread { fill: #c6d0da; }
}
"""

_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto" markerUnits="userSpaceOnUse">'
    '<path class="tip" d="M0,0.6 L7.4,4 L0,7.4 z"/></marker></defs>'
)


def svg_of(diagrams: Sequence[Diagram]) -> str:
    """Return a picture of jobs, one below the other."""
    layouts = list(map(lay_out, diagrams))
    titles = (2 * MARGIN + _TITLE_LETTER * len(diagram.title) for diagram in diagrams)
    width = max(_LEAST_WIDTH, *titles, *(layout.width for layout in layouts))
    height = sum(layout.height + _BETWEEN_JOBS for layout in layouts) - _BETWEEN_JOBS
    names = escape(", ".join(diagram.title for diagram in diagrams))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{names}">'
    )
    lines = [
        opening,
        f"<style>{_STYLE}</style>",
        _TIP,
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="12"/>',
    ]
    top = 0.0
    for diagram, layout in zip(diagrams, layouts, strict=True):
        lines.append(f'<g transform="translate(0,{top:.1f})">')
        lines += _job(diagram, layout)
        lines.append("</g>")
        top += layout.height + _BETWEEN_JOBS
    return "\n".join([*lines, "</svg>"])


def _job(diagram: Diagram, layout: Layout) -> Iterator[str]:
    count = len(diagram.boxes)
    about = "BATCH" if diagram.batch else "STREAMING"
    about += f", {sum(len(box.rows) for box in diagram.boxes)} operators in "
    about += f"{count} {'chain' if count == 1 else 'chains'}"
    yield f'<text class="title" x="{MARGIN}" y="34">{escape(diagram.title)}</text>'
    yield f'<text class="about" x="{MARGIN}" y="52">{about}</text>'
    lane_top = TITLE_HEIGHT + 2
    for number, (x, width) in enumerate(layout.columns, 1):
        yield (
            f'<rect class="lane" x="{x - 14:.1f}" y="{lane_top}" width="{width + 28:.1f}" '
            f'height="{layout.height - lane_top - 12:.1f}" rx="10"/>'
        )
        yield f'<text class="stage" x="{x:.1f}" y="{lane_top + 17}">STAGE {number}</text>'
    for place in layout.places:
        if place.box is not None:
            yield from _box(diagram, place)
    yield from _exchanges(layout.routes)


def _box(diagram: Diagram, place: Place) -> Iterator[str]:
    box = place.box
    assert box is not None
    subtasks = "1 subtask" if box.parallelism == 1 else f"{box.parallelism} subtasks"
    yield (
        f'<rect class="box" x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="9"/>'
    )
    yield (
        f'<text class="subtasks" x="{place.x + PADDING:.1f}" y="{place.y + 22:.1f}">'
        f"{subtasks}</text>"
    )
    gutter = GUTTER if has_gutter(diagram, box) else 0
    left = place.x + PADDING + gutter
    width = place.width - 2 * PADDING - gutter
    for row in box.rows:
        yield from _row_shapes(row, left, place.y + place.row_middle(row) - ROW_HEIGHT / 2, width)
    for arrow in inner_arrows(diagram, box):
        start, end = (place.y + place.row_middle(row) for row in (arrow.sender, arrow.receiver))
        style = "line side" if arrow.side else "line"
        if box.rows.index(arrow.receiver) - box.rows.index(arrow.sender) == 1:
            middle = left + 22
            path = f"M{middle:.1f},{start + ROW_HEIGHT / 2:.1f} V{end - ROW_HEIGHT / 2:.1f}"
        else:
            bend = left - GUTTER
            path = (
                f"M{left:.1f},{start:.1f} C{bend - 2:.1f},{start:.1f} "
                f"{bend:.1f},{start + 10:.1f} {bend:.1f},{start + 18:.1f} "
                f"V{end - 18:.1f} C{bend:.1f},{end - 6:.1f} {bend + 2:.1f},{end:.1f} "
                f"{left:.1f},{end:.1f}"
            )
        yield f'<path class="{style}" d="{path}" marker-end="url(#tip)"/>'


def _row_shapes(row: DiagramRow, x: float, y: float, width: float) -> Iterator[str]:
    kind = "" if row.role is Role.OPERATOR else f" {row.role.value}"
    yield (
        f'<rect class="row{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{ROW_HEIGHT}" rx="5"/>'
    )
    yield (
        f'<rect class="bar{kind}" x="{x:.1f}" y="{y:.1f}" width="4" height="{ROW_HEIGHT}" rx="2"/>'
    )
    baseline = y + (17 if row.place else ROW_HEIGHT / 2 + 5)
    full = f"<title>{escape(row.name)}</title>"
    name = escape(shortened(row.name))
    yield f'<text class="name" x="{x + 13:.1f}" y="{baseline:.1f}">{name}{full}</text>'
    if row.place:
        yield f'<text class="place" x="{x + 13:.1f}" y="{y + 32:.1f}">{escape(row.place)}</text>'
    if kind:
        yield (
            f'<text class="role{kind}" x="{x + width - 9:.1f}" y="{y + 32:.1f}" '
            f'text-anchor="end">{_ROLE_TEXT[row.role]}</text>'
        )


def _exchanges(routes: Sequence[Route]) -> Iterator[str]:
    labels: list[tuple[float, float, float]] = []
    texts: list[str] = []
    for route in routes:
        style = "line side" if route.arrow.side else "line"
        yield f'<path class="{style}" d="{_curve(route.points)}" marker-end="url(#tip)"/>'
        texts += _label(route, labels)
    yield from texts


def _curve(points: Sequence[tuple[float, float]]) -> str:
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        middle = (x1 + x2) / 2
        path += f" C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    return path


def _label(route: Route, taken: list[tuple[float, float, float]]) -> Iterator[str]:
    text = route.arrow.label
    width = 7.4 * len(text) + 16
    x, y = next(
        (spot for spot in _spots(route) if not _overlaps(spot, width, taken)),
        next(_spots(route)),
    )
    taken.append((x, y, width))
    yield (
        f'<rect class="label" x="{x - width / 2:.1f}" y="{y - _LABEL_HEIGHT / 2:.1f}" '
        f'width="{width:.1f}" height="{_LABEL_HEIGHT}" rx="10"/>'
    )
    yield (
        f'<text class="spread" x="{x:.1f}" y="{y + 3.6:.1f}" text-anchor="middle">'
        f"{escape(text)}</text>"
    )


def _spots(route: Route) -> Iterator[tuple[float, float]]:
    """Yield where on the last part of an arrow its label could be, the best first."""
    (x1, y1), (x2, y2) = route.points[-2:]
    for t in _TRIES:
        # The curve's control points lie half-way, at the heights of its ends.
        x = x1 + (x2 - x1) * (1.5 * t * (1 - t) ** 2 + 1.5 * t**2 * (1 - t) + t**3)
        y = y1 + (y2 - y1) * (3 * t**2 * (1 - t) + t**3)
        yield x, y


def _overlaps(
    spot: tuple[float, float], width: float, taken: Sequence[tuple[float, float, float]]
) -> bool:
    return any(
        abs(spot[0] - x) < (width + other) / 2 + 4 and abs(spot[1] - y) < _LABEL_HEIGHT + 4
        for x, y, other in taken
    )


ROW_HEIGHT = 40
ROW_GAP = 14
PADDING = 14
HEADER = 26
BOX_GAP = 34
COLUMN_GAP = 132
MARGIN = 28
TITLE_HEIGHT = 64
_PASS_HEIGHT = 16
_LETTER = 7.9
_SMALL_LETTER = 6.2
_WIDEST = 42
_NARROWEST = 168
_SWEEPS = 8
_TALL = 100_000.0  # more than any box is high
GUTTER = 16


@dataclass(eq=False)
class Place:
    """A box, or where an arrow passes a column that it does not end in.

    Args:
        box: the box; None for a passage.
        height: in pixels, as everything here.
        width: how wide.
        before: the places that arrows come from, with the heights where they begin and end.
        after: the places that arrows go to, likewise.
    """

    box: Box | None
    height: float
    width: float
    x: float = 0.0
    y: float = 0.0
    before: list[tuple[Place, float, float]] = field(default_factory=list)
    after: list[tuple[Place, float, float]] = field(default_factory=list)

    def row_middle(self, row: DiagramRow) -> float:
        """Return how far below the box's top the middle of an operator is."""
        assert self.box is not None
        place = self.box.rows.index(row)
        return HEADER + PADDING + place * (ROW_HEIGHT + ROW_GAP) + ROW_HEIGHT / 2


@dataclass
class Route:
    """The way of an arrow between boxes: its points from left to right."""

    arrow: Arrow
    points: list[tuple[float, float]]


@dataclass
class Layout:
    """A picture's places and its size."""

    places: list[Place]
    routes: list[Route]
    columns: list[tuple[float, float]]
    width: float
    height: float


def shortened(name: str) -> str:
    """Return a name that is not wider than the widest box."""
    return name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…"


def has_gutter(diagram: Diagram, box: Box) -> bool:
    """True if arrows on the left of a box pass by operators."""
    return any(
        abs(box.rows.index(a.receiver) - box.rows.index(a.sender)) != 1
        for a in inner_arrows(diagram, box)
    )


def inner_arrows(diagram: Diagram, box: Box) -> list[Arrow]:
    """Return the arrows inside a box."""
    return [
        a for a in diagram.arrows if not a.label and a.sender in box.rows and a.receiver in box.rows
    ]


def lay_out(diagram: Diagram) -> Layout:
    """Return where the parts of a job's picture are."""
    return _LayingOut(diagram).layout()


class _LayingOut:
    def __init__(self, diagram: Diagram) -> None:
        self._diagram = diagram
        self._columns: list[list[Place]] = [[] for _ in diagram.stages]
        self._of: dict[Box, Place] = {}
        self._ways: list[tuple[Arrow, list[Place]]] = []

    def layout(self) -> Layout:
        for box in self._diagram.boxes:
            self._of[box] = self._place(box)
            self._columns[box.stage].append(self._of[box])
        for arrow in self._diagram.exchanges:
            self._connect(arrow)
        self._order()
        columns = self._set_x()
        self._set_y()
        places = [place for column in self._columns for place in column]
        bottom = max(place.y + place.height for place in places)
        right = columns[-1][0] + columns[-1][1]
        routes = [Route(arrow, self._points(arrow, way)) for arrow, way in self._ways]
        return Layout(places, routes, columns, right + MARGIN, bottom + MARGIN)

    def _place(self, box: Box) -> Place:
        count = len(box.rows)
        names = [_LETTER * len(shortened(row.name)) for row in box.rows]
        places = [_SMALL_LETTER * len(row.place) for row in box.rows]
        gutter = GUTTER if has_gutter(self._diagram, box) else 0
        width = max(_NARROWEST, *names, *places) + 2 * PADDING + 26 + gutter
        height = HEADER + count * ROW_HEIGHT + (count - 1) * ROW_GAP + 2 * PADDING
        return Place(box, height, width)

    def _connect(self, arrow: Arrow) -> None:
        """Lead an arrow through the columns between its ends."""
        sender = self._of[self._diagram.box_of(arrow.sender)]
        receiver = self._of[self._diagram.box_of(arrow.receiver)]
        assert sender.box is not None
        assert receiver.box is not None
        way = [sender]
        for stage in range(sender.box.stage + 1, receiver.box.stage):
            way.append(Place(None, _PASS_HEIGHT, 0))
            self._columns[stage].append(way[-1])
        way.append(receiver)
        for one, other in itertools.pairwise(way):
            leaves = one.row_middle(arrow.sender) if one.box else _PASS_HEIGHT / 2
            enters = other.row_middle(arrow.receiver) if other.box else _PASS_HEIGHT / 2
            one.after.append((other, leaves, enters))
            other.before.append((one, enters, leaves))
        self._ways.append((arrow, way))

    def _order(self) -> None:
        """Order each column by its connections, so that few arrows cross."""
        best = self._crossings(), [list(column) for column in self._columns]
        for sweep in range(_SWEEPS):
            forward = sweep % 2 == 0
            columns = self._columns if forward else self._columns[::-1]
            for fixed, column in itertools.pairwise(columns):
                rank = {place: number for number, place in enumerate(fixed)}
                column.sort(key=_by_neighbours(rank, column, forward))
            best = min(best, (self._crossings(), [list(c) for c in self._columns]), key=_first)
        self._columns = best[1]

    def _crossings(self) -> int:
        return sum(
            (one[0] - other[0]) * (one[1] - other[1]) < 0
            for left, right in itertools.pairwise(self._columns)
            for one, other in itertools.combinations(_ends(left, right), 2)
        )

    def _set_x(self) -> list[tuple[float, float]]:
        columns, x = [], float(MARGIN)
        for column in self._columns:
            width = max(place.width for place in column)
            for place in column:
                place.x = x
                place.width = width
            columns.append((x, width))
            x += width + COLUMN_GAP
        return columns

    def _set_y(self) -> None:
        for column in self._columns:
            _stack(column, [0.0] * len(column))
        for sweep in range(_SWEEPS):
            forward = sweep % 2 == 0
            for column in self._columns if forward else self._columns[::-1]:
                _stack(column, [_wanted(place, forward) for place in column])
        top = min(place.y for column in self._columns for place in column)
        for column in self._columns:
            for place in column:
                place.y += MARGIN + TITLE_HEIGHT - top

    def _points(self, arrow: Arrow, way: list[Place]) -> list[tuple[float, float]]:
        first, last = way[0], way[-1]
        points = [(first.x + first.width, first.y + first.row_middle(arrow.sender))]
        for place in way[1:-1]:
            middle = place.y + place.height / 2
            points += [(place.x, middle), (place.x + place.width, middle)]
        return [*points, (last.x, last.y + last.row_middle(arrow.receiver))]


def _first(entry: tuple[int, object]) -> int:
    return entry[0]


def _ends(left: list[Place], right: list[Place]) -> list[tuple[float, float]]:
    """Return where the arrows between two columns begin and end, from the top."""
    rank = {place: number for number, place in enumerate(right)}
    return [
        (number * _TALL + ours, rank[other] * _TALL + theirs)
        for number, place in enumerate(left)
        for other, ours, theirs in place.after
    ]


def _by_neighbours(
    rank: dict[Place, int], column: list[Place], forward: bool
) -> Callable[[Place], float]:
    own = {place: number for number, place in enumerate(column)}

    def key(place: Place) -> float:
        links = place.before if forward else place.after
        heights = [rank[other] * _TALL + theirs for other, _, theirs in links]
        return sum(heights) / len(heights) if heights else own[place] * _TALL

    return key


def _wanted(place: Place, forward: bool) -> float:
    """Return where a place's top would be if its arrows from one side were level."""
    links = place.before if forward else place.after
    if not links:
        return place.y
    return sum(other.y + theirs - ours for other, ours, theirs in links) / len(links)


def _stack(column: Sequence[Place], wanted: Sequence[float]) -> None:
    """Put places one below the other, each as near as can be to where it is wanted."""
    groups: list[tuple[list[Place], float]] = []
    for place, top in zip(column, wanted, strict=True):
        groups.append(([place], top))
        while len(groups) > 1 and groups[-2][1] + _height(groups[-2][0]) > groups[-1][1]:
            (lower, low), (upper, high) = groups.pop(), groups.pop()
            shifted = low - _height(upper)
            joined = upper + lower
            mean = (high * len(upper) + shifted * len(lower)) / len(joined)
            groups.append((joined, mean))
    for places, start in groups:
        y = start
        for place in places:
            place.y = y
            y += place.height + BOX_GAP


def _height(places: list[Place]) -> float:
    return sum(place.height + BOX_GAP for place in places)
