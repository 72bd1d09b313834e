"""The shapes of a stream's values, and the declared types that fit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

SCALARS = ("int", "float", "str", "bool", "bytes", "date", "time", "datetime", "decimal")


@dataclass(frozen=True)
class Shape:
    """The structure of a value: a scalar, or ``tuple``, ``row``, ``list`` or ``map`` of shapes.

    An ``int`` is a number to calculate with, a ``long`` one that may be very large; of ``any``
    nothing is known. A row's ``names`` may be empty: it has positions only then.
    """

    kind: str
    parts: tuple[Shape, ...] = ()
    names: tuple[str, ...] = ()


def scalar(kind: str) -> Shape:
    """Return the shape of plain values."""
    return Shape(kind)


def tuple_of(*parts: Shape) -> Shape:
    """Return the shape of tuples."""
    return Shape("tuple", parts)


INT, FLOAT, STR, BOOL, LONG, UNKNOWN = map(scalar, ("int", "float", "str", "bool", "long", "any"))

_COMMON = ("int",) * 6 + ("float", "float", "str", "str", "str", "bool")
_RARE = ("bytes", "date", "time", "decimal")


def random_scalar(rng: Random, rare: float = 0.1) -> Shape:
    """Return the shape of some plain value."""
    return scalar(rng.choice(_RARE) if rng.random() < rare else rng.choice(_COMMON))


def random_shape(rng: Random, depth: int = 2) -> Shape:
    """Return any shape."""
    kinds = ["scalar", "tuple", "tuple", "tuple", "row", "row"]
    if depth < 2:
        kinds = ["scalar"] * 8 + ["tuple", "row", "list", "map"]
    kind = rng.choice(kinds) if depth else "scalar"
    if kind == "scalar":
        return random_scalar(rng)
    if kind == "list":
        return Shape("list", (random_shape(rng, 0),))
    if kind == "map":
        return Shape("map", (STR, random_shape(rng, 0)))
    parts = tuple(random_shape(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    if kind == "row" and rng.random() < 0.7:
        return Shape("row", parts, tuple("abcdefgh"[: len(parts)]))
    return Shape(kind, parts)


def leaves(shape: Shape, source: str = "v") -> Iterator[tuple[str, Shape]]:
    """Yield the source that gets at each part of a value, and the part's shape; the whole too."""
    yield source, shape
    if shape.kind in {"tuple", "row"}:
        for index, part in enumerate(shape.parts):
            yield from leaves(part, f"{source}[{index}]")
    if shape.names:
        for name, part in zip(shape.names, shape.parts):
            yield from leaves(part, f"{source}.{name}")


_EXACT = {
    "int": ("LONG",) * 8 + ("INT",) * 6 + ("SHORT", "BYTE"),
    "long": ("LONG",),
    "float": ("DOUBLE", "DOUBLE", "FLOAT"),
    "str": ("STRING",),
    "bool": ("BOOLEAN",),
    "date": ("SQL_DATE",),
    "time": ("SQL_TIME",),
    "datetime": ("SQL_TIMESTAMP",),
    "decimal": ("BIG_DEC",),
}
_PRIMITIVES = tuple(f"Types.{kind}()" for kind in ("INT", "LONG", "SHORT", "DOUBLE", "FLOAT"))
_ANY = ("LONG", "INT", "SHORT", "BYTE", "FLOAT", "DOUBLE", "STRING", "BOOLEAN", "SQL_DATE")


def type_of(rng: Random, shape: Shape, source: bool = False) -> str:
    """Return the source of a type that values of a shape have.

    Args:
        rng: what chooses.
        shape: the values' shape.
        source: whether the type is for ``from_collection``, where PyFlink fails with lists.
    """
    if shape == UNKNOWN:
        return "Types.PICKLED_BYTE_ARRAY()"
    if shape.kind == "bytes":
        return "Types.PICKLED_BYTE_ARRAY()" if source else "Types.PRIMITIVE_ARRAY(Types.BYTE())"
    if not shape.parts:
        return f"Types.{rng.choice(_EXACT[shape.kind])}()"
    inner = [type_of(rng, part, source) for part in shape.parts]
    if shape.kind == "tuple":
        return f"Types.TUPLE([{', '.join(inner)}])"
    if shape.kind == "row" and shape.names:
        return f"Types.ROW_NAMED({list(shape.names)}, [{', '.join(inner)}])"
    if shape.kind == "row":
        return f"Types.ROW([{', '.join(inner)}])"
    if shape.kind == "map":
        return f"Types.MAP({', '.join(inner)})"
    if source:
        return f"Types.BASIC_ARRAY({inner[0]})"
    arrays = ["LIST", "LIST", "OBJECT_ARRAY"]
    if inner[0] in _PRIMITIVES:
        arrays += ["BASIC_ARRAY", "PRIMITIVE_ARRAY"]
    return f"Types.{rng.choice(arrays)}({inner[0]})"


def wrong_type_of(rng: Random, shape: Shape) -> str:
    """Return the source of a type that values of a shape may not have.

    It never has more fields than they: that crashes the interpreter of real PyFlink.
    """
    if not shape.parts or rng.random() < 0.2:
        return f"Types.{rng.choice(_ANY)}()"
    parts = list(shape.parts)
    place = rng.randrange(len(parts))
    inner = [
        wrong_type_of(rng, part) if index == place else type_of(rng, part)
        for index, part in enumerate(parts)
    ]
    change = rng.random()
    if shape.kind in {"tuple", "row"} and change < 0.3:
        inner = inner[:-1] or inner
    kinds = {"tuple": "TUPLE", "row": "ROW"}
    if shape.kind in kinds:
        kind = kinds[shape.kind] if change < 0.9 else rng.choice(["TUPLE", "ROW"])
        return f"Types.{kind}([{', '.join(inner)}])"
    if shape.kind == "map":
        return f"Types.MAP({', '.join(inner)})"
    return f"Types.LIST({inner[0]})"
