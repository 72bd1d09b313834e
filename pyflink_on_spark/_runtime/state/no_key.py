"""The current key outside of an element and of a timer."""

from __future__ import annotations


class _NoKey:
    """Fails when it is looked up, so that no access has to ask whether there is a key."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError(
            "No key set: keyed state belongs to the key of an element or of a timer. There is no "
            "key in open(), nor for an element of a broadcast stream."
        )

    def __repr__(self) -> str:
        return "<no key>"


NO_KEY = _NoKey()
