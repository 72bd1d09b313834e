"""The REST API over the network, and who may use it."""

from __future__ import annotations

import http.client
import json
import socket
from base64 import b64encode

import pytest

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.server.rest.server import PAGES, Access, is_loopback


@pytest.fixture
def served(driver, start):
    """Serve the API; returns a function that sends a request to it."""
    start()
    network = NetworkServer(driver.router)

    def serve(**options):
        network.start({"rest.port": "0", **{k.replace("_", "."): v for k, v in options.items()}})
        host, port = network.url.removeprefix("http://").split(":")

        def send(path, method="GET", body=None, **headers):
            connection = http.client.HTTPConnection(host, int(port), timeout=10)
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            return answer.status, answer.headers, content

        return send

    yield serve
    network.close()


def test_off_by_default(driver):
    network = NetworkServer(driver.router)
    network.start({})
    assert network.url is None


def test_requests_of_this_machine(served):
    status, headers, content = served()("/jobs/overview")
    assert status == 200
    assert headers["Content-Type"] == "application/json; charset=UTF-8"
    assert json.loads(content)["jobs"][0]["name"] == "counter"
    assert "Access-Control-Allow-Origin" not in headers


def test_what_is_wrong_with_a_request(served):
    send = served()
    assert send("/nothing")[0] == 404
    assert send("/jobs/x/stop", "POST", b"[1]")[0] == 400
    assert send("/jobs/x/stop", "POST", b"{")[0] == 400
    assert send("/jobs/x/stop", "POST", Content_Length="99999999999")[0] == 400


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}]
)
def test_a_browser_is_not_used_by_another_page(served, headers):
    assert served()("/jobs/overview", **headers)[0] == 403


def test_the_page_itself_is_served(served):
    send = served()
    for path, (_, kind) in PAGES.items():
        status, headers, content = send(path)
        assert (status, headers["Content-Type"]) == (200, kind)
        assert b"http://" not in content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in content
    assert "default-src 'self'" in headers["Content-Security-Policy"]


def test_another_address_needs_a_token(driver):
    with pytest.raises(EnvironmentSetupError, match=r"set pyflink-on-spark\.rest\.token"):
        NetworkServer(driver.router).start({"rest.port": "0", "rest.bind-address": "0.0.0.0"})


def test_a_token(served):
    send = served(**{"pyflink-on-spark.rest.token": "secret"})
    assert send("/jobs/overview")[0] == 403
    assert send("/jobs/overview", Authorization="Bearer wrong")[0] == 403
    assert send("/jobs/overview", Authorization="Bearer secret")[0] == 200
    assert send("/")[0] == 200


def test_a_token_as_the_password_of_a_client_that_is_no_browser(served):
    send = served(**{"pyflink-on-spark.rest.token": "secret"})
    right, wrong = (f"Basic {b64encode(text).decode()}" for text in (b"me:secret", b"secret:me"))
    assert send("/jobs/overview", Authorization=right)[0] == 200
    for given in (wrong, "Basic", "Basic \xff", f"Basic {b64encode(bytes([255])).decode()}"):
        assert send("/jobs/overview", Authorization=given)[0] == 403
    browser = {"Authorization": right, "Host": "machine:8081"}
    assert Access("secret").refusal(browser) is None
    for header in ({"Origin": "http://machine:8081"}, {"Sec-Fetch-Site": "same-origin"}):
        assert Access("secret").refusal({**browser, **header}) is not None


def test_with_a_token_any_name_will_do():
    access = Access("secret")
    headers = {"Host": "machine:8081", "Authorization": "Bearer secret"}
    assert access.refusal(headers) is None
    assert access.refusal({**headers, "Origin": "http://machine:8081"}) is None
    assert access.refusal({**headers, "Origin": "http://evil"}) is not None


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("localhost", True), ("127.0.0.1", True), ("::1", True), ("0.0.0.0", False), ("", False),
     ("localhost.evil", False)],
)  # fmt: skip
def test_loopback(host, loopback):
    assert is_loopback(host) == loopback


def test_a_port_that_is_taken(driver):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentSetupError, match=r"set rest\.port to another one"):
            NetworkServer(driver.router).start({"rest.port": str(port)})


def test_the_next_port_of_a_range(driver):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        network = NetworkServer(driver.router)
        network.start({"rest.port": f"{port}-{port + 20}"})
        assert int(network.url.rpartition(":")[2]) > port
        network.close()
