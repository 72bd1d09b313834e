"""The ids that Flink gives operators: hashes of the user's uid, or of the graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyflink_on_spark._graph.stream_graph import StreamGraph, Transformation
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps

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


@dataclass(frozen=True)
class FlinkIds:
    """The ids that Flink makes of a graph.

    Such an id depends on the operators before, on how many Flink has numbered, and on how many
    readers are in the same chain. Of Python operators that PyFlink fuses, the first one has it.

    Args:
        generated: of operators of ours without a uid.
        all: of all operators that Flink has in the graph.
    """

    generated: Mapping[Transformation, str]
    all: frozenset[str]


def flink_ids(graph: StreamGraph) -> FlinkIds:
    """Compute the ids of all operators."""
    hashes = _Hashes(_flinks_roots(graph)).found
    return FlinkIds(
        {
            node.owner: hashed.hex()
            for node, hashed in hashes.items()
            if node.owner is not None and node.uid is None
        },
        frozenset(hashed.hex() for hashed in hashes.values()),
    )


@dataclass(eq=False)
class _Node:
    """An operator of Flink's graph.

    Args:
        owner: the operator of ours that has its state; None if it has none.
        uid: the user's.
    """

    owner: Transformation | None
    uid: str | None = None
    inputs: list[_Node] = field(default_factory=list)
    outputs: list[tuple[_Node, bool]] = field(default_factory=list)
    """Its readers, and whether each is in the same chain."""

    def then(self, reader: _Node, chained: bool) -> _Node:
        """Connect a reader; return it."""
        self.outputs.append((reader, chained))
        reader.inputs.append(self)
        return reader


def _flinks_roots(graph: StreamGraph) -> list[_Node]:
    """Make the graph as Flink has it; return its sources in the order of their numbers."""
    chaining = graph.settings.chaining
    groups = [graph.python_group(node) for node in graph.nodes if not _is_fused(graph, node)]
    # PyFlink fuses when it comes to the last one, which decides the order of readers.
    groups.sort(key=lambda group: group[-1].number)
    ends: dict[Transformation, _Node] = {}
    roots = []
    for group in groups:
        first = end = _Node(group[0], group[0].uid)
        for place, member in enumerate(group):
            extracts_times = member.python and isinstance(member.operator, AssignTimestamps)
            if extracts_times:
                end.uid = end.uid if place else None
                end.owner = end.owner if place else None
                end = end.then(_Node(None), chaining).then(_Node(None, member.uid), chaining)
            elif place and isinstance(group[place - 1].operator, AssignTimestamps):
                end = end.then(_Node(member, member.uid), chaining)
            elif member.sink is not None and member.sink.flink_commits:
                uid = member.uid and f"Sink Committer: {member.uid}"
                end = end.then(_Node(None, uid), chaining)
        ends[group[-1]] = end
        edges = graph.inputs[group[0]]
        for edge in edges:
            ends[edge.edge.upstream].then(first, graph.chained(edge))
        if not edges:
            roots.append(first)
    return roots


def _is_fused(graph: StreamGraph, node: Transformation) -> bool:
    return any(map(graph.python_chained, graph.inputs[node]))


class _Hashes:
    """Goes through Flink's graph, breadth first, and numbers the operators on the way.

    Args:
        roots: the sources.
    """

    def __init__(self, roots: Sequence[_Node]) -> None:
        self.found: dict[_Node, bytes] = {}
        left, visited = deque(roots), set(roots)
        while left:
            node = left.popleft()
            if any(before not in self.found for before in node.inputs):
                visited.discard(node)  # it comes again after its other inputs
                continue
            self.found[node] = self._hash(node)
            for reader, _ in node.outputs:
                if reader not in visited:
                    visited.add(reader)
                    left.append(reader)

    def _hash(self, node: _Node) -> bytes:
        if node.uid is not None:
            return bytes.fromhex(hash_of_uid(node.uid))
        number = len(self.found).to_bytes(4, "little")
        chained = sum(chained for _, chained in node.outputs)
        content = bytearray(murmur3_128(number * (1 + chained)))
        for before in node.inputs:
            for place, byte in enumerate(self.found[before]):
                content[place] = content[place] * 37 & 0xFF ^ byte
        return bytes(content)
