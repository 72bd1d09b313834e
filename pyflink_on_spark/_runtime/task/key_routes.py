"""Which receiver of an exchange each key goes to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import filterfalse
from typing import Any, Generic, TypeVar

from pyflink_on_spark._runtime.key_groups.assignment import KeyGroups
from pyflink_on_spark._runtime.key_groups.ranges import subtask_of_key_group

ROUTES_KEPT = 1_000_000

Receiver = TypeVar("Receiver")


class KeyRoutes(Generic[Receiver]):
    """Remembers the receivers of keys, since hashing a key costs more than to find it again.

    Args:
        receivers: one for each receiving subtask.
        key_groups: the key groups of keys.
    """

    def __init__(self, receivers: Sequence[Receiver], key_groups: KeyGroups) -> None:
        self.known: dict[Any, Receiver] = {}
        self._key_groups = key_groups
        count = key_groups.count
        self._of_group = [
            receivers[subtask_of_key_group(group, count, len(receivers))] for group in range(count)
        ]

    def find(self, key: Any) -> Receiver:
        """Return the receiver of a key that is not known."""
        if len(self.known) >= ROUTES_KEPT:
            self.known.clear()
        receiver = self.known[key] = self._of_group[self._key_groups.of(key)]
        return receiver

    def find_all(self, keys: Sequence[Any]) -> list[Receiver]:
        """Return the receiver of each of many keys; of new ones in less time than one by one."""
        with suppress(KeyError):
            return list(map(self.known.__getitem__, keys))
        new = dict.fromkeys(filterfalse(self.known.__contains__, keys))
        if len(self.known) + len(new) > ROUTES_KEPT:
            self.known.clear()
            new = dict.fromkeys(keys)
        groups = self._key_groups.of_all(new)
        self.known.update(zip(new, map(self._of_group.__getitem__, groups), strict=True))
        return list(map(self.known.__getitem__, keys))
