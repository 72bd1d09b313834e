"""Streams that begin a program."""

from __future__ import annotations

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.expressions import integer
from tests.random_programs.program import ANY, TOTAL
from tests.random_programs.shapes import (
    BOOL,
    FLOAT,
    INT,
    STR,
    UNKNOWN,
    Shape,
    random_shape,
    tuple_of,
    type_of,
    wrong_type_of,
)
from tests.random_programs.values import literal

_NO_WATERMARKS = "WatermarkStrategy.no_watermarks()"
_KEYS = (
    *[STR] * 6, *[INT] * 5, BOOL, BOOL, FLOAT, FLOAT, tuple_of(INT, INT), tuple_of(STR, INT),
    Shape("row", (INT, STR), ("a", "b")), Shape("date"), Shape("decimal"), Shape("bytes"),
)  # fmt: skip


def events(draft: Draft) -> Stream:
    """Tuples of a key, a time and some more: what keyed operators and windows are made for."""
    rng = draft.rng
    rest = [random_shape(rng, 1) for _ in range(rng.choice([0, 1, 1, 1, 2]))]
    shape = tuple_of(rng.choice(_KEYS), INT, INT, *rest)
    keys = [literal(rng, shape.parts[0], 0.03) for _ in range(rng.randint(1, 3))]
    elements = []
    for _ in range(rng.choice([0, 1, *[4, 7, 10] * 6])):
        fields = [rng.choice(keys), str(rng.randint(0, 40)), str(rng.randint(-3, 9))]
        fields += [literal(rng, part) for part in rest]
        elements.append(f"({', '.join(fields)})")
    return _collection(draft, shape, elements)


def anything(draft: Draft) -> Stream:
    """Elements of any shape."""
    rng = draft.rng
    shape = random_shape(rng)
    nothing = 0.15 if rng.random() < 0.1 else 0.0
    elements = [literal(rng, shape, 0.15, nothing) for _ in range(rng.choice([1, 2, 4, 6, 6]))]
    return _collection(draft, shape, elements)


_MANY = 0.06
"""The share of collections that are long."""

_ODD = (
    "[]", "[None]", "[1, 'a', None, 2.5]", "range(5)", "'abc'", "(1, 2)", "{1: 2, 3: 4}",
    "[[1], [2, [3]]]", "[{'a': 1}, {'b': [2]}]", "[(), (1,), (1, 2)]", "[1, True, 1.0, '1']",
    "[Row(1), Row(a=2), (3,)]", "[{1, 2}, frozenset([3])]", "[2**70, -(2**64)]", "[1j, b'x']",
    "[float('nan'), float('inf')]", "(v for v in [1, 2])", "iter([3])", "[int, str]",
)  # fmt: skip
_ODD_TYPES = ("LONG", "INT", "STRING", "DOUBLE", "BOOLEAN", "PICKLED_BYTE_ARRAY", "BIG_DEC", "BYTE")


def oddities(draft: Draft) -> Stream:
    """Collections that hardly anybody would write."""
    typed = f"Types.{draft.rng.choice(_ODD_TYPES)}()" if draft.chance(0.25) else None
    name = draft.call("env", "from_collection", draft.rng.choice(_ODD), type_info=typed)
    return draft.add(Stream(name, UNKNOWN, typed))


def numbers(draft: Draft) -> Stream:
    """A sequence of numbers, in two parts at parallelism 2."""
    first = draft.rng.randint(-2, 3)
    source = f"NumberSequenceSource({first}, {first + draft.rng.randint(2, 9)})"
    name = draft.call("env", "from_source", source, _NO_WATERMARKS, "'numbers'")
    order = TOTAL if draft.parallelism == 1 else ANY
    return draft.add(Stream(name, INT, "Types.LONG()", order, draft.parallelism))


def timed(draft: Draft, stream: Stream) -> Stream:
    """Assign timestamps; the operator is not parallel, mostly, so that the order stays."""
    rng = draft.rng
    source = integer(rng, stream.shape, "value")
    if stream.shape.kind == "tuple" and stream.shape.parts[1:2] == (INT,) and rng.random() < 0.8:
        source = "value[1]"
    assigner = draft.define(
        "TimestampAssigner", extract_timestamp=("value, record_timestamp", [f"return {source}"])
    )
    strategy = rng.choice([
        "WatermarkStrategy.no_watermarks()",
        "WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(9))",
        "WatermarkStrategy.for_monotonous_timestamps()",
        "WatermarkStrategy.for_monotonous_timestamps()",
        f"WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis({rng.randint(0, 9)}))",
    ])  # fmt: skip
    strategy += f".with_timestamp_assigner({assigner}())"
    order = draft.through(stream, keeps_first=True)
    method = "assign_timestamps_and_watermarks"
    made = draft.stream(
        stream, method, strategy, timed=True, order=order, width=draft.parallelism, key=None
    )
    if draft.parallelism > 1 and stream.width == 1 and draft.chance(0.7):
        # Real PyFlink extracts the timestamps in an operator of its own, which stays parallel.
        return draft.stream(made, "set_parallelism", "1", width=1, order=ANY)
    return made


def readable(shape: Shape) -> bool:
    """True for a shape of which real PyFlink can read a declared collection."""
    if shape.kind == "map":
        return shape.parts[1].kind in {"int", "float", "str", "bool"}
    return shape.kind != "bytes" and all(map(readable, shape.parts))


def _collection(draft: Draft, shape: Shape, elements: list[str]) -> Stream:
    typed = None
    if draft.chance(0.5) and readable(shape):
        right = draft.chance(0.95)
        typed = type_of(draft.rng, shape, True) if right else wrong_type_of(draft.rng, shape)
    listed = f"[{', '.join(elements)}]"
    if draft.chance(_MANY):
        listed += " * 40"  # more than one row of an exchange
    name = draft.call("env", "from_collection", listed, type_info=typed)
    return draft.add(Stream(name, shape, typed))
