"""The commands for a job of another process: ``list``, ``cancel``, ``stop``, ``savepoint``, ..."""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import functools
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._operate.client.client import (
    OperationError,
    Records,
    RemoteJob,
    ServerRecords,
    find_job,
)
from pyflink_on_spark._operate.server.rest.control import dispose_savepoint
from pyflink_on_spark._operate.view.job_records import (
    LOST,
    JobRecord,
    JobRecords,
    jobs_folder,
    lives,
)
from pyflink_on_spark._operate.view.lost_jobs import checkpoint_of_lost
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.tools.operate.run_options import UsageError, without_cluster
from pyflink_on_spark.tools.operate.submit import find_server

_RULE = "-" * 62
_MOMENT = "%Y-%m-%d %H:%M:%S"
_SHOWN = 20
_FOLLOW_SECONDS = 0.5
_JOB = "the job's id, the beginning of its id, or its name"


def run_operation(name: str, arguments: list[str]) -> int:
    """Carry out a command; return its exit status.

    Args:
        name: one of ``tools.commands.OPERATIONS``.
        arguments: what follows it.
    """
    try:
        own, cluster = without_cluster(arguments)
        server = find_server(cluster)
        for note in cluster.notes:
            print(note, file=sys.stderr)
        records = JobRecords(jobs_folder()) if server is None else ServerRecords(server.door)
        return _OPERATIONS[name](own, records)
    except (OperationError, CheckpointError, OSError, UsageError) as error:
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
        last = failures[0] if failures else {"exceptionName": "unknown", "timestamp": None}
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
    for record, state in jobs:
        print(
            f"{_time(record.started, '%d.%m.%Y %H:%M:%S')} : {record.id} : {record.name} ({state})"
        )
        if told := more(record, state):
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


_FORMATS = ("canonical", "native")
_FORMAT = "canonical, which all savepoints are here"


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
    print(f"{job.record.name} ({job.id}) is {job.state()}: {failures}")
    shown = entries[: options.n or None]
    for each in shown:
        print(f"\n{_time(each['timestamp'], _MOMENT)}  {each['exceptionName']}")
        if each["stacktrace"].strip() != each["exceptionName"]:
            print(textwrap.indent(each["stacktrace"].rstrip(), "    "))
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
        f"{job.record.name} ({job.id}) is {job.state()}: {len(found)} in functions, of which "
        f"{stuck} with the same element for a second"
    )
    for each in sorted(found, key=lambda told: not told["unchanged"]):
        name = each["operator"] or each["task"]
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
    return 0


def _columns(told: dict[str, Any]) -> list[str]:
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
    with contextlib.suppress(KeyError):
        return JobStatus[state].is_globally_terminal_state()
    return True


def _time(milliseconds: int, form: str) -> str:
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).astimezone()
    return moment.strftime(form)


def _parser(name: str, what: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"python -m pyflink_on_spark {name}", description=what)


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
