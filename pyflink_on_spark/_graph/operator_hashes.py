"""The ids that Flink gives operators: hashes of the user's uid, or of the graph."""

from __future__ import annotations

from pyflink_on_spark._graph.stream_graph import StreamGraph
from pyflink_on_spark._graph.transformation import Transformation

_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_BLOCK = 16


def hash_of_uid(uid: str) -> str:
    """Compute the id of an operator with a uid, as 32 hexadecimal digits.

    Args:
        uid: as the user gave it.
    """
    return murmur3_128(uid.encode("utf-8", "surrogatepass")).hex()


def murmur3_128(content: bytes) -> bytes:
    """Compute Guava's ``murmur3_128``: the variant for 64 bits, of seed 0."""
    h1 = h2 = 0
    whole = len(content) // _BLOCK * _BLOCK
    for begin in range(0, whole, _BLOCK):
        h1 ^= _mixed(_number(content, begin), _C1, 31, _C2)
        h1 = (_rotated(h1, 27) + h2) * 5 + 0x52DCE729 & _MASK
        h2 ^= _mixed(_number(content, begin + 8), _C2, 33, _C1)
        h2 = (_rotated(h2, 31) + h1) * 5 + 0x38495AB5 & _MASK
    h1 ^= _mixed(_number(content, whole), _C1, 31, _C2)
    h2 ^= _mixed(_number(content, whole + 8), _C2, 33, _C1)
    h1 ^= len(content)
    h2 ^= len(content)
    h1 = h1 + h2 & _MASK
    h2 = h2 + h1 & _MASK
    h1, h2 = _finished(h1), _finished(h2)
    h1 = h1 + h2 & _MASK
    h2 = h2 + h1 & _MASK
    return h1.to_bytes(8, "little") + h2.to_bytes(8, "little")


def _number(content: bytes, begin: int) -> int:
    return int.from_bytes(content[begin : begin + 8], "little")


def _mixed(number: int, first: int, bits: int, second: int) -> int:
    return _rotated(number * first & _MASK, bits) * second & _MASK


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> (64 - bits)) & _MASK


def _finished(number: int) -> int:
    number ^= number >> 33
    number = number * 0xFF51AFD7ED558CCD & _MASK
    number ^= number >> 33
    number = number * 0xC4CEB9FE1A85EC53 & _MASK
    return number ^ number >> 33


def operator_hashes(graph: StreamGraph) -> dict[Transformation, str]:
    """Return the ids that operators have in Flink, of those that can have state."""
    return {
        node: node.uid_hash or hash_of_uid(node.uid or "")
        for node in graph.nodes
        if node.uid_hash or node.uid
    }
