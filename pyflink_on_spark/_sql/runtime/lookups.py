"""A function that gives the rows of a table for the values of its key columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Binding, Program
from pyflink_on_spark._sql.codegen.rows import compile_row, is_identity
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.signatures import CallSite, TableFunction

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.ports import Lookup, Rows


def lookup_function(
    name: str, lookup: Lookup, columns: Sequence[Typed], schema: Schema, stored: int
) -> TableFunction:
    """Return a function of the values of key columns.

    Args:
        name: the table's, for plans.
        lookup: finds the rows.
        columns: the columns of the result, over those that are stored.
        schema: their names and types.
        stored: how many columns are stored.
    """

    def code(site: CallSite) -> str:
        program = None
        if not is_identity(columns, stored):
            program = compile_row(columns, stored, site.time_zone)
        binding = LookupBinding(lookup, program)
        values = ", ".join(site.sources())
        return f"{site.bind(binding, 'lookup')}(({values},))"

    return TableFunction(
        f"lookup {name}", lambda types: (schema.names, schema.types), code, deterministic=False
    )


class LookupBinding(Binding):
    """Finds rows, and computes the columns that a table makes of them.

    Args:
        lookup: finds the rows.
        columns: makes a row of a stored one; None if they are the same.
    """

    def __init__(self, lookup: Lookup, columns: Program | None) -> None:
        self._lookup, self._columns = lookup, columns

    def load(self, context: OperatorContext | None) -> Any:
        """Return the object that the code calls."""
        find = self._lookup.open(context)
        made = None if self._columns is None else self._columns.load(context).function

        def rows(key: tuple[Any, ...]) -> Rows:
            if None in key:  # which is equal to nothing
                return ()
            found = find(key)
            return found if made is None else [made(row) for row in found]

        rows.find = find  # type: ignore[attr-defined]
        return rows

    def close(self, loaded: Any) -> None:
        """Release what finds the rows."""
        self._lookup.close(loaded.find)
