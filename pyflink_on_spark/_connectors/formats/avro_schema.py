"""Avro schemas, and the library that reads and writes Avro."""

from __future__ import annotations

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
