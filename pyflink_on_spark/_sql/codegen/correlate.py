"""A table function for each row."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.codegen.expressions import ExpressionCompiler
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.signatures import CallSite, TableFunction
from pyflink_on_spark._sql.types import logical


def compile_correlate(
    function: TableFunction,
    args: Sequence[Typed],
    condition: Typed | None,
    width: int,
    added: int,
    time_zone: str,
    *,
    left: bool,
    changelog: bool,
) -> Program:
    """Return a generator function over rows that gives each row with those of a function.

    Args:
        function: the function.
        args: over the columns of a row.
        condition: which pairs are kept; over the columns of both; None for all.
        width: how many columns rows have.
        added: how many columns the function gives.
        time_zone: the session's, by name.
        left: whether a row without partners is kept, with NULLs.
        changelog: whether elements are pairs of the kind and the row.
    """
    columns = [f"row[{index}]" for index in range(width)]
    compiler = ExpressionCompiler(
        columns + [f"other[{index}]" for index in range(added)], time_zone
    )
    site = CallSite(compiler, logical.NULL, args, strict=False)
    rows = function.code(site)
    wrap = (lambda source: f"(kind, {source})") if changelog else (lambda source: source)
    lines = [
        "def calc(rows):",
        f"    for {'kind, row' if changelog else 'row'} in rows:",
        *(["        found = False"] if left else []),
        f"        for other in {rows}:",
    ]
    if condition is not None:
        lines.append(f"            if not {compiler.condition(condition)}: continue")
    lines += [
        *(["            found = True"] if left else []),
        f"            yield {wrap('row + other')}",
    ]
    if left:
        lines.append(f"        if not found: yield {wrap(f'row + {(None,) * added!r}')}")
    return Program("\n".join(lines) + "\n", "calc", compiler.bindings)
