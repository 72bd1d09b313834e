"""A server of FTP that ends connections."""

from __future__ import annotations

import itertools
import socket

import pytest

from pyflink_on_spark._filesystem import remote_files
from pyflink_on_spark._filesystem import remote_files as module
from tests.filesystem.place import Place

_NUMBERS = itertools.count()


@pytest.fixture
def place(request):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    return Place(f"{request.getfixturevalue('ftp')}/lost{next(_NUMBERS)}")


def end(place):
    place.files._connection._fs.ftp.sock.shutdown(socket.SHUT_RDWR)


def test_one_error_is_all(place):
    (place / "x").write(b"1")
    end(place)
    with pytest.raises(OSError, match=f"{place.path}: "):
        place.files.names(place.path)
    assert place.files.names(place.path) == ["x"]


def test_what_is_not_there_is_no_reason_to_connect_again(place):
    (place / "x").write(b"1")
    before = place.files._connection
    assert not place.files.exists(f"{place.path}/y")
    assert place.files._connection is before


def test_a_connection_that_was_not_used_for_long(place, monkeypatch):
    (place / "x").write(b"1")
    end(place)
    monkeypatch.setattr(module, "_REST_SECONDS", 0)
    assert place.files.names(place.path) == ["x"]


def test_files_that_are_open_meanwhile(place, monkeypatch):
    monkeypatch.setattr(remote_files, "_FTP_BLOCK", 4)
    with place.files.create(f"{place.path}/x") as file:
        file.write(b"0123456789")
        end(place)
        monkeypatch.setattr(module, "_REST_SECONDS", 0)
        file.write(b"abcdef")
    monkeypatch.setattr(module, "_REST_SECONDS", 1000)
    with place.files.open(f"{place.path}/x") as file:
        assert file.read(2) == b"01"
        end(place)
        monkeypatch.setattr(module, "_REST_SECONDS", 0)
        assert file.read() == b"23456789abcdef"
