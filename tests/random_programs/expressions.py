"""Random expressions over a value: source of Python that a lambda or a method returns."""

from __future__ import annotations

from random import Random

from tests.random_programs.shapes import INT, Shape, leaves
from tests.random_programs.values import compose, literal

_KINDS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
_COMPARISONS = ("<", ">", ">=", ">=", "!=", "!=")


def expression(
    rng: Random, target: Shape, given: Shape, source: str = "v", nothing: float = 0.004
) -> str:
    """Return an expression of a shape.

    Args:
        rng: what chooses.
        target: the shape that the expression has.
        given: the shape of the value that it may use.
        source: what the value is called.
        nothing: how probable None is in the place of a field.
    """
    if target.kind in {"tuple", "row"}:
        inner = [expression(rng, part, given, source, nothing) for part in target.parts]
        made = compose(target, inner)
        if target.kind == "row" and rng.random() < 0.1:
            return f"of_kind({made}, RowKind.{rng.choice(_KINDS)})"
        return made
    made = _scalar(rng, target, given, source)
    if rng.random() < nothing:
        return f"(None if {condition(rng, given, source)} else {made})"
    return made


def condition(rng: Random, given: Shape, source: str = "v") -> str:
    """Return an expression that is true for some values."""
    number = integer(rng, given, source)
    kind = rng.random()
    if kind < 0.6:
        return f"{number} % {rng.choice([2, 2, 3])} == {rng.choice([0, 0, 1])}"
    if kind < 0.9:
        return f"{number} {rng.choice(_COMPARISONS)} {rng.randint(0, 5)}"
    return f"not {number} % {rng.choice([2, 3])}"


def truth(rng: Random, given: Shape, source: str = "v") -> str:
    """Return the result of a filter: mostly a condition, now and then anything."""
    if rng.random() < 0.75:
        return condition(rng, given, source)
    return rng.choice([
        f"{integer(rng, given, source)} % 3",
        f"[] if {condition(rng, given, source)} else [0]",
        f"{condition(rng, given, source)} or None",
        "True",
        "''",
        f"str({integer(rng, given, source)} % 4)",
    ])  # fmt: skip


def integer(rng: Random, given: Shape, source: str = "v") -> str:
    """Return an int that is never too large: counts, lengths and the ints of a value."""
    found = [s for s, shape in leaves(given, source) if shape == INT]
    if found and rng.random() < 0.9:
        return rng.choice(found)
    texts = [
        s for s, shape in leaves(given, source) if shape.kind in {"str", "list", "map", "bytes"}
    ]
    if texts and rng.random() < 0.9:
        return f"len({rng.choice(texts)})"
    return f"len(str({source}))"


def _scalar(rng: Random, target: Shape, given: Shape, source: str) -> str:
    found = [s for s, shape in leaves(given, source) if shape == target]
    if found and rng.random() < 0.6:
        return rng.choice(found)
    makers = {"int": _int, "float": _float, "str": _str, "bool": condition}
    if target.kind in makers and rng.random() < 0.9:
        return makers[target.kind](rng, given, source)
    return literal(rng, target)


def _int(rng: Random, given: Shape, source: str) -> str:
    number = integer(rng, given, source)
    return rng.choice([
        f"{number} + {rng.randint(1, 9)}",
        f"{number} * 2",
        f"{number} % {rng.randint(2, 5)}",
        f"{number} - {integer(rng, given, source)}",
        f"-{number}",
        number,
        str(rng.randint(0, 9)),
    ])  # fmt: skip


def _float(rng: Random, given: Shape, source: str) -> str:
    number = integer(rng, given, source)
    floats = [s for s, shape in leaves(given, source) if shape.kind == "float"]
    return rng.choice([
        f"{number} / 2",
        f"{number} * 0.1",
        f"float({number})",
        *(f"{f} * 0.5" for f in floats),
        *(f"{f} + 0.1" for f in floats),
    ])  # fmt: skip


def _of_row(rng: Random, row: str, shape: Shape) -> str:
    """Return an expression for a property of a row."""
    made = [
        f"str({row})",
        f"str({row}.get_row_kind())",
        f"str(len({row}))",
        f"str([x for x in {row}])",
        f"str({row} == {row})",
    ]
    if shape.names:
        made += [f"str({row}.as_dict())", f"str({row}[{shape.names[0]!r}])"]
    return rng.choice(made)


def _str(rng: Random, given: Shape, source: str) -> str:
    parts = [s for s, _ in leaves(given, source)]
    part = rng.choice(parts)
    rows = [(s, shape) for s, shape in leaves(given, source) if shape.kind == "row"]
    if rows and rng.random() < 0.25:
        return _of_row(rng, *rng.choice(rows))
    return rng.choice([
        f"str({part})",
        f"repr({part})",
        f"type({part}).__name__",
        f"f'{{{rng.choice(parts)}}}-{{{part}}}'" if not {"'", '"'} & set(part) else f"str({part})",
        f"str({integer(rng, given, source)} % 3)",
        rng.choice(["'x'", "'yy'", "''"]),
    ])  # fmt: skip
