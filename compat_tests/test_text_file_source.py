"""FileSource with TextLineInputFormat / StreamFormat.text_line_format."""

from __future__ import annotations

import pytest
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

from compat_tests.running import collect, collect_sorted


def lines_of(env, *paths):
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), *map(str, paths)
    ).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "text")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in" / "nested" / "deep").mkdir(parents=True)
    return tmp_path / "in"


def test_lines_of_one_file(env, folder):
    (folder / "a.txt").write_bytes("one\ntwo\r\n\nä€\n".encode())
    assert collect(lines_of(env, folder / "a.txt")) == ["one", "two", "", "ä€"]


def test_last_line_without_an_end(env, folder):
    (folder / "a.txt").write_text("one\ntwo")
    assert collect(lines_of(env, folder / "a.txt").map(str.upper)) == ["ONE", "TWO"]


def test_folders_with_subfolders_without_hidden_files(env, folder):
    (folder / "a.txt").write_text("a\n")
    (folder / "nested" / "b.txt").write_text("b\n")
    (folder / "nested" / "deep" / "c.csv").write_text("c\n")
    (folder / "empty").write_text("")
    (folder / ".hidden").write_text("hidden\n")
    (folder / "_SUCCESS").write_text("hidden\n")
    (folder / "_tmp").mkdir()
    (folder / "_tmp" / "part").write_text("hidden\n")
    assert collect_sorted(lines_of(env, folder)) == ["a", "b", "c"]


def test_several_paths(env, folder):
    (folder / "a.txt").write_text("a\n")
    (folder / "nested" / "b.txt").write_text("b\n")
    assert collect_sorted(lines_of(env, folder / "a.txt", folder / "nested")) == ["a", "b"]


def test_file_uri(env, folder):
    (folder / "a b.txt").write_text("a\n")
    assert collect(lines_of(env, folder.as_uri())) == ["a"]


@pytest.mark.parametrize("parallelism", [2])
def test_in_parallel(env, folder):
    for i in range(4):
        (folder / f"{i}.txt").write_text("".join(f"{i}-{j}\n" for j in range(50)))
    stream = lines_of(env, folder).map(lambda line: line, Types.STRING())
    assert collect_sorted(stream) == sorted(f"{i}-{j}" for i in range(4) for j in range(50))


def test_stream_is_typed(env, folder):
    assert lines_of(env, folder).get_type() == Types.STRING()


def test_missing_path_fails_the_job(env, folder):
    stream = lines_of(env, folder / "no such file")
    with pytest.raises(Exception, match="no such file"):
        collect(stream)


def test_another_charset(env, folder):
    (folder / "a.txt").write_bytes("ä\n".encode("latin-1"))
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format("ISO-8859-1"), str(folder / "a.txt")
    ).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "latin")
    assert collect(stream) == ["ä"]


def test_word_count_from_a_file(env, folder):
    (folder / "a.txt").write_text("to be or\nnot to be\n")
    counts = (
        lines_of(env, folder)
        .flat_map(str.split, Types.STRING())
        .map(lambda w: (w, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda v: v[0], Types.STRING())
        .sum(1)
    )
    assert collect_sorted(counts) == [
        ("be", 1), ("be", 2), ("not", 1), ("or", 1), ("to", 1), ("to", 2),
    ]  # fmt: skip


def test_new_files_of_a_folder_that_is_watched(env, folder):
    (folder / "a.txt").write_text("a1\na2\n")
    source = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
        .monitor_continuously(Duration.of_millis(50))
        .build()
    )
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "text")
    with stream.execute_and_collect() as results:
        assert [next(results), next(results)] == ["a1", "a2"]
        for name in ("nested", "."):
            (folder / name / ".b.txt").write_text(f"b in {name}\n")
            (folder / name / ".b.txt").rename(folder / name / "b.txt")
            assert next(results) == f"b in {name}"
            (folder / "a.txt").write_text("a1\na2\nlater changes are not seen\n")
