from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.files.config import (
    Compaction,
    CompactionStrategy,
    Concatenation,
    IdenticalCopy,
)
from pyflink_on_spark._connectors.files.part_file import PendingFile

ALL = CompactionStrategy(size_threshold=1000)


@pytest.fixture
def pending(tmp_path):
    def pending(texts, bucket="b"):
        folder = tmp_path / bucket
        folder.mkdir(exist_ok=True)
        files = []
        for number, text in enumerate(texts):
            hidden = folder / f".part-{number}.inprogress"
            hidden.write_bytes(text)
            path = str(folder / f"part-{number}")
            files.append(PendingFile(str(folder), str(hidden), path, len(text)))
        return files

    return pending


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_joined_with_a_delimiter_behind_each(tmp_path, pending):
    Compaction(ALL, Concatenation(b"--")).commit(pending([b"aa\n", b"bb\n"]))
    assert contents(tmp_path) == {"compacted-part-0": b"aa\n--bb\n--"}


@pytest.mark.parametrize("threshold", [5, 6])
def test_files_are_taken_together_until_they_reach_the_size(tmp_path, pending, threshold):
    strategy = CompactionStrategy(size_threshold=threshold)
    Compaction(strategy, Concatenation()).commit(
        pending([b"aa\n", b"bb\n", b"cc\n", b"dd\n", b"e"])
    )
    assert contents(tmp_path) == {
        "compacted-part-0": b"aa\nbb\n",
        "compacted-part-2": b"cc\ndd\n",
        "compacted-part-4": b"e",
    }


def test_buckets_are_kept_apart(tmp_path, pending):
    files = pending([b"a"], "x") + pending([b"b"], "y")
    Compaction(CompactionStrategy(checkpoints=1, threads=2), Concatenation()).commit(files)
    assert contents(tmp_path / "x") == {"compacted-part-0": b"a"}
    assert contents(tmp_path / "y") == {"compacted-part-0": b"b"}


def test_a_second_commit_changes_nothing(tmp_path, pending):
    files = pending([b"a", b"b"])
    compaction = Compaction(ALL, Concatenation())
    compaction.commit(files)
    compaction.commit(files)
    assert contents(tmp_path) == {"compacted-part-0": b"ab"}


def test_identical_copies_take_one_file_each(tmp_path, pending):
    each = CompactionStrategy(size_threshold=0)
    Compaction(each, IdenticalCopy()).commit(pending([b"a", b"b"]))
    assert contents(tmp_path) == {"compacted-part-0": b"a", "compacted-part-1": b"b"}


def test_a_failure_leaves_the_parts_and_no_half_file(tmp_path, pending):
    with pytest.raises(ValueError, match="only copy one input file"):
        Compaction(ALL, IdenticalCopy()).commit(pending([b"a", b"b"]))
    assert sorted(contents(tmp_path)) == [".part-0.inprogress", ".part-1.inprogress"]


@pytest.mark.parametrize(
    "rules", [{}, {"size_threshold": -1}, {"checkpoints": 0}, {"size_threshold": 1, "threads": 0}]
)
def test_a_strategy_needs_a_rule(rules):
    with pytest.raises(ValueError, match=r"trigger|more than 0"):
        CompactionStrategy(**rules)
