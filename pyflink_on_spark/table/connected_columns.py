"""The columns of ``connect``, which their properties describe."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expressions import col
from pyflink_on_spark.table.schema import Schema

_PROPERTIES = frozenset(
    {
        "name", "data-type", "from", "proctime", "rowtime.timestamps.type",
        "rowtime.timestamps.from", "rowtime.watermarks.type", "rowtime.watermarks.delay",
    }
)  # fmt: skip


class ConnectedColumns:
    """The columns of a table, of which some are called otherwise in its records.

    Args:
        properties: ``schema.0.name``, ``schema.0.data-type`` and so on.

    Raises:
        ValidationError: there are none.
    """

    def __init__(self, properties: dict[str, str]) -> None:
        by_number: dict[int, dict[str, str]] = {}
        for key, value in properties.items():
            number, _, name = key.removeprefix("schema.").partition(".")
            assert name in _PROPERTIES
            by_number.setdefault(int(number), {})[name] = value
        if not by_number:
            raise ValidationError("A table needs columns: call with_schema(Schema().field(...)).")
        self._columns = [by_number[number] for number in sorted(by_number)]

    @property
    def renames(self) -> bool:
        """True if a column has another name than its field of the records."""
        return any(_field(column) != column["name"] for column in self._columns)

    def selection(self) -> list[Expression]:
        """Return the columns of the table, of the fields of the records."""
        return [col(_field(column)).alias(column["name"]) for column in self._columns]

    def schema(self) -> Schema:
        """Return the fields of the records, with time attributes.

        Raises:
            ValidationError: a time attribute is incomplete.
        """
        builder = Schema.new_builder()
        for column in self._columns:
            if column.get("proctime") == "true":
                builder.column_by_expression(column["name"], "PROCTIME()")
            elif "rowtime.timestamps.type" in column:
                self._add_rowtime(builder, column)
            else:
                builder.column(_field(column), column["data-type"])
        return builder.build()

    def _add_rowtime(self, builder: Schema.Builder, column: dict[str, str]) -> None:
        name = _field(column)
        if column["rowtime.timestamps.type"] == "from-source":
            builder.column_by_metadata(name, "TIMESTAMP_LTZ(3)", "timestamp", True)
        else:
            builder.column(name, "TIMESTAMP(3)")
        kind = column.get("rowtime.watermarks.type")
        if kind is None:
            raise ValidationError(
                f"The rowtime attribute '{column['name']}' needs watermarks: call "
                "watermarks_periodic_bounded(delay) of Rowtime, for example."
            )
        if kind == "from-source":
            builder.watermark(name, "SOURCE_WATERMARK()")
            return
        delay = int(column.get("rowtime.watermarks.delay", "1"))
        seconds, millis = divmod(delay, 1000)
        interval = f"INTERVAL '{seconds}.{millis:03}' SECOND({max(len(str(seconds)), 2)}, 3)"
        builder.watermark(name, f"`{name}` - {interval}")


def _field(column: dict[str, str]) -> str:
    """Return the name of a column's field in the records."""
    return column.get("rowtime.timestamps.from", column.get("from", column["name"]))
