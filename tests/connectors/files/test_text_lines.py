from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._connectors.files.config import Enumeration, FileSourceConfig
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats import compression
from pyflink_on_spark._connectors.formats.file_format import FileSplit, TextLines
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark.common.typeinfo import Types


def read(path, charset="UTF-8", split=None, **options):
    bundles = list(TextLines(charset, **options).read(split or FileSplit(str(path))))
    assert all(len(bundle.values) <= BUNDLE_SIZE for bundle in bundles)
    return [line for bundle in bundles for line in bundle.values]


def expected_lines(text):
    lines = re.split(r"\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]


@pytest.fixture
def write(tmp_path):
    def write(content, name="f.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\n\nc", ["a", "b", "", "c"]),
        (b"a\rb\r\nc\n\rd\r\r\n\ne", ["a", "b", "c", "", "d", "", "", "e"]),
        (b"a\r", ["a"]),
        (b"z\xc2\x85\x0b\x0c\x1cm\xe2\x80\xa8u\n", ["z\x85\x0b\x0c\x1cm\u2028u"]),
        (b"\xef\xbb\xbfx\n", ["\ufeffx"]),
    ],
)
def test_lines_end_as_in_java(write, content, lines):
    assert read(write(content)) == lines


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"x\xe9\xe2\x82", "x\ufffd\ufffd"),
        (b"q\xed\xa0\x80r", "q\ufffdr"),
        (b"q\xed\xa0r", "q\ufffdr"),
        (b"\xed\xbf", "\ufffd"),
        (b"\xed", "\ufffd"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xf5a", "\ufffda"),
    ],
)
def test_malformed_bytes_are_replaced_as_in_java(write, content, text):
    assert read(write(content + b"\n")) == [text]


@pytest.mark.parametrize(
    ("charset", "content"),
    [
        ("UTF-16LE", "ab\ncé".encode("utf-16-le")),
        ("UTF-16BE", "ab\ncé".encode("utf-16-be")),
        ("UTF-16", b"\xff\xfe" + "ab\ncé".encode("utf-16-le")),
        ("UTF-16", b"\xfe\xff" + "ab\ncé".encode("utf-16-be")),
        ("UTF-16", "ab\ncé".encode("utf-16-be")),
        ("ISO-8859-1", b"ab\nc\xe9"),
        ("windows-1252", b"ab\nc\xe9"),
    ],
)
def test_other_charsets(write, charset, content):
    assert read(write(content), charset) == ["ab", "cé"]
    assert read(write(content), charset, chunk_size=3) == ["ab", "cé"]


def test_ascii_has_no_other_characters(write):
    assert read(write(b"a\xc3\xa9\n"), "US-ASCII") == ["a\ufffd\ufffd"]


def test_an_unknown_charset_is_refused_at_once():
    with pytest.raises(ValueError, match="nope-1"):
        TextLines("nope-1")


texts = st.text(st.sampled_from("ab\n\r\u00e9\u20ac\U0001f600\u2028\x0b"), max_size=60) | st.text(
    st.characters(exclude_categories=["Cs"])
)


@given(text=texts, cuts=st.lists(st.integers(0, 250), max_size=6), chunk_size=st.integers(1, 9))
def test_any_cut_of_a_file_gives_all_lines_once_in_order(tmp_path_factory, text, cuts, chunk_size):
    content = text.encode()
    path = tmp_path_factory.getbasetemp() / "cut.txt"
    path.write_bytes(content)
    bounds = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    lines = [
        line
        for start, end in pairwise(bounds)
        for line in read(path, split=FileSplit(str(path), start, end), chunk_size=chunk_size)
    ]
    assert lines == expected_lines(text)
    assert read(path, chunk_size=chunk_size) == lines


def test_a_line_end_may_lie_across_two_scans(write):
    path = write(b"a" * (64 * 1024 - 1) + b"\r\nb")
    whole = [*read(path, split=FileSplit(str(path), 0, 5))]
    rest = [*read(path, split=FileSplit(str(path), 5, 64 * 1024 + 2))]
    assert (len(whole[0]), rest) == (64 * 1024 - 1, ["b"])


def test_a_line_longer_than_many_chunks(write):
    assert read(write(b"x" * 10_000 + b"\ny"), chunk_size=10) == ["x" * 10_000, "y"]


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("x.gz", gzip.compress),
        ("x.gzip", gzip.compress),
        ("x.bz2", bz2.compress),
        ("x.xz", lzma.compress),
        ("x.deflate", zlib.compress),
    ],
)
def test_compressed_files_are_known_by_their_names(write, name, compress):
    text = b"".join(b"%d\n" % number for number in range(3000))
    path = write(compress(text), name)
    assert read(path, chunk_size=100) == [str(number) for number in range(3000)]
    assert not TextLines().is_splittable(str(path))


def test_several_compressed_streams_in_one_file(write):
    assert read(write(gzip.compress(b"a\n") + gzip.compress(b"b\n"), "x.gz")) == ["a", "b"]


@pytest.mark.parametrize("name", ["x.GZ", "xgz", "x.zip"])
def test_other_names_are_not_decompressed(write, name):
    assert read(write(b"plain\n", name)) == ["plain"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.gz", b"hello\n"),
        ("cut.gz", gzip.compress(b"hello\n" * 100)[:-6]),
        ("bad.bz2", b"hello\n"),
        ("bad.xz", b"hello\n"),
        ("bad.deflate", b"hello\n"),
        ("cut.deflate", zlib.compress(b"hello\n" * 100)[:-6]),
    ],
    ids=["bad gz", "cut gz", "bad bz2", "bad xz", "bad deflate", "cut deflate"],
)
def test_a_damaged_file_is_named(write, name, content):
    with pytest.raises(OSError, match=name):
        read(write(content, name))


def test_a_missing_compressed_file_is_plainly_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nope\.gz"):
        read(tmp_path / "nope.gz")


def test_zst_takes_the_library_that_is_there(write, monkeypatch):
    def find(name):
        if name != "zstandard":
            raise ImportError(name)
        return gzip

    monkeypatch.setattr(compression.importlib, "import_module", find)
    assert read(write(gzip.compress(b"a\n"), "x.zst")) == ["a"]


def test_zst_says_what_is_missing(write, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(compression.importlib, "import_module", missing)
    with pytest.raises(EnvironmentSetupError, match="zstandard"):
        read(write(b"", "x.zst"))


def test_the_source_reads_what_its_splits_say(write, tmp_path):
    write(b"b\n", "2.txt")
    write(b"a1\na2\n", "1.txt")
    write(gzip.compress(b"c\n"), "3.gz")
    source = SplitFileSource(FileSourceConfig.of(TextLines(), [f"file://{tmp_path}"]))
    lines = [bundle.values for split in source.splits(4) for bundle in source.read(split, None)]
    assert lines == [["a1", "a2"], ["b"], ["c"]]
    assert (source.bounded, source.produced_type) == (True, Types.STRING())


def test_a_large_file_stays_whole_unless_it_is_to_be_cut(tmp_path):
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(40 * 1024 * 1024)
    whole = FileSourceConfig.of(TextLines(), [str(path)])
    cut = replace(whole, enumeration=Enumeration.SPLIT_LARGE_FILES)
    wide = replace(cut, file_format=TextLines("UTF-16"))
    assert len(SplitFileSource(whole).splits(2)) == 1
    assert len(SplitFileSource(cut).splits(2)) == 2
    assert len(SplitFileSource(wide).splits(2)) == 1
