"""Who may read the files of a checkpoint."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder


def modes(path):
    return {
        str(found.relative_to(path)): stat.S_IMODE(found.stat().st_mode)
        for found in sorted(path.rglob("*"))
    }


@pytest.fixture
def open_umask():
    former = os.umask(0o022)
    yield
    os.umask(former)


@pytest.mark.usefixtures("open_umask")
def test_files_and_new_folders_are_private(tmp_path):
    folder(str(tmp_path / "job" / "chk-1")).write("slot-0", b"x")
    assert modes(tmp_path) == {"job": 0o700, "job/chk-1": 0o700, "job/chk-1/slot-0": 0o600}


@pytest.mark.usefixtures("open_umask")
def test_the_umask_decides_if_it_is_asked_to(tmp_path):
    configuration = {"pyflink-on-spark.checkpoint-permissions": "umask"}
    folder(str(tmp_path / "job"), configuration).write("slot-0", b"x")
    assert modes(tmp_path) == {"job": 0o755, "job/slot-0": 0o644}


def test_a_folder_of_somebody_else(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(PermissionError) as raised:
        folder(str(Path(tmp_path, "job"))).write("slot-0", b"x")
    assert "pyflink-on-spark.checkpoint-permissions: umask" in raised.value.__notes__[0]
