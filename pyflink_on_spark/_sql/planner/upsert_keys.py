"""Upsert keys: which columns say which row an update or a delete is of.

Changes of one row stay in order only as long as the same subtasks see them. So a node that spreads
rows by some columns leaves only the keys that have all of these. Keys are derived as by Flink's
planner: what it does not know of a query is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TypeAlias

from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
)
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types.logical import (
    BYTES_LIKE,
    CHARACTERS,
    INTEGERS,
    ROWS,
    TIMESTAMPS,
    LogicalType,
    Root,
)

UpsertKey: TypeAlias = frozenset[int]
"""The positions of its columns."""
UpsertKeys: TypeAlias = frozenset[UpsertKey] | None
"""The keys of a node; None if nothing is said of keys, which messages tell from no keys."""

NO_KEYS: UpsertKeys = frozenset()


def one_key(columns: Iterable[int]) -> UpsertKeys:
    """Return the keys of rows that have one."""
    return frozenset({frozenset(columns)})


def spread_by(keys: UpsertKeys, columns: Iterable[int]) -> UpsertKeys:
    """Return the keys that are left when rows are spread by some columns, or sorted by them.

    Args:
        keys: those of the rows.
        columns: the positions of the columns.
    """
    wanted = frozenset(columns)
    return None if keys is None else frozenset(key for key in keys if key >= wanted)


def projected(keys: UpsertKeys, projection: Sequence[Typed]) -> UpsertKeys:
    """Return the keys of rows with other columns.

    A column may be there several times. Then there are several keys, but not of all combinations,
    as in Flink.

    Args:
        keys: those of the rows.
        projection: the values of the new columns.
    """
    places: dict[int, list[int]] = {}
    for place, item in enumerate(projection):
        column = _kept_column(item)
        if column is not None:
            places.setdefault(column, []).append(place)
    if keys is None or not places:
        return NO_KEYS
    found: set[UpsertKey] = set()
    for key in keys:
        if key <= places.keys():
            new = [places[column] for column in key]
            for turn in range(prod(map(len, new))):
                found.add(frozenset(each[turn % len(each)] for each in new))
    return frozenset(found)


def joined(
    kind: JoinKind,
    sides: tuple[UpsertKeys, UpsertKeys],
    unique: tuple[bool, bool],
    width: int,
) -> UpsertKeys:
    """Return the keys of pairs of rows.

    Args:
        kind: which rows without partners are kept.
        sides: the keys of both sides.
        unique: for both sides whether a row of the other one has at most one partner there.
        width: how many columns the left side has.
    """
    left, right = sides
    moved = None if right is None else frozenset(_moved(key, width) for key in right)
    found: set[UpsertKey] = set()
    if left is not None and moved is not None:
        found |= {one | two for one in left for two in moved}
    if left is not None and unique[1] and kind not in {JoinKind.RIGHT, JoinKind.FULL}:
        found |= left
    if moved is not None and unique[0] and kind not in {JoinKind.LEFT, JoinKind.FULL}:
        found |= moved
    return frozenset(found)


def _moved(key: UpsertKey, by: int) -> UpsertKey:
    return frozenset(column + by for column in key)


def are_unique(keys: UpsertKeys, columns: Iterable[int]) -> bool:
    """True if no two rows have the same values of some columns."""
    wanted = frozenset(columns)
    return keys is not None and any(key <= wanted for key in keys)


class ExtendedColumns:
    """The columns of a node, and values of expressions as further ones.

    Args:
        keys: the keys of the node's rows.
        types: of its columns.
        values: the expressions.
    """

    def __init__(
        self, keys: UpsertKeys, types: Sequence[LogicalType], values: Sequence[Typed]
    ) -> None:
        columns: list[Typed] = [InputRef(kind, index) for index, kind in enumerate(types)]
        self.places: list[int] = []
        """The positions of the expressions' values."""
        for value in values:
            if isinstance(value, InputRef):
                self.places.append(value.index)
            else:
                self.places.append(len(columns))
                columns.append(value)
        self.width = len(columns)
        self._own = len(types)
        added = self.width > self._own
        self.keys = projected(keys, columns) if added and keys is not None else keys
        """The keys over all columns."""

    def own(self, keys: UpsertKeys, first: int = 0) -> UpsertKeys:
        """Return the keys that have only columns of the node itself.

        Args:
            keys: over all columns.
            first: the position of the first column.
        """
        if keys is None:
            return None
        added = frozenset(range(first + self._own, first + self.width))
        return frozenset(key for key in keys if not key & added)


def smallest(keys: UpsertKeys) -> tuple[int, ...]:
    """Return the positions of the key with the fewest columns, or nothing."""
    return min((tuple(sorted(key)) for key in keys or ()), key=_size, default=())


def _size(key: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(key), key


def shown_keys(keys: UpsertKeys, names: Sequence[str]) -> str:
    """Return keys as messages show them.

    Args:
        keys: the keys.
        names: of the columns.
    """
    return "none" if keys is None else ", ".join(_shown(keys, names))


def _shown(keys: Iterable[UpsertKey], names: Sequence[str]) -> Iterator[str]:
    for key in sorted(map(sorted, keys)):
        yield f"[{', '.join(names[column] for column in key)}]"


def _kept_column(item: Typed) -> int | None:
    """Return the column that an expression is, or is of another type with as many values."""
    if isinstance(item, InputRef):
        return item.index
    if not isinstance(item, Conversion) or item.lenient or not isinstance(item.operand, InputRef):
        return None
    return item.operand.index if keeps_differences(item.operand.type, item.type) else None


_LONGEST_TEXTS = {
    Root.BOOLEAN: 5,
    Root.TINYINT: 4,
    Root.SMALLINT: 6,
    Root.INT: 11,
    Root.BIGINT: 20,
    Root.FLOAT: 15,
    Root.DOUBLE: 24,
    Root.DATE: 10,
    Root.TIME: 8,
    Root.TIMESTAMP: 19,
    Root.TIMESTAMP_LTZ: 19,
}
"""How long the text of a value can be, without the fraction of a second."""
_LONGEST_BYTES = 4
"""How many bytes a character can have in UTF-8."""


def keeps_differences(given: LogicalType, wanted: LogicalType) -> bool:
    """True if different values of a type are different values of another type, too."""
    if given.with_nullable(True) == wanted.with_nullable(True):
        return True
    one, two = given.root, wanted.root
    if two in CHARACTERS and one in _LONGEST_TEXTS:
        fraction = (given.precision or 0) if one in {Root.TIME, *TIMESTAMPS} else 0
        return _fits(_LONGEST_TEXTS[one] + (fraction + 1 if fraction else 0), wanted)
    if one in CHARACTERS and two in CHARACTERS:
        return (one is Root.CHAR or two is Root.VARCHAR) and _fits(given.precision, wanted)
    if one in BYTES_LIKE and two in BYTES_LIKE:
        return (one is Root.BINARY or two is Root.VARBINARY) and _fits(given.precision, wanted)
    if one in CHARACTERS and two in BYTES_LIKE:
        longest = None if given.precision is None else given.precision * _LONGEST_BYTES
        return _fits(longest, wanted)
    if one in INTEGERS and two in INTEGERS:
        return INTEGERS.index(one) <= INTEGERS.index(two)
    if one in TIMESTAMPS and two in TIMESTAMPS:
        return given.precision == wanted.precision
    if one in ROWS and two in ROWS and len(given.children) == len(wanted.children):
        return all(map(keeps_differences, given.children, wanted.children))
    return False


def _fits(length: int | None, wanted: LogicalType) -> bool:
    """True if texts or bytes of a length are no longer than a type's; None is any length."""
    if wanted.precision is None:
        return True
    return length is not None and length <= wanted.precision


def fixed_columns(condition: Typed | None) -> frozenset[int]:
    """Return the columns that have one value in all rows for which a condition is TRUE.

    Only what Flink's planner sees counts: ``IS NULL``, and that a column without NULL is equal to a
    constant of the same type.
    """
    found: set[int] = set()
    for part in conjuncts(condition):
        if not isinstance(part, Invocation) or part.symbols:
            continue
        name, args = part.function.name, part.args
        if name == "IS NULL":
            found |= {arg.index for arg in args if isinstance(arg, InputRef) and arg.type.nullable}
        elif name in _EQUALITIES:
            found |= _fixed(args)
    return frozenset(found)


_EQUALITIES = frozenset({"=", "IN", "BETWEEN", "IS NOT DISTINCT FROM"})


def _fixed(args: Sequence[Typed]) -> set[int]:
    """Return the column that is one of some arguments, if all others are the same constant."""
    columns = [arg for arg in args if isinstance(arg, InputRef)]
    values = {arg for arg in args if isinstance(arg, Constant)}
    if len(columns) != 1 or len(values) != 1 or len(args) < 2:
        return set()
    (column,), (value,) = columns, values
    if any(not isinstance(arg, InputRef | Constant) for arg in args):
        return set()
    return {column.index} if column.type == value.type and not column.type.nullable else set()
