"""The state of Flink's operators of tables, and who takes it over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.state.snapshot import StateMeta


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


Given = tuple[str, Any, Any, Any]
"""An entry of Flink: the name of its state, the key, the namespace and the value."""

Taken = tuple[str, Any, Any, Any]
"""An entry of ours, likewise."""


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
