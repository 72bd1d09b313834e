"""The Python functions that programs call, of every kind."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from tests.random_tables.kinds import KINDS
from tests.random_tables.operations import function_of


def shown(value: Any) -> str:
    """Return a value as both engines' Python functions should get it."""
    name = type(value).__name__
    if name == "Row":
        return f"Row({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{shown(k)}: {shown(v)}' for k, v in value.items()))}}}"
    if isinstance(value, (list, tuple)):
        return f"{name}[{', '.join(map(shown, value))}]"
    if isinstance(value, (datetime.datetime, Decimal)):
        return f"{name} {value}"
    return f"{name} {value!r}"


def add(a: int | None, b: int | None) -> int | None:
    """Add, with None for nothing."""
    return None if a is None or b is None else (a + b) % 1000


def functions() -> dict[str, Any]:
    """Return all functions by name, made with the ``pyflink`` that is there."""
    from pyflink.table import DataTypes

    def typed(text: str) -> Any:
        return eval(f"DataTypes.{text}", {"DataTypes": DataTypes})

    made: dict[str, Any] = {}
    for kind, found in KINDS.items():
        made[function_of("repr", kind)] = _scalar(shown, typed("STRING()"))
        made[function_of("same", kind)] = _scalar(lambda value: value, typed(found.data_type))
    made.update(_scalars(typed))
    made.update(_pandas(typed))
    made.update(_tables())
    made.update(_aggregates(typed))
    return made


def _scalar(function: Callable[..., Any], result: Any) -> Any:
    from pyflink.table.udf import udf

    return udf(function, result_type=result)


def _scalars(typed: Callable[[str], Any]) -> dict[str, Any]:
    from pyflink.common import Row

    def row(number: int | None, text: str | None) -> Any:
        return Row(number, text)

    return {
        "py_even": _scalar(lambda n: None if n is None else n % 2 == 0, typed("BOOLEAN()")),
        "py_add": _scalar(add, typed("INT()")),
        "py_none": _scalar(lambda n: n or None, typed("INT()")),
        "py_text": _scalar(lambda s, n: f"{s}:{n}", typed("STRING()")),
        "py_array": _scalar(
            lambda n: None if n is None else [n, None], typed(KINDS["ARRAY<INT>"].data_type)
        ),
        "py_map": _scalar(
            lambda s, n: None if s is None else {s: n}, typed(KINDS["MAP<STRING, INT>"].data_type)
        ),
        "py_row": _scalar(row, typed(KINDS["ROW<x INT, y STRING>"].data_type)),
    }


def _pandas(typed: Callable[[str], Any]) -> dict[str, Any]:
    from pyflink.table.udf import udf

    def vectorised(function: Callable[..., Any], result: str) -> Any:
        return udf(function, result_type=typed(result), func_type="pandas")

    return {
        "pd_add": vectorised(lambda a, b: (a.fillna(0) + b.fillna(0)) % 1000, "INT()"),
        "pd_double": vectorised(lambda d: d * 2, "DOUBLE()"),
        "pd_upper": vectorised(lambda s: s.str.upper(), "STRING()"),
    }


def _tables() -> dict[str, Any]:
    from pyflink.table.udf import udtf

    def split(text: str | None) -> Iterator[tuple[str, int]]:
        for place, part in enumerate((text or "").split()):
            yield part, place

    def upto(number: int | None) -> Iterator[int]:
        yield from range(min(number or 0, 3))

    return {
        "py_split": udtf(split, result_types=["STRING", "INT"]),
        "py_upto": udtf(upto, result_types=["INT"]),
    }


def _aggregates(typed: Callable[[str], Any]) -> dict[str, Any]:
    from pyflink.table.udf import AggregateFunction, udaf

    class Total(AggregateFunction):  # type: ignore[misc]
        """A sum and how many, which take rows back."""

        def create_accumulator(self) -> list[int]:
            return [0, 0]

        def accumulate(self, accumulator: list[int], value: int | None) -> None:
            accumulator[0] += value or 0
            accumulator[1] += 1

        def retract(self, accumulator: list[int], value: int | None) -> None:
            accumulator[0] -= value or 0
            accumulator[1] -= 1

        def merge(self, accumulator: list[int], accumulators: list[list[int]]) -> None:
            for other in accumulators:
                accumulator[0] += other[0]
                accumulator[1] += other[1]

        def get_value(self, accumulator: list[int]) -> str:
            return f"{accumulator[0]}/{accumulator[1]}"

        def get_accumulator_type(self) -> Any:
            return typed("ARRAY(DataTypes.BIGINT())")

        def get_result_type(self) -> Any:
            return typed("STRING()")

    return {
        "py_total": udaf(Total()),
        "pd_sum": udaf(
            lambda values: int(values.fillna(0).sum()), result_type=typed("BIGINT()"),
            func_type="pandas",
        ),
    }  # fmt: skip
