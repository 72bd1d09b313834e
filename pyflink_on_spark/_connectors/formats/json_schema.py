"""Converts a JSON schema to a row type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation, Types

_BEYOND = ("allOf", "anyOf", "not", "extends", "disallow")
_STRING_FORMATS = {
    "date": Types.SQL_DATE,
    "time": Types.SQL_TIME,
    "date-time": Types.SQL_TIMESTAMP,
}
_NULL = "null"


def row_type_of_json_schema(text: str) -> RowTypeInfo:
    """Return the row type of the objects that a schema describes.

    Args:
        text: a JSON schema whose root is an object.

    Raises:
        ValueError: the schema is not valid JSON, does not describe an object, or has no
            counterpart as a row type.
        TypeError: a field can only be null, for which there is no type.
    """
    try:
        root = json.loads(text) if text else {}
    except ValueError as error:
        raise ValueError(f"Invalid JSON schema. {error}") from None
    found = _Schema(root).type_of(root, "<root>", ())
    if not isinstance(found, RowTypeInfo):
        raise ValueError(f"Only RowTypeInfo is supported: the schema describes {found}")
    return found


class _Schema:
    """The document of a schema, which may contain references into itself."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def type_of(self, node: Any, place: str, seen: tuple[str, ...]) -> TypeInformation:
        """Return the type that a node describes; ``seen`` are the references on the way."""
        if not isinstance(node, dict):
            raise ValueError(f"No type could be found in node: {place}")
        types = list(self._types(node, place, seen))
        if any(word in node for word in _BEYOND):
            raise ValueError(
                "Union types are such as 'allOf', 'anyOf' etc. and extending are not supported "
                f"yet, in node: {place}"
            )
        if not types:
            raise ValueError(f"No type could be found in node: {place}")
        return _the_one(types, place)

    def _types(
        self, node: dict[str, Any], place: str, seen: tuple[str, ...]
    ) -> Iterator[TypeInformation | None]:
        """Yield the types that a node allows; None for null."""
        target: dict[str, Any] = {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            target, seen = self._resolve(reference, seen), (*seen, reference)
        if "type" in node:
            declared = node["type"]
            for name in declared if isinstance(declared, list) else [declared]:
                if isinstance(name, str):
                    yield self._named(name, node, place, seen)
        elif "type" in target:
            yield self.type_of(target, f"$ref {reference}", seen)
        choices = node.get("oneOf", target.get("oneOf") if "type" not in target else None)
        if isinstance(choices, list):
            for index, choice in enumerate(choices):
                if choice == {"type": _NULL}:
                    yield None
                else:
                    yield self.type_of(choice, f"{place}/oneOf[{index}]", seen)

    def _named(
        self, name: str, node: dict[str, Any], place: str, seen: tuple[str, ...]
    ) -> TypeInformation | None:
        if name == _NULL:
            return None
        if name == "boolean":
            return Types.BOOLEAN()
        if name in ("number", "integer"):
            return Types.BIG_DEC()
        if name == "string":
            return _string(node, place)
        if name == "object":
            return self._object(node, place, seen)
        if name == "array":
            return self._array(node, place, seen)
        raise ValueError(f"Unsupported type '{name}' in node: {place}")

    def _object(self, node: dict[str, Any], place: str, seen: tuple[str, ...]) -> TypeInformation:
        fields = node.get("properties", {})
        if not isinstance(fields, dict):
            raise ValueError(f"'properties' has to be an object in node: {place}")
        types = [self.type_of(field, f"{place}/{name}", seen) for name, field in fields.items()]
        return Types.ROW_NAMED(list(fields), types)

    def _array(self, node: dict[str, Any], place: str, seen: tuple[str, ...]) -> TypeInformation:
        items = node.get("items")
        if isinstance(items, dict):
            element = self.type_of(items, f"{place}/items", seen)
            if element == Types.STRING():
                return Types.BASIC_ARRAY(element)
            return Types.OBJECT_ARRAY(element)
        if not isinstance(items, list):
            raise ValueError(f"Arrays must specify an 'items' property in node: {place}")
        if node.get("additionalItems") is True:
            raise ValueError(f"An array tuple must not allow additional items in node: {place}")
        return Types.ROW(
            [self.type_of(item, f"{place}/items[{i}]", seen) for i, item in enumerate(items)]
        )

    def _resolve(self, reference: str, seen: tuple[str, ...]) -> dict[str, Any]:
        if not reference.startswith("#"):
            raise ValueError(
                "Only JSON schemes with simple references (one indirection in the same document) "
                f"are supported yet. But was: {reference}"
            )
        if reference in seen:
            raise ValueError(f"A row cannot contain itself, as with the reference {reference}")
        if len(reference) > 1 and not reference.startswith("#/"):
            raise ValueError(f"Could not find reference: {reference}, which is not a JSON pointer")
        found = self._root
        for part in reference.removeprefix("#").removeprefix("/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if name and isinstance(found, dict) else found
        if not isinstance(found, dict):
            raise ValueError(f"Could not find reference: {reference}")
        return found


def _string(node: dict[str, Any], place: str) -> TypeInformation:
    if "format" in node:
        return _STRING_FORMATS.get(node["format"], Types.STRING)()
    encoding = node.get("contentEncoding")
    if encoding is None:
        return Types.STRING()
    if encoding != "base64":
        raise ValueError(f"Invalid encoding '{encoding}' in node: {place}")
    return Types.PRIMITIVE_ARRAY(Types.BYTE())


def _the_one(types: list[TypeInformation | None], place: str) -> TypeInformation:
    """Return the only type that is not null."""
    kinds: list[TypeInformation] = []
    for found in types:
        if found is not None and found not in kinds:
            kinds.append(found)
    if len(kinds) > 1:
        raise ValueError(
            f"Union types with more than just a null type are not supported yet, in node: {place}"
        )
    if not kinds:
        raise TypeError(f"null alone is not a type that fields can have, in node: {place}")
    return kinds[0]
