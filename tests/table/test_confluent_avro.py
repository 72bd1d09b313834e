"""The format avro-confluent, with a server that answers as the schema registry's REST API."""

from __future__ import annotations

import base64
import io
import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fastavro
import pytest

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.parser.statements import parse_type
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Schema
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.tables.formats.format import find_format

USER = "me:secret"
COLUMNS = {"id": "BIGINT NOT NULL", "name": "STRING", "tags": "ARRAY<INT>"}
ROWS = [(1, "a", (1, None)), (2, None, None)]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status, content):
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def denied(self):
        expected = "Basic " + base64.b64encode(USER.encode()).decode()
        wrong = self.server.private and self.headers["Authorization"] != expected
        if wrong:
            self.answer(401, {"error_code": 401, "message": "Unauthorized"})
        return wrong

    def do_GET(self):
        self.server.asked.append(self.path)
        number = int(self.path.rpartition("/")[2])
        if self.denied():
            return
        if number in self.server.schemas:
            self.answer(200, {"schema": self.server.schemas[number]})
        else:
            self.answer(404, {"error_code": 40403, "message": "Schema not found"})

    def do_POST(self):
        self.server.asked.append(self.path)
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.denied():
            return
        schemas = self.server.schemas
        found = [number for number, schema in schemas.items() if schema == content["schema"]]
        number = found[0] if found else len(schemas) + 1
        schemas[number] = content["schema"]
        self.answer(200, {"id": number})


@pytest.fixture
def registry():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.schemas, server.asked, server.private = {}, [], False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def form(registry, columns=COLUMNS, name="avro-confluent", **options):
    schema = Schema(tuple(columns), tuple(map(parse_type, columns.values())))
    keys = {f"{name}.{key}": value for key, value in options.items()}
    keys.setdefault(f"{name}.url", f"http://127.0.0.1:{registry.server_address[1]}")
    found, own = find_format(TableOptions({"format": name, **keys}))
    return found, schema, own


def writing(registry, **options):
    options.setdefault("subject", "t/value")
    found, schema, own = form(registry, **options)
    return pickle.loads(pickle.dumps(found.encoder(schema, own, "UTC"))).load()


def reading(registry, columns=COLUMNS, **options):
    found, schema, own = form(registry, columns, **options)
    return pickle.loads(pickle.dumps(found.decoder(schema, own, "UTC"))).load()


def test_rows(registry):
    messages = list(writing(registry)(iter(ROWS)))
    assert [message[:5] for message in messages] == [b"\0\0\0\0\1"] * 2
    assert list(reading(registry)(iter([*messages, None]))) == ROWS
    assert registry.asked == ["/subjects/t%2Fvalue/versions", "/schemas/ids/1"]


def test_nothing_is_registered_without_rows(registry):
    assert list(writing(registry)(iter(()))) == []
    assert registry.asked == []


def test_the_schema_of_the_writer_counts(registry):
    fields = [{"name": "more", "type": "string"}, {"name": "id", "type": "int"}]
    written = {"type": "record", "name": "Other", "namespace": "org", "fields": fields}
    registry.schemas[70000] = json.dumps(written)
    buffer = io.BytesIO(b"\0" + (70000).to_bytes(4, "big"))
    buffer.seek(5)
    fastavro.schemaless_writer(buffer, written, {"more": "x", "id": 5})
    assert list(reading(registry, {"id": "BIGINT NOT NULL"})(iter([buffer.getvalue()]))) == [(5,)]


def test_records_within_records_without_end(registry):
    """The compiled reader would end the process."""
    fields = [{"name": "id", "type": "int"}, {"name": "next", "type": ["null", "Other"]}]
    registry.schemas[1] = json.dumps({"type": "record", "name": "Other", "fields": fields})
    read = reading(registry, {"id": "BIGINT NOT NULL"})
    head, level = b"\0\0\0\0\1", b"\x0a\x02"
    assert list(read(iter([head + level * 20 + b"\x0a\0"]))) == [(5,)]
    with pytest.raises(ValueError, match=r"Avro record .* nested too deeply"):
        list(read(iter([head + level * 100_000 + b"\x0a\0"])))


def test_items_without_bytes(registry):
    """Twelve bytes would have as many items as anybody likes."""
    nothing = {"type": "record", "name": "Nothing", "fields": []}
    fields = [{"name": "id", "type": "int"}]
    fields += [{"name": "more", "type": {"type": "array", "items": nothing}}]
    registry.schemas[1] = json.dumps({"type": "record", "name": "Other", "fields": fields})
    message = b"\0\0\0\0\1\x0a" + b"\xff" * 5 + b"\x7f\0"
    with pytest.raises(ValueError, match=r"the items of an array .* take no bytes"):
        list(reading(registry, {"id": "BIGINT NOT NULL"})(iter([message])))


@pytest.mark.parametrize("message", [b"", b"\0\0", b"\1\0\0\0\1\2", b"\0\0\0\0\1"])
def test_a_corrupt_message(registry, message):
    list(writing(registry)(iter(ROWS)))
    with pytest.raises(ValueError, match="Failed to deserialize Avro record"):
        list(reading(registry)(iter([message])))


def test_an_unknown_schema(registry):
    with pytest.raises(OSError, match=r"schemas/ids/9: 404 .*Schema not found"):
        list(reading(registry)(iter([b"\0\0\0\0\x09"])))


def test_a_password(registry):
    registry.private = True
    with pytest.raises(OSError, match="401"):
        list(writing(registry)(iter(ROWS)))
    login = {"basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": USER}
    assert len(list(writing(registry, **login)(iter(ROWS)))) == 2


def test_several_servers(registry):
    port = registry.server_address[1]
    urls = f"http://127.0.0.1:1,http://127.0.0.1:{port}/"
    assert len(list(writing(registry, url=urls)(iter(ROWS)))) == 2
    with pytest.raises(OSError, match="no schema registry answers"):
        list(writing(registry, url="http://127.0.0.1:1")(iter(ROWS)))


def test_options(registry):
    found, schema, own = form(registry)
    with pytest.raises(ValidationError, match="subject' is required for serialization"):
        found.encoder(schema, own, "UTC")
    with pytest.raises(ValidationError, match="USER_INFO"):
        reading(registry, **{"basic-auth.user-info": USER})


def test_changes_of_debezium(registry):
    name = "debezium-avro-confluent"
    one, two = ROWS
    changes = [(INSERT, one), (UPDATE_BEFORE, one), (UPDATE_AFTER, two), (DELETE, two)]
    messages = list(writing(registry, name=name)(iter(changes)))
    read = list(reading(registry, name=name)(iter(messages)))
    assert read == [(INSERT, one), (DELETE, one), (INSERT, two), (DELETE, two)]
    fields = json.loads(registry.schemas[1])["fields"]
    assert [field["name"] for field in fields] == ["before", "after", "op"]


def debezium(registry, before, after, op):
    """A message as Debezium writes it, with fields of its own."""
    row = {"type": "record", "name": "Value", "fields": [{"name": "id", "type": "long"}]}
    fields = [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ]
    written = fastavro.parse_schema({"type": "record", "name": "Envelope", "fields": fields})
    registry.schemas[9] = json.dumps({"type": "record", "name": "Envelope", "fields": fields})
    buffer = io.BytesIO()
    buffer.write(b"\0" + (9).to_bytes(4, "big"))
    rows = [None if number is None else {"id": number} for number in (before, after)]
    fastavro.schemaless_writer(
        buffer, written, {"before": rows[0], "after": rows[1], "op": op, "ts_ms": 1}
    )
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("before", "after", "op", "changes"),
    [
        (None, 1, "c", [(INSERT, (1,))]),
        (None, 1, "r", [(INSERT, (1,))]),
        (1, 2, "u", [(UPDATE_BEFORE, (1,)), (UPDATE_AFTER, (2,))]),
        (2, None, "d", [(DELETE, (2,))]),
    ],
)
def test_what_debezium_writes(registry, before, after, op, changes):
    read = reading(registry, {"id": "BIGINT NOT NULL"}, name="debezium-avro-confluent")
    assert list(read(iter([debezium(registry, before, after, op)]))) == changes


def test_an_update_without_the_row_before(registry):
    read = reading(registry, {"id": "BIGINT NOT NULL"}, name="debezium-avro-confluent")
    with pytest.raises(ValueError, match="replica identity"):
        list(read(iter([debezium(registry, None, 2, "u")])))
