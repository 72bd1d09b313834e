"""Committables whose content is too large for the memory of the driver."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_STORED, _FAST = 0, 1
_MOST = 8 * 1024 * 1024


@dataclass(frozen=True)
class LargeCommittable:
    """A committable with content of any size.

    A writer makes its committable with frames in memory. If the checkpoint has a folder, the host
    stores the frames there, and the sink gets the committable with ``StoredFrames``, which read one
    frame at a time. So a sink iterates over the frames, as often as it likes, and keeps none.

    The frames are removed with their checkpoint. A sink must not hold such a committable back. The
    committable describes nothing outside of the checkpoint: ``abort`` need not get it.

    Args:
        frames: the content in order; ``pack`` makes frames that fit into memory.
    """

    frames: Iterable[bytes] = field(repr=False)


def pack(things: Sequence[Any], *, compressed: bool = False) -> list[bytes]:
    """Return picklable objects as frames; ``unpack`` returns the objects of a frame."""
    content = pickle.dumps(things, 5)
    if len(content) <= _MOST or len(things) <= 1:
        return [zlib.compress(content, _FAST if compressed else _STORED)]
    del content
    halves = things[: len(things) // 2], things[len(things) // 2 :]
    return [frame for half in halves for frame in pack(half, compressed=compressed)]


def unpack(frame: bytes) -> list[Any]:
    """Return the objects of a frame in order."""
    things: list[Any] = pickle.loads(zlib.decompress(frame))
    return things
