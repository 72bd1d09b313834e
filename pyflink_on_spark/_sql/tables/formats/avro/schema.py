"""The Avro schema of a table."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_RECORD = "org.apache.flink.avro.generated.record"
_PLAIN = {
    Root.BOOLEAN: "boolean",
    Root.TINYINT: "int",
    Root.SMALLINT: "int",
    Root.INT: "int",
    Root.BIGINT: "long",
    Root.FLOAT: "float",
    Root.DOUBLE: "double",
    Root.CHAR: "string",
    Root.VARCHAR: "string",
    Root.BINARY: "bytes",
    Root.VARBINARY: "bytes",
}
_MILLIS = 3
_MICROS = 6


def record_schema(schema: Schema, *, legacy: bool) -> dict[str, Any]:
    """Return the schema of a record with a field for each column.

    Args:
        schema: the columns.
        legacy: whether a TIMESTAMP is a point in time, as before Flink 1.19.

    Raises:
        ValidationError: Avro has no type for a column.
    """
    return _record(schema.names, schema.types, _RECORD, legacy)


def _record(
    names: tuple[str, ...], kinds: tuple[LogicalType, ...], name: str, legacy: bool
) -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    for column, kind in zip(names, kinds):
        found: dict[str, Any] = {"name": column, "type": _type(kind, f"{name}_{column}", legacy)}
        if kind.nullable:
            found["default"] = None
        fields.append(found)
    return {"type": "record", "name": name, "fields": fields}


def _type(kind: LogicalType, name: str, legacy: bool) -> Any:
    made = _not_null(kind, name, legacy)
    return ["null", made] if kind.nullable else made


def _not_null(kind: LogicalType, name: str, legacy: bool) -> Any:
    root = kind.root
    if root in _PLAIN:
        return _PLAIN[root]
    if root is Root.DATE:
        return {"type": "int", "logicalType": "date"}
    if root is Root.TIME:
        _check_digits(kind, _MILLIS)
        return {"type": "int", "logicalType": "time-millis"}
    if root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return _moment(kind, legacy)
    if root is Root.DECIMAL:
        about = {"precision": kind.precision, "scale": kind.scale}
        return {"type": "bytes", "logicalType": "decimal", **about}
    if root is Root.ARRAY:
        return {"type": "array", "items": _type(kind.children[0], name, legacy)}
    if root is Root.ROW:
        return _record(kind.names, kind.children, name, legacy)
    if root in {Root.MAP, Root.MULTISET}:
        return _map(kind, name, legacy)
    raise ValidationError(f"Unsupported to derive Schema for type: {kind}")


def _moment(kind: LogicalType, legacy: bool) -> dict[str, Any]:
    if legacy:
        if kind.root is Root.TIMESTAMP_LTZ:
            raise ValidationError(
                f"Unsupported to derive Schema for type: {kind}; it needs "
                "'avro.timestamp_mapping.legacy' = 'false'"
            )
        _check_digits(kind, _MILLIS)
    _check_digits(kind, _MICROS)
    unit = "millis" if (kind.precision or 0) <= _MILLIS else "micros"
    local = "" if legacy or kind.root is Root.TIMESTAMP_LTZ else "local-"
    return {"type": "long", "logicalType": f"{local}timestamp-{unit}"}


def _check_digits(kind: LogicalType, most: int) -> None:
    if (kind.precision or 0) > most:
        raise ValidationError(
            f"Avro does not support {kind.root.value} type with precision: {kind.precision}, "
            f"it only supports precision less than {most}."
        )


def _map(kind: LogicalType, name: str, legacy: bool) -> dict[str, Any]:
    if kind.children[0].root not in {Root.CHAR, Root.VARCHAR}:
        raise ValidationError(
            "Avro format doesn't support non-string as key type of map. "
            f"The key type is: {kind.children[0]}"
        )
    values = "int" if kind.root is Root.MULTISET else _type(kind.children[1], name, legacy)
    return {"type": "map", "values": values}


def named_as(definition: Any, writer_schema: Any) -> Any:
    """Return a schema whose records have the names of another schema's.

    Records are found by the names of fields, so that files of other programs can be read.

    Args:
        definition: the schema.
        writer_schema: the other one.
    """
    if isinstance(definition, list):
        return [named_as(kind, writer_schema) for kind in definition]
    if isinstance(writer_schema, list):
        fitting = [kind for kind in writer_schema if _kind(kind) == _kind(definition)]
        return named_as(definition, fitting[0]) if fitting else definition
    if not isinstance(definition, dict) or not isinstance(writer_schema, dict):
        return definition
    found = dict(definition)
    for part in ("items", "values"):
        if part in definition and part in writer_schema:
            found[part] = named_as(definition[part], writer_schema[part])
    if _kind(definition) == _kind(writer_schema) == "record":
        others = {field["name"]: field["type"] for field in writer_schema["fields"]}
        found["name"] = writer_schema["name"]
        found["fields"] = [
            {**field, "type": named_as(field["type"], others.get(field["name"]))}
            for field in definition["fields"]
        ]
    return found


def _kind(definition: Any) -> Any:
    return definition.get("type") if isinstance(definition, dict) else definition
