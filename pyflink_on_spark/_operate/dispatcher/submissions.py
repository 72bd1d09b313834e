"""Answers the requests that bring scripts and run them, by Flink's paths for jars."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pyflink_on_spark._operate.dispatcher.drivers import (
    PYTHON_DRIVER,
    Driver,
    Drivers,
    Submission,
)
from pyflink_on_spark._operate.server.rest.overview import part_of_log
from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    INTERNAL_ERROR,
    NOT_FOUND,
    Answer,
    FormPart,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.view.job_records import JobRecord, JobRecords, private_file
from pyflink_on_spark._options import checkpointing, flink, python
from pyflink_on_spark._options.secrets import masked_text

_UPLOAD = re.compile(r"[0-9a-f]{32}_[\w.-]{1,100}\.(?:py|zip)", re.ASCII)
_KINDS = (".py", ".zip")
_MOST_UPLOADS = 200
_WAIT_SECONDS = 120.0
_LOOK_SECONDS = 0.02
_SHOWN_LINES = 20
_MAIN = "__main__"


class Uploads:
    """The scripts that clients have brought.

    Args:
        folder: where they are; only this user can enter it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, part: FormPart) -> Path:
        """Keep a script under a name of our own.

        Raises:
            RestError: it is no script, or there are too many.
            OSError: it cannot be written.
        """
        name = re.sub(r"[^\w.-]", "_", re.split(r"[/\\]", part.name)[-1], flags=re.ASCII)[-100:]
        if not name.endswith(_KINDS):
            raise RestError(
                BAD_REQUEST,
                f"{name} is neither a script (.py) nor a zip file with a __main__.py; jars need "
                "Flink's JVM",
            )
        if sum(1 for _ in self.all()) >= _MOST_UPLOADS:
            raise RestError(BAD_REQUEST, f"There are {_MOST_UPLOADS} scripts: remove some before.")
        file = self._folder / f"{uuid.uuid4().hex}_{name}"
        with open(file, "xb", opener=private_file) as content:
            content.write(part.content)
        return file

    def all(self) -> Iterator[Path]:
        """All scripts."""
        return (file for file in self._folder.iterdir() if _UPLOAD.fullmatch(file.name))

    def get(self, upload_id: str) -> Path:
        """A script.

        Raises:
            RestError: there is no such script.
        """
        file = self._folder / upload_id
        if not _UPLOAD.fullmatch(upload_id) or not file.is_file():
            raise RestError(NOT_FOUND, f"There is no script {upload_id[:140]}.")
        return file


class SubmissionRoutes:
    """Answers the requests that run scripts.

    Args:
        drivers: runs them.
        records: the jobs of all drivers.
        uploads: the scripts.
        now: a monotonic clock, in s.
    """

    def __init__(
        self,
        drivers: Drivers,
        records: JobRecords,
        uploads: Uploads,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._drivers, self._records, self._uploads = drivers, records, uploads
        self._now = now

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jars", self.uploads)
        router.add("POST", "/jars/upload", self.upload)
        router.add("DELETE", "/jars/:upload_id", self.remove)
        router.add("POST", "/jars/:upload_id/run", self.run)
        for method in ("GET", "POST"):
            router.add(method, "/jars/:upload_id/plan", self.plan)
        router.add("POST", "/drivers", self.start)
        router.add("GET", "/drivers/:driver_id", self.driver)
        router.add("GET", "/drivers/:driver_id/log", self.log)

    def uploads(self, request: Request) -> Answer:
        """The scripts that were brought."""
        files = sorted(self._uploads.all(), key=lambda file: file.stat().st_mtime, reverse=True)
        told = [
            {
                "id": file.name,
                "name": file.name.partition("_")[2],
                "uploaded": round(file.stat().st_mtime * 1000),
                "entry": [],
            }
            for file in files
        ]
        return Answer({"address": "", "files": told})

    def upload(self, request: Request) -> Answer:
        """Keep a script."""
        if len(request.parts) != 1:
            raise RestError(BAD_REQUEST, "Exactly one file has to be sent, as multipart/form-data.")
        file = self._uploads.add(request.parts[0])
        return Answer({"filename": str(file), "status": "success"})

    def remove(self, request: Request, upload_id: str) -> Answer:
        """Remove a script; a job that runs has read it already."""
        self._uploads.get(upload_id).unlink(missing_ok=True)
        return Answer({})

    def run(self, request: Request, upload_id: str) -> Answer:
        """Run a script, and return the id of its first job, as Flink does."""
        driver = self._launch(self._submission(request, upload_id))
        return Answer({"jobid": self._first_job(driver).id})

    def plan(self, request: Request, upload_id: str) -> Answer:
        """The tasks of a script's first job, which is not run."""
        submission = self._submission(request, upload_id)
        try:
            done = self._drivers.plan(submission, _WAIT_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RestError(INTERNAL_ERROR, f"There is no plan: {error}") from error
        if done.returncode != 0:
            lines = done.stderr.splitlines()[-_SHOWN_LINES:]
            head = f"There is no plan of {submission.title}:"
            raise RestError(BAD_REQUEST, masked_text("\n".join([head, *lines])))
        return Answer({"plan": json.loads(done.stdout.splitlines()[-1])})

    def _submission(self, request: Request, upload_id: str) -> Submission:
        file = self._uploads.get(upload_id)
        wished = {**request.query, **request.body}
        options, arguments = _options(wished), _arguments(wished)
        entry = _text(wished, "entryClass") or _text(wished, "entry-class") or _MAIN
        name = file.name.partition("_")[2]
        plain = Submission(str(file), tuple(arguments), options, title=name)
        if entry == PYTHON_DRIVER:
            return _by_python_driver(plain)
        return plain if entry == _MAIN else _with_module(plain, entry, f"entryClass {entry}")

    def start(self, request: Request) -> Answer:
        """Run a script of this machine, or one that was brought, and return its driver at once."""
        told = request.body
        upload = told.get("upload")
        script = str(self._uploads.get(str(upload))) if upload else _text(told, "script")
        if not script:
            raise RestError(BAD_REQUEST, "Which script?")
        environment = told.get("environment")
        submission = Submission(
            script,
            tuple(_texts(told, "arguments")),
            _map(told, "options"),
            bool(told.get("module")),
            _text(told, "directory"),
            None if environment is None else _map(told, "environment"),
            _text(told, "interpreter") or sys.executable,
            _text(told, "title") or "",
        )
        return Answer(self._about(self._launch(submission)))

    def driver(self, request: Request, driver_id: str) -> Answer:
        """The process that runs a script, and its jobs."""
        return Answer(self._about(self._known(driver_id)))

    def log(self, request: Request, driver_id: str) -> Answer:
        """The log of a driver."""
        return part_of_log(self._known(driver_id).log, request.query.get("from"))

    def _about(self, driver: Driver) -> dict[str, object]:
        ended = driver.ended()  # before its jobs are looked for
        jobs = [{"id": r.id, "name": r.name} for r in self._records.of_process(driver.pid)]
        return {
            "id": driver.id,
            "pid": driver.pid,
            "log": str(driver.log),
            "jobs": jobs,
            "exit-status": ended,
        }

    def _known(self, driver_id: str) -> Driver:
        driver = self._drivers.get(driver_id)
        if driver is None:
            raise RestError(NOT_FOUND, f"This server has started no driver {driver_id[:40]}.")
        return driver

    def _launch(self, submission: Submission) -> Driver:
        try:
            return self._drivers.launch(submission)
        except OSError as error:
            raise RestError(INTERNAL_ERROR, f"The driver cannot be started: {error}") from error

    def _first_job(self, driver: Driver) -> JobRecord:
        """Wait for the first job of a script.

        Raises:
            RestError: the script has ended without one, or takes too long.
        """
        deadline = self._now() + _WAIT_SECONDS
        while self._now() < deadline:
            ended = driver.ended()
            found = self._records.of_process(driver.pid)
            if found:
                return found[0]
            if ended is not None:
                raise RestError(BAD_REQUEST, self._end_of(driver, ended))
            driver.wait(_LOOK_SECONDS)
        raise RestError(
            INTERNAL_ERROR,
            f"{driver.title} runs (process {driver.pid}), and has started no job for "
            f"{_WAIT_SECONDS:.0f} s; its log is {driver.log}",
        )

    def _end_of(self, driver: Driver, status: int) -> str:
        lines = driver.log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
        head = f"{driver.title} has ended with status {status}, without a job that runs."
        return masked_text("\n".join([head, f"The end of its log, {driver.log}:", *lines]))


def _arguments(wished: Mapping[str, object]) -> list[str]:
    """The arguments of a script as Flink's clients give them: a list, a text, or with commas."""
    listed = _texts(wished, "programArgsList")
    if listed:
        return listed
    together = _text(wished, "programArgs")
    if together:
        try:
            return shlex.split(together)
        except ValueError as error:
            raise RestError(BAD_REQUEST, f"programArgs cannot be read: {error}") from error
    return [each for each in (_text(wished, "programArg") or "").split(",") if each]


def _by_python_driver(brought: Submission) -> Submission:
    """The submission whose arguments are those of Flink's main class for Python programs.

    Raises:
        RestError: they name another script than the one that was brought.
    """
    words = list(brought.arguments)
    place = next((n for n, word in enumerate(words[:-1]) if word in _NAMES_SCRIPT), None)
    if place is None:
        return brought
    named = words[place + 1]
    if words[place] in _NAMES_MODULE:
        found = _with_module(brought, named, f"{words[place]} {named}")
        return replace(found, words=tuple(words))
    if Path(named).name != brought.title:
        raise RestError(
            BAD_REQUEST, f"{words[place]} {named}: the script that was brought is {brought.title}."
        )
    words[place + 1] = brought.script
    return replace(brought, words=tuple(words))


def _with_module(brought: Submission, module: str, asked: str) -> Submission:
    """The submission that enters a zip file by one of its modules.

    Args:
        brought: what a client has brought.
        module: the module's name.
        asked: the part of the request that names it, for messages.

    Raises:
        RestError: there is no such module.
    """
    if not zipfile.is_zipfile(brought.script):
        raise RestError(
            BAD_REQUEST,
            f"{asked}: {brought.title} is one script, which has no class and no module to enter.",
        )
    path = module.replace(".", "/")
    with zipfile.ZipFile(brought.script) as archive:
        if not {f"{path}.py", f"{path}/__main__.py"}.intersection(archive.namelist()):
            raise RestError(BAD_REQUEST, f"{asked}: {brought.title} has no such module.")
    files = ",".join(filter(None, [brought.script, brought.options.get(python.FILES.key)]))
    options = {**brought.options, python.FILES.key: files}
    return replace(brought, script=module, module=True, options=options)


_NAMES_MODULE = ("-pym", "--pyModule")
_NAMES_SCRIPT = ("-py", "--python", *_NAMES_MODULE)


def _options(wished: Mapping[str, object]) -> dict[str, str]:
    """The options of a run, by key.

    Raises:
        RestError: one is wrong, or needs Flink's JVM.
    """
    if wished.get("jobId"):
        raise RestError(BAD_REQUEST, "jobId: the driver gives a job its id.")
    options = _map(wished, "flinkConfiguration")
    parallelism = wished.get("parallelism")
    if parallelism is not None:
        if not str(parallelism).isdigit():
            raise RestError(BAD_REQUEST, f"parallelism is {parallelism!r}, no number.")
        options[flink.PARALLELISM.key] = str(parallelism)
    savepoint = _text(wished, "savepointPath")
    if savepoint:
        options[checkpointing.RESTORE_PATH.key] = savepoint
    left_out = wished.get("allowNonRestoredState")
    if left_out is not None:
        told = str(left_out).lower()
        options[checkpointing.IGNORE_UNCLAIMED.key] = told
    mode = _text(wished, "claimMode") or _text(wished, "restoreMode")
    if mode:
        options[checkpointing.CLAIM_MODE.key] = mode
    return options


def _text(told: Mapping[str, object], name: str) -> str | None:
    value = told.get(name)
    if value is not None and not isinstance(value, str):
        raise RestError(BAD_REQUEST, f"{name} has to be a text.")
    return value or None


def _texts(told: Mapping[str, object], name: str) -> list[str]:
    value = told.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise RestError(BAD_REQUEST, f"{name} has to be a list of texts.")
    return value


def _map(told: Mapping[str, object], name: str) -> dict[str, str]:
    value = told.get(name) or {}
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise RestError(BAD_REQUEST, f"{name} has to be an object of texts.")
    return dict(value)
