"""Rows with and without their kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.changes import INSERT


class AsInserts(Operator):
    """Makes of each row a pair that says that it is inserted."""

    frozen = True

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        return zip(repeat(INSERT), elements)
