"""The plan and the addresses that a host receives when an attempt begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyflink_on_spark._cluster.transport.result_channel import ChannelAddress
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore
from pyflink_on_spark._runtime.contract.plan import StagePlan


@dataclass(frozen=True)
class Deployment:
    """The deployment of an attempt on its hosts.

    Args:
        plan: the pickled stages and JobSettings.
        hosts: how many hosts there are.
        attempt: how often the job was restarted.
        restore: the checkpoint to begin with; None for a fresh start.
        results: how to reach the driver's result channels.
        channels: the driver's name of each channel.
    """

    plan: bytes
    hosts: int
    attempt: int
    restore: Restore | None
    results: ChannelAddress
    channels: dict[str, str]


def slots_of(stages: tuple[StagePlan, ...]) -> int:
    """Return how many slots a job has: as many as its most parallel vertex has subtasks."""
    return max(vertex.parallelism for stage in stages for vertex in stage.vertices)


def host_of_slot(slot: int, slots: int, hosts: int) -> int:
    """Return the host of a slot; neighbours share one."""
    return slot * hosts // slots


def hosts_of_subtasks(stages: tuple[StagePlan, ...], hosts: int) -> Mapping[int, int]:
    """Return the host of each subtask of a job."""
    slots = slots_of(stages)
    return {
        number: host_of_slot(index, slots, hosts)
        for stage in stages
        for number, _, index in stage.subtasks()
    }


def hosts_of_channels(stages: tuple[StagePlan, ...], hosts: int) -> Mapping[int, int]:
    """Return the host that sends on each channel of a job."""
    slots = slots_of(stages)
    return {
        incoming.exchange.first_channel + sender: host_of_slot(sender, slots, hosts)
        for stage in stages
        for vertex in stage.vertices
        for incoming in vertex.inputs
        for sender in range(incoming.exchange.senders)
    }
