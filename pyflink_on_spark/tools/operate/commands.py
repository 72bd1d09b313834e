"""The commands for a job of another process: ``list``, ``cancel``, ``stop``, ``savepoint``, ..."""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import functools
import http.client
import io
import json
import os
import socket
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import quote, urlsplit

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._graph.physical_graph import execution_plan_json
from pyflink_on_spark._job.job import Job, base_configuration, set_base_configuration
from pyflink_on_spark._operate.client import (
    Door,
    OperationError,
    Records,
    RemoteJob,
    ServerRecords,
    content_of,
    find_job,
)
from pyflink_on_spark._operate.server.rest.control import dispose_savepoint
from pyflink_on_spark._operate.server.rest.server import is_loopback
from pyflink_on_spark._operate.view.job_log import for_people
from pyflink_on_spark._operate.view.job_records import (
    LOST,
    JobRecord,
    JobRecords,
    jobs_folder,
    lives,
)
from pyflink_on_spark._operate.view.jobs import INITIALIZING, checkpoint_of_lost
from pyflink_on_spark._operate.view.server_record import TOKEN_VARIABLE, known_token, running_server
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.tools.operate.run_options import (
    RunOptions,
    UsageError,
    check_script,
    without_cluster,
)
from pyflink_on_spark.tools.plain_text import in_line, plain

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.routing import JsonObject


_RULE = "-" * 62
_MOMENT = "%Y-%m-%d %H:%M:%S"
_SHOWN = 20
_FOLLOW_SECONDS = 0.5
_JOB = "the job's id, the beginning of its id, or its name"
_FORMATS = ("canonical", "native")
_FORMAT = "canonical, which all savepoints are here"
_LOOK_SECONDS = 0.1
_BEGIN_SECONDS = 60.0
_PROBE_SECONDS = 2.0
_TOKEN = (
    f"set {TOKEN_VARIABLE}. The server keeps the token that it has made in "
    "~/.pyflink-on-spark/serve/HOST/token of the user who runs it"
)
_INTERRUPTED = 130
_BEGINNING = {JobStatus.CREATED.name, INITIALIZING}


class _PlainText(io.TextIOBase):
    """Writes texts of jobs, in which nothing is a command of the terminal.

    Args:
        stream: where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, with an escape in place of each command."""
        self._stream.write(plain(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


def run_operation(name: str, arguments: list[str]) -> int:
    """Carry out a command; return its exit status.

    Args:
        name: one of ``tools.commands.OPERATIONS``.
        arguments: what follows it.
    """
    output, errors = _PlainText(sys.stdout), _PlainText(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        return _run_operation(name, arguments)


def _run_operation(name: str, arguments: list[str]) -> int:
    try:
        own, cluster = without_cluster(arguments)
        server = find_server(cluster)
        for note in cluster.notes:
            print(note, file=sys.stderr)
        records = JobRecords(jobs_folder()) if server is None else ServerRecords(server.door)
        status = _OPERATIONS[name](own, records)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        from pyflink_on_spark.tools.operate.run import close_output

        return close_output()
    except (OperationError, CheckpointError, ImportError, OSError, UsageError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _list(arguments: list[str], records: Records) -> int:
    parser = _parser("list", "List the jobs of this user on this machine.")
    parser.add_argument("-r", "--running", action="store_true", help="those that run: the default")
    parser.add_argument("-a", "--all", action="store_true", help="also those that have ended")
    parser.add_argument("-s", "--scheduled", action="store_true", help="those that wait: none")
    parser.add_argument(
        "--limit", type=int, default=_SHOWN, metavar="N",
        help=f"how many of those that have ended; default: {_SHOWN}, 0: all",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    jobs = [(record, _state(record, records)) for record in records.all()]
    print("Waiting for response...")
    running = [(r, state) for r, state in jobs if not _over(state)]
    if options.running or not options.scheduled or options.all:
        troubles = functools.partial(_troubles_of, records=records)
        _print_jobs("Running/Restarting Jobs", running, "No running jobs.", troubles)
    if options.scheduled or not options.running:
        print("No scheduled jobs.")
    if options.all:
        ended = [(r, state) for r, state in jobs if _over(state)]
        shown = ended[-options.limit :]
        end_of = functools.partial(_end_of, records=records)
        _print_jobs("Terminated Jobs", shown, "No terminated jobs.", end_of)
        if len(shown) < len(ended):
            print(f"{len(ended) - len(shown)} more have ended before: list -a --limit 0")
    return 0


def _troubles_of(record: JobRecord, state: str, records: Records) -> str:
    """The restarts of a job, and what it waits for; empty for none."""
    with contextlib.suppress(OperationError):
        waits = RemoteJob(record, records).get().get("waits-for")
        return "; ".join(each for each in (_restarts_of(record, state, records), waits) if each)
    return ""


def _restarts_of(record: JobRecord, state: str, records: Records) -> str:
    """The number of restarts and the last cause; empty for a job that has not restarted."""
    if state not in {JobStatus.RESTARTING.name, JobStatus.RUNNING.name}:
        return ""
    with contextlib.suppress(OperationError):
        job = RemoteJob(record, records)
        count = next(iter(job.get("/metrics?get=numRestarts")), {"value": "?"})["value"]
        if str(count) == "0":
            return ""
        failures = job.get("/exceptions")["exceptionHistory"]["entries"]
        last: JsonObject = {"exceptionName": "unknown", "timestamp": None}
        if failures:
            last = failures[0]
        if state == JobStatus.RESTARTING.name:
            return f"restart {count}, because of {last['exceptionName']}"
        moment = f" at {_time(last['timestamp'], _MOMENT)}" if last["timestamp"] else ""
        return f"restart {count}{moment} was because of {last['exceptionName']}"
    return ""


def _end_of(record: JobRecord, state: str, records: Records) -> str:
    """The cause of a failure, the place of the log, and where a killed job can continue."""
    log = record.log if state in {LOST, JobStatus.FAILED.name} else None
    found = checkpoint_of_lost(records.archived(record.id)) if state == LOST else None
    told = (record.cause, log and f"log: {log}", found and f"latest checkpoint: {found}")
    return "; ".join(each for each in told if each)


def _print_jobs(
    title: str,
    jobs: Sequence[tuple[JobRecord, str]],
    none: str,
    more: Callable[[JobRecord, str], str],
) -> None:
    if not jobs:
        print(none)
        return
    print(f" {title} ".center(len(_RULE), "-"))
    for job, state in jobs:
        print(
            f"{_time(job.started, '%d.%m.%Y %H:%M:%S')} : {job.id} : {in_line(job.name)} ({state})"
        )
        if told := more(job, state):
            print(f"    {told}")
    print(_RULE)


def _cancel(arguments: list[str], records: Records) -> int:
    parser = _parser("cancel", "Cancel a job; its checkpoints stay if they are retained.")
    parser.add_argument("job", metavar="JOB", nargs="?", help=_JOB)
    parser.add_argument(
        "-s", "--withSavepoint", nargs="?", const="", metavar="DIR", help="as `stop` does it"
    )
    options = parser.parse_args(arguments)
    if options.job is None and options.withSavepoint:  # `-s JOB`: the folder may be left out
        options.job, options.withSavepoint = options.withSavepoint, ""
    if options.job is None:
        parser.error("which job? cancel JOB")
    job = find_job(options.job, records)
    if options.withSavepoint is not None:
        return _stop_job(job, options.withSavepoint or None, drain=False)
    print(f"Cancelling job {job.id}.")
    job.request("PATCH", "?mode=cancel")
    state = job.wait_for_end()
    if state != JobStatus.CANCELED.name:
        raise OperationError(f"the job {job.id} was not cancelled: it is {state}")
    print(f"Cancelled job {job.id}.")
    return 0


def _stop(arguments: list[str], records: Records) -> int:
    parser = _parser("stop", "Stop a job with a savepoint.")
    parser.add_argument("job", metavar="JOB", help=_JOB)
    parser.add_argument(
        "-p", "--savepointPath", metavar="DIR",
        help="where to write it; default: execution.checkpointing.savepoint-dir",
    )  # fmt: skip
    parser.add_argument(
        "-d", "--drain", action="store_true", help="let all windows and timers fire before"
    )
    _add_savepoint_options(parser)
    options = parser.parse_args(arguments)
    _tell_format(options.type)
    job = find_job(options.job, records)
    return _stop_job(job, options.savepointPath, options.drain, options.detached)


def _add_savepoint_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-type", "--type", choices=_FORMATS, type=str.lower, help=_FORMAT)
    parser.add_argument(
        "-detached", "--detached", action="store_true",
        help="print the id of the request, and do not wait",
    )  # fmt: skip


def _tell_format(name: str | None) -> None:
    if name == "native":
        print("-type native: passed over, since savepoints have one format here", file=sys.stderr)


def _stop_job(job: RemoteJob, place: str | None, drain: bool, detached: bool = False) -> int:
    print(f'Suspending job "{job.id}" with a CANONICAL savepoint.')
    body = {"drain": drain, "targetDirectory": place, "formatType": "CANONICAL"}
    request = job.request("POST", "/stop", body)["request-id"]
    print(f"Triggering stop-with-savepoint for job {job.id}.\nWaiting for response...")
    if detached:
        return _triggered("stop-with-savepoint", job, request)
    print(f"Savepoint completed. Path: {job.path_of(request)}")
    return 0


def _savepoint(arguments: list[str], records: Records) -> int:
    parser = _parser("savepoint", "Write a savepoint of a job that continues, or remove one.")
    parser.add_argument("job", metavar="JOB", nargs="?", help=_JOB)
    parser.add_argument(
        "directory", metavar="DIR", nargs="?",
        help="where to write it; default: execution.checkpointing.savepoint-dir",
    )  # fmt: skip
    parser.add_argument("-d", "--dispose", metavar="PATH", help="remove this savepoint")
    parser.add_argument("-j", "--jarfile", metavar="JAR", help=argparse.SUPPRESS)
    _add_savepoint_options(parser)
    options = parser.parse_args(arguments)
    if options.jarfile is not None:
        print(f"-j {options.jarfile}: passed over, since no class is needed", file=sys.stderr)
    _tell_format(options.type)
    if options.dispose is not None:
        return _dispose(options.dispose)
    if options.job is None:
        parser.error("which job? savepoint JOB [DIR]")
    job = find_job(options.job, records)
    print(f"Triggering savepoint for job {job.id}.\nWaiting for response...")
    body = {"cancel-job": False, "target-directory": options.directory}
    request = job.request("POST", "/savepoints", body)["request-id"]
    if options.detached:
        return _triggered("savepoint", job, request)
    print(f"Savepoint completed. Path: {job.path_of(request)}")
    print("You can resume your program from this savepoint with the run command.")
    return 0


def _triggered(what: str, job: RemoteJob, request: str) -> int:
    print(f"Successfully triggered {what} for job {job.id}, the trigger id is {request}.")
    return 0


def _dispose(path: str) -> int:
    print(f"Disposing savepoint '{path}'.\nWaiting for response...")
    dispose_savepoint(path)
    print(f"Savepoint '{path}' disposed.")
    return 0


def _checkpoint(arguments: list[str], records: Records) -> int:
    parser = _parser("checkpoint", "Write a checkpoint of a job that continues.")
    parser.add_argument("job", metavar="JOB", help=_JOB)
    parser.add_argument("-full", "--full", action="store_true", help="with all state")
    options = parser.parse_args(arguments)
    job = find_job(options.job, records)
    print(f"Triggering checkpoint for job {job.id}.\nWaiting for response...")
    body = {"checkpointType": "FULL" if options.full else "CONFIGURED"}
    request = job.request("POST", "/checkpoints", body)["request-id"]
    print(f"Checkpoint {job.checkpoint_of(request)} for job {job.id} is completed.")
    return 0


def _checkpoints(arguments: list[str], records: Records) -> int:
    parser = _parser("checkpoints", "List the latest checkpoints and savepoints of a job.")
    parser.add_argument("job", metavar="JOB", help=_JOB)
    job = find_job(parser.parse_args(arguments).job, records)
    told = job.get("/checkpoints")
    counts = told["counts"]
    print(
        f"{counts['completed']} completed, {counts['failed']} failed, {counts['in_progress']} in "
        f"progress, {counts['restored']} restored"
    )
    if (restored := told["latest"]["restored"]) is not None:
        print(f"began with {restored['id']}: {restored['external_path']}")
    if job.record.state == LOST and (found := checkpoint_of_lost(records.archived(job.id))):
        print(f"the latest complete one, from which `run -s` continues: {found}")
    for each in told["history"]:
        print("  ".join(_columns(each)))
    return 0


def _exceptions(arguments: list[str], records: Records) -> int:
    parser = _parser("exceptions", "Show the failures of a job, the latest first.")
    parser.add_argument("job", metavar="JOB", help=_JOB)
    parser.add_argument("-n", type=int, default=5, metavar="N", help="how many; default: 5, 0: all")
    options = parser.parse_args(arguments)
    job = find_job(options.job, records)
    entries = job.get("/exceptions")["exceptionHistory"]["entries"]
    failures = "1 failure" if len(entries) == 1 else f"{len(entries)} failures"
    print(f"{in_line(job.record.name)} ({job.id}) is {job.state()}: {failures}")
    shown = entries[: options.n or None]
    for each in shown:
        print(f"\n{_time(each['timestamp'], _MOMENT)}  {each['exceptionName']}")
        if each["stacktrace"].strip() != each["exceptionName"]:
            print(textwrap.indent(for_people(each["stacktrace"]).rstrip(), "    "))
    if len(shown) < len(entries):
        print(f"\n{len(entries) - len(shown)} more: exceptions {options.job} -n 0")
    return 0


def _stacks(arguments: list[str], records: Records) -> int:
    parser = _parser("stacks", "Show what the functions of a job do now, the stuck ones first.")
    parser.add_argument("job", metavar="JOB", help=_JOB)
    job = find_job(parser.parse_args(arguments).job, records)
    found = job.get("/stacks")["stacks"]
    stuck = sum(each["unchanged"] for each in found)
    print(
        f"{in_line(job.record.name)} ({job.id}) is {job.state()}: {len(found)} in functions, of "
        f"which {stuck} with the same element for a second"
    )
    for each in sorted(found, key=lambda told: not told["unchanged"]):
        name = in_line(for_people(each["operator"] or each["task"]))
        print(f"\n{name}, subtask {each['subtask']}{', unchanged' if each['unchanged'] else ''}")
        for what in ("element", "key"):
            if each[what]:
                print(f"    {what}: {each[what]}")
        print(textwrap.indent("\n".join(each["frames"]), "    "))
    return 0


def _logs(arguments: list[str], records: Records) -> int:
    parser = _parser("logs", "Show the end of the log of a job, which may have ended.")
    parser.add_argument("job", metavar="JOB", help=_JOB)
    parser.add_argument(
        "-n", type=int, default=100, metavar="N", help="how many lines; default: 100, 0: all"
    )
    parser.add_argument(
        "-f", "--follow", action="store_true", help="continue until the driver ends, if detached"
    )
    options = parser.parse_args(arguments)
    job = find_job(options.job, records)
    path = job.record.log
    if path is None:
        lines = job.log().splitlines(keepends=True)
        sys.stdout.writelines(lines[-options.n :])
        _tell_end(job.id, records)
        return 0
    with open(path, encoding="utf-8", errors="replace") as file:
        kept = collections.deque(file, maxlen=options.n or None)
        sys.stdout.writelines(kept)
        while options.follow:
            alive = lives(job.record.pid)
            sys.stdout.writelines(file)
            sys.stdout.flush()
            if not alive:
                break
            time.sleep(_FOLLOW_SECONDS)
    _tell_end(job.id, records)
    return 0


def _tell_end(job_id: str, records: Records) -> None:
    """Print the cause of a failure or a loss, after all the output of Java."""
    job = find_job(job_id, records)
    state, why = job.record.state, job.record.cause
    if state == LOST:
        with contextlib.suppress(OperationError):
            why = job.get("/exceptions")["root-exception"]
    if why and state in {LOST, JobStatus.FAILED.name}:
        print(f"{in_line(job.record.name)} ({job.id}) is {state}: {why}")


def _columns(told: JsonObject) -> list[str]:
    kind = "savepoint" if told["is_savepoint"] else "checkpoint"
    return [
        f"{told['id']:>6}",
        _time(told["trigger_timestamp"], _MOMENT),
        f"{kind:<10}",
        f"{told['status']:<11}",
        f"{told['end_to_end_duration']:>6} ms",
        f"{told['state_size']:>10,} bytes",
        str(told.get("external_path") or told.get("failure_message") or ""),
    ]


def _state(record: JobRecord, records: Records) -> str:
    return record.state if record.over else RemoteJob(record, records).state()


def _over(state: str) -> bool:
    return state == LOST or (
        state != INITIALIZING and JobStatus[state].is_globally_terminal_state()
    )


def _time(milliseconds: int, form: str) -> str:
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).astimezone()
    return moment.strftime(form)


def _parser(name: str, what: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"python -m pyflink_on_spark {name}", description=what, epilog=_ADDRESS
    )


_ADDRESS = (
    "-m HOST:PORT, or https://HOST:PORT, asks the server of all jobs (`serve`) there, with the "
    f"token in {TOKEN_VARIABLE}. Other options that name a cluster of Flink are passed over with a "
    "line."
)


_OPERATIONS: dict[str, Callable[[list[str], Records], int]] = {
    "list": _list,
    "cancel": _cancel,
    "stop": _stop,
    "savepoint": _savepoint,
    "checkpoint": _checkpoint,
    "checkpoints": _checkpoints,
    "exceptions": _exceptions,
    "stacks": _stacks,
    "logs": _logs,
}


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
        return FoundServer(Door(record.url, record.token, record.certificate), here=True)
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
            "without -m the script runs in this process; the address of a server with TLS begins "
            "with https://, and SSL_CERT_FILE names a certificate that this machine does not know"
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
    body: dict[str, object] = {
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
        self, door: Door, driver: Mapping[str, object], sleep: Callable[[float], None]
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

    def _look(self) -> JsonObject:
        about: JsonObject = self._door.told("GET", f"/drivers/{self._driver['id']}")
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


def show_plan(options: RunOptions) -> int:
    """Print the plan of a script's first job, as ``flink info`` does.

    Args:
        options: those of ``run``.
    """
    job = first_job(options)
    if job is None or job.graph is None:
        print(f"info: {options.script} ran to its end without executing a job", file=sys.stderr)
        return 1
    print("----------------------- Execution Plan -----------------------")
    print(execution_plan_json(job.graph))
    print("--------------------------------------------------------------")
    return 0


def first_job(options: RunOptions) -> Job | None:
    """The first job that a script would run and that has a graph; None if there is none.

    Args:
        options: those of ``run``.

    Raises:
        UsageError: they cannot be carried out.
        SystemExit: the script fails before.
    """
    from pyflink_on_spark.tools.operate.run import configure, job_files
    from pyflink_on_spark.tools.plan.recording import record

    configure(options, None)
    script = Path(check_script(options))
    with contextlib.redirect_stdout(sys.stderr):  # what the script itself prints
        jobs = record(script, options.arguments, job_files(), module=options.module)
    return next((job for job in jobs if job.graph is not None), None)
