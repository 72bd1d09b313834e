"""The record, with ports, by which drivers and commands find the server of all jobs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pyflink_on_spark._operate.view.job_records import home, lives, private_file, private_folder
from pyflink_on_spark._options.own import REST_TOKEN

TOKEN_VARIABLE = "PYFLINK_ON_SPARK_TOKEN"
"""The environment variable with the token, where no option has it."""
_LAST = 2**16 - 1


@dataclass(frozen=True)
class ServerRecord:
    """A server that runs on this machine.

    Args:
        url: of its REST API.
        pid: its process.
        token: what it asks for.
        certificate: its certificate in PEM; None without TLS.
    """

    url: str
    pid: int
    token: str
    certificate: str | None = None

    @property
    def port(self) -> int:
        """The port of the REST API."""
        return int(self.url.rpartition(":")[2])


def server_folder() -> Path:
    """Return the folder of this user's server on this machine, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    return private_folder(home() / "serve" / socket.gethostname())


def write_server(record: ServerRecord) -> None:
    """Let the server be found; the file is private, for it has the token.

    Raises:
        OSError: the file cannot be written.
    """
    _write(server_folder() / "server.json", json.dumps(asdict(record)))


def forget_server(pid: int) -> None:
    """Let a server be found no more, if no other has taken its place.

    Args:
        pid: the process of the server.
    """
    found = running_server()
    if found is not None and found.pid == pid:
        with contextlib.suppress(OSError):
            (server_folder() / "server.json").unlink()


def running_server() -> ServerRecord | None:
    """The server of this user on this machine; None if none runs."""
    file = home() / "serve" / socket.gethostname() / "server.json"
    try:
        record = ServerRecord(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return record if lives(record.pid) else None


def known_token(configuration: Mapping[str, str]) -> str | None:
    """The token that an option or the environment of this process has.

    Args:
        configuration: Flink's options by key.
    """
    return REST_TOKEN.read(configuration) or os.environ.get(TOKEN_VARIABLE) or None


def lasting_token() -> str:
    """The token of this user's servers, made once: a server that starts again has the same.

    Raises:
        OSError: the token cannot be kept.
    """
    file = server_folder() / "token"
    with contextlib.suppress(OSError):
        kept = file.read_text(encoding="ascii").strip()
        if kept:
            return kept
    token = secrets.token_urlsafe(24)
    _write(file, token)
    return token


def _write(file: Path, text: str) -> None:
    """Write a private file as a whole."""
    hidden = file.with_name(f".{file.name}.{os.getpid()}")
    with open(hidden, "w", encoding="utf-8", opener=private_file) as content:
        content.write(text)
    hidden.replace(file)


def port_range(text: str, key: str) -> list[int]:
    """Return the ports that a text names: a number, a range, or several with commas between.

    Args:
        text: the value of an option.
        key: the option.

    Raises:
        ValueError: the text names no port.
    """
    ports: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if found is None:
            raise ValueError(
                f"{key} is {text!r}, which is neither a port nor a range such as 9249-9260"
            )
        first = int(found[1])
        ports += range(first, int(found[2] or first) + 1)
    if not all(port <= _LAST for port in ports):
        raise ValueError(f"{key} is {text!r}, which has a port above {_LAST}")
    return ports
