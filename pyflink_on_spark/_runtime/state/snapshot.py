"""Keyed state outside the operator that it belongs to: whole, and what changed of it. Picklable."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class StateMeta:
    """What has to be known of a state to take it over.

    Args:
        kind: as a descriptor's ``_kind``, for example ``value``.
        stamped: whether it has a time to live; None if no one has asked for the state yet.
    """

    kind: str
    stamped: bool | None


Entry = tuple[str, Hashable, Any, Any]
"""State, namespace, key, value; None for the value: the entry was removed."""

Timer = tuple[str, int, Any, Hashable]
"""Queue (``event`` or ``processing``), time in ms, key, namespace."""


@dataclass(slots=True)
class KeyGroupState:
    """The entries and timers of the keys of one key group."""

    states: dict[str, StateMeta]
    entries: list[Entry] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)


@dataclass(slots=True)
class Changes:
    """What happened since a moment: entries as they are now, and timers that came or went."""

    states: dict[str, StateMeta]
    entries: list[Entry]
    timers: list[tuple[Timer, bool]]
    """A timer, and whether it is there."""

    def __bool__(self) -> bool:
        return bool(self.entries or self.timers)
