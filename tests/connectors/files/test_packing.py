from __future__ import annotations

from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._sql.tables.connectors.filesystem.factory import Packing


def groups(size, *files):
    pending = [
        PendingFile(bucket, f".{number}", str(number), length)
        for number, (bucket, length) in enumerate(files)
    ]
    full, waiting = Packing(size).groups(pending)
    assert waiting == []
    return [[int(file.path) for file in group] for group in full]


def test_a_file_goes_to_the_first_group_with_space():
    assert groups(10, ("b", 6), ("b", 6), ("b", 4), ("b", 3), ("b", 1)) == [[0, 2], [1, 3, 4]]


def test_a_file_above_the_size_is_alone():
    assert groups(10, ("b", 20), ("b", 10), ("b", 1)) == [[0], [1], [2]]


def test_buckets_are_apart():
    assert groups(10, ("b", 1), ("c", 1), ("b", 1)) == [[0, 2], [1]]


def test_only_ten_groups_are_open():
    files = [("b", 9)] + [("b", 10)] * 10 + [("b", 1)]
    assert groups(10, *files)[-1] == [11]
