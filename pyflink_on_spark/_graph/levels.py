"""Steps into segments, segments into regions, regions into levels: the plan of a job."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from pyflink_on_spark._graph.physical_graph import PhysicalEdge, PhysicalNode
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.task.exchange import ExchangePlan
from pyflink_on_spark._runtime.task.partitioners import ForwardPartitioner, GlobalPartitioner
from pyflink_on_spark._runtime.task.plan import (
    InputChannel,
    LocalPlan,
    OperatorChainPlan,
    OutputPlan,
    StagePlan,
    VertexPlan,
)

Splits = Callable[[PhysicalNode], tuple[tuple[object, ...], ...]]


def plan_levels(steps: list[PhysicalNode], splits: Splits) -> tuple[StagePlan, ...]:
    """Return the plan of a job.

    Args:
        steps: all steps in the order of the flow.
        splits: gives a source step's splits, for each subtask.
    """
    return _Planner(steps, splits).plan()


class _Segment:
    """Some steps, one behind the other."""

    def __init__(self, first: PhysicalNode) -> None:
        self.steps = [first]
        self.region: _Region
        self.index = -1

    @property
    def inputs(self) -> list[PhysicalEdge]:
        return self.steps[0].inputs

    def outputs(self) -> Iterator[PhysicalEdge]:
        """The links that leave it: main ones of the last step, side outputs of any."""
        inside = set(map(id, self.steps))
        for step in self.steps:
            yield from (link for link in step.outputs if id(link.receiver) not in inside)


class _Region:
    """Segments that run in one subtask."""

    def __init__(self) -> None:
        self.segments: list[_Segment] = []
        self.first_target = -1

    @property
    def head(self) -> PhysicalNode:
        return self.segments[0].steps[0]


class _Planner:
    def __init__(self, steps: list[PhysicalNode], splits: Splits) -> None:
        self._steps, self._splits = steps, splits
        self._segment_of: dict[PhysicalNode, _Segment] = {}
        self._exchanges: dict[PhysicalEdge, ExchangePlan] = {}
        self._local_channels = itertools.count()

    def plan(self) -> tuple[StagePlan, ...]:
        segments = self._segments()
        regions = self._regions(segments)
        self._number(regions)
        deepest = max(region.head.level for region in regions)
        return tuple(
            StagePlan(tuple(self._region_plan(r) for r in regions if r.head.level == level))
            for level in range(deepest + 1)
        )

    def _segments(self) -> list[_Segment]:
        segments = []
        for step in self._steps:
            before = self._continues(step)
            if before is None:
                segments.append(_Segment(step))
                self._segment_of[step] = segments[-1]
            else:
                before.steps.append(step)
                self._segment_of[step] = before
        return segments

    def _continues(self, step: PhysicalNode) -> _Segment | None:
        if len(step.inputs) != 1:
            return None
        link = step.inputs[0]
        sender = link.sender
        mains = [output for output in sender.outputs if output.side_tag is None]
        straight = link.local and link.side_tag is None and len(mains) == 1
        if not straight or isinstance(sender.operator, AssignTimestamps):
            return None
        return self._segment_of[sender]

    def _regions(self, segments: list[_Segment]) -> list[_Region]:
        """Join what local links connect. Those of one level and parallelism, since links do."""
        group = {segment: segment for segment in segments}

        def root(segment: _Segment) -> _Segment:
            while group[segment] is not segment:
                segment = group[segment]
            return segment

        for segment in segments:
            for link in segment.inputs:
                if link.local:
                    group[root(segment)] = root(self._segment_of[link.sender])
        regions: dict[_Segment, _Region] = {}
        for segment in segments:
            segment.region = regions.setdefault(root(segment), _Region())
            segment.index = len(segment.region.segments)
            segment.region.segments.append(segment)
        return list(regions.values())

    def _number(self, regions: list[_Region]) -> None:
        targets = 0
        for region in sorted(regions, key=lambda r: r.head.level):
            region.first_target = targets
            targets += region.head.parallelism
        channels = 0
        for step in self._steps:
            for link in step.outputs:
                if not link.local:
                    self._exchanges[link] = self._exchange(link, channels)
                    channels += step.parallelism

    def _exchange(self, link: PhysicalEdge, first_channel: int) -> ExchangePlan:
        sender, receiver = link.sender, link.receiver
        partitioner = link.partitioner
        if isinstance(partitioner, ForwardPartitioner) and (
            sender.parallelism != receiver.parallelism
        ):
            partitioner = GlobalPartitioner()
        return ExchangePlan(
            first_channel=first_channel,
            first_target=self._segment_of[receiver].region.first_target,
            senders=sender.parallelism,
            receivers=receiver.parallelism,
            max_parallelism=receiver.plan.max_parallelism if receiver.plan else 128,
            partitioner=partitioner,
            keyed=sender.emits_pairs,
            timestamped=sender.timestamped or link.side_tag is not None,
            isolate=_may_change(link),
        )

    def _region_plan(self, region: _Region) -> VertexPlan:
        inputs = tuple(
            InputChannel(self._exchanges[link], segment.index, link.port)
            for segment in region.segments
            for link in segment.inputs
            if not link.local
        )
        return VertexPlan(
            name=" -> ".join(_names(region)),
            parallelism=region.head.parallelism,
            first_target=region.first_target,
            segments=tuple(map(self._segment_plan, region.segments)),
            inputs=inputs,
        )

    def _segment_plan(self, segment: _Segment) -> OperatorChainPlan:
        head = segment.steps[0]
        source = head.origin.source if head.plan is None else None
        return OperatorChainPlan(
            operators=tuple(step.plan for step in segment.steps if step.plan is not None),
            outputs=tuple(self._output_plan(link) for link in segment.outputs()),
            source=source,
            splits=self._splits(head) if source is not None else (),
            source_id=head.state_id,
        )

    def _output_plan(self, link: PhysicalEdge) -> OutputPlan:
        if not link.local:
            return OutputPlan(self._exchanges[link], link.side_tag)
        edge = LocalPlan(
            segment=self._segment_of[link.receiver].index,
            port=link.port,
            channel=-1 - next(self._local_channels),
            timestamped=link.sender.timestamped or link.side_tag is not None,
            isolate=_may_change(link),
        )
        return OutputPlan(edge, link.side_tag)


def _may_change(link: PhysicalEdge) -> bool:
    """Whether the edge has to make sure of its elements; a fork does so for all its edges."""
    mains = [output for output in link.sender.outputs if output.side_tag is None]
    return not link.sender.fresh and link.side_tag is None and len(mains) == 1


def _names(region: _Region) -> list[str]:
    names: list[str] = []
    for segment in region.segments:
        for step in segment.steps:
            name = step.origin.name
            if not names or names[-1] != name:
                names.append(name)
    return names
