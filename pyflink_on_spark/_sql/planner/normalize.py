"""Completes the changes of sources that only say what a row is now."""

from __future__ import annotations

from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.expressions import InputRef
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told_rows
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.normalize import NormalizeOperator


class ChangelogNormalize(PhysicalNode):
    """Remembers the row of each key, so that updates say what a row was before.

    Args:
        source: the input.
        key: the positions of the primary key.
    """

    name = "ChangelogNormalize"

    def __init__(self, source: PhysicalNode, key: tuple[int, ...]) -> None:
        super().__init__(source.schema, source)
        self.key = key

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """All changes."""
        return ModifyKinds.ALL

    def needs_before(self, port: int, wanted: bool) -> bool:
        """It knows what a row was."""
        return False

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        (source,) = inputs
        keys = [InputRef(self.schema.types[index], index) for index in self.key]
        edges = keyed_edges(translation, source, keys, len(self.schema))
        operator = NormalizeOperator(self.before, translation.settings.state_ttl)
        return Stream(translation.operator(self.name, edges, operator), changelog=True)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the key and the columns."""
        columns = inputs[0]
        return {
            "kind": self.name,
            "keys": [f"{columns[index]} {self.schema.types[index]}" for index in self.key],
            "columns": told_rows(self.schema, columns),
        }

    def details(self) -> dict[str, str]:
        """Return the key."""
        return {"key": ", ".join(self.schema.names[index] for index in self.key)}
