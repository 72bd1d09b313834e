"""Folders of checkpoints: files are there as a whole or not at all."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder


@pytest.fixture(params=["file", "memory"])
def place(request, tmp_path):
    if request.param == "memory":
        pytest.importorskip("fsspec", reason="fsspec is not installed")
        return folder(f"memory://{tmp_path.name}/a/b")
    return folder((tmp_path / "a" / "b").as_uri())


def test_files_are_written_and_read(place):
    assert place.names() == []
    place.write("x", b"one")
    place.write("x", b"two")
    place.write("y", b"")
    assert place.names() == ["x", "y"]
    assert place.read("x") == b"two"
    with place.open("x") as file:
        file.seek(1)
        assert file.read(1) == b"w"
    place.remove("x")
    place.remove("x")
    assert place.names() == ["y"]
    place.remove()
    assert place.names() == []


def test_what_is_not_there(place):
    with pytest.raises(FileNotFoundError):
        place.read("x")


def test_a_file_that_is_not_finished_is_not_there(place):
    place.write("y", b"1")

    def fail():
        with place.create("x") as file:
            file.write(b"half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert place.names() == ["y"]


def test_neighbours(tmp_path):
    place = folder(str(tmp_path / "job" / "chk-1"))
    assert place.beside("shared").uri == str(tmp_path / "job" / "shared")
    assert place.inside("x").uri == str(tmp_path / "job" / "chk-1" / "x")


def test_a_file_system_that_is_unknown():
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    with pytest.raises(ValueError, match="implementation for scheme 'zip'"):
        folder("zip://x")
