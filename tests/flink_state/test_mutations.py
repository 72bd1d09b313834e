"""Damaged savepoints of Flink: refused or read, and nothing else happens."""

from __future__ import annotations

import random

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.checkpoints.contents import load_safely
from pyflink_on_spark.flink_state import FlinkCheckpoint
from pyflink_on_spark.flink_state.conversion import convert, heirs_without_job
from tests.flink_state.samples import metadata_of

NAMES = ["states", "windows"]


def mutated(content, chance):
    """Change a few bytes, cut a piece out, or repeat one."""
    changed = bytearray(content)
    kind = chance.randrange(4)
    at = chance.randrange(len(changed))
    if kind == 0:
        changed[at] = chance.randrange(256)
    elif kind == 1:
        changed[at] ^= 1 << chance.randrange(8)
    elif kind == 2:
        del changed[at : at + chance.randrange(1, 20)]
    else:
        changed[at:at] = changed[at : at + chance.randrange(1, 20)]
    return bytes(changed)


def everything_of(path):
    """Read all that there is, as far as it can be read."""
    checkpoint = FlinkCheckpoint(path)
    for operator in checkpoint.metadata.operators:
        list(checkpoint.lists(operator))
        list(checkpoint.entries(operator))


@pytest.mark.parametrize("name", NAMES)
def test_a_mutation_is_refused_or_read(name, tmp_path):
    chance = random.Random(name)
    content = metadata_of(name)
    refused = 0
    for _ in range(250):
        (tmp_path / "_metadata").write_bytes(mutated(content, chance))
        try:
            everything_of(str(tmp_path))
        except CheckpointError:
            refused += 1
    assert refused > 50


def test_every_cut_is_refused_where_it_matters(tmp_path):
    content = metadata_of("states")
    for end in range(0, len(content) * 9 // 10, 97):
        (tmp_path / "_metadata").write_bytes(content[:end])
        with pytest.raises(CheckpointError):
            everything_of(str(tmp_path))


def test_a_conversion_tells_which_operator_is_damaged(tmp_path):
    content = metadata_of("states")
    damaged = content.replace(b"ByteArrayWrapperSerializer$", b"ByteArrayWrapperSerialized$")
    (tmp_path / "_metadata").write_bytes(damaged)
    checkpoint = FlinkCheckpoint(str(tmp_path))
    found = convert(checkpoint, folder(str(tmp_path / "ours")), heirs_without_job, load_safely)
    (reason,) = [text for text in found.refused if "'all'" in text]
    assert "ByteArrayWrapperSerialized" in reason
    assert "at byte" in reason
