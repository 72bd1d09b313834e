"""Avro schemas, and the library that reads and writes Avro."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyflink_on_spark._compat.optional_package import optional_package


def fastavro() -> Any:
    """Return the module fastavro.

    Raises:
        ModuleNotFoundError: the package is not installed. The message says how to install it.
    """
    return optional_package("fastavro", "fastavro", "Avro's formats", "avro")


def parsed(definition: Any) -> Any:
    """Return an Avro schema as fastavro represents it.

    Raises:
        ValueError: the definition is not a valid Avro schema.
    """
    library = fastavro()
    try:
        return library.parse_schema(definition)
    except library.schema.SchemaParseException as error:
        raise ValueError(f"this is no Avro schema: {error}") from error
    except library.schema.UnknownType as error:
        raise ValueError(f"this is no Avro schema: the type {error} is unknown") from error


def reading(schema: Any) -> Any:
    """Return the module that reads records of a schema: its ``reader``, its ``schemaless_reader``.

    The compiled module needs the stack of the process for records within records, and a message of
    some kilobytes would end the process. A schema that contains itself is therefore read by the
    module in Python, which raises a RecursionError.

    Args:
        schema: that of the writer, parsed.

    Raises:
        ValueError: the items of an array take no bytes, so that a short message could have any
            number of them.
    """
    walk = _Walk()
    walk.visit(schema)
    return import_module("fastavro._read_py") if walk.recursive else fastavro()


class _Walk:
    """A walk over the types of a parsed schema."""

    def __init__(self) -> None:
        self.recursive = False
        self._empty: dict[str, bool] = {}
        self._open: set[str] = set()

    def visit(self, kind: Any) -> bool:
        """Return True if a value of a type may take no bytes."""
        if isinstance(kind, list):
            for one in kind:
                self.visit(one)
            return False
        if isinstance(kind, str):
            self.recursive = self.recursive or kind in self._open
            return kind == "null" or self._empty.get(kind, False)
        name = kind["type"]
        if name in {"array", "map"}:
            if self.visit(kind["items" if name == "array" else "values"]) and name == "array":
                raise ValueError("the items of an array in this Avro schema take no bytes")
            return False
        if name in {"record", "error"}:
            self._open.add(kind["name"])
            fields = [self.visit(field["type"]) for field in kind["fields"]]
            empty = all(fields)
            self._open.remove(kind["name"])
        elif name == "fixed":
            empty = not kind["size"]
        else:
            return name != "enum" and self.visit(name)
        self._empty[kind["name"]] = empty
        return empty
