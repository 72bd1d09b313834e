"""The nodes that rows go to."""

from __future__ import annotations

from pyflink_on_spark._graph.transformation import Aligned
from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.plan.catalog_objects import CatalogTable, ObjectPath
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.ports import TableSink
from pyflink_on_spark._sql.planner.meanings import Columns, Content, told_path
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.not_null import CheckNotNull


class Sink(PhysicalNode):
    """Writes to a table of a connector.

    Args:
        source: the input.
        path: the table.
        table: what the catalog has of it.
        sink: the connector's.
        span: where a SQL text names the table.
    """

    name = "Sink"

    def __init__(
        self,
        source: PhysicalNode,
        path: ObjectPath,
        table: CatalogTable,
        sink: TableSink,
        span: Span | None = None,
    ) -> None:
        super().__init__(source.schema, source)
        self.path, self.table, self.sink, self.span = path, table, sink, span

    def accepts(self, port: int) -> ModifyKinds:
        """The connector says it."""
        return self.sink.accepts

    def needs_before(self, port: int, wanted: bool) -> bool:
        """The connector says it."""
        return self.sink.before

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the format and the sink."""
        (source,) = inputs
        target = self.table.schema.sink
        writing = self.sink.writing(target, source.changelog)
        edges = source.edges
        required = [
            (index, name)
            for index, (name, kind, given) in enumerate(
                zip(target.names, target.types, self.schema.types)
            )
            if given.nullable and not kind.nullable
        ]
        if required:
            check = CheckNotNull(required, source.changelog)
            edges = translation.aligned("ConstraintEnforcer", edges, check)
        if writing.encoder is not None:
            edges = translation.aligned("Encode", edges, writing.encoder)
        name = f"{self.path.name}[{self.name}]"
        if writing.parallelism is None:
            translation.write(name, edges, writing.sink, aligned=Aligned.INPUT)
        else:
            translation.write(name, edges, writing.sink, parallelism=writing.parallelism)
        return source

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the table."""
        return {"kind": self.name, "table": told_path(self.path)}

    def details(self) -> dict[str, str]:
        """Return the table and the columns."""
        return {"table": ".".join(self.path), "fields": ", ".join(self.schema.names)}

    def describe_short(self) -> str:
        """Return what messages call it."""
        return f"Table sink '{self.path}'"


class ExternalSink(PhysicalNode):
    """Hands rows to the program.

    Args:
        source: the input.
        title: what messages call it.
        taken: which changes the program takes.
        wants_before: whether it wants to know what a row was before an update.
    """

    name = "Sink"

    def __init__(
        self, source: PhysicalNode, title: str, taken: ModifyKinds, wants_before: bool
    ) -> None:
        super().__init__(source.schema, source)
        self.title, self._taken, self._wants_before = title, taken, wants_before

    def accepts(self, port: int) -> ModifyKinds:
        """The program says it."""
        return self._taken

    def needs_before(self, port: int, wanted: bool) -> bool:
        """The program says it."""
        return self._wants_before

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Leave the stream to the program."""
        return inputs[0]

    def details(self) -> dict[str, str]:
        """Return its name and the columns."""
        return {"table": self.title, "fields": ", ".join(self.schema.names)}

    def describe_short(self) -> str:
        """Return what messages call it."""
        return f"Table sink '{self.title}'"
