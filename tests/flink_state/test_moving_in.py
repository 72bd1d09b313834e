"""The conversion of Flink's savepoints: restored state, refused state, and the commands' output."""

from __future__ import annotations

import json
import re

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflink_on_spark.state import CheckpointContents, MovedInContents, open_checkpoint, to_pandas
from pyflink_on_spark.tools.check.command import check_savepoint
from pyflink_on_spark.tools.state import main as state_command
from tests.flink_state.samples import (
    SCRIPT,
    all_results,
    continued,
    first_results,
    home,
    metadata_of,
    prepare,
    recorded,
    unpacked,
)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_operators_without_a_uid_are_found_by_their_names(local_engine, parallelism):
    second = continued("nameless", local_engine, parallelism=parallelism)
    assert sorted(first_results("nameless") + second) == sorted(all_results("nameless"))


def begun(name, path, engine, **settings):
    prepare(name, path, **settings).execute_async(name)
    engine.wait_until_idle(60)


def refusal(name, engine, **settings):
    with home() as path:
        client = prepare(name, path, **settings).execute_async(name)
        with pytest.raises(CheckpointError) as raised:
            client.get_job_execution_result().result()
    return str(raised.value)


def test_state_that_nothing_owns_is_refused(local_engine):
    text = refusal("states", local_engine, job="keys")
    assert "the operator 'all' of Flink: the job has no operator of its uid or name" in text
    assert 'set_uid_hash("' in text
    assert "execution.state-recovery.ignore-unclaimed-state" in text


def test_state_that_nothing_owns_may_be_left_out(local_engine):
    options = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    with home() as path:
        begun("states", path, local_engine, job="keys", options=options)
        lines = (path / "out").read_text().splitlines()
    assert "long -2 2" in lines
    assert "long -2 3" not in lines  # the first half is not there


def bucket_of(path, content):
    """Write the hidden part file of the savepoint; return the folder."""
    bucket = path / "out-files" / "2026-11-24--04"
    bucket.mkdir(parents=True)
    name = re.search(rb"/(\.part-[\w-]+-0\.inprogress\.[\w-]+)", metadata_of("file-sink"))[1]
    (bucket / name.decode()).write_text(content)
    return bucket


HALF = "".join(f"{n}\n" for n in range(12))


@pytest.mark.parametrize("parallelism", [1, 3])
def test_part_files_that_are_not_finished_continue(local_engine, parallelism):
    with home() as path:
        bucket_of(path, HALF + "lost since the savepoint")
        env = prepare("file-sink", path, parallelism=parallelism)
        client = env.execute_async("file-sink")
        local_engine.wait_until_idle(60)
        client.stop_with_savepoint(True, str(path / "drained")).result()
        files = [file for file in (path / "out-files").rglob("part-*") if file.is_file()]
        found = [int(line) for file in files for line in file.read_text().splitlines()]
    assert sorted(found) == list(range(24))


def test_part_files_of_several_subtasks_continue():
    with home() as path:
        job = recorded("file-sinks", path)
        found = moved_in(job, unpacked("file-sinks", path / "given"), folder(str(path / "ours")))
    assert found.refused == []
    assert found.taken["files"] == "2 entries"


def test_a_part_file_that_is_gone_ends_the_job(local_engine):
    with home() as path:
        client = prepare("file-sink", path).execute_async("file-sink")
        with pytest.raises(Exception, match=r"FileNotFoundError: .* which is gone"):
            client.get_job_execution_result().result()


def test_files_that_wait_for_their_commit_are_refused(tmp_path):
    content = metadata_of("file-sink")
    at = content.index(bytes.fromhex("b91f252c"))
    damaged = content[: at + 48] + b"\1" + content[at + 49 :]
    (tmp_path / "_metadata").write_bytes(damaged)
    (reason,) = [why for why in open_checkpoint(str(tmp_path)).left_out if "sink" in why]
    assert "--drain" in reason


def test_state_of_tables_is_refused_without_the_query(tmp_path):
    contents = open_checkpoint(unpacked("tables", tmp_path))
    reasons = [why for why in contents.left_out if "only a job with the same query" in why]
    kinds = ("GroupAggregate", "Join", "Rank", "Deduplicate", "GlobalWindowAggregate", "Source")
    for kind in kinds:
        assert any(f"'{kind}" in why for why in reasons), kind
    assert contents.operators() == []


def test_another_type_is_refused(local_engine, monkeypatch):
    from tests.flink_state import jobs

    changed = {**jobs.TYPES, "int": (Types.LONG(), jobs.TYPES["int"][1])}
    monkeypatch.setattr(jobs, "TYPES", changed)
    with home() as path:
        client = prepare("types", path).execute_async("types")
        with pytest.raises(Exception, match=r"the state 'int' of type Long, at byte 0: 8 bytes"):
            client.get_job_execution_result().result()


def test_the_savepoint_goes_to_the_folder_of_checkpoints(local_engine):
    with home() as path:
        options = {"execution.checkpointing.dir": f"file://{path}/checkpoints"}
        begun("states", path, local_engine, options=options)
        (written,) = (path / "checkpoints").glob("*-moved-in")
        contents = CheckpointContents(str(written))
        states = {s.name: s.entries for s in contents.operator("all").states}
        assert states["count"] == states["last"] == 3
        local_engine.cancel_jobs()


# -- reading --------------------------------------------------------------------------------------


@pytest.fixture
def contents(tmp_path):
    return open_checkpoint(unpacked("states", tmp_path))


def test_a_savepoint_of_ours_stays_one_of_ours(contents):
    assert isinstance(contents, MovedInContents)
    assert not isinstance(open_checkpoint(str(contents.place.uri)), MovedInContents)


def test_pickles_are_loaded_and_other_values_are_bytes(contents):
    found = {e.key: e.value for e in contents.entries("all", "mean")}
    assert found == {"k0": (18, 4), "k1": (22, 4), "k2": (26, 4)}
    counts = {e.value for e in contents.entries("all", "count")}
    assert counts == {(4).to_bytes(8, "big")}


@pytest.mark.parametrize(
    ("descriptor", "values"),
    [
        (ValueStateDescriptor("count", Types.LONG()), 4),
        (ListStateDescriptor("seen", Types.STRING()), ["é0", "é3", "é6", "é9"]),
        (MapStateDescriptor("last", Types.STRING(), Types.INT()), {"of 0": 9}),
        (ValueStateDescriptor("old", Types.DOUBLE()), 9.0),
        (ListStateDescriptor("olds", Types.INT()), [0, 3, 6, 9]),
        (
            MapStateDescriptor("old-map", Types.INT(), Types.STRING()),
            {0: "0", 3: "3", 2: "6", 1: "9"},
        ),
    ],
)
def test_a_descriptor_says_what_values_are(contents, descriptor, values):
    found = {e.key: e.value for e in contents.typed_entries("all", descriptor)}
    assert found["k0"] == values


def test_a_state_becomes_a_data_frame(contents):
    frame = to_pandas(contents, "all", ValueStateDescriptor("count", Types.LONG()))
    assert frame.columns.tolist() == ["key", "namespace", "value"]
    assert sorted(zip(frame["key"], frame["value"])) == [("k0", 4), ("k1", 4), ("k2", 4)]
    assert set(to_pandas(contents, "all", "mean")["value"]) == {(18, 4), (22, 4), (26, 4)}


def test_timers_and_windows_are_entries_too(contents, tmp_path):
    timers = sorted(e.value for e in contents.entries("all", "timers") if e.key == "k0")
    assert ("processing", 4102444800000) in timers
    windows = open_checkpoint(unpacked("windows", tmp_path / "windows"))
    found = {(e.key, e.namespace) for e in windows.entries("tumbling", "window-contents")}
    assert ("k0", (2000, 3000)) in found


def test_the_command_lists_and_reads(tmp_path, capsys):
    path = unpacked("states", tmp_path)
    assert state_command([path]) == 0
    text = capsys.readouterr().out
    assert "of Flink" in text
    assert "operator all" in text
    assert "old: pieces of PyFlink, 3 entries (str to list), with a time to live" in text
    assert "the operator 'lines' of Flink: it is a source" in text
    assert state_command([path, "--read", "all", "mean", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"key": "k1", "namespace": None, "value": [22, 4]} in map(json.loads, lines)


def test_the_command_writes_one_of_ours_that_a_job_continues_from(local_engine, tmp_path, capsys):
    path, ours = unpacked("states", tmp_path / "flinks"), str(tmp_path / "ours")
    assert state_command([path, "--write", ours]) == 0
    options = {"execution.state-recovery.path": ours}
    with home() as place:
        begun("states", place, local_engine, options=options)
        lines = (place / "out").read_text().splitlines()
    assert any(line.startswith("state k0 5 ['é0', 'é3', 'é6', 'é9', 'é0']") for line in lines)
    local_engine.cancel_jobs()


def test_the_command_does_not_guess_the_names_of_keys_fields(tmp_path, capsys):
    path = unpacked("keys", tmp_path / "flinks")
    assert state_command([path, "--write", str(tmp_path / "ours")]) == 1
    assert "'by row' are rows, and only the job knows" in capsys.readouterr().err


# -- check ----------------------------------------------------------------------------------------


def checked(name, job, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(job=job, folder=str(tmp_path / "in")))
    path = unpacked(name, tmp_path / "savepoint")
    code = check_savepoint(path, script, [], as_json=False)
    return code, capsys.readouterr().out


def test_check_says_what_is_taken(tmp_path, capsys):
    code, text = checked("windows", "windows", tmp_path, capsys)
    assert code == 0, text
    assert "can start from" in text
    assert "lines (its positions)" in text
    assert "reduce (3 entries)" in text


def test_check_says_what_is_not_taken_and_why(tmp_path, capsys):
    code, text = checked("states", "keys", tmp_path, capsys)
    assert code == 1
    assert "cannot start from" in text
    assert "the operator 'all' of Flink: the job has no operator of its uid or name" in text
    assert "by row" in text.partition("starts empty")[2]
