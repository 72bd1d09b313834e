"""Writes connectors/tables.md: the options of each connector and each format of tables.

python docs/generate_table_options.py

A test in tests/docs fails if it is stale.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark._sql.plan import options as kinds
from pyflink_on_spark._sql.plan.options import Option
from pyflink_on_spark._sql.tables.connectors.registry import CONNECTORS
from pyflink_on_spark._sql.tables.formats.format import FORMATS

DOCUMENT = Path(__file__).parent / "use" / "connectors" / "tables.md"
HEAD = """\
# Connectors and formats of tables

The options that `WITH (...)` takes. Each has the meaning that it has in Flink 2.3. An unknown
option is an error that lists the known ones. A format's options are written with the format's name,
for example `'csv.field-delimiter' = ';'`. The tables of Kafka also take `format`, `key.format`,
`value.format` and the properties of the client, as `properties.group.id`; datagen takes
`fields.COLUMN.kind`, `min`, `max`, `start`, `end`, `length`, `max-past` and `null-rate`; faker
takes `fields.COLUMN.expression`, `null-rate` and `length`.
[tables.md](../tables.md) shows tables at work.

This page is generated. To change it, change the declarations in `pyflink_on_spark/_sql/tables/`,
then run `python docs/generate_table_options.py`.
"""
TYPES: dict[Any, str] = {
    kinds.text: "text",
    kinds.boolean: "boolean",
    kinds.integer: "integer",
    kinds.memory_size: "memory size",
    kinds.duration: "duration",
}
UNITS: dict[Any, str] = {kinds.memory_size: " bytes", kinds.duration: " ms"}


def document() -> str:
    """Return the text of the page."""
    return "\n".join(
        [
            HEAD,
            *_part("Connectors", "pyflink_on_spark._sql.tables.connectors", CONNECTORS),
            *_part("Formats", "pyflink_on_spark._sql.tables.formats", FORMATS),
        ]
    )


def _part(title: str, package: str, places: Mapping[str, str]) -> Iterator[str]:
    yield f"## {title}\n"
    for identifier, place in sorted(places.items()):
        module, _, name = place.partition(":")
        declared = getattr(importlib.import_module(f"{package}.{module}"), name).options
        yield f"### {identifier}\n"
        if not declared:
            yield "No options.\n"
            continue
        yield "| option | type | default |\n| --- | --- | --- |"
        yield from map(_row, declared)
        yield ""


def _row(option: Option[Any]) -> str:
    default = "required" if option.required else _default(option)
    return f"| `{option.key.replace('#', 'COLUMN')}` | {_type(option)} | {default} |"


def _type(option: Option[Any]) -> str:
    if (known := TYPES.get(option.read)) is not None:
        return known
    words = inspect.getclosurevars(option.read).nonlocals.get("values")
    return "one of " + ", ".join(f"`{word}`" for word in words) if words else "text"


def _default(option: Option[Any]) -> str:
    if option.default is None:
        return ""
    written = str(option.default).lower() if option.default in (True, False) else option.default
    return f"`{written}`{UNITS.get(option.read, '')}" if written != "" else "empty"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
