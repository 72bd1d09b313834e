from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._connectors.files.config import find_files as found_at
from pyflink_on_spark._connectors.files.config import split_files
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import FileStatus
from pyflink_on_spark._filesystem.location import local_path, locate


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file://localhost/a/b", "/a/b"),
        ("file:///a%20b", "/a%20b"),
        ("/a/x:y", "/a/x:y"),
    ],
)
def test_a_path_or_uri_names_a_local_file(given, expected):
    assert local_path(given) == expected


def test_a_relative_path_is_resolved_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert local_path("in/x.txt") == str(tmp_path / "in/x.txt")


def test_another_file_system_is_refused_with_a_way_out():
    with pytest.raises(UnsupportedFlinkFeature, match=r"'s3://bucket/x'.*local path"):
        local_path("s3://bucket/x")


@pytest.mark.parametrize(
    ("path", "error"), [("", ValueError), (Path("/a"), TypeError), ("file://host/a", ValueError)]
)
def test_what_is_no_path_is_refused(path, error):
    with pytest.raises(error):
        local_path(path)


def find_files(paths):
    return found_at(map(locate, paths))


def _make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_folders_are_read_with_sub_folders_in_order_without_hidden_names(tmp_path):
    _make(tmp_path, "b", "a", "s/deep/x", "_hid", ".hid", "_h/x", ".h/x", "s/_y", "c.txt")
    found = [os.path.relpath(file.path, tmp_path) for file in find_files([str(tmp_path)])]
    assert found == ["a", "b", "c.txt", "s/deep/x"]


def test_a_hidden_file_is_left_out_even_when_it_is_named(tmp_path):
    _make(tmp_path, "_hid")
    assert find_files([str(tmp_path / "_hid")]) == []


def test_files_come_in_order_of_the_paths_and_as_often_as_they_are_named(tmp_path):
    _make(tmp_path, "b", "a")
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    assert [file.path for file in find_files([b, a, b])] == [b, a, b]


def test_a_pattern_stands_for_what_fits_it(tmp_path):
    _make(tmp_path, "a.csv", "b.txt", "s/c.csv", "_d.csv", ".e.csv")
    at = lambda pattern: [  # noqa: E731
        os.path.relpath(file.path, tmp_path) for file in find_files([str(tmp_path / pattern)])
    ]
    assert at("*.csv") == ["a.csv"]
    assert at("**/*.csv") == ["a.csv", "s/c.csv"]
    assert at("s*") == ["s/c.csv"]
    with pytest.raises(FileNotFoundError, match=r"matches .*/\*\.orc"):
        at("*.orc")


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path):
    _make(tmp_path, "[a].csv", "a.csv")
    assert [file.path for file in find_files([str(tmp_path / "[a].csv")])] == [
        str(tmp_path / "[a].csv")
    ]


def test_a_missing_path_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nope"):
        find_files([str(tmp_path / "nope")])


def test_a_large_file_is_cut_evenly_for_all_subtasks():
    splits = split_files([FileStatus("f", 100)], 3, frozenset("f"), smallest=10)
    assert splits == [FileSplit("f", 0, 33), FileSplit("f", 33, 66), FileSplit("f", 66, 100)]


def test_one_subtask_reads_files_whole():
    assert split_files([FileStatus("f", 100)], 1, frozenset("f"), smallest=10) == [FileSplit("f")]


def test_small_files_stay_whole():
    splits = split_files([FileStatus("f", 14), FileStatus("g", 0)], 8, frozenset("fg"), smallest=10)
    assert splits == [FileSplit("f"), FileSplit("g")]


def test_only_splittable_files_are_cut():
    files = [FileStatus("f.gz", 100), FileStatus("g", 100)]
    splits = split_files(files, 4, frozenset("g"), smallest=10)
    assert splits == [FileSplit("f.gz"), FileSplit("g", 0, 50), FileSplit("g", 50, 100)]
