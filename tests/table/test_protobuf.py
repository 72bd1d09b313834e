"""The format protobuf, with classes made of descriptors and with a module of Python."""

from __future__ import annotations

import pickle
import sys

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.parser.statements import parse_type
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.tables.formats.format import find_format

Field = descriptor_pb2.FieldDescriptorProto
COLUMNS = {
    "id": "BIGINT", "count": "INT", "big": "BIGINT", "name": "STRING", "data": "BYTES",
    "ratio": "DOUBLE", "small": "FLOAT", "flag": "BOOLEAN", "colour": "STRING",
    "place": "ROW<x INT, y STRING>", "tags": "ARRAY<STRING>",
    "places": "ARRAY<ROW<x INT, y STRING>>", "ages": "MAP<STRING, INT>",
    "homes": "MAP<INT, ROW<x INT, y STRING>>",
}  # fmt: skip
FULL = (
    1, -2, -1, "ann", b"\0\1", 1.5, 0.5, True, "GREEN", (1, "a"), ("p", "q"),
    ((1, "a"), (2, None)), {"k": 3}, {4: (5, "z")},
)  # fmt: skip
EMPTY = (None,) * len(COLUMNS)


def field(message, number, name, kind, *, label="OPTIONAL", of=None, presence=True):
    made = message.field.add(
        name=name, number=number, type=getattr(Field, f"TYPE_{kind}"),
        label=getattr(Field, f"LABEL_{label}"),
    )  # fmt: skip
    if of is not None:
        made.type_name = of
    if presence and label == "OPTIONAL":
        made.proto3_optional = True
        made.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")


def entry(message, name, key, value, of=None):
    made = message.nested_type.add(name=f"{name.title()}Entry")
    made.options.map_entry = True
    field(made, 1, "key", key, presence=False)
    field(made, 2, "value", value, of=of, presence=False)
    return f".shop.Order.{made.name}"


def described():
    file = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    file.options.java_package, file.options.java_outer_classname = "org.shop", "Shop"
    place = file.message_type.add(name="Place")
    field(place, 1, "x", "INT32", presence=False)
    field(place, 2, "y", "STRING")
    colour = file.enum_type.add(name="Colour")
    colour.value.add(name="RED", number=0)
    colour.value.add(name="GREEN", number=1)
    order = file.message_type.add(name="Order")
    kinds = ["INT64", "UINT32", "FIXED64", "STRING", "BYTES", "DOUBLE", "FLOAT", "BOOL"]
    for number, (name, kind) in enumerate(zip(COLUMNS, kinds), 1):
        field(order, number, name, kind)
    field(order, 9, "colour", "ENUM", of=".shop.Colour")
    field(order, 10, "place", "MESSAGE", of=".shop.Place", presence=False)
    field(order, 11, "tags", "STRING", label="REPEATED")
    field(order, 12, "places", "MESSAGE", label="REPEATED", of=".shop.Place")
    ages = entry(order, "ages", "STRING", "INT32")
    field(order, 13, "ages", "MESSAGE", label="REPEATED", of=ages)
    homes = entry(order, "homes", "INT32", "MESSAGE", ".shop.Place")
    field(order, 14, "homes", "MESSAGE", label="REPEATED", of=homes)
    field(order, 15, "plain", "INT32", presence=False)
    return descriptor_pb2.FileDescriptorSet(file=[file])


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory):
    path = tmp_path_factory.mktemp("protobuf") / "shop.desc"
    path.write_bytes(described().SerializeToString())
    return str(path)


def form(descriptors, columns=COLUMNS, name="shop.Order", **options):
    schema = Schema(tuple(columns), tuple(map(parse_type, columns.values())))
    keys = {f"protobuf.{key.replace('_', '-')}": value for key, value in options.items()}
    if descriptors is not None:
        keys["protobuf.descriptor-file"] = descriptors
    given = {"format": "protobuf", "protobuf.message-class-name": name, **keys}
    found, own = find_format(TableOptions(given))
    return found, schema, own


def writing(*arguments, **options):
    found, schema, own = form(*arguments, **options)
    return pickle.loads(pickle.dumps(found.encoder(schema, own, "UTC"))).load()


def reading(*arguments, **options):
    found, schema, own = form(*arguments, **options)
    return pickle.loads(pickle.dumps(found.decoder(schema, own, "UTC"))).load()


def order():
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described().file[0])
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def test_rows(descriptors):
    messages = list(writing(descriptors)(iter([FULL, EMPTY])))
    assert messages[1] == b""
    assert list(reading(descriptors)(iter([*messages, None]))) == [FULL, EMPTY]


def test_what_protobuf_reads(descriptors):
    (message,) = writing(descriptors)(iter([FULL]))
    read = order().FromString(message)
    assert (read.id, read.count, read.big) == (1, 2**32 - 2, 2**64 - 1)
    assert (read.colour, read.place.y, list(read.tags)) == (1, "a", ["p", "q"])
    assert (dict(read.ages), read.homes[4].x) == ({"k": 3}, 5)


numbers = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1))
texts = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))


@given(numbers, texts, st.lists(st.tuples(numbers.filter(lambda n: n is not None), texts)))
def test_any_rows(descriptors, count, name, places):
    columns = {key: COLUMNS[key] for key in ("count", "name", "places")}
    row = (count, name, tuple(places) or None)
    message = list(writing(descriptors, columns)(iter([row])))
    assert list(reading(descriptors, columns)(iter(message))) == [row]


def test_what_is_not_there(descriptors):
    columns = {**COLUMNS, "plain": "INT"}
    assert list(reading(descriptors, columns)(iter([b""]))) == [(*EMPTY, 0)]
    (row,) = reading(descriptors, columns, read_default_values="true")(iter([b""]))
    assert row == (0, 0, 0, "", b"", 0.0, 0.0, False, "RED", (0, ""), (), (), {}, {}, 0)


def test_nulls_inside(descriptors):
    columns = {"tags": "ARRAY<STRING>", "ages": "MAP<STRING, INT>"}
    rows = [(("a", None), {"k": None})]
    for text in ("", "null"):
        messages = writing(descriptors, columns, write_null_string_literal=text)(iter(rows))
        assert list(reading(descriptors, columns)(messages)) == [(("a", text), {"k": 0})]


def test_an_enum_as_a_number(descriptors):
    columns = {"colour": "INT"}
    messages = list(writing(descriptors, columns)(iter([(1,)])))
    assert list(reading(descriptors, columns)(iter(messages))) == [(1,)]
    assert list(reading(descriptors, {"colour": "STRING"})(iter(messages))) == [("GREEN",)]


@pytest.mark.parametrize("name", ["shop.Order", "Order", "org.shop.Shop$Order"])
def test_names_of_a_message(descriptors, name):
    assert list(reading(descriptors, {"id": "BIGINT"}, name)(iter([b"\x08\x05"]))) == [(5,)]


def test_a_class_of_python(tmp_path, monkeypatch):
    made = order()
    monkeypatch.setitem(sys.modules, "shop_pb2", type(sys)("shop_pb2"))
    monkeypatch.setattr(sys.modules["shop_pb2"], "Order", made, raising=False)
    read = reading(None, {"id": "BIGINT"}, "shop_pb2.Order")
    assert list(read(iter([made(id=7).SerializeToString()]))) == [(7,)]


def test_corrupt_messages(descriptors):
    with pytest.raises(ValueError, match="Failed to deserialize PB object"):
        list(reading(descriptors)(iter([b"\xff"])))
    read = reading(descriptors, {"id": "BIGINT"}, ignore_parse_errors="true")
    assert list(read(iter([b"\xff", b"\x08\x05"]))) == [(5,)]


@pytest.mark.parametrize(
    ("columns", "name", "message"),
    [
        ({"nope": "INT"}, "Order", "Column nope does not exist"),
        ({"id": "STRING"}, "Order", "does not match column type"),
        ({"place": "INT"}, "Order", "does not match column type"),
        ({"tags": "STRING"}, "Order", "does not match column type"),
        ({"ages": "ARRAY<INT>"}, "Order", "does not match column type"),
        ({"id": "BIGINT"}, "Nope", "has no protobuf message 'Nope'"),
    ],
)
def test_what_does_not_fit(descriptors, columns, name, message):
    for use in (reading, writing):
        with pytest.raises(ValidationError, match=message):
            use(descriptors, columns, name)


def test_a_class_that_is_not_there(tmp_path):
    with pytest.raises(ValidationError, match="There are no Java classes here"):
        reading(None, {"id": "BIGINT"}, "org.shop.Shop")
    with pytest.raises(ValidationError, match="cannot be read"):
        reading(str(tmp_path / "nope"), {"id": "BIGINT"})
    (tmp_path / "broken").write_bytes(b"\xff")
    with pytest.raises(ValidationError, match="is broken"):
        reading(str(tmp_path / "broken"), {"id": "BIGINT"})
