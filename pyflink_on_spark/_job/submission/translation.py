"""From the user's transformations to a job that an engine can run."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyflink_on_spark._graph.physical_graph import PhysicalNode, build_physical_graph
from pyflink_on_spark._graph.stages import place_sinks, plan_stages
from pyflink_on_spark._graph.state_names import demand_uids
from pyflink_on_spark._graph.stream_graph import GraphSettings, StreamGraph
from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._job.submission.job import Job, runs_nothing
from pyflink_on_spark._options import pipeline
from pyflink_on_spark._options.checkpointing import INTERVAL
from pyflink_on_spark._options.own import CHECKPOINT_ELEMENTS, WATERMARK_INTERVAL_ELEMENTS
from pyflink_on_spark._options.pipeline import AUTO_WATERMARK_INTERVAL
from pyflink_on_spark._options.python import BUNDLE_SIZE, BUNDLE_TIME
from pyflink_on_spark._runtime.contract.plan import JobSettings
from pyflink_on_spark._runtime.elements.watermark_rhythm import WatermarkRhythm
from pyflink_on_spark._runtime.operators.sink import SinkOperator
from pyflink_on_spark._runtime.task.progress import JobProgress
from pyflink_on_spark._runtime.user_code.user_function import capture_classes


def watermark_rhythm(
    settings: Mapping[str, str], bounded: bool, batch: bool = False
) -> WatermarkRhythm:
    """Return how often watermarks are emitted.

    A job with BATCH semantics has the watermark of the end only. An unbounded job follows the
    clock: a watermark is due after each auto-watermark interval. In a bounded job it is due after a
    number of elements, so that results repeat where input flows without a pause; only where
    elements are slow the clock counts: once the time of a bundle (``python.fn-
    execution.bundle.time``) has passed, or, if bundles are smaller than that number, the auto-
    watermark interval. The watermark of a table also follows a row that takes it further than the
    interval, as Flink's does.

    Args:
        settings: the job's configuration.
        bounded: whether all its sources end.
        batch: whether it has BATCH semantics.

    Raises:
        ValueError: if an option cannot be read.
    """
    if batch:
        return WatermarkRhythm(None, None)
    interval = AUTO_WATERMARK_INTERVAL.read(settings)
    elements = WATERMARK_INTERVAL_ELEMENTS.read(settings)
    if interval <= 0:
        return WatermarkRhythm(None, None, 0)
    if not bounded:
        return WatermarkRhythm(None, interval, interval)
    if BUNDLE_SIZE.is_set(settings) and BUNDLE_SIZE.read(settings) < elements:
        return WatermarkRhythm(elements, interval, interval)
    return WatermarkRhythm(elements, max(interval, BUNDLE_TIME.read(settings)), interval)


def translate(
    transformations: Iterable[Transformation],
    settings: GraphSettings,
    *,
    name: str,
    job_parameters: Mapping[str, str],
    configuration: Mapping[str, str],
    printers: Mapping[str, Callable[[list[Any]], None]],
    collected: str | None = None,
    attached: bool = False,
    listeners: Iterable[Callable[[JobProgress], None]] = (),
    beside: Iterable[Transformation] = (),
) -> Job:
    """Make a job of everything that some transformations need.

    Args:
        transformations: what has to run.
        settings: the environment's.
        name: the job's name.
        job_parameters: the user's global job parameters.
        configuration: the environment's whole configuration.
        printers: for each channel to the driver, what is done with what arrives.
        collected: the channel that the driver's program iterates.
        attached: whether the program waits for the end before it does anything else.
        listeners: called with each report on the job's progress.
        beside: what the program has, too, and what does not run.

    Raises:
        JobTranslationError: if the graph cannot be run, two sinks want what only one may have, or
            an operator has no uid and none may be made up.
        FileNotFoundError: or another error of a source whose input is not there.
    """
    graph = StreamGraph(transformations, settings, beside)
    if not pipeline.AUTO_GENERATE_UIDS.read(configuration):
        demand_uids(graph)
    bounded = all(node.source.bounded for node in graph.nodes if node.source is not None)
    rhythm = watermark_rhythm(configuration, bounded, settings.batch)
    for node in graph.nodes:
        _configure(node, configuration, rhythm)
    steps = build_physical_graph(graph, rhythm)
    sinks = place_sinks(steps, name)
    return Job(
        name=name,
        settings=JobSettings(
            job_id=uuid.uuid4().hex,
            batch=settings.batch,
            checkpointed=not settings.batch and INTERVAL.read(configuration) is not None,
            checkpoint_elements=CHECKPOINT_ELEMENTS.read(configuration),
            job_parameters=dict(job_parameters),
            configuration=dict(configuration),
            classes=capture_classes(),
        ),
        stages=plan_stages(steps, _no_splits if runs_nothing() else _splits),
        sinks=sinks,
        printers=printers,
        collected=collected,
        bounded=bounded,
        attached=attached,
        listeners=tuple(listeners),
        graph=graph,
    )


def _configure(
    node: Transformation, configuration: Mapping[str, str], rhythm: WatermarkRhythm
) -> None:
    """Pass the job's configuration to sources and sinks."""
    if node.source is not None:
        node.source = node.source.with_configuration(configuration).with_rhythm(rhythm)
    if node.sink is not None:
        node.sink = node.sink.with_configuration(configuration)
        node.operator = SinkOperator(node.sink, node.number)


def _splits(step: PhysicalNode) -> tuple[tuple[Any, ...], ...]:
    source = step.origin.source
    assert source is not None
    splits = source.splits(step.parallelism)
    return tuple(tuple(splits[index :: step.parallelism]) for index in range(step.parallelism))


def _no_splits(step: PhysicalNode) -> tuple[tuple[Any, ...], ...]:
    return ((),) * step.parallelism
