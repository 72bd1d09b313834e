"""Keeps NULL out of columns that do not have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.errors import TableError


class CheckNotNull(Operator):
    """Fails when NULL is written to a column that is NOT NULL.

    Args:
        columns: the positions and names of such columns.
        changelog: whether elements are pairs of the kind and the row.
    """

    frozen = True

    def __init__(self, columns: Sequence[tuple[int, str]], changelog: bool) -> None:
        self._columns, self._changelog = tuple(columns), changelog

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements.

        Raises:
            TableError: from the iterator; there is NULL where there must be none.
        """
        columns, changelog = self._columns, self._changelog
        for element in elements:
            row = element[1] if changelog else element
            for index, name in columns:
                if row[index] is None:
                    raise TableError(
                        f"Column '{name}' is NOT NULL, however, a null value is being written "
                        "into it. You can set job configuration 'table.exec.sink.not-null-"
                        "enforcer'='DROP' to suppress this exception and drop such records "
                        "silently."
                    )
            yield element
