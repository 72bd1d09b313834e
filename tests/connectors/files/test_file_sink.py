from __future__ import annotations

import errno
import os
import pickle
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._connectors.files import part_file
from pyflink_on_spark._connectors.files.bucket_naming import BasePathBuckets, DateTimeBuckets
from pyflink_on_spark._connectors.files.config import (
    ON_CHECKPOINT,
    FileSinkConfig,
    PartAffixes,
    RollingLimits,
)
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._filesystem import local_files
from pyflink_on_spark._runtime.contract.operator import TaskInfo
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark.common.typeinfo import Types

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class ManualClock:
    def __init__(self, now=0):
        self.time = now

    def now(self):
        return self.time


def context_of(clock, subtask_index=0):
    return SimpleNamespace(
        clock=clock,
        task=TaskInfo("sink", subtask_index, 8),
        operator_state=OperatorState(),
        restored=None,
        copied=False,
        checkpointed=False,
    )


def options_for(folder, **more):
    return FileSinkConfig(str(folder), **{"buckets": BasePathBuckets(), **more})


def open_writer(options, clock=None, subtask_index=0, type_info=None):
    sink = pickle.loads(
        pickle.dumps(PartFileSink(options).with_input_type(type_info or Types.STRING()))
    )
    return sink, sink.writer(context_of(clock or ManualClock(), subtask_index))


def write(options, *bundles, **more):
    """Write bundles as one subtask does, commit, and return the files in order of their names."""
    sink, writer = open_writer(options, **more)
    for bundle in bundles:
        writer.write(iter(bundle))
    committables = pickle.loads(pickle.dumps(writer.prepare_commit()))
    writer.close()
    sink.commit(committables)
    return contents(options.base_path)


def tree(folder):
    return sorted(
        os.path.relpath(os.path.join(where, name), folder)
        for where, _, names in os.walk(folder)
        for name in names
    )


def contents(folder):
    files = [os.path.join(folder, name) for name in tree(folder)]
    texts = {}
    for path in files:
        with open(path, "rb") as file:
            texts[os.path.relpath(path, folder)] = file.read()
    return list(texts.values())


def test_text_lines_in_one_part_file_a_subtask(tmp_path):
    assert write(options_for(tmp_path), ["a", "b"], ["c"]) == [b"a\nb\nc\n"]
    (name,) = tree(tmp_path)
    assert re.fullmatch(f"part-{UUID}-0", name)


def test_prefix_suffix_and_the_hour_as_bucket(tmp_path):
    options = FileSinkConfig(
        str(tmp_path), buckets=DateTimeBuckets(zone_id="UTC"), affixes=PartAffixes("pre", ".txt")
    )
    clock = ManualClock(1_795_000_000_000)
    write(options, ["a"], clock=clock)
    (name,) = tree(tmp_path)
    assert re.fullmatch(rf"2026-11-18--11/pre-{UUID}-0\.txt", name)


def test_a_subtask_without_elements_writes_nothing(tmp_path):
    assert write(options_for(tmp_path / "out"), []) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("part_size", [3, 4])
def test_a_part_takes_elements_until_it_is_larger_than_allowed(tmp_path, part_size):
    options = options_for(tmp_path, rolling=RollingLimits(part_size))
    expected = [b"aa\nbb\n", b"cc\ndddddd\n", b"e\nf\n"]
    assert write(options, ["aa", "bb", "cc", "dddddd", "e", "f"]) == expected
    assert [name[-2:] for name in tree(tmp_path)] == ["-0", "-1", "-2"]


def rolled(lines, limit):
    parts = []
    for line in lines:
        if not parts or len(parts[-1]) > limit:
            parts.append(b"")
        parts[-1] += line.encode() + b"\n"
    return parts


@given(
    lines=st.lists(st.text("ab", max_size=6), max_size=40),
    limit=st.integers(1, 20),
    cuts=st.lists(st.integers(0, 40), max_size=4),
)
def test_rolling_does_not_depend_on_bundles(tmp_path_factory, lines, limit, cuts):
    options = options_for(tmp_path_factory.mktemp("roll"), rolling=RollingLimits(limit))
    bounds = [0, *sorted(cuts), len(lines)]
    bundles = [lines[a:b] for a, b in pairwise(bounds)]
    sink, writer = open_writer(options)
    for bundle in bundles:
        writer.write(iter(bundle))
    committables = writer.prepare_commit()
    sink.commit(committables)
    written = []
    for file in committables:
        with open(file.path, "rb") as part:
            written.append(part.read())
    assert written == rolled([line for bundle in bundles for line in bundle], limit)


def test_time_finishes_a_part_at_the_check_after_it(tmp_path):
    clock = ManualClock()
    options = options_for(
        tmp_path, rolling=RollingLimits(100, 1000, 1_000_000), bucket_check_interval=500
    )
    sink, writer = open_writer(options, clock)
    for time, element in [(0, "a"), (999, "b"), (1100, "c"), (1500, "d")]:
        clock.time = time
        writer.write(iter([element]))
    sink.commit(writer.prepare_commit())
    assert contents(tmp_path) == [b"a\nb\nc\n", b"d\n"]


def test_inactivity_finishes_a_part(tmp_path):
    clock = ManualClock()
    options = options_for(
        tmp_path, rolling=RollingLimits(100, 1_000_000, 100), bucket_check_interval=10
    )
    sink, writer = open_writer(options, clock)
    for time, element in [(0, "a"), (99, "b"), (198, "c"), (298, "d")]:
        clock.time = time
        writer.write(iter([element]))
    sink.commit(writer.prepare_commit())
    assert contents(tmp_path) == [b"a\nb\nc\n", b"d\n"]


def test_slow_elements_go_to_the_bucket_of_their_time(tmp_path):
    clock = ManualClock()

    def slow_elements():
        for second in range(300):
            clock.time = second * 1000
            yield str(second)

    options = FileSinkConfig(str(tmp_path), buckets=DateTimeBuckets("mm", "UTC"))
    sink, writer = open_writer(options, clock)
    writer.write(slow_elements())
    sink.commit(writer.prepare_commit())
    first = {name[:2]: text.split()[0] for name, text in zip(tree(tmp_path), contents(tmp_path))}
    assert first["02"] == b"120"
    assert first["04"] == b"240"


def test_each_checkpoint_commits_what_was_written_before_it(tmp_path):
    sink, writer = open_writer(options_for(tmp_path, rolling=ON_CHECKPOINT))
    writer.write(iter("ab"))
    sink.commit(writer.prepare_commit())
    assert contents(tmp_path) == [b"a\nb\n"]
    writer.write(iter("c"))
    sink.commit(writer.prepare_commit())
    assert contents(tmp_path) == [b"a\nb\n", b"c\n"]
    assert [name[-2:] for name in tree(tmp_path)] == ["-0", "-1"]
    assert writer.prepare_commit() == []


def test_nothing_is_visible_before_the_commit(tmp_path):
    sink, writer = open_writer(options_for(tmp_path, affixes=PartAffixes("part", ".txt")))
    writer.write(iter("ab"))
    committables = writer.prepare_commit()
    (hidden,) = tree(tmp_path)
    assert re.fullmatch(rf"\.part-{UUID}-0\.txt\.inprogress\.{UUID}", hidden)
    sink.commit(committables)
    sink.commit(committables)
    assert contents(tmp_path) == [b"a\nb\n"]


def test_a_commit_whose_file_is_gone_fails(tmp_path):
    sink, writer = open_writer(options_for(tmp_path))
    writer.write(iter("ab"))
    committables = writer.prepare_commit()
    os.unlink(committables[0].in_progress_path)
    with pytest.raises(FileNotFoundError, match="part-"):
        sink.commit(committables)


def test_close_removes_what_was_not_prepared(tmp_path):
    _, writer = open_writer(options_for(tmp_path, rolling=RollingLimits(1)))
    writer.write(iter("abc"))
    assert len(tree(tmp_path)) == 3
    writer.close()
    writer.close()
    assert tree(tmp_path) == []


def test_close_leaves_what_was_prepared_and_abort_removes_it(tmp_path):
    sink, writer = open_writer(options_for(tmp_path))
    writer.write(iter("abc"))
    committables = writer.prepare_commit()
    writer.close()
    assert len(tree(tmp_path)) == 1
    sink.abort(committables)
    sink.abort(committables)
    assert tree(tmp_path) == []


def test_numbered_by_subtask_past_what_is_there(tmp_path):
    options = options_for(tmp_path, rolling=RollingLimits(2), named_by_subtask=True)
    write(options, ["aa", "bb"], subtask_index=1)
    assert tree(tmp_path) == ["part-1-0", "part-1-1"]
    write(options, ["cc"], subtask_index=1)
    assert tree(tmp_path) == ["part-1-0", "part-1-1", "part-1-2"]
    assert contents(tmp_path) == [b"aa\n", b"bb\n", b"cc\n"]


@pytest.mark.parametrize(
    ("charset", "content"),
    [
        ("UTF-8", "aé€".encode() + b"\nb\n"),
        ("ISO-8859-1", b"a\xe9?\nb\n"),
        ("UTF-16", b"\xfe\xff\x00a\x00\xe9\x20\xac\n\xfe\xff\x00b\n"),
    ],
)
def test_charsets(tmp_path, charset, content):
    assert write(options_for(tmp_path, charset_name=charset), ["aé€", "b"]) == [content]


def test_a_folder_in_the_prefix(tmp_path):
    write(options_for(tmp_path, affixes=PartAffixes("x/y", "")), ["a"])
    assert re.fullmatch(f"x/y-{UUID}-0", tree(tmp_path)[0])


def test_a_stream_without_a_type_has_the_text_of_python(tmp_path):
    elements = [(1, "a"), {"b": [2]}, None]
    assert write(options_for(tmp_path), elements, type_info=Types.PICKLED_BYTE_ARRAY()) == [
        b"(1, 'a')\n{'b': [2]}\nNone\n"
    ]


@pytest.mark.parametrize("type_info", [None, Types.PICKLED_BYTE_ARRAY()])
def test_the_log_says_that_a_stream_has_no_type(tmp_path, type_info, caplog):
    PartFileSink(options_for(tmp_path)).with_input_type(type_info)
    (record,) = caplog.records
    assert "Types.STRING()" in record.getMessage()


def test_java_text_of_other_types(tmp_path):
    type_info = Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE()])
    assert write(options_for(tmp_path), [(1, "a", 1.5)], type_info=type_info) == [b"(1,a,1.5)\n"]


def test_an_element_is_written_as_it_was_when_it_came(tmp_path):
    def one_list_again_and_again():
        element = []
        for number in range(3):
            element.append(number)
            yield element

    type_info = Types.LIST(Types.INT())
    written = write(options_for(tmp_path), one_list_again_and_again(), type_info=type_info)
    assert [line.replace(b" ", b"") for line in written[0].split(b"\n")[:-1]] == [
        b"[0]",
        b"[0,1]",
        b"[0,1,2]",
    ]


def test_an_unknown_charset_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="nope"):
        PartFileSink(options_for(tmp_path, charset_name="nope"))


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("x")
    with pytest.raises(NotADirectoryError, match=r"a\.txt"):
        open_writer(options_for(target))


def test_a_file_in_the_place_of_a_parent_folder_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    _, writer = open_writer(options_for(tmp_path / "a.txt" / "out"))
    with pytest.raises(NotADirectoryError, match=r"cannot write the file .*a\.txt/out/part-"):
        writer.write(iter("a"))


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path, monkeypatch):
    class FullDisk:
        def __init__(self, file):
            self.file = file

        def write(self, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self):
            self.file.close()

    def open_on_full_disk(path, mode):
        return FullDisk(open(path, mode))

    monkeypatch.setattr(local_files, "open", open_on_full_disk, raising=False)
    _, writer = open_writer(options_for(tmp_path))
    with pytest.raises(OSError, match=r"cannot write the file .*part-.*No space left") as caught:
        writer.write(iter("a"))
    assert caught.value.errno == errno.ENOSPC
    writer.close()
    assert tree(tmp_path) == []


def test_a_failure_while_finishing_leaves_nothing(tmp_path, monkeypatch):
    _, writer = open_writer(options_for(tmp_path))
    writer.write(iter("a"))

    def fail(self):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(part_file.PartFile, "finish", fail)
    with pytest.raises(OSError, match="quota"):
        writer.prepare_commit()
    writer.close()
    assert tree(tmp_path) == []


@pytest.mark.parametrize(
    "limits", [{"part_size": 0}, {"rollover_interval": -1}, {"inactivity_interval": 0}]
)
def test_limits_are_positive(limits):
    with pytest.raises(ValueError, match="positive"):
        RollingLimits(**limits)


def test_affixes_are_text(tmp_path):
    with pytest.raises(TypeError, match="5"):
        replace(PartAffixes(), prefix=5)
