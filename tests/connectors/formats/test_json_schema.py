"""The conversion of JSON schemas, as seen on Flink's own converter."""

from __future__ import annotations

import json

import pytest

from pyflink_on_spark._connectors.formats.json_messages import row_type_of_json_schema
from pyflink_on_spark.common import Types

TEXT, NUMBER, NULL = {"type": "string"}, {"type": "number"}, {"type": "null"}
DECIMAL = Types.BIG_DEC()


def of_field(node, **more):
    schema = {"type": "object", "properties": {"a": node}, **more}
    return row_type_of_json_schema(json.dumps(schema)).get_field_types()[0]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (TEXT, Types.STRING()),
        (NUMBER, DECIMAL),
        ({"type": "integer"}, DECIMAL),
        ({"type": ["number", "integer"]}, DECIMAL),
        ({"type": "boolean"}, Types.BOOLEAN()),
        ({"type": "string", "format": "date"}, Types.SQL_DATE()),
        ({"type": "string", "format": "time"}, Types.SQL_TIME()),
        ({"type": "string", "format": "date-time"}, Types.SQL_TIMESTAMP()),
        ({"type": "string", "format": "email"}, Types.STRING()),
        ({"type": "string", "enum": ["x"]}, Types.STRING()),
        ({"type": "string", "contentEncoding": "base64"}, Types.PRIMITIVE_ARRAY(Types.BYTE())),
        ({"type": ["string", "null"]}, Types.STRING()),
        ({"oneOf": [NULL, TEXT]}, Types.STRING()),
        ({"type": "string", "oneOf": [TEXT]}, Types.STRING()),
        ({"type": "array", "items": TEXT}, Types.BASIC_ARRAY(Types.STRING())),
        ({"type": "array", "items": NUMBER}, Types.OBJECT_ARRAY(DECIMAL)),
        (
            {"type": "array", "items": {"type": "array", "items": NUMBER}},
            Types.OBJECT_ARRAY(Types.OBJECT_ARRAY(DECIMAL)),
        ),
        ({"type": "array", "items": [TEXT, NUMBER]}, Types.ROW([Types.STRING(), DECIMAL])),
        ({"type": "object", "properties": {"x": NUMBER}}, Types.ROW_NAMED(["x"], [DECIMAL])),
    ],
)
def test_types_of_fields(node, expected):
    assert of_field(node) == expected


def test_names_are_those_of_the_properties():
    schema = {"type": ["object", "null"], "properties": {"b": TEXT, "a": NUMBER}}
    found = row_type_of_json_schema(json.dumps(schema))
    assert found.get_field_names() == ["b", "a"]


@pytest.mark.parametrize("target", [TEXT, {"oneOf": [TEXT, NULL]}])
def test_references(target):
    field = {"$ref": "#/definitions/a~1b"}
    assert of_field(field, definitions={"a/b": target}) == Types.STRING()


def test_a_type_of_its_own_comes_before_the_reference():
    field = {"type": "string", "$ref": "#/definitions/x"}
    assert of_field(field, definitions={"x": NUMBER}) == Types.STRING()


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"type": ["string", "integer"]}, "Union types with more than just a null type"),
        ({"oneOf": [TEXT, NUMBER]}, "Union types with more than just a null type"),
        ({"type": "string", "anyOf": []}, "'allOf', 'anyOf' etc."),
        ({"enum": ["x"]}, "No type could be found in node: <root>/a"),
        ({"type": 3}, "No type could be found in node: <root>/a"),
        (True, "No type could be found in node: <root>/a"),
        ({"type": "foo"}, "Unsupported type 'foo' in node: <root>/a"),
        (
            {"type": "string", "contentEncoding": "7bit"},
            "Invalid encoding '7bit' in node: <root>/a",
        ),
        ({"type": "array"}, "Arrays must specify an 'items' property"),
        ({"type": "array", "items": [TEXT], "additionalItems": True}, "additional items"),
        ({"$ref": "http://x/y"}, "Only JSON schemes with simple references"),
        ({"$ref": "#/definitions/x"}, "Could not find reference: #/definitions/x"),
        ({"$ref": "#x"}, "not a JSON pointer"),
        ({"$ref": "#"}, "cannot contain itself"),
    ],
)
def test_what_cannot_be_a_field(node, message):
    with pytest.raises(ValueError, match=message):
        of_field(node)


def test_only_one_step_from_reference_to_type():
    with pytest.raises(ValueError, match="No type could be found"):
        of_field({"$ref": "#/definitions/x"}, definitions={"x": {"$ref": "#/properties/b"}})


@pytest.mark.parametrize("node", [NULL, {"oneOf": [NULL]}, {"type": ["null"]}])
def test_null_is_not_a_type(node):
    with pytest.raises(TypeError, match="null"):
        of_field(node)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Invalid JSON schema"),
        ("", "No type could be found in node: <root>"),
        ("[]", "No type could be found in node: <root>"),
        ('{"type": "string"}', "Only RowTypeInfo is supported"),
    ],
)
def test_what_is_no_schema_of_rows(text, message):
    with pytest.raises(ValueError, match=message):
        row_type_of_json_schema(text)
