"""The statement that creates a table, as ``SHOW CREATE TABLE`` shows it."""

from __future__ import annotations

from pyflink_on_spark._sql.catalog import Catalog
from pyflink_on_spark._sql.plan.catalog_objects import CatalogTable, Column, ObjectPath
from pyflink_on_spark._sql.session.schema_text import column_extras, key_line
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.types import logical


def creation_text(path: ObjectPath, table: CatalogTable, temporary: bool) -> str:
    """Return the statement that creates a table.

    Args:
        path: its whole name.
        table: what it is.
        temporary: whether it lasts as long as its session.
    """
    schema = table.schema
    lines = [_column(column) for column in schema.columns]
    if schema.watermark is not None:
        lines.append(f"WATERMARK FOR `{schema.watermark.column}` AS {schema.watermark.text}")
    if schema.primary_key is not None:
        name = schema.key_name or f"PK_{'_'.join(schema.primary_key)}"
        lines.append(key_line(name, schema.primary_key))
    word = "TEMPORARY TABLE" if temporary else "TABLE"
    text = f"CREATE {word} {path.quoted} (\n{_listed(lines)}\n)\n"
    if table.comment is not None:
        text += f"COMMENT {_quoted(table.comment)}\n"
    if table.partition_by:
        text += f"PARTITIONED BY ({', '.join(f'`{name}`' for name in table.partition_by)})\n"
    options = [f"{_quoted(key)} = {_quoted(table.options[key])}" for key in sorted(table.options)]
    return f"{text}WITH (\n{_listed(options)}\n)\n"


def catalog_text(name: str, catalog: Catalog) -> str:
    """Return the statement that creates a catalog.

    Args:
        name: its name.
        catalog: what it is.
    """
    text = f"CREATE CATALOG `{name}`\n"
    if catalog.comment is not None:
        text += f"COMMENT {_quoted(catalog.comment)}\n"
    properties = catalog.properties or {}
    options = [f"{_quoted(key)} = {_quoted(properties[key])}" for key in sorted(properties)]
    return f"{text}WITH (\n{_listed(options)}\n)\n"


def _column(column: Column) -> str:
    comment = "" if column.comment is None else f" COMMENT {_quoted(column.comment)}"
    extras = "" if column.kind is ColumnKind.PHYSICAL else f" {column_extras(column)}"
    # A computed column has no type of its own.
    kind = "" if column.kind is ColumnKind.COMPUTED else f" {column.type.text(string=_STRING)}"
    return f"`{column.name}`{kind}{extras}{comment}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _listed(lines: list[str]) -> str:
    return ",\n".join(f"  {line}" for line in lines)


_STRING = f"VARCHAR({logical.MAX_LENGTH})"
