"""A job with state of each kind there is, and what a snapshot of it holds, whoever took it."""

from __future__ import annotations

import zlib
from typing import Any

from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState
from pyflink_on_spark.common import Time, Types
from pyflink_on_spark.datastream import MapFunction
from pyflink_on_spark.datastream.state import ListStateDescriptor
from pyflink_on_spark.datastream.window import TumblingEventTimeWindows
from pyflink_on_spark.extensions import CheckpointedFunction
from tests.runtime.random_jobs import RULES, AllKinds, Contents, Ruled, keyed, timed

ELEMENTS = [(f"key {i * i % 23}", i * 7 % 60, i * 13 % 100) for i in range(60)]
MUCH_LATER = 10**15
ONCE = {
    "kinds: timers processing": len(ELEMENTS),
    "lists: list redistributed": len(ELEMENTS),
    "lists: united united": len(ELEMENTS) - 1,  # a set, and two are the same
    "ruled: broadcast": 1,
}
"""How much there is of what every element adds to, or of what is one."""


class AllKindsAndTimers(AllKinds):
    """Also registers timers of processing time."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(MUCH_LATER + value[2])
        yield from super().process_element(value, ctx)


class Lists(MapFunction, CheckpointedFunction):
    """Keeps what it sees in lists that belong to no key."""

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.redistributed = store.get_list_state(
            ListStateDescriptor("redistributed", Types.LONG())
        )
        self.united = store.get_union_list_state(ListStateDescriptor("united", Types.LONG()))

    def snapshot_state(self, context):
        """Nothing: the states are always as they should be."""

    def map(self, value):
        self.redistributed.add(value[2])
        self.united.add(value[2])
        return value


def all_state(stream: Any) -> Any:
    """Return one element for each one; what else there is waits for the end of time."""
    stream = timed(stream)
    rules = stream.filter(lambda v: v[2] % 3 == 0).broadcast(RULES)
    windows = keyed(stream).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    ruled = keyed(stream).connect(rules).process(Ruled()).uid("ruled")
    seen = keyed(stream).process(AllKindsAndTimers()).uid("kinds")
    return (
        seen.map(Lists())
        .uid("lists")
        .union(windows.process(Contents()).uid("windows"))
        .union(ruled)
    )


def content_of(whole: SlotState) -> dict[str, list[str]]:
    """Return all that a snapshot holds, by the kind of it; the same for any parallelism."""
    found: dict[str, list[str]] = {}
    for operator, parts in whole.operators.items():
        for part in parts.values():
            for pieces in part.keyed.values():
                for piece in map(deserialize, map(_bytes, pieces)):
                    _take_keyed(found, operator, piece)
        _take_lists(
            found, operator, [deserialize(_bytes(part.operator)) for part in parts.values()]
        )
    return {kind: sorted(things) for kind, things in sorted(found.items())}


def checksum(content: dict[str, list[str]]) -> int:
    return zlib.crc32(repr(content).encode())


def is_all(content: dict[str, list[str]]) -> bool:
    """True if every kind of state is present."""
    states = ("value", "list", "map", "reducing", "aggregating", "timers event")
    return {kind: len(things) for kind, things in content.items() if kind in ONCE} == ONCE and (
        {f"kinds: {state}" for state in states} | {"windows: window-contents"} <= content.keys()
    )


def _take_keyed(found: dict[str, list[str]], operator: str, piece: Any) -> None:
    assert isinstance(piece, KeyGroupState)
    for name, namespace, key, value in piece.entries:
        found.setdefault(f"{operator}: {name}", []).append(_text((key, namespace, value)))
    for queue, *timer in piece.timers:
        found.setdefault(f"{operator}: timers {queue}", []).append(_text(tuple(timer)))


def _take_lists(found: dict[str, list[str]], operator: str, contents: list[Any]) -> None:
    for content in contents:
        for name, elements in content.split.items():
            found.setdefault(f"{operator}: list {name}", []).extend(map(repr, elements))
    united = {(name, repr(e)) for c in contents for name in c.union for e in c.union[name]}
    for name, element in united:
        found.setdefault(f"{operator}: united {name}", []).append(element)
    maps = {_text(content.broadcast) for content in contents if content.broadcast}
    if maps:  # one, if the copies agree
        found[f"{operator}: broadcast"] = list(maps)


def _text(thing: Any) -> str:
    if isinstance(thing, dict):
        return "{" + ", ".join(sorted(f"{_text(k)}: {_text(v)}" for k, v in thing.items())) + "}"
    if isinstance(thing, tuple | list):
        return "[" + ", ".join(map(_text, thing)) + "]"
    return repr(thing)


def _bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else content.read()
