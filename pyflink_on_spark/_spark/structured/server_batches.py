"""The part of each micro-batch that runs in the Python process of a Spark Connect server."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import cloudpickle

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, folder
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.plan import OperatorPlan, source_meanings, source_names
from pyflink_on_spark._runtime.contract.state_meaning import Meanings
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.user_code import install_classes
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.structured.batches import (
    CONTROL,
    Batches,
    QueryCommits,
    committed_batches,
    forget_wishes,
)
from pyflink_on_spark._spark.structured.savepoints import StoredState
from pyflink_on_spark._spark.structured.slot import wish

RESULTS = "results"
"""The folder, in the home of a query, where results wait until the client fetches them."""
ASKED, ANSWERED = "asked", "answered"
"""The folders there for savepoints that the client asks for, and for what comes of it."""
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Results:
    """The results of a micro-batch for the client.

    Args:
        batch: its number.
        sent: names of channels, with lists of things.
        checkpoint: the number of the last checkpoint; None before the first.
        progress: how far each chain of each subtask is.
        ended: whether the job has ended with it.
    """

    batch: int
    sent: list[tuple[str, list[object]]]
    checkpoint: int | None
    progress: list[Any]
    ended: bool


@dataclass(frozen=True)
class Asked:
    """A savepoint that the client asks for.

    Args:
        directory: where it shall be; None for where the configuration says.
        wish: ENDS or DRAINS if the job ends with it: the client writes it then.
    """

    directory: str | None
    wish: str | None


@dataclass(frozen=True)
class CommitsRecipe:
    """The part of a job that commits need, without the objects of the client's process."""

    settings: CheckpointSettings
    job_id: str
    job_name: str
    operators: list[OperatorPlan]
    sinks: dict[int, Sink]
    sources: set[str]
    of_sources: Meanings
    classes: dict[str, bytes]
    home: str
    first: int = 0
    levels: int = 0

    @classmethod
    def of(cls, job: Job, home: str, first: int = 0, levels: int = 0) -> CommitsRecipe:
        """Return the recipe of a job.

        Args:
            job: the job.
            home: the folder of its query.
            first: the number of the checkpoint that the job begins with, or 0.
            levels: how many operators with state its query has.
        """
        return cls(
            CheckpointSettings.of(job.settings.configuration),
            job.settings.job_id,
            job.name,
            list(job.operators()),
            dict(job.sinks),
            source_names(job.stages),
            source_meanings(job.stages),
            job.settings.classes,
            home,
            first,
            levels,
        )

    def commits(self) -> QueryCommits:
        """Make the commits; before the first micro-batch, with what the job begins with."""
        commits = QueryCommits(
            self.settings,
            self.job_id,
            self.job_name,
            self.operators,
            self.sinks,
            SystemClock(),
            self.sources,
            of_sources=self.of_sources,
        )
        home = folder(self.home, self.settings.configuration)
        if committed_batches(home):  # an attempt before has committed what the job began with
            commits.continue_from(self.first)
        else:
            commits.restore_given()
        commits.open(home, self.levels)
        return commits


class ServerBatches:
    """The function of ``foreachBatch`` on a server.

    Args:
        recipe: a pickled CommitsRecipe.
        slots: how many slots all levels have together.
        environment: of the user's classes.
    """

    def __init__(self, recipe: bytes, slots: int, environment: WorkerEnvironment) -> None:
        self._recipe, self._slots, self._environment = recipe, slots, environment

    def __call__(self, frame: Any, batch: int) -> None:
        """Run a micro-batch, and store its results for the client."""
        with self._environment.active():
            if "_batches" not in self.__dict__:
                self._begin()
            self._sent: list[tuple[str, list[object]]] = []
            self._batches(frame, batch, before=lambda: self._saved(frame.sparkSession, batch))
            checkpoint, progress = self._reported
            ended = self._batches.ended.is_set()
            results = Results(batch, self._sent, checkpoint, progress, ended)
            self._home.inside(RESULTS).write(f"{batch:012}", cloudpickle.dumps(results, 5))

    def _begin(self) -> None:
        self._commits_recipe = recipe_of(self._recipe)
        commits = self._commits = self._commits_recipe.commits()
        commits.attempt_begins()
        self._home = commits.home
        self._batches = Batches(commits, self._slots, self._send, self._report)

    def _saved(self, session: object, batch: int) -> None:
        """Carry out the client's requests before a micro-batch; the previous one is committed."""
        asked = self._home.inside(ASKED)
        for name in asked.names() if batch > 0 else ():
            request: Asked = pickle.loads(asked.read(name))
            try:
                answer: object = self._save(session, request, batch)
            except Exception as error:  # noqa: BLE001 - raised in the client
                answer = CheckpointError(str(error))
            self._home.inside(ANSWERED).write(name, pickle.dumps(answer, 5))
            asked.remove(name)

    def _save(self, session: Any, request: Asked, batch: int) -> str:
        place = self._commits.savepoint_folder(request.directory)
        if request.wish is not None:
            self._home.inside(CONTROL).write(wish(request.wish, batch), b"")
            return place.uri
        recipe = self._commits_recipe
        configuration = recipe.settings.configuration
        state = StoredState(session, self._home, batch - 1, recipe.levels, configuration)
        return self._commits.savepoint(state, place)

    def _send(self, channel: str, things: list[object]) -> None:
        self._sent.append((channel, things))

    def _report(self, checkpoint: int | None, progress: list[object]) -> None:
        self._reported = checkpoint, progress


def recipe_of(content: bytes) -> CommitsRecipe:
    """Return a recipe that was pickled with ``cloudpickle``."""
    recipe: CommitsRecipe = pickle.loads(content)
    install_classes(recipe.classes)
    return recipe


def fetch(home: Folder, after: int) -> tuple[list[bytes], bool]:
    """Return results of micro-batches that Spark has committed, and remove older ones.

    Args:
        home: the folder of the query.
        after: the last micro-batch whose results the client has.

    Returns:
        The next results, and whether there are more than one answer holds.
    """
    place, size = home.inside(RESULTS), 0
    committed = max(committed_batches(home), default=-1)
    found: list[bytes] = []
    for name in place.names():
        if not name.isdigit() or int(name) > committed:
            continue
        if int(name) <= after:
            place.remove(name)
        elif size >= _MOST_BYTES:
            return found, True
        else:
            found.append(place.read(name))
            size += len(found[-1])
    return found, False


def forget_requests(home: Folder) -> None:
    """Remove what the client wanted of a former attempt, and has not got."""
    forget_wishes(home)
    for name in home.inside(ASKED).names():
        home.inside(ASKED).remove(name)


def ask(home: Folder, name: str, request: Asked) -> None:
    """Ask the server for a savepoint, before its next micro-batch."""
    home.inside(ASKED).write(name, pickle.dumps(request, 5))


def answer_of(home: Folder, name: str) -> str | CheckpointError | None:
    """Return the answer to a request: the URI of a folder, or an error; None before the answer."""
    place = home.inside(ANSWERED)
    if name not in place.names():
        return None
    answer: str | CheckpointError = pickle.loads(place.read(name))
    return answer
