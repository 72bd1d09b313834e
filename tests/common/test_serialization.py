"""Elements to bytes and back."""

from __future__ import annotations

import io
import pickle

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    Row,
    SerializationSchema,
    SimpleStringSchema,
    Types,
    TypeSerializer,
    serialization,
)
from pyflink_on_spark.common.io import InputFormat
from pyflink_on_spark.common.serialization import (
    BulkWriterFactory,
    RowDataBulkWriterFactory,
    RowFieldExtractorSchema,
)
from pyflink_on_spark.common.serializer import VoidNamespaceSerializer, void


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("UTF-8", b"a\xc3\xa9"),
        ("UTF8", b"a\xc3\xa9"),
        ("ISO-8859-1", b"a\xe9"),
        ("UTF-16", b"\xfe\xff\x00a\x00\xe9"),
        ("UTF-16LE", b"a\x00\xe9\x00"),
        ("UTF-32", b"\x00\x00\x00a\x00\x00\x00\xe9"),
        ("windows-1252", b"a\xe9"),
    ],
)
def test_texts_in_character_sets(charset, data):
    schema = pickle.loads(pickle.dumps(SimpleStringSchema(charset)))
    assert schema._serializer()("a\xe9") == data
    assert schema._deserializer()(data) == "a\xe9"
    assert schema._produced_type() == Types.STRING()


def test_what_cannot_be_written_or_read_is_replaced():
    assert SimpleStringSchema("US-ASCII")._serializer()("a\xfc") == b"a?"
    assert SimpleStringSchema()._deserializer()(b"a\xff\xfeb") == "a\ufffd\ufffdb"
    assert SimpleStringSchema("UTF-16")._deserializer()(b"\x00a\x00b") == "ab"
    assert SimpleStringSchema("UTF-16")._deserializer()(b"\xff\xfea\x00") == "a"


@pytest.mark.parametrize("charset", ["nope", "", "rot13", "base64", "utf-7", "idna", None])
def test_character_sets_that_java_has_not(charset):
    with pytest.raises(ValueError, match="Unsupported charset"):
        SimpleStringSchema(charset)


@pytest.mark.parametrize("value", [5, None, b"a"])
def test_a_text_schema_takes_texts_only(value):
    with pytest.raises(TypeError):
        SimpleStringSchema()._serializer()(value)


def test_bytes_stay_as_they_are():
    schema = ByteArraySchema()
    assert schema._serializer()(bytearray(b"ab")) == b"ab"
    assert schema._serializer()(None) is None
    assert schema._deserializer()(b"ab") == b"ab"
    assert schema._produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())
    with pytest.raises(TypeError):
        schema._serializer()("ab")


def test_a_field_of_a_row():
    schema = RowFieldExtractorSchema(1)
    assert schema._serializer()(Row("a", b"xy")) == b"xy"
    assert schema._serializer()(Row("a", None)) == b""
    assert schema._serializer()(None) == b""
    with pytest.raises(ValueError, match="must be of type bytes, but was str"):
        schema._serializer()(Row("a", "s"))
    with pytest.raises(ValueError, match="Cannot access field 1 in Row with arity 1"):
        schema._serializer()(Row("a"))
    with pytest.raises(TypeError):
        schema._serializer()(("a", b"xy"))
    with pytest.raises(ValueError, match="Field index must be non-negative, got: -1"):
        RowFieldExtractorSchema(-1)


def test_an_encoder_looks_its_character_set_up_when_it_writes():
    assert Encoder.simple_string_encoder()._charset().encode("\xe9") == b"\xc3\xa9"
    assert Encoder.simple_string_encoder("latin1")._charset().encode("\xe9") == b"\xe9"
    encoder = Encoder.simple_string_encoder("nope")
    with pytest.raises(ValueError, match="Unsupported charset: 'nope'"):
        encoder._charset()


def test_a_schema_without_a_format_is_refused():
    with pytest.raises(UnsupportedFlinkFeature, match="SimpleStringSchema"):
        SerializationSchema()._serializer()("a")
    with pytest.raises(UnsupportedFlinkFeature, match="SimpleStringSchema"):
        DeserializationSchema()._deserializer()(b"a")


def test_java_objects_are_refused():
    foreign = type("JavaObject", (), {"__module__": "py4j.java_gateway"})()
    for make in (SerializationSchema, DeserializationSchema, BulkWriterFactory, InputFormat):
        with pytest.raises(UnsupportedFlinkFeature):
            make(foreign)


def test_wrappers_carry_what_they_are_given():
    assert BulkWriterFactory("format").get_java_object() == "format"
    assert InputFormat("format").get_java_object() == "format"
    assert RowDataBulkWriterFactory("format", "type").get_row_type() == "type"


def test_the_row_schemas_of_flink_1_are_those_of_the_formats(monkeypatch):
    formats = {"pyflink_on_spark.datastream.formats.json": Encoder}
    monkeypatch.setattr(
        serialization.importlib,
        "import_module",
        lambda name: type("module", (), {"JsonRowSerializationSchema": formats[name]}),
    )
    assert serialization.JsonRowSerializationSchema is Encoder
    with pytest.raises(AttributeError):
        serialization.NoSuchSchema  # noqa: B018


class Ints(TypeSerializer[int]):
    def serialize(self, element, stream):
        stream.write(element.to_bytes(8, "big"))

    def deserialize(self, stream):
        return int.from_bytes(stream.read(8), "big")


def test_serializers_of_a_user():
    stream = io.BytesIO()
    Ints().serialize(5, stream)
    stream.seek(0)
    assert Ints().deserialize(stream) == 5
    assert Ints() == Ints()
    assert hash(Ints()) == hash(Ints())
    assert Ints() != VoidNamespaceSerializer()
    assert repr(Ints()) == "Ints()"
    assert VoidNamespaceSerializer().deserialize(io.BytesIO(b"x")) is void
