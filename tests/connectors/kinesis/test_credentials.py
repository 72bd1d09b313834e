"""Credentials as Flink's properties describe them, against moto's server."""

from __future__ import annotations

import http.server
import logging
import re
import threading
import urllib.request
from datetime import UTC, datetime, timedelta

import pytest

from pyflink_on_spark._connectors.kinesis.client import (
    PROVIDER,
    Credentials,
    KinesisError,
    make_client,
    note_unused,
)
from tests.connectors.kinesis.moto_server import REGION

ROLE = {
    PROVIDER: "ASSUME_ROLE",
    f"{PROVIDER}.role.arn": "arn:aws:iam::123456789012:role/reader",
    f"{PROVIDER}.role.provider": "BASIC",
    f"{PROVIDER}.role.provider.basic.accesskeyid": "ASSUMER",
    f"{PROVIDER}.role.provider.basic.secretkey": "the secret",
}
ENVIRONMENT = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch, tmp_path):
    pytest.importorskip("boto3", reason="boto3 is not installed")
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


class Sts:
    """Passes on what assumes roles; the roles last for as long as a test says.

    Args:
        to: moto's server.
    """

    def __init__(self, to):
        self.asked = []
        self.minutes = 60
        told = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                told.asked.append((_key_id(self.headers["Authorization"]), body.decode()))
                names = ("Authorization", "Content-Type", "X-Amz-Date")
                kept = {name: self.headers[name] for name in names}
                request = urllib.request.Request(to, body, kept)
                with urllib.request.urlopen(request, timeout=30) as answer:
                    text = answer.read().decode()
                ends = datetime.now(UTC) + timedelta(minutes=told.minutes)
                text = re.sub("(?<=<Expiration>)[^<]*", f"{ends:%Y-%m-%dT%H:%M:%SZ}", text)
                self.send_response(200)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *args):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def sts(aws):
    made = Sts(aws.endpoint)
    yield made
    made.close()


def _key_id(authorization):
    return re.search("Credential=([^/]+)/", authorization)[1]


def key_ids(client):
    """Return a list that gets the key of each request."""
    found = []

    def note(request, **_):
        header = request.headers["Authorization"]
        found.append(_key_id(header.decode() if isinstance(header, bytes) else header))

    client.meta.events.register("before-send.kinesis", note)
    return found


def properties(aws, **more):
    return {"aws.region": REGION, "aws.endpoint": aws.endpoint, **more}


def test_a_role_is_assumed_again_before_it_ends(aws, sts):
    told = properties(aws, **ROLE)
    told[f"{PROVIDER}.role.stsEndpoint"] = sts.uri
    told[f"{PROVIDER}.role.externalId"] = "outside"
    client = make_client("kinesis", told)
    assert sts.asked == []
    used = key_ids(client)
    for _ in range(3):
        client.list_streams()
    assert len(sts.asked) == 1
    key, request = sts.asked[0]
    assert key == "ASSUMER"
    assert "role%2Freader" in request
    assert "ExternalId=outside" in request
    assert "RoleSessionName=pyflink-on-spark" in request
    assert len(set(used)) == 1
    client.close()
    sts.asked.clear()
    sts.minutes = 5
    client = make_client("kinesis", told)
    used = key_ids(client)
    for _ in range(3):
        client.list_streams()
    assert len(sts.asked) >= 3
    assert len(set(used)) == 3
    client.close()


def test_a_role_is_assumed_by_another_one(aws, sts):
    inner = f"{PROVIDER}.role.provider"
    told = properties(aws, **{PROVIDER: "ASSUME_ROLE", inner: "ASSUME_ROLE"})
    told |= {
        f"{PROVIDER}.role.arn": "arn:aws:iam::123456789012:role/outer",
        f"{PROVIDER}.role.sessionName": "mine",
        f"{PROVIDER}.role.stsEndpoint": sts.uri,
        f"{inner}.role.arn": "arn:aws:iam::123456789012:role/inner",
        f"{inner}.role.stsEndpoint": sts.uri,
        f"{inner}.role.provider.basic.accesskeyid": "ASSUMER",
        f"{inner}.role.provider.basic.secretkey": "the secret",
    }
    client = make_client("kinesis", told)
    used = key_ids(client)
    client.list_streams()
    client.close()
    (first, _), (second, request) = sts.asked
    assert ["inner" in sts.asked[0][1], "outer" in request] == [True, True]
    assert "RoleSessionName=mine" in request
    assert len({first, second, *used}) == 3
    assert first == "ASSUMER"


def test_a_profile_of_a_file(aws, tmp_path):
    file = tmp_path / "credentials"
    file.write_text("[other]\naws_access_key_id = OTHER\naws_secret_access_key = the secret\n")
    told = {
        PROVIDER: "PROFILE",
        f"{PROVIDER}.profile.name": "other",
        f"{PROVIDER}.profile.path": str(file),
    }
    client = make_client("kinesis", properties(aws, **told))
    used = key_ids(client)
    client.list_streams()
    client.close()
    assert used == ["OTHER"]
    with pytest.raises(ValueError, match=f"profile.path: there is no file {tmp_path}/missing"):
        make_client("kinesis", told | {f"{PROVIDER}.profile.path": f"{tmp_path}/missing"})
    with pytest.raises(KinesisError, match="missing"):
        make_client("kinesis", told | {f"{PROVIDER}.profile.name": "missing"})


def test_what_the_environment_says(aws, monkeypatch):
    told = properties(aws, **{PROVIDER: "ENV_VAR"})
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "THERE")
    with pytest.raises(ValueError, match="AWS_SECRET_ACCESS_KEY is not set"):
        make_client("kinesis", told)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the secret")
    client = make_client("kinesis", told)
    used = key_ids(client)
    client.list_streams()
    client.close()
    assert used == ["THERE"]


def test_nobody_to_assume_a_role(aws):
    told = properties(aws, **ROLE)
    told = {key: value for key, value in told.items() if not key.startswith(f"{PROVIDER}.role.pr")}
    with pytest.raises(ValueError, match=r"no credentials to assume the role arn:.*/reader with"):
        make_client("kinesis", told)


class Noting(dict):
    """Properties that know what was asked for."""

    def __init__(self, *told):
        super().__init__(*told)
        self.asked = set()

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {f"{PROVIDER}.basic.accesskeyid": "a", f"{PROVIDER}.basic.secretkey": "b"},
        {PROVIDER: "PROFILE"},
        ROLE,
    ],
)
def test_what_is_read_is_what_is_known(told, tmp_path):
    (tmp_path / "none").write_text("[default]\n")
    noting = Noting(told)
    credentials = Credentials(noting)
    known = credentials.keys
    noting.asked.clear()
    credentials.session(REGION)
    assert noting.asked == known


def test_a_property_without_effect_is_named(caplog):
    told = {
        **ROLE,
        f"{PROVIDER}.role.arm": "x",
        f"{PROVIDER}.basic.secretkey": "x",
        f"{PROVIDER}.role.provider.basic.sekretkey": "x",
        "flink.stream.initpos": "LATEST",
        "flink.stream.initpost": "LATEST",
    }
    with caplog.at_level(logging.WARNING):
        note_unused(told, {"flink.stream.initpos"})
    assert [record.args[0] for record in caplog.records] == [
        f"{PROVIDER}.basic.secretkey",
        f"{PROVIDER}.role.arm",
        f"{PROVIDER}.role.provider.basic.sekretkey",
        "flink.stream.initpost",
    ]
