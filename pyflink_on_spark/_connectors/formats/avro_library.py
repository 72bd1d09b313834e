"""The library that reads and writes Avro."""

from __future__ import annotations

import importlib
from typing import Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError


def fastavro() -> Any:
    """Return the module ``fastavro``.

    Raises:
        EnvironmentSetupError: it is not installed.
    """
    try:
        return importlib.import_module("fastavro")
    except ImportError as error:
        raise EnvironmentSetupError(
            "Avro needs the package fastavro: pip install 'pyflink_on_spark[avro]'"
        ) from error


def parsed(definition: Any) -> Any:
    """Return an Avro schema as the library wants it.

    Raises:
        ValueError: it is no Avro schema.
    """
    library = fastavro()
    try:
        return library.parse_schema(definition)
    except library.schema.SchemaParseException as error:
        raise ValueError(f"this is no Avro schema: {error}") from error
    except library.schema.UnknownType as error:
        raise ValueError(f"this is no Avro schema: the type {error} is unknown") from error
