"""Sessions of SSH are ended when nothing uses them any more, and not before."""

from __future__ import annotations

import errno
import os
import threading

import pytest

pytest.importorskip("fsspec", reason="fsspec is not installed")

from pyflink_on_spark._filesystem import file_system
from pyflink_on_spark._filesystem import remote_files as module
from tests.filesystem.place import Place
from tests.filesystem.ssh_file_system import SshFileSystem


@pytest.fixture
def made(monkeypatch):
    """The file systems that were made, and their sessions."""
    from fsspec.registry import _registry

    made: list[SshFileSystem] = []
    monkeypatch.setattr(SshFileSystem, "made", made)
    monkeypatch.setitem(file_system._KNOWN, "sftp", file_system.Scheme("sftp"))
    monkeypatch.setitem(_registry, "sftp", SshFileSystem)
    return made


@pytest.fixture
def place(made, tmp_path):
    place = Place(f"sftp://me:secret@host:2222{tmp_path}")
    (place / "x").write(b"0123456789")
    yield place
    module.forget_connection(place.files.root, place.files.options)
    assert ended(made) == [True] * len(made)


def ended(made):
    return [one.client.closed for one in made]


def test_a_session_that_rested_is_ended(made, place, monkeypatch):
    monkeypatch.setattr(module, "_REST_SECONDS", 0)
    for _ in range(3):
        assert place.files.names(place.path) == ["x"]
    assert ended(made) == [True] * (len(made) - 1) + [False]
    assert len(made) > 3


def test_what_is_done_with_a_session_ends_before_it(made, place, monkeypatch):
    monkeypatch.setattr(module, "_REST_SECONDS", 0)
    place.files.rename(f"{place.path}/x", f"{place.path}/y")
    assert place.files.matches(f"{place.path}/*") == [f"{place.path}/y"]
    place.files.remove_folder(place.path)
    assert not place.files.exists(place.path)


@pytest.mark.parametrize("rests", [True, False])
def test_a_session_stays_open_for_its_files(made, place, monkeypatch, rests):
    with place.files.create(f"{place.path}/y") as written, place.files.open(place.path + "/x") as f:
        assert len(made) == 1
        assert f.read(2) == b"01"
        if rests:
            monkeypatch.setattr(module, "_REST_SECONDS", 0)
            assert place.files.names(place.path) == ["x", "y"]
            monkeypatch.setattr(module, "_REST_SECONDS", 1000)
        else:
            module.forget_connection(place.files.root, place.files.options)
            assert place.files.names(place.path) == ["x", "y"]
        assert ended(made) == [False, False]
        assert f.read() == b"23456789"
        f.close()
        f.close()
        assert ended(made) == [False, False]
        written.write(b"abc")
    assert ended(made) == [True, False]
    assert (place / "y").read() == b"abc"


def test_a_session_that_is_lost_is_replaced(made, place):
    made[0].client.closed = True
    with pytest.raises(OSError, match="Socket is closed"):
        place.files.names(place.path)
    assert place.files.names(place.path) == ["x"]
    assert ended(made) == [True, False]


@pytest.mark.parametrize(
    "error",
    [ConnectionResetError(), TimeoutError(), EOFError(), RuntimeError("of the library")],
    ids=repr,
)
def test_a_session_that_may_be_lost_is_ended(made, place, monkeypatch, error):
    fail(monkeypatch, made[0], error)
    with pytest.raises(OSError, match=place.path):
        place.files.names(place.path)
    assert place.files.names(place.path) == ["x"]
    assert ended(made) == [True, False]


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "Permission denied"),
        OSError(errno.ENOSPC, "No space left"),
        OSError("Failure"),
        FileExistsError("File exists"),
    ],
    ids=repr,
)
def test_what_the_server_answers_is_no_reason_to_connect_again(made, place, monkeypatch, error):
    with monkeypatch.context() as patched:
        fail(patched, made[0], error)
        with pytest.raises(OSError, match=error.args[-1]):
            place.files.names(place.path)
    assert place.files.names(place.path) == ["x"]
    assert ended(made) == [False]


def fail(monkeypatch, fs, error):
    def ls(*arguments, **options):
        raise error

    monkeypatch.setattr(fs, "ls", ls)


def test_a_folder_that_is_not_empty_is_no_reason_to_connect_again(made, place, tmp_path):
    os.makedirs(tmp_path / "folder" / "empty")
    place.files.remove_folder(f"{place.path}/folder")
    assert place.files.names(place.path) == ["folder", "x"]
    assert ended(made) == [False]


def test_a_session_ends_with_its_thread(made, place):
    found, files = [], []

    def use():
        found.extend(place.files.names(place.path))
        files.append(place.files.open(f"{place.path}/x"))

    for _ in range(2):
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    assert found == ["x", "x"]
    assert ended(made) == [False, False, False]
    for number, file in enumerate(files):
        assert file.read() == b"0123456789"
        file.close()
        assert made[1 + number].client.closed
    assert not made[0].client.closed


def test_a_forked_process_leaves_the_session_alone(made, place, monkeypatch):
    parent = os.getpid()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: parent + 1)
        assert place.files.names(place.path) == ["x"]
        assert ended(made) == [False, False]
        module.forget_connection(place.files.root, place.files.options)
        assert ended(made) == [False, True]
    made[0].client.close()
