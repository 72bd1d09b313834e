"""Makes a program from a seed: the same one each time, as long as the grammar stays."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.operators import (
    asynchronous,
    keyed,
    merging,
    paced,
    sources,
    stateless,
    windows,
)
from tests.random_programs.operators.faults import add_fault
from tests.random_programs.program import Program

Operator = Callable[[Draft, Stream], Stream | None]

_PLAIN: list[tuple[Operator, int]] = [
    (stateless.mapped, 6),
    (stateless.flat_mapped, 3),
    (stateless.filtered, 2),
    (stateless.processed, 4),
    (stateless.mutated, 1),
    (stateless.partitioned, 2),
    (stateless.decorated, 1),
    (stateless.narrowed, 1),
    (stateless.projected, 2),
    (keyed.keyed, 8),
    (keyed.partitioned_and_keyed, 1),
    (sources.timed, 3),
    (windows.all_windowed, 1),
    (merging.united, 2),
    (merging.connected, 2),
    (merging.broadcast_plain, 1),
    (asynchronous.awaited, 1),
]
_KEYED: list[tuple[Operator, int]] = [
    (stateless.mapped, 1),
    (stateless.flat_mapped, 1),
    (stateless.filtered, 1),
    (keyed.keyed, 1),
    (keyed.aggregated, 4),
    (keyed.reduced, 4),
    (keyed.stateful, 4),
    (keyed.processed, 8),
    (windows.windowed, 8),
    (windows.counted, 3),
    (merging.connected, 1),
    (merging.joined, 2),
    (merging.broadcast, 2),
]
_SOURCES = (
    (sources.events, 12),
    (sources.anything, 7),
    (sources.numbers, 3),
    (sources.oddities, 1),
)
_SETTINGS = (
    ("python.fn-execution.bundle.size", ("1", "2", "5")),
    ("python.operator-chaining.enabled", ("false",)),
    ("python.state.cache-size", ("0", "1")),
    ("python.map-state.read-cache-size", ("0", "1")),
    ("pipeline.operator-chaining.enabled", ("false",)),
    ("pipeline.object-reuse", ("true",)),
    ("pipeline.max-parallelism", ("5",)),
)
_ALWAYS = {"pipeline.auto-watermark-interval": "1 h"}
"""A watermark by the clock would come sooner or later, and results with it."""

_FAULTY = 0.12
_PACED = 0.08


def generate(seed: int) -> Program:
    """Return the program of a seed."""
    rng = Random(seed)
    mode = rng.choice(["STREAMING"] * 6 + ["BATCH", "AUTOMATIC"])
    draft = Draft(rng, mode != "STREAMING", rng.choice([1, 1, 2]))
    if mode == "STREAMING" and draft.chance(_PACED):
        draft.parallelism = 1
        stream = keyed.keyed(draft, paced.events(draft))
    else:
        stream = _beginning(draft)
    for _ in range(rng.randint(1, 3 if stream.paced else 6)):
        stream = _next(draft, stream)
        if draft.chance(0.1):
            stream = rng.choice(draft.streams)
    if stream.key is not None or stream is not draft.streams[-1]:
        _finish(draft, stream)
    if draft.chance(_FAULTY):
        add_fault(draft)
    # real PyFlink cannot collect what partition_custom sends on
    custom = any(step.method == "partition_custom" for step in draft.steps)
    how = "print" if custom or draft.chance(0.2) else "collect"
    settings = {**_settings(rng), **(paced.SETTINGS if draft.streams[0].paced else {})}
    return draft.program(seed, mode, settings, how)


def _beginning(draft: Draft) -> Stream:
    """Add a source, and perhaps what makes it timed and keyed."""
    rng = draft.rng
    stream = rng.choices(*zip(*_SOURCES))[0](draft)
    if stream.shape.kind == "tuple" and draft.chance(0.6):
        stream = sources.timed(draft, stream)
        if draft.chance(0.7):
            stream = keyed.keyed(draft, stream)
    return stream


def _next(draft: Draft, stream: Stream) -> Stream:
    """Add an operator that can follow a stream."""
    table = _PLAIN if stream.key is None else _KEYED
    operators, weights = zip(*table)
    while True:
        size = len(draft.steps)
        made = draft.rng.choices(operators, weights)[0](draft, stream)
        if made is not None:
            return made
        del draft.steps[size:]
        draft.streams[:] = [s for s in draft.streams if s.name in {t.name for t in draft.steps}]


def _finish(draft: Draft, stream: Stream) -> None:
    """End a program with an operator that shows what a stream has."""
    if stream.key is None:
        stateless.filtered(draft, stream)
        return
    while _next(draft, stream).key is not None:
        pass


def _settings(rng: Random) -> dict[str, str]:
    chosen = {name: rng.choice(values) for name, values in _SETTINGS if rng.random() < 0.07}
    return {**_ALWAYS, **chosen}
