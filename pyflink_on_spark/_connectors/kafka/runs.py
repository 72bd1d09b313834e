"""Divides what a consumer returns into the messages of single partitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import methodcaller
from typing import Any

from pyflink_on_spark._connectors.kafka.config import Partition


def runs(messages: list[Any]) -> Iterator[tuple[Partition, list[Any]]]:
    """Yield runs of messages of one partition; a message that is an error ends its run."""
    for topic, of_topic in groupby(messages, key=_topic):
        for number, of_partition in groupby(of_topic, key=_partition):
            run = list(of_partition)
            if not any(map(_error, run)):
                yield (topic, number), run
                continue
            for error, part in groupby(run, key=lambda message: message.error() is not None):
                for records in [[message] for message in part] if error else [list(part)]:
                    yield (topic, number), records


def runs_by_partition(messages: list[Any]) -> Iterator[tuple[Partition, list[Any]]]:
    """Yield the runs of one partition after the other, as few as there can be."""
    found: dict[Partition, list[list[Any]]] = {}
    for key, run in runs(messages):
        before = found.setdefault(key, [])
        if before and before[-1][-1].error() is None:
            before[-1] += run
        else:
            before.append(run)
    for key, of_partition in found.items():
        for run in of_partition:
            yield key, run


# Per message nothing runs in Python.
_topic, _partition = methodcaller("topic"), methodcaller("partition")
_error = methodcaller("error")
