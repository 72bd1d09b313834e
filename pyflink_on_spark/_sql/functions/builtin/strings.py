"""Functions of texts."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.functions.definition import Overload, ScalarFunction
from pyflink_on_spark._sql.functions.parameters import always, characters, inline
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root


def _same_text(types: Sequence[LogicalType]) -> LogicalType:
    return types[0]


def _joined(types: Sequence[LogicalType]) -> LogicalType:
    length = min(sum(kind.precision or 1 for kind in types), logical.MAX_LENGTH)
    if all(kind.root is Root.CHAR for kind in types):
        return logical.char(length)
    return logical.varchar(length)


FUNCTIONS = (
    ScalarFunction(
        "||",
        (Overload((characters, characters), _joined, inline("{0} + {1}")),),
        ("'<STRING> || <STRING>'",),
    ),
    ScalarFunction(
        "UPPER",
        (Overload((characters,), _same_text, inline("{0}.upper()")),),
        ("'UPPER(<CHARACTER>)'",),
    ),
    ScalarFunction(
        "LOWER",
        (Overload((characters,), _same_text, inline("{0}.lower()")),),
        ("'LOWER(<CHARACTER>)'",),
    ),
    ScalarFunction(
        "CHAR_LENGTH",
        (Overload((characters,), always(logical.INT), inline("len({0})")),),
        ("'CHAR_LENGTH(<CHARACTER>)'",),
        aliases=("CHARACTER_LENGTH",),
    ),
)
