"""``python -m pyflink_on_spark serve``: a page and the REST API over all jobs of this user."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._job.job import (
    base_configuration,
    set_base_configuration,
)
from pyflink_on_spark._operate.dispatcher.drivers import Drivers
from pyflink_on_spark._operate.dispatcher.jobs import DispatchedJobsRoutes
from pyflink_on_spark._operate.dispatcher.submissions import SubmissionRoutes, Uploads
from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.server.rest.control import ControlRoutes, Operations
from pyflink_on_spark._operate.server.rest.overview import ProcessRoutes
from pyflink_on_spark._operate.server.rest.routing import Router
from pyflink_on_spark._operate.server.rest.server import PageRoutes, RestLimits
from pyflink_on_spark._operate.view.job_log import LogTail
from pyflink_on_spark._operate.view.job_records import JobRecords, jobs_folder, private_folder
from pyflink_on_spark._operate.view.jobs import OperatedJobs
from pyflink_on_spark._operate.view.server_record import (
    TOKEN_VARIABLE,
    ServerRecord,
    forget_server,
    known_token,
    lasting_token,
    running_server,
    server_folder,
    write_server,
)
from pyflink_on_spark._options.flink import LOG_DIRECTORY, REST_PORT
from pyflink_on_spark._options.own import REST_CERTIFICATE, REST_TOKEN
from pyflink_on_spark.tools.commands import parser_of
from pyflink_on_spark.tools.operate.run import configure_driver_log

_PORT = "8081"
_LONGEST_UPLOAD = 64 * 1024**2
_END_SECONDS = 600.0


def main(arguments: list[str]) -> int:
    """Serve until a signal ends the process.

    Returns:
        0 after a signal, 1 if the server cannot start.
    """
    options = _parser().parse_args(arguments)
    try:
        set_base_configuration(_configuration(options))
        configure_driver_log("INFO")
        other = running_server()
        if other is not None:
            raise EnvironmentSetupError(
                f"the server of this user runs already: {other.url} (process {other.pid})"
            )
        server = Server(base_configuration(), options.prepared)
        _tell(server.record)
        _wait_for_signal()
        server.close(_END_SECONDS if options.end_jobs else 0.0)
    except (EnvironmentSetupError, OSError, ValueError) as error:
        print(f"serve: {error}", file=sys.stderr)
        return 1
    return 0


class Server:
    """The server of all jobs of this user.

    Args:
        configuration: Flink's options by key.
        prepared: how many drivers wait for a script.

    Raises:
        EnvironmentSetupError: the port is not free, or the certificate cannot be read.
        OSError: the folder of this user cannot be written.
    """

    def __init__(self, configuration: Mapping[str, str], prepared: int) -> None:
        token = known_token(configuration) or lasting_token()
        records = JobRecords(jobs_folder())
        uploads = Uploads(private_folder(server_folder() / "scripts"))
        self.drivers = Drivers(prepared, LOG_DIRECTORY.read(configuration))
        self.router = _router(records, self.drivers, uploads)
        self._network = NetworkServer(self.router, RestLimits(upload=_LONGEST_UPLOAD))
        port = {REST_PORT.key: _PORT}
        self._network.start({**port, **configuration, REST_TOKEN.key: token})
        assert self._network.url is not None
        certificate = REST_CERTIFICATE.read(configuration)
        shown = None if certificate is None else Path(certificate).read_text(encoding="ascii")
        self.record = ServerRecord(self._network.url, os.getpid(), token, shown)
        write_server(self.record)
        self.drivers.prepare()

    def close(self, seconds: float = 0.0) -> None:
        """Serve no more.

        Args:
            seconds: how long drivers have to end; 0 lets them live on.
        """
        forget_server(os.getpid())
        self.drivers.close(seconds)
        self._network.close()


def _router(records: JobRecords, drivers: Drivers, uploads: Uploads) -> Router:
    router, none, tail = Router(), OperatedJobs(), LogTail()
    tail.attach()
    for part in (
        PageRoutes(),
        DispatchedJobsRoutes(records),
        SubmissionRoutes(drivers, records, uploads),
    ):
        part.add_to(router)
    ProcessRoutes(none, lambda: None, tail).add_process_to(router)
    ControlRoutes(none, Operations(lambda *_: None)).add_disposal_to(router)
    return router


def _configuration(options: argparse.Namespace) -> dict[str, str]:
    configuration = {}
    for given in options.D:
        key, equals, value = given.partition("=")
        if not (key and equals):
            raise ValueError(f"-D takes KEY=VALUE, not {given!r}")
        configuration[key] = value
    if options.port is not None:
        configuration[REST_PORT.key] = options.port
    return configuration


def _tell(record: ServerRecord) -> None:
    """Say where the page is; the part of a URL after # stays in the browser."""
    if sys.stdout.isatty():
        print(f"The jobs of this user are at {record.url}/#token={record.token}", flush=True)
    else:
        print(f"The jobs of this user are at {record.url}", flush=True)
        print(f"The token is in {_place_of_token()}", flush=True)


def _place_of_token() -> str:
    configuration = base_configuration()
    if REST_TOKEN.read(configuration):
        return REST_TOKEN.key
    return str(server_folder() / "token") if known_token(configuration) is None else TOKEN_VARIABLE


def _wait_for_signal() -> None:
    ending = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: ending.set())
    ending.wait()


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "serve",
        "Serve a page and Flink's REST API over all jobs of this user, those that run and those "
        "that have ended, and run scripts that are submitted. Jobs live on without it.",
    )
    parser.add_argument("--port", metavar="PORT", help=f"as rest.port; {_PORT} if neither is given")
    parser.add_argument(
        "--prepared", type=int, default=1, metavar="N",
        help="how many drivers wait with a started Spark for scripts; default: 1",
    )  # fmt: skip
    parser.add_argument(
        "--end-jobs", action="store_true",
        help="at the end send SIGTERM to the drivers that it has started, and wait for them",
    )  # fmt: skip
    parser.add_argument(
        "-D", action="append", default=[], metavar="KEY=VALUE",
        help="an option, such as rest.bind-address; others are in FLINK_CONF_DIR/config.yaml",
    )  # fmt: skip
    return parser
