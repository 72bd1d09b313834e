"""Draws jobs as SVG: readable on a light and on a dark page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from html import escape

from pyflink_on_spark.tools.plan.diagram import Diagram, DiagramRow, Role
from pyflink_on_spark.tools.plan.layout import (
    GUTTER,
    MARGIN,
    PADDING,
    ROW_HEIGHT,
    TITLE_HEIGHT,
    Layout,
    Place,
    Route,
    has_gutter,
    inner_arrows,
    lay_out,
    shortened,
)

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
        yield from _row(row, left, place.y + place.row_middle(row) - ROW_HEIGHT / 2, width)
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


def _row(row: DiagramRow, x: float, y: float, width: float) -> Iterator[str]:
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
