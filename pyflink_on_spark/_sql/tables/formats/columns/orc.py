"""The format ``orc``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._connectors.formats.orc import OrcFileWriter, orc_arguments, orc_batches
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.columns.files import ColumnsInput, ColumnsOutput
from pyflink_on_spark._sql.tables.formats.format import FileFormat
from pyflink_on_spark._sql.types.logical import Root

if TYPE_CHECKING:
    import pyarrow as pa

    from pyflink_on_spark._connectors.formats.output_format import OutputFileWriter

_MISSING = frozenset({Root.TIME, Root.MULTISET})


class OrcFormat(FileFormat):
    """ORC files; the options are those of ORC's writer."""

    identifier = "orc"

    def file_input(self, schema: Schema, options: TableOptions, time_zone: str) -> OrcInput:
        """Return what reads rows."""
        _arguments(options)
        return OrcInput(schema, self.identifier, local_times=False)

    def file_output(self, schema: Schema, options: TableOptions, time_zone: str) -> OrcOutput:
        """Return what writes rows."""
        return OrcOutput(schema, _arguments(options))


def _arguments(options: TableOptions) -> dict[str, Any]:
    given = options.beginning_with(options.prefix)
    try:
        return orc_arguments({f"orc.{key}": value for key, value in given.items()})
    except ValueError as error:
        raise ValidationError(str(error)) from None


class OrcInput(ColumnsInput):
    """Reads rows of ORC files."""

    missing = _MISSING

    def batches(self, path: str, schema: pa.Schema, skip: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of a file."""
        return orc_batches(path, schema, skip)


class OrcOutput(ColumnsOutput):
    """Writes rows to ORC files.

    Args:
        schema: the columns.
        arguments: the arguments of Arrow's writer.
    """

    missing = _MISSING

    def __init__(self, schema: Schema, arguments: dict[str, Any]) -> None:
        super().__init__(schema, OrcFormat.identifier, local_times=False)
        self._arguments = arguments

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return OrcFileWriter(file, self._arrow, self._arguments, self.columns)
