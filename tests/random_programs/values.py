"""Literals of values: common ones, and those at the edges of their types."""

from __future__ import annotations

from random import Random

from tests.random_programs.shapes import Shape

_EDGES = {
    "int": (
        "0", "-1", "127", "128", "-129", "32768", "2147483647", "2147483648", "-2147483649",
        "9223372036854775807",
    ),
    "long": ("0",),
    "any": ("0",),
    "float": (
        "0.0", "-0.0", "0.1", "1e10", "1e-5", "1e300", "16777217.0", "3.4e38", "100.0",
        "123456789.125",
    ),
    "str": ("''", "'a,b'", "' x '", "'é'", "'☃𝄞'", "'null'", "'1'", "\"it's\""),
    "bool": ("True", "False"),
    "bytes": ("b''", "b'ab'", "b'\\x00\\xff'"),
    "date": (
        "datetime.date(1970, 1, 1)", "datetime.date(1969, 12, 31)", "datetime.date(2024, 2, 29)",
    ),
    "time": ("datetime.time(0, 0)", "datetime.time(7, 5, 9)", "datetime.time(23, 59, 59)"),
    "datetime": (
        "datetime.datetime(2024, 2, 29, 7, 5, 9)",
        "datetime.datetime(1999, 12, 31, 23, 59, 59, 123000)",
    ),
    "decimal": ("Decimal('1.50')", "Decimal('-3')", "Decimal('0.001')"),
}  # fmt: skip
_STRINGS = ("'a'", "'b'", "'c'", "'abc'")


def literal(rng: Random, shape: Shape, edges: float = 0.08, nothing: float = 0.0) -> str:
    """Return the source of a value.

    Args:
        rng: what chooses.
        shape: the value's shape.
        edges: how probable an unusual value is.
        nothing: how probable None is in a value's place.
    """
    if rng.random() < nothing:
        return "None"
    if shape.parts:
        return _composed(rng, shape, edges, nothing)
    if shape.kind not in {"int", "float", "str"} or rng.random() < edges:
        return rng.choice(_EDGES[shape.kind])
    if shape.kind == "int":
        return str(rng.randint(0, 9))
    if shape.kind == "float":
        return str(rng.randint(-20, 40) / 4)
    return rng.choice(_STRINGS)


def _composed(rng: Random, shape: Shape, edges: float, nothing: float) -> str:
    if shape.kind == "list":
        inner = [literal(rng, shape.parts[0], edges) for _ in range(rng.randint(0, 3))]
        return f"[{', '.join(inner)}]"
    if shape.kind == "map":
        entries = [_entry(rng, shape, edges) for _ in range(rng.choice([0, 1, 1]))]
        return f"{{{', '.join(entries)}}}"
    inner = [literal(rng, part, edges, nothing) for part in shape.parts]
    return compose(shape, inner)


def _entry(rng: Random, shape: Shape, edges: float) -> str:
    key, value = shape.parts
    return f"{literal(rng, key, 0.0)}: {literal(rng, value, edges)}"


def compose(shape: Shape, inner: list[str]) -> str:
    """Return the source of a tuple or row, given the source of its fields."""
    if shape.kind == "tuple":
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    if shape.names:
        return f"Row({', '.join(f'{n}={i}' for n, i in zip(shape.names, inner))})"
    return f"Row({', '.join(inner)})"
