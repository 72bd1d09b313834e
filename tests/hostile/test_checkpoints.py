"""A checkpoint with any change is read as it was written, or refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from tests.hostile.changes import changed
from tests.runtime.checkpoints.test_damaged_checkpoints import FILES, read, write


def contents(place):
    states, committables = read(place)
    frames = [tuple(getattr(thing, "frames", ())) for _, thing in committables]
    return states.to_bytes(), frames


@pytest.mark.parametrize("name", FILES)
def test_changed_checkpoints(tmp_path, name, hostile_seeds):
    original = tmp_path / "chk-5"
    write(folder(str(original)))
    expected = contents(folder(str(original)))
    place = tmp_path / "changed"
    shutil.copytree(original, place)
    content, refused = (original / name).read_bytes(), []
    for seed, other in changed(content, hostile_seeds):
        Path(place, name).write_bytes(other)
        try:
            found = contents(folder(str(place)))
        except CheckpointError as error:
            refused.append(str(error))
        else:
            assert found == expected, seed
    assert refused
    assert all(str(place) in text or name in text for text in refused)
