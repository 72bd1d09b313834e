"""A job with BATCH semantics as a chain of RDDs, whose tasks send results to the driver."""

from __future__ import annotations

import contextlib
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._cluster.transport.handshake import NetworkSettings
from pyflink_on_spark._cluster.transport.result_channel import (
    ChannelAddress,
    ChannelClosed,
    ChannelFailed,
    ResultServer,
    Sender,
    connect,
)
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.diagnosis import (
    LOGS,
    FunctionLog,
    SubtaskFailure,
    install_function_log,
)
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.task.stage import DRIVER, START, StageRunner
from pyflink_on_spark._runtime.user_code import install_classes
from pyflink_on_spark._spark.jobs.batch_job import PREPARED, BatchJob
from pyflink_on_spark._spark.jobs.running_job import channel_names, driver_channel
from pyflink_on_spark._spark.jobs.worker_environment import (
    FAILURE_BEGINS,
    FAILURE_ENDS,
    WorkerEnvironment,
    freeze_modules,
)
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import SparkSession

    from pyflink_on_spark._runtime.contract.operator import DriverChannels, SendItems

GivesServer = Callable[["SparkSession", tuple[int, ...]], ResultServer]
Row = tuple[tuple[int, int, int], Any]
"""A row between two stages: its subtask, its place on the channel and the channel; its payload."""


class RddJob(BatchJob):
    """A job over bounded input, as a chain of RDDs.

    Args:
        job: what to run.
        server: gives what tasks send results to, on one of some ports.
    """

    def __init__(self, job: Job, server: GivesServer) -> None:
        super().__init__(job)
        self._ports = NetworkSettings.of(job.settings.configuration).driver_ports
        self._get_server = server

    def _desk(self) -> ResultServer:
        self._server = self._get_server(self._session, self._ports)
        return self._server

    def _payloads(self, attempt: int) -> list[bytes]:
        context, address = self._session.sparkContext, self._server.address
        rows = run_stages(context, self._job, address, attempt, self._dependencies).collect()
        assert all(subtask_id == DRIVER for (subtask_id, _, _), _ in rows)
        return [payload for _, payload in rows]


@dataclass(frozen=True)
class StageFunction:
    """Runs one stage of a job in a worker; what Spark calls for each partition.

    Args:
        plan: the pickled StagePlan and JobSettings.
        number: which stage it is.
        attempt: how often the job was restarted.
        environment: of the user's functions.
        address: how to reach the driver.
        channels: the driver's name of each channel.
    """

    plan: bytes
    number: int
    attempt: int
    environment: WorkerEnvironment
    address: ChannelAddress
    channels: dict[str, str]

    def __call__(self, rows: Iterable[object]) -> Iterator[Row]:
        """Turn the rows of one partition into those that leave it.

        Args:
            rows: for the first stage the numbers of its subtasks.
        """
        freeze_modules()
        with self.environment.active():
            try:
                for row in self._run(rows):
                    yield (row.subtask_id, row.seq, row.channel), row.payload
            except SubtaskFailure as failure:
                if isinstance(failure.__cause__, ChannelClosed):
                    return  # the driver reads no more: it has cancelled the job
                raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None
            except ChannelClosed:
                return

    def _run(self, rows: Iterable[Any]) -> Iterator[ChannelRow]:
        stage, job = pickle.loads(self.plan)
        install_classes(job.classes)
        log = install_function_log(job.configuration)
        senders: list[Sender] = []
        runner = StageRunner(
            stage, self.number, job, SystemClock(), self._drivers(senders), self.attempt
        )
        given = _start_rows(rows) if self.number == 0 else _channel_rows(rows)
        try:
            yield from self._announced(runner.run(given))
            while senders:
                senders.pop().close()
        except SubtaskFailure:
            _deliver(senders)
            raise
        finally:
            for sender in senders:
                sender.abandon()
            self._send_log(log)

    def _send_log(self, log: FunctionLog) -> None:
        """Send what functions have logged to the driver, which may want no more."""
        entries = log.take()
        if not entries:
            return
        with (
            contextlib.suppress(ChannelClosed, ChannelFailed),
            connect(self.address, self.channels[LOGS], uuid.uuid4().hex) as sender,
        ):
            sender.send(entries)

    def _announced(self, rows: Iterator[ChannelRow]) -> Iterator[ChannelRow]:
        """Send prepared committables to the driver at once: if the job fails, no row reaches it."""
        for row in rows:
            if row.subtask_id == DRIVER:
                with connect(self.address, self.channels[PREPARED], uuid.uuid4().hex) as sender:
                    sender.send([row.payload])
            yield row

    def _drivers(self, senders: list[Sender]) -> Callable[[int], DriverChannels]:
        def of_subtask(subtask_id: int) -> DriverChannels:
            def of_channel(channel: str) -> SendItems:
                producer = f"{subtask_id}#{self.attempt}"
                sender = connect(self.address, self.channels[channel], producer)
                senders.append(sender)
                return sender.send

            return of_channel

        return of_subtask


def _deliver(senders: list[Sender]) -> None:
    """Send the driver the output that a subtask printed before it failed."""
    for sender in senders:
        with contextlib.suppress(ChannelClosed, ChannelFailed):
            sender.flush()


def _start_rows(subtask_ids: Iterable[int]) -> Iterator[ChannelRow]:
    for subtask_id in subtask_ids:
        yield ChannelRow(subtask_id, START, 0, b"")


def _channel_rows(rows: Iterable[Row]) -> Iterator[ChannelRow]:
    for (subtask_id, seq, channel), payload in rows:
        yield ChannelRow(subtask_id, channel, seq, payload)


def run_stages(
    context: SparkContext,
    job: Job,
    address: ChannelAddress,
    attempt: int,
    dependencies: ShippedDependencies,
) -> RDD[Row]:
    """Return the rows that the last stage leaves for the driver; nothing runs before an action.

    Args:
        context: where the stages run.
        job: the job.
        address: how workers reach the driver.
        attempt: how often the job was restarted.
        dependencies: what the workers import from.
    """
    count = _subtasks_of(job.stages[0])
    rows: RDD[Any] = context.parallelize(range(count), count)
    for number, stage in enumerate(job.stages):
        if number > 0:
            rows = _exchanged(rows, stage)
        function = StageFunction(
            plan=pickle.dumps((stage, job.settings), 5),
            number=number,
            attempt=attempt,
            environment=WorkerEnvironment.of_driver(dependencies),
            address=address,
            channels={name: driver_channel(job, name) for name in (*channel_names(job), PREPARED)},
        )
        rows = rows.mapPartitions(function.__call__)
    return rows


def _exchanged(rows: RDD[Row], stage: StagePlan) -> RDD[Row]:
    """Bring each subtask's rows into a partition of their own, in the order of their channels."""
    first = min(vertex.first_subtask_id for vertex in stage.vertices)
    return rows.repartitionAndSortWithinPartitions(_subtasks_of(stage), lambda key: key[0] - first)


def _subtasks_of(stage: StagePlan) -> int:
    return sum(vertex.parallelism for vertex in stage.vertices)
