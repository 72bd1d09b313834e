"""Starts Python workers without a process for each.

For every Python operator PyFlink starts an interpreter whose only work, in a local job, is to ask
the client's process to run the worker in a thread. Its imports cost more than a small job. The
executable made here is a shell script that passes the request to this process.
"""

from __future__ import annotations

import os
import socketserver
import stat
import sys
import threading
from pathlib import Path
from typing import Any

_SCRIPT = """#!/bin/bash
if [[ "$1" = -m && "$2" = pyflink.fn_execution.beam.beam_boot ]]; then
    exec 3<>/dev/tcp/127.0.0.1/{port}
    {{ printf '%s\\0' "$@" ARGUMENTS_END; /usr/bin/env -0; printf 'END\\0'; }} >&3
    read -r reply <&3
    exit 0
fi
if [[ "$1" = -c && "$2" = "import pyflink;import os;print("* ]]; then
    echo {bin}
    exit 0
fi
exec {python} "$@"
"""


class BootServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Takes the place of the interpreters that PyFlink starts.

    Args:
        folder: where the executable is written.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.executable = str(folder / "python")
        self._write()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def _write(self) -> None:
        import pyflink

        assert pyflink.__file__ is not None
        text = _SCRIPT.format(
            port=self.server_address[1],
            python=sys.executable,
            bin=Path(pyflink.__file__).resolve().parent / "bin",
        )
        path = Path(self.executable)
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


class _Request(socketserver.StreamRequestHandler):
    """The arguments and the environment of a worker; answered when the worker ends."""

    def handle(self) -> None:
        arguments = self._until("ARGUMENTS_END")
        environment = dict(entry.split("=", 1) for entry in self._until("END") if "=" in entry)
        options = dict(a[2:].split("=", 1) for a in arguments if a.startswith("--") and "=" in a)
        _start_worker(options, environment)
        self.wfile.write(b"done\n")

    def _until(self, end: str) -> list[str]:
        entries: list[str] = []
        while True:
            entry = b""
            while not entry.endswith(b"\0"):
                byte = self.rfile.read(1)
                if not byte:
                    raise ConnectionError("a worker's request was cut off")
                entry += byte
            text = os.fsdecode(entry[:-1])
            if text == end:
                return entries
            entries.append(text)


def _start_worker(options: dict[str, str], environment: dict[str, str]) -> None:
    from apache_beam.portability.api.org.apache.beam.model.fn_execution.v1 import beam_fn_api_pb2
    from apache_beam.portability.api.org.apache.beam.model.pipeline.v1 import endpoints_pb2
    from pyflink.fn_execution.beam.beam_worker_pool_service import BeamFnLoopbackWorkerPoolServicer

    request: Any = beam_fn_api_pb2.StartWorkerRequest(
        worker_id=options["id"],
        provision_endpoint=endpoints_pb2.ApiServiceDescriptor(url=options["provision_endpoint"]),
        params={
            **environment,
            "SEMI_PERSISTENT_DIRECTORY": options.get("semi_persist_dir", "/tmp"),
        },
    )
    BeamFnLoopbackWorkerPoolServicer().StartWorker(request, None)
