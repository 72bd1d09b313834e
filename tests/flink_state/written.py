"""Writes what Flink writes, for tests of what no savepoint in this folder has."""

from __future__ import annotations

import struct

from pyflink_on_spark.flink_state.metadata import (
    Format,
    InlineFile,
    parse_metadata,
)

_MODES = ("split", "union", "broadcast")
_KINDS = {Format.CANONICAL: 7, Format.HASHMAP: 3}


def utf(text):
    content = text.encode()
    return struct.pack(">H", len(content)) + content


def integers(*numbers):
    return struct.pack(f">{len(numbers)}i", *numbers)


def longs(*numbers):
    return struct.pack(f">{len(numbers)}q", *numbers)


def string(text):
    """Write a text of ASCII as StringSerializer does."""
    return bytes([len(text) + 1]) + text.encode("ascii")


def snapshot(name, version=3, body=b""):
    return utf(name) + integers(version) + body


def composite(name, outer_version, outer, *nested):
    body = integers(911108, outer_version) + outer + integers(1333245, 1, len(nested))
    return snapshot(name, 3, body + b"".join(nested))


def file(found):
    if isinstance(found, InlineFile):
        return b"\x01" + utf("a file") + integers(len(found.content)) + found.content
    if found.relative:
        return b"\x06" + utf(found.path) + longs(found.size)
    if found.offset:
        return b"\x0f" + longs(found.offset, found.size) + integers(0) + utf(found.path) + utf("id")
    return b"\x02" + longs(found.size) + utf(found.path)


def keyed(handle):
    if handle is None:
        return b"\x00"
    return (
        bytes([_KINDS[handle.format]])
        + integers(handle.first, len(handle.offsets))
        + longs(*handle.offsets)
        + file(handle.file)
    )


def lists(handle):
    if handle is None:
        return integers(0)
    content = integers(1) + b"\x04" + integers(len(handle.lists))
    for name, (mode, offsets) in handle.lists.items():
        content += utf(name) + bytes([_MODES.index(mode)]) + integers(len(offsets))
        content += longs(*offsets)
    return content + file(handle.file)


def metadata(found, version):
    """Write metadata in a version of the format."""
    content = struct.pack(">I", 0x4960672D) + integers(version) + longs(found.checkpoint_id)
    content += integers(0, len(found.operators))
    for operator in found.operators:
        if version >= 5:
            content += utf(operator.name or "") + utf(operator.uid or "")
        content += bytes.fromhex(operator.hash)
        content += integers(operator.parallelism, operator.max_parallelism)
        content += (
            b"\x00" if operator.coordinator is None else file(InlineFile(operator.coordinator))
        )
        content += integers(-1 if operator.finished else len(operator.subtasks))
        for index, state in operator.subtasks.items():
            content += integers(index) + lists(state.managed) + lists(state.raw)
            content += keyed(state.keyed) + keyed(state.raw_keyed) + integers(0, 0)
    return content


def in_version(content, version):
    """Write metadata again, in another version of the format."""
    return metadata(parse_metadata(content, "a savepoint"), version)
