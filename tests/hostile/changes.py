"""Random changes to bytes, as a failing disk or a wrong producer makes them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

Change = Callable[[random.Random, bytes], bytes]


def changed(content: bytes, seeds: range) -> Iterator[tuple[int, bytes]]:
    """Yield seeds, and what became of the content with each; the same for the same seed."""
    for seed in seeds:
        chance = random.Random(seed)
        result = content
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            result = chance.choice(_CHANGES)(chance, result)
        yield seed, result


def _flip(chance: random.Random, content: bytes) -> bytes:
    if not content:
        return content
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]


def _overwrite(chance: random.Random, content: bytes) -> bytes:
    begin, end = _range(chance, content)
    fill = chance.choice((b"\0", b"\xff", b"9", b"{", b'"', b"\n", b"\x80"))
    return content[:begin] + fill * (end - begin) + content[end:]


def _insert(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + chance.randbytes(chance.randint(1, 12)) + content[at:]


def _remove(chance: random.Random, content: bytes) -> bytes:
    begin, end = _range(chance, content)
    return content[:begin] + content[end:]


def _repeat(chance: random.Random, content: bytes) -> bytes:
    begin, end = _range(chance, content)
    return content[:end] + content[begin:end] + content[end:]


def _cut(chance: random.Random, content: bytes) -> bytes:
    return content[: chance.randint(0, len(content))]


def _range(chance: random.Random, content: bytes) -> tuple[int, int]:
    begin = chance.randint(0, len(content))
    return begin, min(len(content), begin + chance.randint(1, 16))


_CHANGES: tuple[Change, ...] = (_flip, _overwrite, _insert, _remove, _repeat, _cut)
