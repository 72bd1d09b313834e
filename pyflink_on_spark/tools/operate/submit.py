"""``run -m HOST:PORT``: a script runs in a driver that the server of all jobs starts."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pyflink_on_spark._job.submission.base_configuration import (
    base_configuration,
    set_base_configuration,
)
from pyflink_on_spark._operate.client.client import Door, OperationError, content_of
from pyflink_on_spark._operate.server.rest.server import is_loopback
from pyflink_on_spark._operate.view.jobs import INITIALIZING
from pyflink_on_spark._operate.view.server_record import (
    TOKEN_VARIABLE,
    known_token,
    running_server,
)
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.tools.operate.run import check_script
from pyflink_on_spark.tools.operate.run_options import RunOptions, UsageError

_LOOK_SECONDS = 0.1
_BEGIN_SECONDS = 60.0
_PROBE_SECONDS = 2.0
_TOKEN = (
    f"set {TOKEN_VARIABLE}. The server keeps the token that it has made in "
    "~/.pyflink-on-spark/serve/HOST/token of the user who runs it"
)
_INTERRUPTED = 130
_BEGINNING = {JobStatus.CREATED.name, INITIALIZING}


@dataclass(frozen=True)
class FoundServer:
    """A server that takes scripts.

    Args:
        door: the way to it.
        here: whether it is the server of this user on this machine, and reads this user's files.
    """

    door: Door
    here: bool


def find_server(options: RunOptions) -> FoundServer | None:
    """The server that ``-m`` names; None for an address without one, which a note then says.

    An address is that of a server if the server of this user has it, or if a token for it is known.

    Args:
        options: those of the command line.

    Raises:
        UsageError: there is a token, and no server.
    """
    address = options.jobmanager
    if address is None:
        return None
    if "//" not in address:
        address = f"http://{address}"
    parts = urlsplit(address)
    record = running_server()
    if record is not None and _port(parts.netloc) == record.port and _is_here(parts.hostname):
        return FoundServer(Door(record.url, record.token), here=True)
    set_base_configuration(options.configuration)
    token = known_token(base_configuration())
    if _port(parts.netloc) is None or (token is None and not _asks_for_token(address)):
        options.notes.append(f"-m {options.jobmanager}: {options.no_server}")
        return None
    if token is None:
        raise UsageError(f"-m {options.jobmanager}: what answers there asks for a token; {_TOKEN}")
    door = Door(address, token)
    try:
        reply = door.ask("GET", "/config")
        if reply.status == http.client.FORBIDDEN:
            raise UsageError(f"-m {options.jobmanager}: the token is not that server's; {_TOKEN}")
        taking = content_of(reply)["features"]["web-submit"]
    except (OSError, http.client.HTTPException, OperationError) as error:
        raise UsageError(
            f"-m {options.jobmanager}: {error}; `serve` starts the server that takes scripts, and "
            "without -m the script runs in this process"
        ) from error
    if not taking:
        raise UsageError(f"-m {options.jobmanager}: what answers there takes no scripts")
    return FoundServer(door, here=False)


def _asks_for_token(address: str) -> bool:
    """True if a server of jobs answers there and refuses who sends no token."""
    try:
        reply = Door(address).ask("GET", "/config", seconds=_PROBE_SECONDS)
        return reply.status == http.client.FORBIDDEN and "token" in str(json.loads(reply.content))
    except (OSError, http.client.HTTPException, ValueError):
        return False


def _port(place: str) -> int | None:
    text = place.rpartition(":")[2]
    return int(text) if text.isascii() and text.isdigit() else None


def _is_here(host: str | None) -> bool:
    return host is not None and (is_loopback(host) or host == socket.gethostname())


def submit(
    options: RunOptions, server: FoundServer, sleep: Callable[[float], None] = time.sleep
) -> int:
    """Let a server run a script; return the exit status.

    Args:
        options: those of the command line.
        server: where to.
        sleep: waits.
    """
    script = check_script(options)
    body: dict[str, Any] = {
        "arguments": options.arguments,
        "options": {**options.configuration, **options.spark},
        "module": options.module,
        "title": Path(script).name,
    }
    try:
        if server.here:
            body |= {
                "script": script if options.module else os.path.abspath(script),
                "directory": os.getcwd(),
                "environment": dict(os.environ),
                "interpreter": sys.executable,
            }
        else:
            body["upload"] = _upload(server.door, script, options)
        driver = server.door.told("POST", "/drivers", body)
        run = _Run(server.door, driver, sleep)
        return run.begin() if options.detached else run.follow()
    except (OSError, http.client.HTTPException, OperationError) as error:
        print(f"run -m: {server.door.address}: {error}", file=sys.stderr)
        return 1


def _upload(door: Door, script: str, options: RunOptions) -> str:
    if options.module:
        raise OperationError("-pym names a module of this machine, and the server is on another")
    boundary = uuid.uuid4().hex
    head = f'Content-Disposition: form-data; name="jarfile"; filename="{Path(script).name}"'
    content = b"\r\n".join(
        [
            f"--{boundary}".encode(),
            head.encode(),
            b"Content-Type: application/octet-stream",
            b"",
            Path(script).read_bytes(),
            f"--{boundary}--".encode(),
            b"",
        ]
    )
    kind = f"multipart/form-data; boundary={boundary}"
    told = content_of(door.ask("POST", "/jars/upload", content, kind=kind, seconds=600))
    return str(told["filename"]).rpartition("/")[2]


class _Run:
    """A script in a driver of the server.

    Args:
        door: the way to the server.
        driver: what the server has told of the driver.
        sleep: waits.
    """

    def __init__(
        self, door: Door, driver: Mapping[str, Any], sleep: Callable[[float], None]
    ) -> None:
        self._door, self._driver, self._sleep = door, driver, sleep
        self._read = 0
        self._job: str | None = None

    def follow(self) -> int:
        """Show the log until the driver ends; return its exit status."""
        try:
            while True:
                about = self._look()
                self._show_log()
                if about["exit-status"] is not None:
                    self._show_log()
                    return _shell_status(about["exit-status"])
                self._sleep(_LOOK_SECONDS)
        except KeyboardInterrupt:
            where = f"{self._door.address} shows it, and `cancel` ends it"
            print(f"\nThe driver continues: {where}", file=sys.stderr)
            return _INTERRUPTED

    def begin(self) -> int:
        """Wait until the first job runs, or the driver has ended; return the exit status."""
        begun, waited = False, 0.0
        while not begun:
            about = self._look()
            if about["exit-status"] is not None and self._job is None:
                self._show_log()
                return _shell_status(about["exit-status"])
            if self._job is not None:
                status = self._door.told("GET", f"/jobs/{quote(self._job)}/status")["status"]
                begun = status not in _BEGINNING or waited > _BEGIN_SECONDS
                waited += _LOOK_SECONDS
            if not begun:
                self._sleep(_LOOK_SECONDS)
        print(f"Its log is {about['log']}")
        return 0

    def _look(self) -> dict[str, Any]:
        about: dict[str, Any] = self._door.told("GET", f"/drivers/{self._driver['id']}")
        if self._job is None and about["jobs"]:
            self._job = str(about["jobs"][0]["id"])
            print(f"Job has been submitted with JobID {self._job}", flush=True)
        return about

    def _show_log(self) -> None:
        path = f"/drivers/{self._driver['id']}/log?from={self._read}"
        reply = self._door.ask("GET", path)
        if reply.status == http.client.OK and reply.content:
            self._read += len(reply.content)
            sys.stdout.buffer.write(reply.content)
            sys.stdout.flush()


def _shell_status(status: int) -> int:
    """The exit status as shells know it; that of a process that a signal has ended is negative."""
    return status if status >= 0 else 128 - status
