"""What it takes to hash keys of one type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NULL_KEY = 31
"""The hash code of a key that is null: of a ``Row`` of one field, as for all other keys."""

ANY_KEY = 62
"""What is added to the hash code of a key that is not null."""


class KeyHash(Protocol):
    """Java's hash codes of keys as the engine has them; the low 32 bits count."""

    def code(self, key: Any) -> int:
        """Return the hash code of a key."""

    def codes(self, keys: Sequence[Any]) -> NDArray[np.uint32]:
        """Return the hash codes of many keys, in less time."""
