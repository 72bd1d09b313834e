"""The parts of PyFlink's objects that this package works with, and that have no public name."""

from __future__ import annotations

from typing import Any


def flow_of(stream: Any) -> Any:
    """The place in the graph that a stream stands for."""
    return stream._flow  # noqa: SLF001


def definition_of(schema: Any) -> object:
    """The definition that an Avro schema holds, as plain data."""
    return schema._definition  # noqa: SLF001
