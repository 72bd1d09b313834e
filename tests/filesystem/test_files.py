"""The behaviour of every file system."""

from __future__ import annotations

import io
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyflink_on_spark._filesystem.file_system import FileStatus
from pyflink_on_spark._filesystem.local_files import LocalFiles


def test_what_is_written_is_read_here_and_there(place):
    content = bytes(range(256)) * 40_000
    file = (place / "a" / "b.bin").write(content)
    assert file.files.status(file.path) == FileStatus(file.path, len(content))
    assert file.read() == content
    with file.files.open(file.path) as stream:
        assert stream.read(3) == b"\x00\x01\x02"
        assert stream.seek(-2, io.SEEK_END) == len(content) - 2
        assert stream.tell() == len(content) - 2
        assert stream.read() == b"\xfe\xff"
        assert stream.read() == b""
        stream.seek(5_000_001)
        assert io.BufferedReader(stream).read(2) == content[5_000_001:5_000_003]


def test_an_empty_file(place):
    assert (place / "x").write(b"").read() == b""


def test_what_is_not_there(place):
    file = place / "no" / "thing"
    assert not file.files.exists(file.path)
    for call in (
        file.files.status,
        file.files.open,
        lambda path: next(file.files.new_files(path, set())),
    ):
        with pytest.raises(FileNotFoundError, match="no/thing"):
            call(file.path)
    assert file.files.names(file.path) == []
    assert list(file.files.all_files(file.path)) == []
    file.files.remove(file.path)
    file.files.remove_folder(file.path)


def test_files_are_found_in_order_without_hidden_ones(place):
    for name in ("b", "a", "s/deep/x", "_hid", ".hid", "_h/x", ".h/x", "s/_y", "c.txt", "s.txt"):
        (place / name).write(name.encode())
    files = place.files
    visible = [f"{place.path}/{name}" for name in ("a", "b", "c.txt", "s/deep/x", "s.txt")]
    assert [file.path for file in files.visible_files(place.path)] == visible
    assert [file.size for file in files.visible_files(place.path)] == [1, 1, 5, 8, 5]
    assert files.names(place.path) == sorted(
        [".h", ".hid", "_h", "_hid", "a", "b", "c.txt", "s", "s.txt"]
    )
    assert set(files.new_files(place.path, {visible[0]})) == set(visible[1:])
    assert list(files.visible_files(f"{place.path}/_hid")) == []
    assert files.status(f"{place.path}/s").is_folder


def test_a_hidden_file_that_is_renamed_while_files_are_listed_is_no_error(tmp_path):
    (tmp_path / ".gone").symlink_to(tmp_path / "renamed")
    (tmp_path / "here").write_bytes(b"1")
    found = LocalFiles().visible_files(str(tmp_path))
    assert [file.path for file in found] == [str(tmp_path / "here")]


def test_patterns(place):
    for name in ("a.csv", "b.txt", "s/c.csv"):
        (place / name).write(b"1")
    files, path = place.files, place.path
    assert files.expand(f"{path}/*.csv") == [f"{path}/a.csv"]
    assert files.expand(f"{path}/*/*.csv") == [f"{path}/s/c.csv"]
    assert files.expand(f"{path}/**/*.csv") == [f"{path}/a.csv", f"{path}/s/c.csv"]
    assert files.expand(f"{path}/[ab].*") == [f"{path}/a.csv", f"{path}/b.txt"]
    assert files.expand(f"{path}/nothing") == [f"{path}/nothing"]
    with pytest.raises(FileNotFoundError, match="matches"):
        files.expand(f"{path}/*.orc")


@pytest.mark.parametrize("name", ["x", "[a]*b?.txt", "white space", "é", "a=1/b%20c"])
def test_files_are_renamed_and_removed(place, name):
    source, target = place / ".hidden", place / name
    source.write(b"new")
    target.write(b"old")
    place.files.rename(source.path, target.path)
    assert place.tree() == {name: b"new"}
    with pytest.raises(FileNotFoundError):
        place.files.rename(source.path, target.path)
    assert target.read() == b"new"
    place.files.remove(target.path)
    place.files.remove(target.path)
    assert place.tree() == {}


def test_a_folder_is_removed_with_all_that_is_in_it(place):
    for name in ("c/a", "c/b/x", "c/b/y/z", "cc/a"):
        (place / name).write(b"1")
    place.files.remove_folder((place / "c").path)
    assert place.files.names(place.path) == ["cc"]


def test_it_can_be_sent_to_a_worker(place):
    (place / "x").write(b"1")
    files = pickle.loads(pickle.dumps(place.files))
    assert files.names(place.path) == ["x"]


def test_a_password_is_shown_nowhere(ftp):
    from tests.filesystem.place import Place

    place = Place(f"{ftp}/x")
    assert "sesame" not in f"{place.path} {place.files!r}"
    wrong = Place(f"{ftp.replace('open%20sesame', 'wrong-one')}/x")
    with pytest.raises(OSError, match="ftp://me@127") as caught:
        wrong.read()
    assert "wrong-one" not in str(caught.value)


def test_threads_and_forks(place):
    (place / "x").write(b"1")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: (place / "x").read(), range(8))) == [b"1"] * 8
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sending.send((place / "x").read()))
    child.start()
    assert receiving.poll(20)
    assert receiving.recv() == b"1"
    child.join()
    assert (place / "x").read() == b"1"
