"""A server that speaks OpenSearch's API and keeps its documents in memory, and one of faults."""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError

import pytest


class SearchServer:
    """A clone of the server, with no index.

    Args:
        url: where it listens.
    """

    def __init__(self, url):
        self.url = url

    def documents(self, index):
        """Return the documents of an index by their ids."""
        self._ask("POST", f"/{index}/_refresh")
        found = self._ask("GET", f"/{index}/_search?size=10000")
        return {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"]}

    def indices(self):
        """Return the names of all indices."""
        return sorted(each["index"] for each in self._ask("GET", "/_cat/indices?format=json"))

    def create(self, index, properties):
        """Create an index with types of its fields."""
        self._ask("PUT", f"/{index}", {"mappings": {"properties": properties}})

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()}") from None


@pytest.fixture(scope="package")
def base():
    osmem = pytest.importorskip("osmem_server")
    with osmem.OsmemServer.start(japanese=False) as running:
        yield running


@pytest.fixture
def search(base):
    """A server without documents."""
    with base.clone() as clone:
        yield SearchServer(clone.url)


class Scripted:
    """A server that gives the answers of a list, then accepts everything.

    Args:
        answers: each is a status, or the statuses of the items, or None to hang up, or the text.
    """

    def __init__(self, answers):
        self.answers, self.requests, self.url = list(answers), [], ""

    def answer(self, body):
        """Return the status and the text for a request."""
        lines = body.decode().splitlines()
        count = sum(next(iter(json.loads(line))) in {"index", "update", "delete"} for line in lines)
        given = self.answers.pop(0) if self.answers else [200] * count
        if isinstance(given, str):
            return 200, given
        if given is None or isinstance(given, int):
            return given, json.dumps({"error": {"type": "refused", "reason": "no"}})
        items = [
            {"index": {"status": status} | ({} if status < 400 else {"error": _ERROR})}
            for status in given
        ]
        return 200, json.dumps({"items": items})


_ERROR = {"type": "rejected", "reason": "the queue is full"}


@pytest.fixture
def scripted():
    """Start servers with scripted answers."""
    with contextlib.ExitStack() as stack:
        yield lambda *answers: stack.enter_context(_running(Scripted(answers)))


@contextlib.contextmanager
def _running(script):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            script.requests.append((self.path, dict(self.headers), body.decode()))
            status, text = script.answer(body)
            if status is None:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
