"""A file gets another name, or an error says that it did not."""

from __future__ import annotations

import http.server
import json
import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.filesystem.place import Place


class WebHdfs(http.server.ThreadingHTTPServer):
    """Answers as Hadoop does: a file that cannot be renamed is no error, but "false"."""

    def __init__(self):
        self.files, self.writable = set(), True
        told = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                uri = urlsplit(self.path)
                asked = {name: values[0] for name, values in parse_qs(uri.query).items()}
                path = uri.path.removeprefix("/webhdfs/v1")
                status, found = told.answer(path, asked["op"], asked.get("destination"))
                content = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_DELETE = answer  # noqa: N815 - as the base class has it

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    def answer(self, path, operation, target):
        if operation == "GETFILESTATUS":
            if path in self.files:
                return 200, {"FileStatus": {"type": "FILE", "length": 1, "pathSuffix": ""}}
            missing = {"exception": "FileNotFoundException", "message": path}
            return 404, {"RemoteException": missing}
        if operation == "DELETE":
            done = path in self.files
            self.files.discard(path)
        else:
            done = self.writable and path in self.files and target not in self.files
            if done:
                self.files.remove(path)
                self.files.add(target)
        return 200, {"boolean": done}


@pytest.fixture
def hdfs():
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    pytest.importorskip("requests", reason="requests is not installed")
    with WebHdfs() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_hadoop_over_the_web(hdfs):
    place = Place(f"webhdfs://127.0.0.1:{hdfs.server_address[1]}")
    new, old = f"{place.path}/new", f"{place.path}/old"
    hdfs.files |= {"/new", "/old"}
    place.files.rename(new, old)
    assert hdfs.files == {"/old"}
    with pytest.raises(FileNotFoundError):
        place.files.rename(new, f"{place.path}/other")
    hdfs.writable = False
    with pytest.raises(OSError, match="cannot be renamed to /other"):
        place.files.rename(old, f"{place.path}/other")
    assert hdfs.files == {"/old"}
