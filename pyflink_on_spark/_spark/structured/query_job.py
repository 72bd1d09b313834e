"""A job as one query of Structured Streaming, in which Spark does all there is to do."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody does
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from pyflink_on_spark._compat.errors import (
    EnvironmentSetupError,
    JobCancelledError,
    JobExecutionError,
)
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import SavepointRequest
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, folder
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.task.operator_chain import with_key_groups
from pyflink_on_spark._spark.jobs.running_job import description_of
from pyflink_on_spark._spark.jobs.stateful_job import StatefulJob
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.java_home import gist
from pyflink_on_spark._spark.session.spark_defaults import (
    BUNDLE_SETTINGS,
    is_local,
    scratch_subfolder,
)
from pyflink_on_spark._spark.structured.batches import (
    CONTROL,
    QUERY,
    Batches,
    QueryCommits,
    committed_batches,
    forget_wishes,
    over,
)
from pyflink_on_spark._spark.structured.driver_python import check_driver_python
from pyflink_on_spark._spark.structured.levels import (
    METRIC,
    RECORDS,
    SCHEMA,
    STATE_ENTRIES,
    TICK,
    WATERMARK,
    Levels,
    metric_channel,
)
from pyflink_on_spark._spark.structured.pace import Bell
from pyflink_on_spark._spark.structured.processor import SlotProcessor
from pyflink_on_spark._spark.structured.query_settings import STORE_SETTINGS, changes, meanwhile
from pyflink_on_spark._spark.structured.savepoints import StoredState
from pyflink_on_spark._spark.structured.slot import (
    DRAINS,
    ENDS,
    LevelPlan,
    Limits,
    level_plans,
    wish,
)
from pyflink_on_spark._spark.structured.slow_start import Waiting, once_started

_log = logging.getLogger("pyflink_on_spark")
_LOOK_SECONDS = 0.1
_COLLECTED = (
    "The job does not start again: execute_and_collect() may have returned elements of micro-batch "
    "{}, which Spark has not committed, and the next attempt would return them again. Write the "
    "stream to a sink for results that survive this."
)
_numbers = itertools.count()


class QueryStopped(RuntimeError):
    """Somebody else has stopped the query, such as a user of Spark."""

    def __init__(self) -> None:
        super().__init__("the query was stopped in Spark")


class QueryJob(StatefulJob):
    """A job whose subtasks are groups of a streaming query, and whose state is in Spark's store.

    Args:
        job: what to run.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._settings = CheckpointSettings.of(job.settings.configuration)
        self._commits = QueryCommits.of(job, self._clock)
        self._delivered: dict[str, int] = {}
        self._batch: int | None = None
        self._collected_in: int | None = None
        self._unsaved: SavepointRequest | None = None
        """The stop whose savepoint could not be written, until an attempt continues."""
        self._unsaved_in = 0

    def start(self) -> None:
        """Find a session, open the channels, begin.

        Raises:
            CheckpointError: if the checkpoint to begin with does not fit.
            EnvironmentSetupError: if there is no session, or what the job takes along is not there.
        """
        self._take_restored()
        super().start()

    def _take_restored(self) -> None:
        """Look at the checkpoint to begin with."""
        self._commits.restore_given()
        counts = self._commits.key_groups
        self._job = replace(self._job, stages=with_key_groups(self._job.stages, counts))

    def _run(self) -> None:
        self._home = self._home_folder()
        check_driver_python(self._session.sparkContext)
        self._levels = Levels.of(self._job.stages, self._most_partitions())
        self._commits.open(self._home, len(self._levels.levels))
        self._attempts()
        self._leave_home()

    def _leave_home(self) -> None:
        """Remove the state of a job that has finished.

        It stays if the input was cut off, and no savepoint says where.
        """
        cut_off = self._unsaved is not None and self._unsaved.drain
        if cut_off and self._settings.directory is not None:
            self._tell_of_home()
        else:
            self._remove_home()

    def _remove_home(self) -> None:
        with contextlib.suppress(OSError):
            self._home.remove()

    def _clean_up(self) -> None:
        if not hasattr(self, "_home"):  # none could be named
            return
        if not self._kept or self._settings.directory is None:
            self._remove_home()
        else:
            self._tell_of_home()

    def _tell_of_home(self) -> None:
        _log.warning(
            "the state of the job stays in %s. A job with execution.state-recovery.path set to "
            "it continues from there.",
            self._home.uri,
        )

    @property
    def _kept(self) -> bool:
        """True if the state of an unfinished job is retained."""
        if self._interrupted or self._spark_gone or self._unsaved is not None:
            return True
        if self._commits.taken_over or self._commits.unfinished:
            return True
        settings = self._settings
        return (
            settings.kept_when_cancelled if self._cancelled.is_set() else settings.kept_when_failed
        )

    def _home_folder(self) -> Folder:
        directory = self._settings.directory
        if directory is None:
            if not is_local(self._master):
                raise EnvironmentSetupError(
                    "the engine 'structured' keeps state in a folder that all machines share: set "
                    "execution.checkpointing.dir"
                )
            directory = scratch_subfolder("queries").as_uri()
        return folder(f"{directory}/{self.job_id}", self._settings.configuration)

    @property
    def _master(self) -> str:
        return str(self._session.sparkContext.master)

    def _most_partitions(self) -> int:
        return max(1, self._session.sparkContext.defaultParallelism)

    def _wait_for_restart(self, error: BaseException) -> None:
        if self._commits.over:
            raise error  # another attempt would do again what is committed
        super()._wait_for_restart(error)

    def _check_may_restart(self, failure: JobExecutionError) -> None:
        """Raise also if the program has elements of a micro-batch that Spark has not committed."""
        super()._check_may_restart(failure)
        if self._collected_in is not None and not self._is_committed(self._collected_in):
            text = f"{failure}\n\n{_COLLECTED.format(self._collected_in)}"
            raise JobExecutionError(text) from failure.__cause__

    def _is_committed(self, batch: int) -> bool:
        """True if it is known that Spark has committed a micro-batch."""
        if self._batch is not None and self._batch > batch:
            return True
        try:
            return batch <= max(committed_batches(self._home), default=-1)
        except OSError:
            return False

    @property
    def _resumable(self) -> bool:
        return self._commits.saved or bool(self._home.names())

    def _attempt(self, number: int) -> None:
        self._progress.attempt_begins()
        try:
            begin = functools.partial(self._run_query, number)
            once_started(begin, self._job.name, self._check_cancelled)
        except BaseException:
            self._let_slots_go(number)
            raise

    def _let_slots_go(self, number: int) -> None:
        """Let the processes of the slots of an attempt end."""
        self._home.write(over(number), b"")

    def _run_query(self, number: int) -> None:
        """Run the job as one query; raise what the query fails with."""
        self._commits.attempt_begins()
        forget_wishes(self._home)
        levels = self._levels
        slots = sum(len(level.targets) for level in levels.levels)
        batches = Batches(
            self._commits,
            slots,
            self._deliver,
            lambda checkpoint, parts: self._progress.update(number, checkpoint, parts),
        )
        self._query_session = self._session.newSession()
        context, described = self._session.sparkContext, description_of(self._job, number)

        def run(frame: object, batch: int) -> None:
            context.setJobDescription(f"{described}, micro-batch {batch}")
            self._batch = batch
            batches.in_driver(frame, batch)
            if not batches.ended.is_set():
                self._goes_on(number)

        query = self._start(run, number)
        try:
            self._follow(query, batches)
        finally:
            batches.stopping.set()
            if not batches.ended.is_set():
                with contextlib.suppress(OSError):  # what the attempt failed with is the error
                    self._wake()
            self._stop(query)
        self._commits.remove_leftovers(number + 1)

    def _note_unsaved(self, request: SavepointRequest) -> None:
        """Note a stop whose savepoint could not be written."""
        self._unsaved, self._unsaved_in = request, self._job.history.attempt

    def _goes_on(self, attempt: int) -> None:
        """Note a micro-batch after which the job has not ended."""
        if attempt > self._unsaved_in:
            self._unsaved = None

    def _wake(self) -> None:
        """Let slots that wait for input end their micro-batch."""
        Bell(self._home.inside(CONTROL)).ring()

    def _stop(self, query: StreamingQuery) -> None:
        """Stop the query; if Spark cannot, the job has ended all the same."""
        try:
            query.stop()
        except Exception as error:  # noqa: BLE001 - of Java, of Spark or of the connection
            if self._why_gone(error) is None:
                _log.warning("the query of %r does not stop: %s", self._job.name, gist(str(error)))

    def _follow(self, query: StreamingQuery, batches: Batches) -> None:
        """Wait until the job has ended."""
        stopping: tuple[SavepointRequest, Folder] | None = None
        waiting = Waiting(self._job.name)

        def check() -> None:
            self._check(query, batches)
            waiting.note(batches.last, lambda: query.status)

        try:
            while not batches.ended.wait(_LOOK_SECONDS):
                check()
                before_last = (batches.last or 0) - 1  # Spark has committed that one
                self._job.maintain_sources(self._commits.number_of(before_last))
                if self._requests and stopping is None and batches.last is not None:
                    stopping = self._save(self._requests.pop(0), batches, check)
            goes_on = stopping is not None and not stopping[0].drain
            with batches.between(check, saved_at_end=goes_on) as batch:
                if stopping is not None:
                    request, place = stopping
                    state = self._stored(batch)
                    path = self._commits.savepoint(state, place, stop=True, drained=request.drain)
                    self._unsaved = None
                    request.path.set_result(path)
        except BaseException as error:
            if stopping is not None and not stopping[0].path.done():
                self._note_unsaved(stopping[0])
                stopping[0].path.set_exception(self._told(error))
            raise

    def _save(
        self, request: SavepointRequest, batches: Batches, check: Callable[[], None]
    ) -> tuple[SavepointRequest, Folder] | None:
        """Write a savepoint; or let the slots end, and return what is to be written then."""
        try:
            place = self._commits.savepoint_folder(request.directory)
            self._wake()
        except Exception as error:  # noqa: BLE001 - the job continues without this savepoint
            request.path.set_exception(error)
            check()
            return None
        try:
            with batches.between(check) as batch:
                return self._save_after(batch, request, place)
        except BaseException as error:
            request.path.set_exception(self._told(error))
            raise

    def _save_after(
        self, batch: int, request: SavepointRequest, place: Folder
    ) -> tuple[SavepointRequest, Folder] | None:
        """Write a savepoint after a micro-batch; or let the slots end with the next one."""
        if request.stop:
            name = wish(DRAINS if request.drain else ENDS, batch + 1)
            self._home.inside(CONTROL).write(name, b"")
            return request, place
        try:
            request.path.set_result(self._commits.savepoint(self._stored(batch), place))
        except Exception as error:  # noqa: BLE001 - the job continues without this savepoint
            request.path.set_exception(error)
        return None

    def _stored(self, batch: int) -> StoredState:
        levels = len(self._levels.levels)
        configuration = self._settings.configuration
        return StoredState(self._query_session, self._home, batch, levels, configuration)

    def _check(self, query: StreamingQuery, batches: Batches) -> None:
        if self._cancelled.is_set():
            raise JobCancelledError("Job was cancelled.")
        self._check_printers()
        if not query.isActive:
            failure = query.exception()
            raise QueryStopped if failure is None else batches.error or failure

    def _check_spark(self, error: BaseException) -> None:
        super()._check_spark(error)
        self._check_stopped(error)

    def _check_stopped(self, error: BaseException) -> None:
        """Let a job end as after Ctrl-C if its query was stopped."""
        if isinstance(error, QueryStopped):
            _log.warning("%s: the job %r ends", error, self._job.name)
            self._interrupted = True
            self.abandon()
            self._check_cancelled()

    def _start(self, batches: Callable[[object, int], None], number: int) -> StreamingQuery:
        """Start the query.

        Args:
            batches: gets what each micro-batch leaves for the driver.
            number: which attempt it is.
        """
        partitions = {"spark.sql.shuffle.partitions": str(self._levels.partitions)}
        settings = {**BUNDLE_SETTINGS, **STORE_SETTINGS, **partitions}
        with changes:  # jobs on a Spark Connect server share a session
            for key, value in settings.items():
                self._query_session.conf.set(key, value)
            own = self._query_session is self._session
            with contextlib.nullcontext() if own else meanwhile(self._session, settings):
                return self._writer(batches, number).start()

    def _writer(self, batches: Callable[[object, int], None], number: int) -> DataStreamWriter:
        """Return the writer of the query; for the arguments see ``_start``."""
        levels = self._levels
        frame = _ticks(self._session, levels.levels[0].targets)
        restore = self._commits.restore
        limits = Limits.of(self._job.bounded, self._settings.interval)
        if len(levels.levels[0].targets) > levels.partitions:  # slots wait one after the other
            limits = replace(limits, rests=False)
        limits = replace(limits, notes_runs=not is_local(self._master))
        names: set[str] = set()
        for plan in level_plans(levels, self._job.settings, number, restore, limits):
            processor = self._processor(plan)
            groups = frame.groupBy("target")
            frame = groups.transformWithState(processor, SCHEMA, "append", "None")
            frame = _observed(frame, plan, names)
        writer = (
            frame.where(F.col("subtask") >= 0)
            .writeStream.foreachBatch(batches)
            .queryName(f"{self._job.name} #{next(_numbers)}")
            .option("checkpointLocation", self._home.inside(QUERY).uri)
        )
        interval = self._settings.interval
        if interval is not None and not self._job.bounded:
            writer = writer.trigger(processingTime=f"{interval} milliseconds")
        return writer

    def _processor(self, plan: LevelPlan) -> StatefulProcessor:
        environment = WorkerEnvironment.of_driver(self._dependencies)
        return SlotProcessor(plan, self._home.uri, environment)

    def _deliver(self, channel: str, things: list[object]) -> None:
        """Pass on the elements that a subtask has sent; a slow reader may delay this."""
        found = self._channels.get(channel)
        if found is not None and not self._cancelled.is_set():
            if channel == self._job.collected and things:
                self._collected_in = self._batch
            start = self._delivered.get(channel, 0)
            self._delivered[channel] = start + len(things)
            found.deliver("query", start, things)


def _ticks(session: SparkSession, targets: Sequence[int]) -> DataFrame:
    """Return a stream with a row for each slot of the first level in each micro-batch."""
    count = len(targets)
    rows = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", count)
        .option("numPartitions", 1)
        .load()
    )
    places = F.array(*map(F.lit, targets))
    return rows.select(
        F.element_at(places, (F.col("value") % count + 1).cast("int")).alias("target"),
        F.lit(-1).alias("subtask"),
        F.lit(TICK).alias("channel"),
        F.floor(F.col("value") / count).alias("seq"),
        F.lit(None).cast("binary").alias("payload"),
    )


_NUMBERS = {
    "records": (RECORDS, F.sum),
    "state_entries": (STATE_ENTRIES, F.sum),
    "watermark": (WATERMARK, lambda number: F.nullif(F.min(number), F.lit(MIN_TIMESTAMP))),
}


def _observed(frame: DataFrame, plan: LevelPlan, names: set[str]) -> DataFrame:
    """Return a stream whose progress has the numbers of each chain of a level, by its name.

    Args:
        frame: what leaves the level.
        plan: that of the level.
        names: those that are used so far.
    """
    for place, chain in enumerate(plan.level.chains):
        name = next(each for each in _alternatives(chain) if each not in names)
        names.add(name)
        columns = []
        for what, (kind, combined) in _NUMBERS.items():
            of_kind = F.col("channel") == metric_channel(place, kind)
            it = F.when((F.col("subtask") == METRIC - plan.number) & of_kind, F.col("seq"))
            columns.append(combined(it).alias(what))
        frame = frame.observe(name, *columns)
    return frame


def _alternatives(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        yield f"{name} ({number})"
