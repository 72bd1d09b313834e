"""Ways to run a stream and to look at what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def collect(stream: Any) -> list[Any]:
    """Runs what leads to a stream and returns its elements in the order they came."""
    with stream.execute_and_collect() as results:
        return list(results)


def collect_sorted(stream: Any) -> list[Any]:
    """Runs a stream whose order is not promised, as one of several subtasks."""
    return sorted(collect(stream))


class Journal:
    """Lines that functions write in any process, read by the test after the job."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def write(self, line: object) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def lines(self) -> list[str]:
        path = Path(self.path)
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
