"""The kinds of changes in the rows of a node."""

from __future__ import annotations

import enum
from typing import Final


class ChangeKinds(enum.Flag):
    """Kinds of changes."""

    INSERT = enum.auto()
    UPDATE = enum.auto()
    DELETE = enum.auto()

    ALL = INSERT | UPDATE | DELETE

    def describe(self) -> str:
        """Describe the changes besides inserts."""
        words = [word for kind, word in _WORDS.items() if kind in self]
        return f"{' and '.join(words) or 'insert'} changes"


_WORDS = {ChangeKinds.UPDATE: "update", ChangeKinds.DELETE: "delete"}

# What stands for a row's kind beside the row; odd ones take a row back.
INSERT: Final = 0
UPDATE_BEFORE: Final = 1
UPDATE_AFTER: Final = 2
DELETE: Final = 3
