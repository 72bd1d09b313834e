"""Meanings of operators' state, which tell changed operators from moved ones."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._runtime.state.snapshot import StateMeta

Content = Mapping[str, object]
"""Names, and texts or lists of texts: what JSON has."""
KIND = "kind"
Given = tuple[str, object, object, Any]
"""An entry of Flink: the name of its state, the key, the namespace and the value."""
Taken = tuple[str, object, object, object]
"""An entry of ours, likewise."""


@dataclass(frozen=True)
class StateMeaning:
    """The meaning of an operator's state. An operator cannot use state of another meaning.

    Args:
        content: what it depends on, for people; ``kind`` comes first.
        tells_all: whether operators of one meaning do the same, so that the state of an operator is
            found by what it means when the operator has another place.
    """

    content: Content
    tells_all: bool = False

    @property
    def digest(self) -> str:
        """A number that other meanings do not have."""
        text = json.dumps([self.content, self.tells_all], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def matches(self, other: StateMeaning) -> bool:
        """True if state of another meaning fits; a property that one of both lacks fits any."""
        if self.tells_all or other.tells_all:
            return self == other
        one, two = self.content, other.content
        return all(one[name] == two[name] for name in one.keys() & two.keys())

    def to_json(self) -> dict[str, object]:
        """Return the meaning as the JSON object that a checkpoint contains."""
        return {"digest": self.digest, "tells_all": self.tells_all, "meaning": dict(self.content)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> StateMeaning:
        """Make a meaning of the JSON of ``to_json``.

        Raises:
            KeyError: it is something else.
        """
        return cls(found["meaning"], found["tells_all"])

    def __str__(self) -> str:
        parts = (
            f"{name}: {', '.join(value) if isinstance(value, list) else value}"
            for name, value in self.content.items()
            if name != KIND and value not in ("", [])
        )
        return "; ".join((str(self.content[KIND]), *parts))


Meanings = Mapping[str, StateMeaning]
"""By the stable names of operators, sources and sinks."""


@dataclass(frozen=True)
class Heirs:
    """The owners of a checkpoint's state in a job.

    Args:
        names: the stable name that something in the checkpoint has in the job, where it has another
            one; None for what nothing in the job takes over, though there is such a name.
        changed: what is taken over, and means something else in the job.
        unknown: what is taken over by name, though the checkpoint does not say what it means.
    """

    names: Mapping[str, str | None]
    changed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def name(self, stored: str) -> str | None:
        """Return who takes over something, by its name in the checkpoint."""
        return self.names.get(stored, stored)

    def of_sinks(self, things: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
        """Return the committables of sinks, with the names of those that take them over."""
        named = ((self.name(stored), thing) for stored, thing in things)
        return [(name, thing) for name, thing in named if name is not None]

    def without_changed(self) -> Heirs:
        """Return the same, but nothing takes over what means something else."""
        return replace(self, names={**self.names, **dict.fromkeys(self.changed)})


def heirs_of(
    found: Collection[str], stored: Meanings, wanted: Meanings, operators: Collection[str]
) -> Heirs:
    """Return the owners of a checkpoint's state in a job.

    What has the same name and the same meaning stays where it is. The rest of what operators of
    tables have goes to those that mean the same, if it is clear which ones these are. What is left
    then belongs to the operator of the same name, or to the only one that is left of its kind.

    Args:
        found: the names of what there is in the checkpoint.
        stored: what it means there.
        wanted: what things of these names mean in the job.
        operators: those names in the checkpoint that are of operators' state.
    """
    known = [name for name in found if name in stored]
    differing = [
        name for name in known if name in wanted and not wanted[name].matches(stored[name])
    ]
    homeless = [
        name
        for name in known
        if stored[name].tells_all and (name in differing or name not in wanted)
    ]
    settled = set(found).difference(homeless)
    free = [name for name, meaning in wanted.items() if meaning.tells_all and name not in settled]
    names: dict[str, str | None] = {}
    changed = list(differing)
    if _are_distinct(stored[name] for name in known if name not in operators):
        names.update(_pairs(homeless, stored, free, wanted, _digest))
        taken = set(names.values())
        changed = [name for name in differing if name not in names and name not in taken]
        left = [name for name in homeless if name in operators and name not in (*names, *changed)]
        open_ones = [name for name in free if name not in (*taken, *changed)]
        of_kind = _pairs(left, stored, open_ones, wanted, _kind)
        names.update(of_kind)
        changed += of_kind
    taken = set(names.values())
    names.update((name, None) for name in homeless if name not in names and name in taken)
    unknown = tuple(name for name in found if name in wanted and name not in stored)
    return Heirs(names, tuple(changed), unknown)


def _are_distinct(meanings: Iterable[StateMeaning]) -> bool:
    """True if no two meanings are equal: equal ones could be mistaken for each other."""
    digests = [meaning.digest for meaning in meanings]
    return len(digests) == len(set(digests))


def _pairs(
    one: Iterable[str],
    of_one: Meanings,
    two: Iterable[str],
    of_two: Meanings,
    by: Callable[[StateMeaning], str],
) -> dict[str, str]:
    """Return the pairs of names whose meanings have something in common, if no others have it."""
    left, right = _grouped(one, of_one, by), _grouped(two, of_two, by)
    return {
        names[0]: right[common][0]
        for common, names in left.items()
        if len(names) == len(right.get(common, ())) == 1
    }


def _grouped(
    names: Iterable[str], meanings: Meanings, by: Callable[[StateMeaning], str]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[by(meanings[name])].append(name)
    return found


def _digest(meaning: StateMeaning) -> str:
    return meaning.digest


def _kind(meaning: StateMeaning) -> str:
    return str(meaning.content[KIND])


@dataclass(frozen=True)
class StateLayout:
    """The kind and the types of one keyed state of Flink.

    Args:
        kind: ``value``, ``list`` or ``map``.
        types: of the values or elements; of a map those of its keys and values.
        stamped: whether values have the time at which they were written.
    """

    kind: str
    types: tuple[str, ...]
    stamped: bool = False

    def __str__(self) -> str:
        return f"{self.kind} of {' and '.join(self.types)}"


@dataclass(frozen=True)
class FlinkStates:
    """The keyed states of one of Flink's operators.

    Args:
        key: the type of its keys.
        layouts: by name.
        watermark: up to where its windows have ended (ms); None if it has no windows.
    """

    key: str
    layouts: Mapping[str, StateLayout]
    watermark: int | None = None


class TableState(ABC):
    """Makes the state of an operator of ours from that of an operator of Flink."""

    @abstractmethod
    def refusal(self, found: FlinkStates) -> str | None:
        """Say why the operator cannot take over certain states; None if it can."""

    @abstractmethod
    def metas(self, found: FlinkStates) -> Mapping[str, StateMeta]:
        """Return the kinds of the states that the operator has, by name."""

    @abstractmethod
    def taken(self, found: FlinkStates, entries: Iterable[Given]) -> Iterator[Taken]:
        """Make entries of ours.

        Args:
            found: the states of Flink.
            entries: those of one key group; all entries of a key are among them.

        Raises:
            ValueError: they cannot be what the operator keeps.
        """


@dataclass(frozen=True)
class Counterpart:
    """The operator of Flink that an operator of tables stands for.

    Args:
        names: what its name in Flink may be, without the number of the node.
        state: makes what takes over its keyed state; None for a source.
    """

    names: tuple[str, ...]
    state: Callable[[], TableState] | None = None
