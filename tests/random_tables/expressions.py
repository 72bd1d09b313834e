"""Random expressions, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.random_tables.kinds import BOOLEAN, KINDS, LTZ, NUMBERS, literal, value
from tests.random_tables.operations import MIXED, NUMBER, OPERATIONS, giving, is_python, operation
from tests.random_tables.program import Node

Columns = Sequence[Sequence[str]]
COLUMN = "$"


def column(name: str, kind: str) -> Node:
    """Return the expression that is a column."""
    return [COLUMN, name, kind]


def expression(
    rng: Random, kind: str, columns: Columns, depth: int, *, python: bool = False
) -> Node:
    """Return a random expression of a type.

    Args:
        rng: what chooses.
        kind: the type.
        columns: pairs of name and type that there are.
        depth: how many operations one in the other at most.
        python: whether Python functions may be called.
    """
    fitting = [name for name, found in columns if found.removesuffix(" NOT NULL") == kind]
    if depth <= 0 or rng.random() < 0.25:
        if fitting and rng.random() < 0.8:
            return column(rng.choice(fitting), kind)
        if rng.random() < 0.9 or depth <= 0:
            return [f"={kind}", None if rng.random() < 0.05 else value(kind, rng)]
    for _ in range(20):
        name = rng.choice(giving(kind))
        if python or not is_python(name):
            operands = OPERATIONS[name].operands
            return [
                name,
                *(
                    expression(rng, k, columns, depth - 1, python=python and not is_python(name))
                    for k in operands
                ),
            ]
    return [f"={kind}", value(kind, rng)]


NUMBERS_OF_ANY = {NUMBER, *NUMBERS}


def mixed_expression(rng: Random, kind: str, columns: Columns, depth: int) -> Node:
    """Return a random expression whose operands are numbers of several types.

    Args:
        rng: what chooses.
        kind: the type; NUMBER for any type of numbers.
        columns: pairs of name and type that there are; numbers.
        depth: how many operations one in the other at most.
    """
    if kind == NUMBER and (depth <= 0 or rng.random() < 0.3):
        if rng.random() < 0.75:
            name, found = rng.choice(columns)
            return column(name, found.removesuffix(" NOT NULL"))
        return [rng.choice([n for n, each in MIXED.items() if not each.operands])]
    fitting = [n for n, each in MIXED.items() if each.result == kind and each.operands]
    name = rng.choice(fitting)
    operands = MIXED[name].operands
    return [name, *(mixed_expression(rng, each, columns, depth - 1) for each in operands)]


def predicate(rng: Random, columns: Columns, depth: int = 2, *, python: bool = False) -> Node:
    """Return a condition that looks at some column, if there is one that it can look at."""
    for _ in range(10):
        found = expression(rng, BOOLEAN, columns, depth, python=python)
        if columns_of(found):
            return found
    return found


def kind_of(node: Node) -> str:
    """Return the type of an expression."""
    if node[0] == COLUMN:
        return str(node[2])
    if node[0].startswith("=") and node[0][1:] in KINDS:
        return str(node[0][1:])
    return operation(node[0]).result


def columns_of(node: Node) -> set[str]:
    """Return the names of the columns that an expression looks at."""
    if node[0] == COLUMN:
        return {node[1]}
    if is_literal(node):
        return set()
    return set().union(*(columns_of(operand) for operand in node[1:]))


def is_literal(node: Node) -> bool:
    """Return True for literals."""
    return str(node[0]).startswith("=") and node[0][1:] in KINDS


def calls(node: Node) -> bool:
    """Return True for expressions that call a Python function."""
    if node[0] == COLUMN or is_literal(node):
        return False
    return is_python(node[0]) or any(calls(operand) for operand in node[1:])


def to_sql(node: Node, prefix: str = "") -> str:
    """Return an expression as Flink's SQL; ``prefix`` is put before names of columns."""
    if node[0] == COLUMN:
        return f"{prefix}`{node[1]}`"
    if is_literal(node):
        return literal(node[0][1:], node[1])
    return operation(node[0]).sql.format(*(to_sql(operand, prefix) for operand in node[1:]))


def to_python(node: Node) -> str:
    """Return an expression as source of the Table API."""
    if node[0] == COLUMN:
        return f"col({node[1]!r})"
    if not is_literal(node):
        template = operation(node[0]).python
        if template is not None:
            return template.format(*map(to_python, node[1:]))
    return f"call_sql({to_sql(node)!r})"


def to_lite(node: Node, prefix: str = "", *, python: bool = False) -> str:
    """Return an expression as SQLite's SQL.

    Args:
        node: the expression.
        prefix: what is put before names of columns.
        python: whether it is one of the Table API, where ``~`` of NULL is true.

    Raises:
        LookupError: SQLite has no such expression.
    """
    if node[0] == COLUMN:
        return f'{prefix}"{node[1]}"'
    if is_literal(node):
        return _lite_literal(node[0][1:], node[1])
    template = operation(node[0]).lite
    if template is None:
        raise LookupError(node[0])
    python = python and operation(node[0]).python is not None
    if python and node[0] == "not":
        template = "({0} IS NOT TRUE)"
    return template.format(*(to_lite(operand, prefix, python=python) for operand in node[1:]))


def _lite_literal(kind: str, value: object) -> str:
    if value is None:
        return "NULL"
    if kind == LTZ or not isinstance(value, (bool, int, float, str)):
        raise LookupError(kind)
    return (
        str(int(value))
        if isinstance(value, bool)
        else literal("STRING", value)
        if isinstance(value, str)
        else str(value)
    )
