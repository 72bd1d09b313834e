"""Azure by pyarrow: the key of a job's configuration signs what is sent."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import threading
from urllib.parse import parse_qsl, urlsplit

import pytest

from pyflink_on_spark._filesystem import file_system
from pyflink_on_spark._filesystem.file_system import Scheme
from pyflink_on_spark._filesystem.location import locate
from pyflink_on_spark._filesystem.remote_files import connection

KEY = base64.b64encode(b"the secret").decode()
URI = "abfss://box@acc.dfs.core.windows.net/in"
CONFIGURATION = {"fs.azure.account.key.acc.dfs.core.windows.net": KEY}


@pytest.fixture(autouse=True)
def by_arrow(monkeypatch):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    if not hasattr(pytest.importorskip("pyarrow.fs"), "AzureFileSystem"):
        pytest.skip("this pyarrow has no file system of Azure")
    monkeypatch.setattr(file_system, "_is_there", lambda package: False)


class Azure(http.server.ThreadingHTTPServer):
    """Has no files, and notes who asks with a signature that is right."""

    def __init__(self):
        self.asked = []
        told = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                told.asked.append((self.path, self.headers["Authorization"] == _signed(self)))
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_HEAD = answer  # noqa: N815 - as the base class has it

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)


def _signed(request):
    """Return the request as Azure signs it: the documented signature with a shared key."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    names = ("encoding", "language", "length", "md5", "type")
    plain = [headers.get(f"content-{name}", "") for name in names]
    plain[2] = "" if plain[2] == "0" else plain[2]
    more = ("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range")
    plain += ["", *(headers.get(name, "") for name in more)]
    own = [f"{name}:{value}" for name, value in sorted(headers.items()) if name[:5] == "x-ms-"]
    uri = urlsplit(request.path)
    place = [
        f"/acc{uri.path}",
        *(f"{name}:{value}" for name, value in sorted(parse_qsl(uri.query))),
    ]
    text = "\n".join([request.command, *plain, *own, *place])
    digest = hmac.new(b"the secret", text.encode(), hashlib.sha256).digest()
    return f"SharedKey acc:{base64.b64encode(digest).decode()}"


def test_the_key_of_the_configuration_signs(monkeypatch):
    from pyarrow import fs as arrow

    place = locate(URI, CONFIGURATION)
    assert KEY not in repr(place)
    with Azure() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here, real = f"127.0.0.1:{server.server_address[1]}", arrow.AzureFileSystem
        where = {f"{kind}_storage_authority": here for kind in ("blob", "dfs")}
        where |= {f"{kind}_storage_scheme": "http" for kind in ("blob", "dfs")}
        monkeypatch.setattr(arrow, "AzureFileSystem", lambda **told: real(**told, **where))
        with pytest.raises(OSError, match=rf"^.*{URI}: ") as error:
            place.files.status(place.path)
        server.shutdown()
    assert KEY not in str(error.value)
    assert {path.partition("?")[0].rstrip("/") for path, _ in server.asked} == {"/acc/box"}
    assert all(signed for _, signed in server.asked)


def test_the_container_is_a_part_of_the_path():
    for uri in (URI, URI.replace("abfss", "az"), URI.replace("dfs", "blob")):
        place = locate(uri, CONFIGURATION)
        assert place.files._inside(place.files._connection, place.path) == "box/in"


def test_what_pyarrow_cannot_be_told():
    told = {"token": "the secret"}
    with pytest.raises(ModuleNotFoundError, match=r"no options token .* install gcsfs") as error:
        connection("gs://bucket", Scheme("gs", "gcsfs", "gcsfs", by_arrow=True), told)
    assert "secret" not in str(error.value)
