"""The sink of streams, its requests, and the answers of a server that has trouble."""

from __future__ import annotations

import base64
import contextlib
import json
from decimal import Decimal

import pytest

from pyflink_on_spark._connectors import elasticsearch as client_module
from pyflink_on_spark._connectors.elasticsearch import (
    Action,
    Backoff,
    BulkClient,
    DocumentSinkConfig,
    DocumentWriter,
    ElasticsearchError,
    Growth,
    SearchCluster,
    SearchHost,
    document_of,
)
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)

MAPS = Types.MAP(Types.STRING(), Types.STRING())


def action(number):
    return Action("i", str(number), b"{}")


def writer(*servers, pauses=None, now=lambda: 0, **settings):
    hosts = tuple(SearchHost.parse(server.url, complete=True) for server in servers)
    config = DocumentSinkConfig(cluster=SearchCluster(hosts), **settings)
    return DocumentWriter(config, now, [].append if pauses is None else pauses.append)


def ids(request):
    _, _, body = request
    return [json.loads(line)["update"]["_id"] for line in body.splitlines()[::2]]


def test_maps_become_documents(search, local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    maps = [{"name": "ada", "id": "1"}, {"name": "luna", "id": "2"}, {"name": "eva", "id": "1"}]
    stream = env.from_collection(maps, type_info=MAPS)
    builder = Elasticsearch7SinkBuilder().set_hosts([search.url.removeprefix("http://")])
    builder.set_emitter(ElasticsearchEmitter.static_index("people", "id"))
    stream.sink_to(builder.build()).set_parallelism(1)
    emitter = ElasticsearchEmitter.dynamic_index("name")
    stream.sink_to(Elasticsearch7SinkBuilder().set_emitter(emitter).set_hosts(search.url).build())
    env.execute()
    assert search.documents("people") == {"1": maps[2], "2": maps[1]}
    assert search.indices() == ["ada", "eva", "luna", "people"]


def test_a_stream_of_something_else(local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    builder = Elasticsearch7SinkBuilder().set_hosts("localhost:9200")
    sink = builder.set_emitter(ElasticsearchEmitter.static_index("i")).build()
    with pytest.raises(TypeError, match=r"Types\.MAP\(Types\.STRING\(\)"):
        env.from_collection([{"a": "b"}]).sink_to(sink)


def test_types_of_documents_and_deletions():
    assert Action("i", "1", None, "t").lines() == (
        b'{"delete":{"_index":"i","_type":"t","_id":"1"}}\n'
    )
    assert Action("i", None, b'{"a":1}').lines() == b'{"index":{"_index":"i"}}\n{"a":1}\n'


def test_values_of_documents():
    element = {"a": None, "b": [True, 1.5], "c": Decimal("1.10"), "d": b"\x00", "e": "ü"}
    expected = {"a": None, "b": [True, 1.5], "c": 1.1, "d": "AA==", "e": "ü"}
    assert json.loads(document_of(element)) == expected
    with pytest.raises(ValueError, match="write it as a text"):
        document_of({"a": Decimal("0.12345678901234567890")})
    with pytest.raises(ValueError, match="JSON"):
        document_of({"a": float("nan")})


def test_requests_end_at_their_limits(scripted):
    server, clock = scripted(), [0]
    one = writer(server, actions=2, interval=100, now=lambda: clock[0])
    one.write(map(action, range(5)))
    assert [ids(request) for request in server.requests] == [["0", "1"], ["2", "3"]]
    one.advance_processing_time(99)
    assert len(server.requests) == 2
    one.advance_processing_time(100)
    assert ids(server.requests[2]) == ["4"]
    other = writer(server, actions=-1, in_bytes=200)
    other.write(map(action, range(4)))
    assert [len(ids(request)) for request in server.requests[3:]] == [3]
    other.prepare_checkpoint(1)
    assert ids(server.requests[4]) == ["3"]


def test_no_guarantee_waits_for_the_end(scripted):
    server = scripted()
    one = writer(server, flushes_at_checkpoints=False)
    one.write(map(action, range(3)))
    one.prepare_checkpoint(1)
    assert server.requests == []
    one.prepare_commit()
    assert ids(server.requests[0]) == ["0", "1", "2"]


def test_refused_actions_are_sent_again(scripted):
    server, pauses = scripted([200, 429, 429], 429, [429, 200]), []
    growing = Backoff(Growth.EXPONENTIAL, 5, 100)
    one = writer(server, pauses=pauses, backoff=growing)
    one.write(map(action, range(3)))
    one.prepare_commit()
    assert [ids(request) for request in server.requests] == [
        ["0", "1", "2"], ["1", "2"], ["1", "2"], ["1"],
    ]  # fmt: skip
    assert pauses == [0.1, 0.11, 0.13]


@pytest.mark.parametrize("backoff", [Backoff(), Backoff(Growth.CONSTANT, 1, 5)])
def test_attempts_end(scripted, backoff):
    server = scripted([429], [429])
    one = writer(server, backoff=backoff)
    one.write(iter([action(1)]))
    with pytest.raises(ElasticsearchError, match=r"1 of 1 actions failed .* the queue is full"):
        one.prepare_commit()


def test_a_refused_action_is_not_sent_after_a_later_one_of_its_document(scripted):
    """The older document would have replaced the newer one."""
    server = scripted([429, 200, 200, 400], [200, 200])
    backoff = Backoff(Growth.CONSTANT, 2, 5)
    one = writer(server, backoff=backoff, ignores_failures=True)
    one.write(map(action, [1, 2, 1, 1]))
    one.prepare_commit()
    assert [ids(request) for request in server.requests] == [["1", "2", "1", "1"], ["1", "1"]]


@pytest.mark.parametrize("answer", [
    '{"items": [{"update": {"status": 503}}]}', '{"items": [{"update": {}}]}',
    '{"items": [{"update": {"status": 404}}]}', '{"items": [{"update": {"status": "200"}}]}',
    '{"items": [{"update": 1}]}', '{"items": [1]}', '{"items": []}', "[]", "no",
    pytest.param("[" * 100_000, id="nested"),
    '{"items": [{"update": {"error": {"type": "no"}, "status": null}}]}',
])  # fmt: skip
def test_what_is_not_said_to_be_done_is_not_done(scripted, answer):
    client = BulkClient(writer(scripted(answer))._config.cluster)
    done = []
    with contextlib.suppress(ElasticsearchError):
        done = client.send([action(1).lines()])
    assert done != [None]


def test_a_document_that_is_gone_already(scripted):
    server = scripted('{"items": [{"delete": {"status": 404, "result": "not_found"}}]}')
    client = BulkClient(writer(server)._config.cluster)
    assert client.send([Action("i", "1", None).lines()]) == [None]


def test_an_answer_without_end(scripted, monkeypatch):
    monkeypatch.setattr(client_module, "_LARGEST_ANSWER", 1000)
    with pytest.raises(ElasticsearchError, match="an answer of more than 1000 bytes"):
        BulkClient(writer(scripted("x" * 1001))._config.cluster).send([action(1).lines()])


def test_other_failures_fail_at_once(scripted):
    server = scripted([400, 429])
    one = writer(server, backoff=Backoff(Growth.CONSTANT, 3, 5))
    one.write(map(action, range(2)))
    with pytest.raises(ElasticsearchError, match="1 of 2 actions failed"):
        one.prepare_commit()
    with pytest.raises(ElasticsearchError, match="refuses the request: 401 refused: no"):
        BulkClient(writer(scripted(401))._config.cluster).send([action(1).lines()])


def test_another_server_takes_over(scripted):
    lost, busy, good = scripted(None), scripted(503), scripted()
    one = writer(lost, busy, good)
    for number in range(2):
        one.write(iter([action(number)]))
        one.prepare_commit()
    assert [ids(request) for request in good.requests] == [["0"], ["1"]]
    assert (len(lost.requests), len(busy.requests)) == (1, 1)
    with pytest.raises(ElasticsearchError, match=r"no server .*: http://.*; http://.*503 refused"):
        BulkClient(writer(scripted(None), scripted(503))._config.cluster).send([action(1).lines()])


def test_a_connection_that_the_server_has_closed(scripted):
    server = scripted([200], None)
    client = BulkClient(writer(server)._config.cluster)
    lines = action(1).lines()
    assert client.send([lines]) == [None]
    assert client.send([lines]) == [None]
    assert len(server.requests) == 3


def test_the_user_and_the_path(scripted):
    server = scripted()
    host = SearchHost.parse(server.url, complete=True)
    cluster = SearchCluster((host,), "me", "hush", "/search/")
    BulkClient(cluster).send([action(1).lines()])
    path, headers, _ = server.requests[0]
    assert path == "/search/_bulk"
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"me:hush").decode()
    assert headers["Content-Type"] == "application/x-ndjson"
    assert "hush" not in repr(cluster)


def test_builders():
    builder = Elasticsearch6SinkBuilder().set_hosts(["https://a:1", "b:2", "c"])
    builder.set_emitter(ElasticsearchEmitter.static_index("i", "k", "t"))
    builder.set_delivery_guarantee(DeliveryGuarantee.NONE).set_bulk_flush_max_actions(7)
    builder.set_bulk_flush_max_size_mb(2).set_bulk_flush_interval(3)
    builder.set_bulk_flush_backoff_strategy(FlushBackoffType.EXPONENTIAL, 4, 5)
    builder.set_connection_username("me").set_connection_password("hush")
    builder.set_connection_path_prefix("p").set_connection_timeout(8).set_socket_timeout(9)
    config = builder.set_connection_request_timeout(6).build()._config
    assert config.cluster == SearchCluster(
        (SearchHost("a", 1, True), SearchHost("b", 2), SearchHost("c", 80)), "me", "hush", "p", 8, 9
    )
    assert (config.actions, config.in_bytes, config.interval) == (7, 2 * 1024 * 1024, 3)
    assert config.backoff == Backoff(Growth.EXPONENTIAL, 4, 5)
    assert not config.flushes_at_checkpoints


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda b: b.build(), "Emitter must be set"),
        (lambda b: b.set_emitter(ElasticsearchEmitter.static_index("i")).build(), "Hosts"),
        (lambda b: b.set_hosts([]), "Hosts cannot be empty"),
        (lambda b: b.set_hosts("ftp://a"), "http://host_name:port"),
        (lambda b: b.set_hosts("a:b"), "http://host_name:port"),
        (lambda b: b.set_bulk_flush_max_actions(0), "larger than 0"),
        (lambda b: b.set_bulk_flush_max_size_mb(-2), "larger than 0"),
        (lambda b: b.set_bulk_flush_interval(-2), "larger than or equal to 0"),
        (lambda b: b.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE), "EXACTLY_ONCE"),
        (
            lambda b: b.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, -1, 1),
            "larger than or equal to 0",
        ),
    ],
)
def test_wrong_settings(call, text):
    with pytest.raises(ValueError, match=text):
        call(Elasticsearch7SinkBuilder())
