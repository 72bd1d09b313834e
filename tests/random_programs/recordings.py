"""Recorded outcomes of real PyFlink: files that only grow, with a program in each line."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.random_programs.outcome import Outcome, from_data
from tests.random_programs.program import Program, from_json

FOLDER = Path(__file__).with_name("recorded")


@dataclass(frozen=True)
class Recording:
    """A program and its outcome on real PyFlink."""

    program: Program
    outcome: Outcome


def write(path: Path, recordings: Iterable[Recording]) -> None:
    """Write a file of recordings."""
    lines = []
    for recording in recordings:
        outcome = json.dumps(recording.outcome.to_data(), ensure_ascii=False)
        lines.append(f"{recording.program.to_json()}\t{outcome}\n")
    path.parent.mkdir(exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        file.writelines(lines)


def read(path: Path) -> Iterator[Recording]:
    """Yield the recordings of a file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            program, outcome = line.split("\t")
            yield Recording(from_json(program), from_data(json.loads(outcome)))


def files() -> list[Path]:
    """Return the files there are, in the order of their programs."""
    return sorted(FOLDER.glob("*.jsonl.xz"))


def everything() -> Iterator[Recording]:
    """Yield all recordings."""
    for path in files():
        yield from read(path)
