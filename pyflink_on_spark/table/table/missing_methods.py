# mypy: disable-error-code="empty-body"
"""Methods of tables that are not there yet: names and signatures only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression import Expression
    from pyflink_on_spark.table.table.table import Table


@unsupported_class(
    kind=Gap.NOT_YET,
    reason="changes cannot be turned into rows with a column for their kind",
    instead="Use to_changelog_stream and from_changelog_stream of StreamTableEnvironment.",
    known_as="Table",
)
class ChangelogMethods:
    """The methods of tables that raise."""

    def from_changelog(self, *arguments: Expression) -> Table: ...

    def to_changelog(self, *arguments: Expression) -> Table: ...
