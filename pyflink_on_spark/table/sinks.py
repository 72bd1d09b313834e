"""Sinks of tables as PyFlink has them until 1.20."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.schema import Schema
from pyflink_on_spark.table.sources import described

__all__ = ["CsvTableSink", "TableSink", "WriteMode"]


class TableSink:
    """Something that a table can be written to.

    Args:
        j_table_sink: the columns, and the options of the table; use ``CsvTableSink``.
    """

    def __init__(self, j_table_sink):
        self._described: tuple[Schema, dict[str, str]] = j_table_sink


class WriteMode:
    """The treatment of a file that is there already."""

    NO_OVERWRITE = 0
    OVERWRITE = 1


_MODES = {None: None, WriteMode.NO_OVERWRITE: "no-overwrite", WriteMode.OVERWRITE: "overwrite"}


class CsvTableSink(TableSink):
    """A file of CSV; with several subtasks a folder with a file for each.

    Args:
        field_names: the names of the columns.
        field_types: their types.
        path: the file or folder.
        field_delimiter: stands between fields.
        num_files: how many subtasks write; as many as the query has if it is -1.
        write_mode: a constant of WriteMode; a file is not overwritten if not given.

    Raises:
        Exception: there is no such mode.
    """

    def __init__(
        self,
        field_names,
        field_types,
        path,
        field_delimiter=",",
        num_files=-1,
        write_mode=None,
    ):
        if write_mode not in _MODES:
            raise Exception(f"Unsupported write_mode: {write_mode}")
        options = {
            "connector.type": "filesystem",
            "connector.path": path,
            "connector.num-files": str(num_files),
            "connector.write-mode": _MODES[write_mode],
            "format.type": "csv",
            "format.field-delimiter": field_delimiter,
        }
        super().__init__(described(field_names, field_types, options))


__getattr__ = missing_name(__name__)
