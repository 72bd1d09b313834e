"""A job as a query of a Spark Connect server, with this process as a client."""

from __future__ import annotations

import contextlib
import functools
import pickle
import re
import sys
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from pyflink_on_spark._compat.errors import CheckpointError, EnvironmentSetupError
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._job.checkpoints.commits import CommitTimeoutError
from pyflink_on_spark._job.checkpoints.ownership import JobTakenOverError
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import SavepointRequest
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, StateFile, folder
from pyflink_on_spark._runtime.user_code import PythonDependencies, lay_out
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import PlacedDependencies, ShippedDependencies
from pyflink_on_spark._spark.session.spark_defaults import PACKAGE_ROOT, is_local, scratch_subfolder
from pyflink_on_spark._spark.structured.batches import CONTROL, TAKEN_OVER, committed_batches, over
from pyflink_on_spark._spark.structured.levels import Levels
from pyflink_on_spark._spark.structured.pace import Bell
from pyflink_on_spark._spark.structured.query_job import QueryJob, QueryStopped
from pyflink_on_spark._spark.structured.savepoints import StoredState
from pyflink_on_spark._spark.structured.server_batches import (
    Asked,
    CommitsRecipe,
    Results,
    ServerBatches,
    answer_of,
    ask,
    fetch,
    forget_requests,
    recipe_of,
)
from pyflink_on_spark._spark.structured.server_calls import in_planner, in_task
from pyflink_on_spark._spark.structured.server_start import (
    starting_function,
    starting_processor,
)
from pyflink_on_spark._spark.structured.slot import DRAINS, ENDS, LevelPlan
from pyflink_on_spark._spark.structured.slow_start import Waiting

_POLL_SECONDS = 0.2
_MOST_PARTITIONS = 64
_LAST = re.compile(rf"\b({JobTakenOverError.__name__}|{CommitTimeoutError.__name__})\b")
"""Found in what the server tells of an error after which no attempt follows."""
Call = Callable[[], Any]


class ConnectJob(QueryJob):
    """A job whose query belongs to a server; commits and the state are there.

    Args:
        job: what to run.
        session: a session of Spark Connect, as ``JobSessions`` gives it.
        program: the session that the program has on the same server.
        give_back: takes the job's session once the job has ended.
    """

    def __init__(
        self,
        job: Job,
        session: SparkSession,
        program: SparkSession,
        give_back: Callable[[SparkSession], None],
    ) -> None:
        super().__init__(job)
        self._give_back = give_back
        self._session = self._query_session = session
        self._program_session = program
        self._fetched = -1
        self._server_keeps = False
        """True once the last commit on the server is to be done by another job, or again."""

    def start(self) -> None:
        """Bring the job's files to the server, and begin.

        Raises:
            CheckpointError: if the checkpoint to begin with does not fit.
            EnvironmentSetupError: if no folder for the state is named.
        """
        try:
            self._take_restored()
            self._dependencies = self._shipped()
            self._environment = WorkerEnvironment.of_driver(self._dependencies)
            self._begin()
        except BaseException:
            self._give_back(self._session)
            raise

    def _live(self) -> None:
        super()._live()
        self._give_back(self._session)

    def _shipped(self) -> ShippedDependencies:
        """Ship the dependencies in the job's configuration to the server."""
        dependencies = PythonDependencies.of(self._job.settings.configuration)
        folders = lay_out(dependencies, scratch_subfolder("dependencies"), sys.executable)
        for each in folders:
            packed = Path(f"{each.path}.zip")
            with zipfile.ZipFile(packed, "w") as archive:
                for file in sorted(Path(each.path).rglob("*")):
                    archive.write(file, file.relative_to(each.path))
            self._session.addArtifacts(f"{packed}#{each.name}", archive=True)
        return ShippedDependencies(tuple(folders))

    def _home_folder(self) -> Folder:
        directory = self._settings.directory
        if directory is None:
            if not is_local(self._master):
                raise EnvironmentSetupError(
                    "a job on Spark Connect keeps state in a folder that all machines of the "
                    "server share: set execution.checkpointing.dir"
                )
            directory = "file:///tmp/pyflink-on-spark-queries"
        return folder(f"{directory}/{self.job_id}", self._settings.configuration)

    @property
    def _master(self) -> str:
        return self._session.conf.get("spark.master", "") or ""

    def _most_partitions(self) -> int:
        return _MOST_PARTITIONS

    def _run(self) -> None:
        self._home = self._commits.home = self._home_folder()
        self._commits.first = (
            0 if self._commits.restore is None else self._commits.restore.checkpoint_id
        )
        self._levels = Levels.of(self._job.stages, self._most_partitions())
        self._attempts()
        self._leave_home()

    def _clean_up(self) -> None:
        if self._settings.directory is None or not self._kept:
            self._remove_home()
        elif hasattr(self, "_home"):
            self._tell_of_home()

    def _remove_home(self) -> None:
        with contextlib.suppress(Exception):
            self._call(self._there(_remove))

    @property
    def _resumable(self) -> bool:
        return self._kept and self._settings.directory is not None

    def _why_gone(self, error: BaseException) -> str | None:
        from pyflink_on_spark._spark.session.server_patience import why_lost

        return why_lost(self._session, error)

    def _check_spark(self, error: BaseException) -> None:
        if self._why_gone(error) is not None:
            from pyflink_on_spark._spark.session.server_patience import wait_no_more

            for session in (self._session, self._program_session):
                wait_no_more(session)
        super()._check_spark(error)

    def _wait_for_restart(self, error: BaseException) -> None:
        if _LAST.search(f"{type(error).__name__}: {error}"):
            self._commits.over = self._server_keeps = True
        super()._wait_for_restart(error)

    @property
    def _kept(self) -> bool:
        return self._server_keeps or super()._kept

    def _let_slots_go(self, number: int) -> None:
        with contextlib.suppress(Exception):  # what the attempt failed with is the error to tell
            self._ask_planner(self._there(_end, number))

    def _wake(self) -> None:
        self._ask_planner(self._there(_wake))

    def _run_query(self, number: int) -> None:
        home, first = self._home.uri, self._commits.first
        made = CommitsRecipe.of(self._job, home, first, len(self._levels.levels))
        recipe = cloudpickle.dumps(made, 5)
        slots = sum(len(level.targets) for level in self._levels.levels)
        prepare = self._there(_prepare, self._environment)
        self._package, environment, begun = self._ask_planner(prepare)
        batches = cloudpickle.dumps(ServerBatches(recipe, slots, environment), 5)
        query = self._start(starting_function(self._package, batches), number)
        saving = _Saving(self)
        try:
            last = self._follow_results(query, number, begun, saving)
        except BaseException as error:
            saving.fail(self._told(error))
            with contextlib.suppress(Exception):  # the error is what there is to tell
                self._wake()
            raise
        finally:
            self._stop(query)
        if saving.stopping is None:
            finish = functools.partial(_finish, recipe, last, number + 1)
            self._commit(functools.partial(unless_late, finish))
        else:
            self._finish_with(saving.stopping, recipe, last, number + 1)

    def _processor(self, plan: LevelPlan) -> StatefulProcessor:
        return starting_processor(self._package, cloudpickle.dumps(super()._processor(plan), 5))

    def _finish_with(self, stopping: _Stopping, recipe: bytes, last: int, attempts: int) -> None:
        """Commit the last micro-batch, and write the savepoint with which the job ends."""
        try:
            place = folder(stopping.place, self._settings.configuration)
            answers = self._stored(last).snapshot(0, stopping.place)
            files = [cast(StateFile, answers[number].state) for number in sorted(answers)]
            drained = stopping.request.drain
            finish = functools.partial(_finish_with, recipe, last, place.uri, files, drained)
            self._commit(functools.partial(unless_late, functools.partial(finish, attempts)))
        except BaseException as error:
            self._note_unsaved(stopping.request)
            self._commits.over = stopping.request.drain
            stopping.request.path.set_exception(self._told(error))
            raise
        self._unsaved = None
        stopping.request.path.set_result(stopping.place)

    def _follow_results(
        self, query: StreamingQuery, number: int, begun: int, saving: _Saving
    ) -> int:
        """Hand over results until the job has ended; return its last micro-batch.

        They are fetched when Spark tells of another micro-batch. Those up to ``begun`` are of an
        attempt before. A job that ended with one of them ends again with the next.
        """
        waiting = Waiting(self._job.name)
        last: tuple[object, ...] | None = None
        more = False
        while True:
            active, told = query.isActive, _trigger(query)
            news, last = more or told != last or not active, told
            found, more = self._fetch() if news else ([], False)
            for results in found:
                self._fetched = results.batch
                for channel, things in results.sent:
                    self._deliver(channel, things)
                self._progress.update(number, results.checkpoint, results.progress)
                if results.ended and results.batch > begun:
                    saving.look()
                    return results.batch
                if results.batch > begun:
                    self._goes_on(number)
            saving.go_on()
            self._check_cancelled()
            self._check_printers()
            waiting.note(self._fetched if self._fetched >= 0 else None, lambda: query.status)
            if more:
                continue
            if not active:
                raise query.exception() or QueryStopped
            self._cancelled.wait(_POLL_SECONDS)

    def _fetch(self) -> tuple[list[Results], bool]:
        found, more = self._ask_planner(self._there(fetch, self._fetched))
        return [pickle.loads(content) for content in found], more

    def _there(self, function: Callable[..., object], *arguments: object) -> Call:
        """Return a call of a function on the server, whose first argument is the query's folder."""
        home, configuration = self._home.uri, self._settings.configuration
        return functools.partial(_with_home, home, configuration, function, arguments)

    def _call(self, function: Any) -> object:
        return in_task(self._session, self._environment, function, self._job.name)

    def _commit(self, function: Call) -> None:
        """Make a call that commits, as ``unless_late`` does."""
        late = self._call(function)
        if late is not None:
            raise CommitTimeoutError(str(late))

    def _ask_planner(self, function: Any) -> Any:
        return in_planner(self._session, self._environment, function, self._job.name)

    def _ask(self, name: str, request: Asked) -> None:
        self._ask_planner(self._there(_ask, name, request))

    def _answer(self, name: str) -> str | CheckpointError | None:
        answer: str | CheckpointError | None = self._ask_planner(self._there(answer_of, name))
        return answer

    def _next_request(self) -> SavepointRequest | None:
        return self._requests.pop(0) if self._requests and self._fetched >= 0 else None


@dataclass(frozen=True)
class _Stopping:
    """A savepoint with which the job ends.

    Args:
        request: the user's.
        place: the URI of its folder.
    """

    request: SavepointRequest
    place: str


class _Saving:
    """The savepoints that are asked for while a query runs, one after the other."""

    def __init__(self, job: ConnectJob) -> None:
        self._job = job
        self._asked: tuple[str, SavepointRequest] | None = None
        self.stopping: _Stopping | None = None

    def go_on(self) -> None:
        """Ask for the next savepoint, or look what has come of the last one."""
        if self.stopping is not None:
            return
        if self._asked is None:
            request = self._job._next_request()
            if request is not None:
                self._asked = uuid.uuid4().hex, request
                kind = (DRAINS if request.drain else ENDS) if request.stop else None
                self._job._ask(self._asked[0], Asked(request.directory, kind))
            return
        self.look()

    def look(self) -> None:
        """Look what has come of the savepoint that was asked for, if there is one."""
        if self.stopping is not None or self._asked is None:
            return
        name, request = self._asked
        answer = self._job._answer(name)
        if answer is None:
            return
        self._asked = None
        if isinstance(answer, CheckpointError):
            request.path.set_exception(answer)
        elif request.stop:
            self.stopping = _Stopping(request, answer)
        else:
            request.path.set_result(answer)

    def fail(self, error: Exception) -> None:
        """Report the failure of the attempt to everybody who waits for a savepoint."""
        requests = [self._asked[1]] if self._asked is not None else []
        requests += [self.stopping.request] if self.stopping is not None else []
        for request in requests:
            if request.stop:
                self._job._note_unsaved(request)
            request.path.set_exception(error)


class _WrittenState(StoredState):
    """The state of slots that is written already."""

    def __init__(self, files: list[StateFile]) -> None:
        self._files = files

    def snapshot(self, *_: object, **__: object) -> dict[int, HostSnapshot]:
        """Return the files."""
        return {number: HostSnapshot(file, []) for number, file in enumerate(self._files)}


def _trigger(query: StreamingQuery) -> tuple[object, ...] | None:
    """Return which micro-batch Spark tells of last, and when it began; None before the first."""
    told = query.lastProgress
    return None if told is None else (told["batchId"], told["timestamp"])


def _with_home(
    home: str,
    configuration: Mapping[str, str],
    function: Callable[..., object],
    arguments: tuple[object, ...],
) -> object:
    return function(folder(home, configuration), *arguments)


def _prepare(home: Folder, environment: WorkerEnvironment) -> tuple[str, WorkerEnvironment, int]:
    """Return the facts of the server that an attempt needs.

    These are the place of this package there, the environment with the job's folders there, and
    the last micro-batch that Spark has committed.

    Args:
        home: the query's folder, where nothing stays that a former attempt was asked.
        environment: that of tasks, to which Spark gives these folders.
    """
    forget_requests(home)
    begun = max(committed_batches(home), default=-1)
    folders = PlacedDependencies(tuple(environment.dependencies.here()))
    return str(PACKAGE_ROOT), replace(environment, dependencies=folders), begun


def _ask(home: Folder, name: str, request: Asked) -> None:
    ask(home, name, request)
    _wake(home)


def _wake(home: Folder) -> None:
    Bell(home.inside(CONTROL)).ring()


def _remove(home: Folder) -> None:
    if TAKEN_OVER not in home.names():
        home.remove()


def _end(home: Folder, attempt: int) -> None:
    home.write(over(attempt), b"")


def unless_late(function: Callable[[], None]) -> str | None:
    """Make a call that commits; return why that takes too long, or None.

    An error would let Spark run the task again, beside a commit that may still succeed.
    """
    try:
        function()
    except CommitTimeoutError as error:
        return str(error)
    return None


def _finish(recipe: bytes, batch: int, attempts: int) -> None:
    """Commit the last micro-batch."""
    commits = recipe_of(recipe).commits()
    commits.committed(batch, final=True)
    commits.remove_leftovers(attempts)


def _finish_with(
    recipe: bytes, batch: int, place: str, files: list[StateFile], drained: bool, attempts: int
) -> None:
    """Commit the last micro-batch, and complete the savepoint with which the job ends."""
    made = recipe_of(recipe)
    commits = made.commits()
    commits.committed(batch, final=drained)
    where = folder(place, made.settings.configuration)
    commits.savepoint(_WrittenState(files), where, stop=True, drained=drained)
    commits.remove_leftovers(attempts)
