"""Casts of arrays, maps and rows: each element is cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.signatures import CallSite
from pyflink_on_spark._sql.types.logical import LogicalType, Root


def composite_cast(site: CallSite, target: LogicalType, lenient: bool) -> str:
    """Return the source of a value of one composite type as a value of another.

    Args:
        site: the conversion; the type of its operand is of the same kind as the target.
        target: the type to convert to.
        lenient: whether the value is NULL if an element cannot be converted.
    """
    if not lenient:
        return _converted(site, target, site.atom(0))
    whole = site.temporary()
    function = f"lambda {whole}: {_converted(site, target, whole)}"
    return f"{site.bind(null_if_refused, 'null_if_refused')}({function}, {site.source(0)})"


def null_if_refused(convert: Callable[[Any], Any], value: Any) -> Any:
    """Return a converted value; None if one of its elements cannot be converted."""
    try:
        return convert(value)
    except ValueError:
        return None


def _converted(site: CallSite, target: LogicalType, whole: str) -> str:
    sources = site.types[0].children
    names = [site.temporary() for _ in sources]
    elements = site.over(names)
    casts = [
        elements.value(Conversion(to, InputRef(source.with_nullable(True), index)))
        for index, (source, to) in enumerate(zip(sources, target.children))
    ]
    if target.root is Root.ROW:
        fields = "".join(f"{cast}, " for cast in casts)
        return f"(lambda {', '.join(names)}: ({fields}))(*{whole})"
    if target.root is Root.ARRAY:
        return f"tuple(map(lambda {names[0]}: {casts[0]}, {whole}))"
    if target.root is Root.MULTISET:
        count = site.temporary()
        return f"{{{casts[0]}: {count} for {names[0]}, {count} in {whole}.items()}}"
    key, value = casts
    return f"{{{key}: {value} for {', '.join(names)} in {whole}.items()}}"
