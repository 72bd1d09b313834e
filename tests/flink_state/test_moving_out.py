"""Savepoints of ours that are written for Flink."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.file_format import FileSplit, TextLines
from pyflink_on_spark._job.moving_in import move_in
from pyflink_on_spark._job.moving_out import move_out
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.coders import DataInput, reader_of
from pyflink_on_spark._runtime.contract.connector import FlinkSplits
from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark.common import Instant, Row, Types
from pyflink_on_spark.common.typeinfo import LocalTimeTypeInfo
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.flink_state import FlinkCheckpoint
from pyflink_on_spark.flink_state.conversion import splits_of
from pyflink_on_spark.flink_state.key_writers import key_serializer
from pyflink_on_spark.flink_state.metadata import type_of_text
from pyflink_on_spark.flink_state.serializers import read_snapshot
from pyflink_on_spark.flink_state.value_writers import writer_of
from pyflink_on_spark.state import CheckpointContents, SavepointWriter
from pyflink_on_spark.tools.state import main as state_command
from tests.flink_state.samples import (
    HOME,
    SCRIPT,
    all_results,
    home,
    job_of,
    lines,
    moved_out,
    prepare,
    recorded,
    results,
    unpacked,
)


def plain(value):
    """Return bytes without what is one and the same: pieces of a list, protocols of pickles."""
    if isinstance(value, list):
        stamped = any(isinstance(piece, tuple) for piece in value)
        return tuple(value) if stamped else b"".join(value)
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def everything(checkpoint, leaves_out=()):
    """Count all entries, timers and broadcast entries of a checkpoint, with their key groups."""
    found = Counter()
    for operator in checkpoint.metadata.operators:
        for group, entry in checkpoint.entries(operator):
            place = operator.hash, entry.state.name, group, repr(entry.key), entry.namespace
            if "_reduce_state" not in entry.state.name:
                kinds = {role: str(s) for role, s in entry.state.serializers.items()}
                found[*place, repr(kinds), repr(plain(entry.value))] += 1
        for subtask, state, mode, elements in checkpoint.lists(operator):
            if mode == "broadcast" and subtask == 0:
                found[operator.hash, state.name, repr(sorted(elements))] += 1
    return found


def out_and_back(name, engine, path, **settings):
    """Let a job take over a savepoint of Flink, and write its own for Flink at once."""
    env = prepare(name, path, more=False, **settings)
    client = env.execute_async(name)
    engine.wait_until_idle(60)
    ours = client.stop_with_savepoint(False, str(path / "ours")).result()
    return moved_out(ours, name, path, leaves_out=True, **settings)


@pytest.mark.parametrize(
    "name",
    [
        *("states", "windows", "assigners", "types", "keys", "functions", "others"),
        *("states-4096", "windows-4096", "others-4096"),
    ],
)
def test_flink_gets_back_what_it_has_given(local_engine, name, tmp_path):
    options = {"pipeline.max-parallelism": "4096"} if "4096" in name else None
    with home() as path:
        found = out_and_back(name, local_engine, path, options=options)
        written = everything(FlinkCheckpoint(str(path / "flinks")))
    given = everything(FlinkCheckpoint(unpacked(name, tmp_path)))
    assert written == given
    assert len(written) > 2
    assert all("PyFlink starts those empty" in reason for reason in found.refused)
    assert len(found.refused) == (3 if job_of(name) in ("windows", "others") else 0)


@pytest.mark.parametrize("name", ["numbers", "half-read"])
def test_flink_gets_back_its_positions(name, tmp_path):
    with home() as path:
        ours = str(path / "ours")
        given = unpacked(name, tmp_path)
        (path / "in" / "a").write_text(lines(range(12)))
        job = recorded(name, path)
        move_in(job, samepath(given, path), folder(ours))
        assert moved_out(ours, name, path).refused == []
        (source,) = (node.source for node in job.graph.nodes if node.source is not None)
        written = positions(str(path / "flinks"), source)
        assert written == positions(samepath(given, path), source)
        assert written


def samepath(given, path):
    """Write a savepoint with the folder of the input of this test."""
    metadata = Path(given) / "_metadata"
    metadata.write_bytes(metadata.read_bytes().replace(HOME, str(path).encode()))
    return given


def positions(savepoint, source):
    checkpoint = FlinkCheckpoint(savepoint)
    (operator,) = (o for o in checkpoint.metadata.operators if o.coordinator is not None)
    lists = list(checkpoint.lists(operator))
    return sorted(source.positions_of_flink(splits_of(operator, lists, "there")), key=repr)


def test_a_half_read_file_is_skipped_to_where_it_was_read(tmp_path):
    path = tmp_path / "a"
    path.write_text("".join(f"{n}\n" for n in range(10)))
    source = SplitFileSource(FileSourceConfig(TextLines("utf-8"), (str(path),)))
    split = FileSplit(str(path))
    ((_, end),) = TextLines("utf-8").resume(split, None)
    for inside, read in [((0, 4), 4), ((8, 0), 4), (end, 10)]:
        version, content = source.positions_for_flink([(split, inside, 0)])
        found = FlinkSplits((), (version, DataInput(content, "an enumerator")))
        assert source.positions_of_flink(found) == [(FileSplit(str(path)), None, read)]


# -- what is refused ------------------------------------------------------------------------------


def ours_of(name, path):
    job = recorded(name, path)
    move_in(job, samepath(unpacked(name, path / "given"), path), folder(str(path / "ours")))
    return job, CheckpointContents(str(path / "ours"), trusted=True)


def test_operators_without_a_uid_are_refused():
    with home() as path:
        job, contents = ours_of("nameless", path)
        with pytest.raises(CheckpointError, match=r"counting'?: it has no uid\(\)") as raised:
            move_out(job, contents, folder(str(path / "flinks")))
        assert "the source" in str(raised.value)
        assert not list((path / "flinks").glob("*"))


def test_another_job_is_refused():
    with home() as path:
        _, contents = ours_of("keys", path)
        job = recorded("states", path)
        with pytest.raises(CheckpointError, match="'by row': the job has no operator of this uid"):
            move_out(job, contents, folder(str(path / "flinks")))


def test_a_savepoint_is_not_overwritten():
    with home() as path:
        job, contents = ours_of("functions", path)
        move_out(job, contents, folder(str(path / "flinks")))
        with pytest.raises(CheckpointError, match="already"):
            move_out(job, contents, folder(str(path / "flinks")))


def test_state_of_unknown_type_is_refused(tmp_path):
    with home() as path:
        job = recorded("functions", path)
        writer = SavepointWriter()
        writer.put(
            "numbered",
            ValueStateDescriptor(
                "number", LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE)
            ),
            [("k", datetime.date(2026, 1, 1))],
        )
        contents = CheckpointContents(writer.write(str(tmp_path)), trusted=True)
        with pytest.raises(CheckpointError, match="'numbered': the type 'LocalTime"):
            move_out(job, contents, folder(str(path / "flinks")))


@pytest.mark.parametrize(
    "type_info",
    [
        Types.LONG(),
        Types.PICKLED_BYTE_ARRAY(),
        Types.LIST(Types.MAP(Types.STRING(), Types.TUPLE([Types.INT(), Types.SQL_DATE()]))),
        Types.ROW_NAMED(["a", "b: c"], [Types.ROW([Types.BIG_DEC()]), Types.SQL_TIMESTAMP()]),
        Types.ROW([Types.BOOLEAN(), Types.OBJECT_ARRAY(Types.FLOAT())]),
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
        Types.BASIC_ARRAY(Types.CHAR()),
        Types.TUPLE([Types.INSTANT(), Types.SQL_TIME()]),
    ],
)
def test_types_are_made_of_their_texts(type_info):
    found = type_of_text(str(type_info))
    assert str(found) == str(type_info)
    assert found == type_info


@pytest.mark.parametrize(
    "text", ["", "Lon", "Long ", "ListTypeInfo<", "RowTypeInfo(a: Lon)", "MapTypeInfo<Long>"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="is not known"):
        type_of_text(text)


VALUES = [
    (Types.CHAR(), "ß"),
    (Types.BIG_INT(), -(1 << 62)),
    (Types.INSTANT(), Instant(5, 7)),
    (Types.INSTANT(), None),
    (Types.PRIMITIVE_ARRAY(Types.DOUBLE()), [1.5, -0.0]),
    (Types.BASIC_ARRAY(Types.SHORT()), [1, None]),
    (Types.SQL_TIMESTAMP(), datetime.datetime(1900, 1, 2, 3, 4, 5, 678_000)),
    (Types.PICKLED_BYTE_ARRAY(), {"a": Row(1, None)}),
    (
        Types.ROW_NAMED([*"abcdefghi"], [Types.INT()] * 9),
        Row(**dict(zip("abcdefghi", [*range(8), None]))),
    ),
]


@pytest.mark.parametrize(("type_info", "value"), VALUES)
def test_values_are_read_as_they_are_written(type_info, value):
    content = writer_of(type_info)(value)
    assert reader_of(type_info)(DataInput(content, "a value")) == value


def test_pickles_have_the_names_of_flink():
    assert b"pyflink.common" in writer_of(None)(Row(1))
    assert b"pyflink_on_spark" not in writer_of(None)(Row(1))


@pytest.mark.parametrize(
    ("key_type", "key"),
    [
        (Types.BIG_INT(), 0),
        (Types.BIG_INT(), 10),
        (Types.BIG_INT(), -(1 << 63)),
        (Types.BIG_INT(), 255),
        (Types.BIG_DEC(), decimal.Decimal("-0.50")),
        (Types.BIG_DEC(), decimal.Decimal("1E+3")),
        (Types.SQL_TIME(), datetime.time(1, 2, 3, 4000)),
        (Types.SQL_TIMESTAMP(), datetime.datetime(1999, 1, 1, 0, 0, 0, 123_456)),
        (Types.INSTANT(), Instant(1, 2)),
        (Types.STRING(), "a\0ß😀"),
        (Types.STRING(), None),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\0\1"),
    ],
)
def test_keys_are_read_as_they_are_written(key_type, key):
    java = key_serializer(key_type)
    read = read_snapshot(DataInput(java.snapshot, "a serializer")).read
    assert read(DataInput(java.write(wrap_key(key)), "a key")) == Row(key)


@pytest.mark.parametrize("key_type", [Types.LIST(Types.INT()), Types.MAP(*[Types.INT()] * 2)])
def test_keys_of_other_types_are_refused(key_type):
    with pytest.raises(TypeError, match="cannot be written for Flink"):
        key_serializer(key_type)


def test_keys_with_sets_are_refused():
    with pytest.raises(TypeError, match="has a set in it"):
        key_serializer(None).write(wrap_key(frozenset({1, 2})))


# -- what real PyFlink has made of it -------------------------------------------------------------

FOR_FLINK = Path(__file__).parent / "for_flink"
STARTS_EMPTY = ("reduce", "sum", "max_by", "max", "min", "min_by")


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOR_FLINK.glob("*.zip"))])
def test_both_halves_give_what_flink_gives_alone(name):
    first, second = (
        (FOR_FLINK / f"{name}.{half}.txt").read_text().splitlines() for half in ("first", "second")
    )
    assert first
    assert second
    if name == "numbers":
        expected = [f"number {n}" for n in range(1, 101)]
    elif name == "half-read":
        expected = [f"line {n}" for n in range(24)]
    else:
        expected = all_results(job_of(name))
    assert results(of_state(first + second)) == results(of_state(expected))


def of_state(lines):
    return [line for line in lines if line.partition(" ")[0] not in STARTS_EMPTY]


# -- the command ----------------------------------------------------------------------------------


def command(path, name, *more):
    script = path / "script.py"
    script.write_text(SCRIPT.format(job=name, folder=str(path / "in")))
    flinks = ["--write-flink", str(path / "flinks"), "--job", str(script)]
    return state_command([str(path / "ours"), *flinks, *more])


def test_the_command_writes_for_flink(capsys):
    with home() as path:
        ours_of("functions", path)
        assert command(path, "functions") == 0
        text = capsys.readouterr().out
        assert "both (6 entries)" in text
        assert "lines (its positions)" in text
        assert len(everything(FlinkCheckpoint(str(path / "flinks")))) > 10


def test_the_command_leaves_out_what_it_is_told_to(capsys):
    with home() as path:
        ours_of("windows", path)
        assert command(path, "windows") == 1
        assert "the operator 'reduce': its results of reduce()" in capsys.readouterr().err
        assert command(path, "windows", "--leave-out") == 0
        assert "left out:" in capsys.readouterr().out


def test_the_command_wants_the_job(capsys):
    assert state_command(["somewhere", "--write-flink", "there"]) == 1
    assert "belong together" in capsys.readouterr().err
