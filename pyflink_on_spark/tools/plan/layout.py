"""The layout of a picture: stages are columns, arrows lead from left to right."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyflink_on_spark.tools.plan.diagram import Arrow, Box, Diagram, DiagramRow

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
