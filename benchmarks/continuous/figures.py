"""Figures from the notes of a run. Times in ms, unless a name says otherwise."""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Results that came out at one time: of which window, for how many records, how many."""

    at: int
    end: int
    records: int
    results: int


def read_notes(folder, since=0):
    """Return the notes of all windows that end at or after a time and are known to be complete.

    A sink has written all of a window once it has written something of a later one.
    """
    files = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_text().splitlines(keepends=True)
        files.append([Note(*json.loads(line)) for line in lines if line.endswith("\n")])
    files = [notes for notes in files if notes]
    if not files:
        return []
    complete = min(max(note.end for note in notes) for notes in files)
    return [note for notes in files for note in notes if since <= note.end < complete]


def read_batches(folder, since=0):
    """Return begin and end of the micro-batches that began at or after a time."""
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    batches = sorted(tuple(json.loads(line)) for line in lines if line.endswith("]"))
    return [batch for batch in batches if batch[0] >= since]


def records_per_second(notes):
    """Return the records of all windows but the first, over the time from its end to the last's."""
    ends = [note.end for note in notes]
    if len(set(ends)) < 2:
        return None
    first, last = min(ends), max(ends)
    records = sum(note.records for note in notes if note.end > first)
    return 1000 * records / (last - first)


def window_latencies(notes):
    """Return (latency, weight) for each note: from the window's end until its results are out.

    The record that is made at the end of the window, or just after it, is what lets it fire.
    """
    return [(note.at - note.end, note.results) for note in notes]


def batch_latencies(batches, step=5):
    """Return (latency, weight) of imagined records, one each ``step`` ms, in micro-batches.

    A record comes into the first batch that begins after it is made, and is out with that one.

    Args:
        batches: begin and end of each, in their order.
        step: from one record to the next.
    """
    begins = [begin for begin, _ in batches]
    if not begins:
        return []
    return [
        (batches[bisect_left(begins, time)][1] - time, 1)
        for time in range(int(begins[0]), int(begins[-1]) + 1, step)
    ]


def percentile(weighted, share):
    """Return the smallest value that at least ``share`` of the weight does not exceed."""
    ordered = sorted(weighted)
    limit, reached = share * sum(weight for _, weight in ordered), 0
    for value, weight in ordered:
        reached += weight
        if reached >= limit and weight:
            return value
    return None


@dataclass(frozen=True)
class Sample:
    """Processes at one time: processor seconds so far, and resident bytes by kind of process."""

    at: int
    processor_seconds: float
    resident: dict[str, int]


def memory_course(samples, kind, parts=3):
    """Return the median of the resident MB in each part of the samples: is it flat?"""
    if len(samples) < parts:
        return []
    course = []
    for part in range(parts):
        chosen = samples[part * len(samples) // parts : (part + 1) * len(samples) // parts]
        sizes = sorted(sample.resident.get(kind, 0) for sample in chosen)
        course.append(sizes[len(sizes) // 2] / 1e6)
    return course


def is_flat(course, tolerance=0.1):
    """True if the last part is not much larger than the ones before."""
    return bool(course) and course[-1] <= (1 + tolerance) * max(course[:-1])


def cores_used(samples):
    """Return how many processors were busy with it on average; None for too few samples."""
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    seconds = (last.at - first.at) / 1000
    return (last.processor_seconds - first.processor_seconds) / seconds if seconds else None
