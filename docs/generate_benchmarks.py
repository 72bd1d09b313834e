"""Renders the results in benchmarks/results into the tables of develop/benchmarks.md.

python docs/generate_benchmarks.py

A test in tests/docs fails if the page is stale. ``<!-- table: NAME -->`` in the page is followed by
the table of ``benchmarks/results/NAME.json``: the command, what was measured, and the rows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "develop" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(name: str) -> str:
    """The Markdown of one file of results."""
    result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    columns = result["columns"]
    alignment = ["---" if _is_text(result["rows"], i) else "---:" for i in range(len(columns))]
    rows = [columns, alignment, *result["rows"]]
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    return f"`{result['command']}`, {result['date']}. {result['notes']}\n\n" + "\n".join(lines)


def _is_text(rows: list[list[str]], column: int) -> bool:
    return all(not row[column][:1].isdigit() for row in rows)


def document() -> str:
    """The page with the tables in their places."""
    return _PLACE.sub(
        lambda place: f"{place[1]}{table(place[2])}\n\n{place[3]}",
        DOCUMENT.read_text(encoding="utf-8"),
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
