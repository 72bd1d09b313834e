"""What a table function is: one that gives any number of rows for each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyflink_on_spark._sql.codegen.call_site import CallSite
from pyflink_on_spark._sql.plan.signatures import Code
from pyflink_on_spark._sql.types.logical import LogicalType, Root

Named = tuple[tuple[str, ...], tuple[LogicalType, ...]]
"""The names and types of columns."""

Columns = Callable[[Sequence[LogicalType]], "Named | None"]
"""The names and types of the columns for arguments of some types; None: they are refused."""


@dataclass(frozen=True, eq=False)
class TableFunction:
    """A function that gives rows.

    Args:
        name: in capitals.
        columns: what finds the columns.
        code: source of an iterable of tuples.
        deterministic: whether it always has the same rows for the same arguments.
    """

    name: str
    columns: Columns
    code: Code
    deterministic: bool = True


def _unnested(types: Sequence[LogicalType]) -> Named | None:
    (kind,) = types
    if kind.root is Root.MAP:
        return ("KEY", "VALUE"), kind.children
    if kind.root not in {Root.ARRAY, Root.MULTISET}:
        return None
    (element,) = kind.children
    if element.root is Root.ROW:
        return element.names, element.children
    return ("EXPR$0",), (element,)


def _unnest_code(site: CallSite) -> str:
    # The source of the argument may assign names, which no comprehension may do where it begins.
    kind = site.types[0]
    if kind.root is Root.MAP:
        return f"({site.source(0)} or {{}}).items()"
    elements = f"{site.source(0)} or ()"
    if kind.root is Root.MULTISET:
        elements = f"{site.bind(Counter, 'Counter')}({elements}).elements()"
    if kind.children[0].root is Root.ROW:
        return f"filter(None, {elements})"
    return f"zip({elements})"


UNNEST = TableFunction("UNNEST", _unnested, _unnest_code)
