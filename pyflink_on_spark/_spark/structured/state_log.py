"""The state of a slot in Spark's state store: a log of changes, as a few large entries.

The log is what a file of a checkpoint has: records of a base, then of changes. A head says how long
the log is and who has written it last, so that a process knows whether the subtasks that it has
kept since its last micro-batch are still those that the store means.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

CHUNK_BYTES = 400 * 1024
"""How long an entry is at most. Spark copies an entry several times on its way."""
_DELTAS = 100
_LITTLE = 256 * 1024
HEAD, LOG = "head", "log"
HEAD_SCHEMA, KEY_SCHEMA, CHUNK_SCHEMA = "head BINARY", "number INT", "chunk BINARY"


class HeadState(Protocol):
    """The methods of Spark's ValueState that the log uses."""

    def get(self) -> Any:
        """Return the value as a tuple, or None."""
        ...

    def update(self, newValue: tuple[Any, ...]) -> None:  # noqa: N803 - as Spark has it
        """Set the value."""
        ...


class ChunkState(Protocol):
    """The methods of Spark's MapState that the log uses."""

    def getValue(self, key: tuple[int]) -> Any:  # noqa: N802
        """Return an entry as a tuple."""
        ...

    def updateValue(self, key: tuple[int], value: tuple[bytes]) -> None:  # noqa: N802
        """Set an entry."""
        ...

    def removeKey(self, key: tuple[int]) -> None:  # noqa: N802
        """Remove an entry."""
        ...


@dataclass(frozen=True)
class Head:
    """The state of a log: its version, its writer and its size.

    Args:
        version: how often it was written.
        writer: a random number of who has written it last.
        chunks: how many entries there are.
        base: how many bytes the base has.
        changes: how many bytes the changes since then have.
        deltas: how many times changes were written since then.
        runtime: what the subtasks are besides what a checkpoint has of them, pickled.
    """

    version: int = 0
    writer: str = ""
    chunks: int = 0
    base: int = 0
    changes: int = 0
    deltas: int = 0
    runtime: bytes = b""

    @property
    def wants_base(self) -> bool:
        """True if a new base should replace the log, which has too many changes."""
        if self.version == 0:
            return True
        return self.deltas >= _DELTAS or self.changes > max(self.base, _LITTLE)


class StateLog:
    """The log of the slot whose rows are being processed.

    Args:
        head: its head.
        chunks: its entries.
    """

    def __init__(self, head: HeadState, chunks: ChunkState) -> None:
        self._head, self._chunks = head, chunks

    def head(self) -> Head | None:
        """Return the head; None if nothing was written so far."""
        found = self._head.get()
        return None if found is None else pickle.loads(bytes(found[0]))

    def read(self, head: Head) -> bytes:
        """Return all records."""
        return b"".join(bytes(self._chunks.getValue((number,))[0]) for number in range(head.chunks))

    def replace(self, before: Head, content: bytes, writer: str, runtime: bytes) -> Head:
        """Write a base instead of everything so far."""
        count = 0
        for count, chunk in enumerate(_chunks(content), 1):
            self._chunks.updateValue((count - 1,), (chunk,))
        for number in range(count, before.chunks):
            self._chunks.removeKey((number,))
        return self._written(Head(before.version + 1, writer, count, len(content), runtime=runtime))

    def append(self, before: Head, content: bytes, writer: str, runtime: bytes) -> Head:
        """Write changes after everything so far."""
        count = before.chunks
        for chunk in _chunks(content):
            self._chunks.updateValue((count,), (chunk,))
            count += 1
        return self._written(
            replace(
                before,
                version=before.version + 1,
                writer=writer,
                chunks=count,
                changes=before.changes + len(content),
                deltas=before.deltas + bool(content),
                runtime=runtime,
            )
        )

    def _written(self, head: Head) -> Head:
        self._head.update((pickle.dumps(head, 5),))
        return head


def _chunks(content: bytes) -> Iterator[bytes]:
    for begin in range(0, len(content), CHUNK_BYTES):
        yield content[begin : begin + CHUNK_BYTES]
