# mypy: disable-error-code="empty-body"
"""Functions of expressions that are not there yet: names and signatures only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.table._expressions.parts import Operand

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression import Expression
    from pyflink_on_spark.table.table import Table

_with_udf = unsupported_class(
    kind=Gap.NOT_YET,
    reason="SQL has no such function here",
    instead="Write it as a Python function with udf or udaf.",
)


@unsupported_class(
    kind=Gap.NOT_YET,
    reason="changes cannot be turned into rows with a column for their kind",
    instead="Use to_changelog_stream and from_changelog_stream of StreamTableEnvironment.",
)
class ChangelogMethods:
    """The methods of tables that raise."""

    def from_changelog(self, *arguments: Expression) -> Table: ...

    def to_changelog(self, *arguments: Expression) -> Table: ...


@_with_udf
class MissingMethods(Operand):
    """The methods that raise."""

    def as_argument(self, name): ...

    def object_update(self, *kv): ...
