"""The commands of an operator, over the socket of a driver in this process."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from pyflink_on_spark._job.job import CheckpointRecord
from pyflink_on_spark._operate.view.job_records import JobRecord
from pyflink_on_spark._operate.view.jobs import OperatedJob, checkpoint_of_lost
from pyflink_on_spark._runtime.checkpoints.checkpoint import complete
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.task.stacks import Current, Samples, Stack
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.tools.commands import OPERATIONS
from pyflink_on_spark.tools.operate.commands import run_operation
from tests.operate.operated import Handle, job


@pytest.fixture
def run(home, capsys):
    """Run a command; returns its status, output and errors."""

    def ran(*arguments):
        status = run_operation(arguments[0], list(arguments[1:]))
        told = capsys.readouterr()
        return status, told.out, told.err

    return ran


def id_of(handle):
    return handle.job.settings.job_id


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_command_has_help(name, home, capsys):
    with pytest.raises(SystemExit) as ended:
        run_operation(name, ["--help"])
    assert ended.value.code == 0
    assert f"pyflink_on_spark {name}" in capsys.readouterr().out


def test_no_jobs(run):
    assert run("list") == (
        0,
        "Waiting for response...\nNo running jobs.\nNo scheduled jobs.\n",
        "",
    )


def test_jobs_are_listed_as_flink_lists_them(run, start):
    running, ended = start("one"), start("two")
    ended.enter(JobStatus.FAILED, RuntimeError("why"))
    _, out, _ = run("list", "-r")
    lines = out.splitlines()
    assert lines[1] == "------------------ Running/Restarting Jobs -------------------"
    assert lines[2].endswith(f" : {id_of(running)} : one (RUNNING)")
    assert lines[3] == "-" * 62
    assert len(lines) == 4
    _, out, _ = run("list", "-a")
    assert "---------------------- Terminated Jobs -----------------------" in out
    assert f"{id_of(ended)} : two (FAILED)" in out


def test_a_name_is_no_line_of_another_job(run, start):
    handle = start("a (RUNNING)\n28.11.2026 00:00:00 : ffff : forged\u2028\x1b[2J")
    job_id = id_of(handle)
    shown = r"a (RUNNING)\n28.11.2026 00:00:00 : ffff : forged\u2028\x1b[2J"
    assert len(run("list", "-r")[1].splitlines()) == 4
    assert f"{job_id} : {shown} (RUNNING)" in run("list")[1]
    assert run("exceptions", job_id)[1].startswith(f"{shown} ({job_id}) is RUNNING")


def test_a_job_that_opens_its_functions_is_listed_with_those_that_run(run, start):
    handle = start("one")
    handle._status = JobStatus.CREATED
    handle.job.history.initializes()
    lines = run("list", "-a")[1].splitlines()
    assert lines[1] == "------------------ Running/Restarting Jobs -------------------"
    assert lines[2].endswith(" : one (INITIALIZING)")
    assert "No terminated jobs." in lines


def test_a_reader_that_has_seen_enough_is_no_error(home):
    read, write = os.pipe()
    os.close(read)
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-m", "pyflink_on_spark", "list"]
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        command, env=environment, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_job_of_a_driver_that_is_gone_is_lost(run, records):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    records.write(JobRecord("a" * 32, "gone", process.pid, "/nowhere", 0))
    assert f"{'a' * 32} : gone (LOST)" in run("list", "-a")[1]
    assert run("stop", "gone") == (
        1,
        'Suspending job "' + "a" * 32 + '" with a CANONICAL savepoint.\n',
        f"stop: the job 'gone' ({'a' * 32}) is LOST: it has ended\n",
    )


def test_a_driver_that_does_not_listen_any_more(run, records):
    records.write(JobRecord("a" * 32, "silent", os.getpid(), "/nowhere", 0))
    status, _, err = run("cancel", "silent")
    assert status == 1
    assert err == f"cancel: the driver of the job 'silent' ({'a' * 32}) is gone\n"


def test_a_savepoint_of_a_job_by_the_beginning_of_its_id(run, start):
    handle = start()
    status, out, _ = run("savepoint", id_of(handle)[:8], "file:///data")
    assert status == 0
    assert "Savepoint completed. Path: file:///data/savepoint-1\n" in out
    assert handle.asked == [("savepoint", "file:///data")]


def test_a_savepoint_that_fails(run, start):
    handle = start()
    handle.error = PermissionError("cannot write a savepoint to /data")
    status, _, err = run("savepoint", "counter")
    assert status == 1
    assert err == "savepoint: cannot write a savepoint to /data\n"
    assert handle.asked == [("savepoint", None)]


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["stop", "counter"], ("stop", None, False)),
        (["stop", "counter", "-p", "/data", "--drain"], ("stop", "/data", True)),
        (["cancel", "counter", "-s", "/data"], ("stop", "/data", False)),
    ],
)
def test_a_job_is_stopped(run, start, arguments, asked):
    handle = start()
    assert run(*arguments)[0] == 0
    assert handle.asked == [asked]


def test_a_job_is_cancelled(run, start):
    handle = start()
    status, out, _ = run("cancel", "counter")
    assert (status, out) == (
        0,
        f"Cancelling job {id_of(handle)}.\nCancelled job {id_of(handle)}.\n",
    )
    status, _, err = run("cancel", "counter")
    assert status == 1
    assert err == f"cancel: the job 'counter' ({id_of(handle)}) is CANCELED: it has ended\n"


def test_an_unknown_job_and_an_ambiguous_name(run, start):
    status, _, err = run("stop", "counter")
    assert status == 1
    assert err.startswith("stop: this user has no job 'counter' on this machine; ")
    handles = [start(), start()]
    status, _, err = run("stop", "counter")
    assert status == 1
    assert all(id_of(handle) in err for handle in handles)
    assert "more than one job" in err


def test_a_name_means_the_job_that_runs(run, start):
    start().cancel()
    running = start()
    assert run("cancel", "counter")[0] == 0
    assert running.asked == ["cancel"]


def test_the_checkpoints_of_a_job(run, start):
    handle = start()
    history = handle.job.history
    history.restored_from(3, "file:/old", savepoint=True)
    with history.checkpoint(4, "file:/chk-4", savepoint=False) as record:
        record.size = 12_345
    with pytest.raises(OSError, match="full"), history.checkpoint(5, "file:/chk-5", False):
        raise OSError("the disk is full")
    status, out, _ = run("checkpoints", "counter")
    lines = out.splitlines()
    assert status == 0
    assert lines[:2] == [
        "1 completed, 1 failed, 0 in progress, 1 restored",
        "began with 3: file:/old",
    ]
    assert lines[2].split()[0] == "5"
    assert lines[2].endswith("the disk is full")
    assert "12,345 bytes  file:/chk-4" in lines[3]


def saved(path, savepoint):
    complete(
        folder(path.as_uri()), checkpoint_id=1, job_id="j", job_name="n", time=0,
        savepoint=savepoint, files=[], committables=[],
    )  # fmt: skip


def test_a_savepoint_is_disposed(run, tmp_path):
    saved(tmp_path / "savepoint-1", True)
    status, out, _ = run("savepoint", "--dispose", str(tmp_path / "savepoint-1"))
    assert status == 0
    assert "disposed" in out
    assert not (tmp_path / "savepoint-1").exists()


def test_a_checkpoint_and_what_is_none_are_not_disposed(run, tmp_path):
    saved(tmp_path / "chk-1", False)
    assert "no savepoint" in run("savepoint", "-d", str(tmp_path / "chk-1"))[2]
    assert (tmp_path / "chk-1").exists()
    assert "_metadata is missing" in run("savepoint", "-d", str(tmp_path))[2]


def test_the_result_of_a_savepoint_outlives_the_driver(run, start, records, driver, monkeypatch):
    """The process ends with its last job: the answer is on disk."""
    handle = start()
    stop = handle.stop_with_savepoint

    def stop_and_go(*arguments):
        path = stop(*arguments)
        driver._server.stop()
        driver._server.server_close()
        os.unlink(records.all()[0].socket)
        return path

    handle.stop_with_savepoint = stop_and_go
    status, out, _ = run("stop", "counter", "-p", "/data")
    assert status == 0
    assert "Path: /data/savepoint-2" in out


def test_what_an_ended_job_has_told_outlives_the_driver(run, start, driver, records):
    handle = start()
    history = handle.job.history
    with history.checkpoint(4, "file:/chk-4", savepoint=False) as record:
        record.size = 12_345
    history.attempt_failed(RuntimeError("Traceback:\n  line\nKeyError: 'x'\n"), 100)
    handle.enter(JobStatus.FAILED, RuntimeError("Traceback:\n  other\nValueError: 'y'"))
    driver._server.stop()
    driver._server.server_close()
    os.unlink(records.all()[0].socket)
    assert "file:/chk-4" in run("checkpoints", "counter")[1]
    _, out, _ = run("exceptions", "counter")
    assert out.startswith(f"counter ({id_of(handle)}) is FAILED: 2 failures\n")
    assert out.index("    ValueError: 'y'") < out.index("    KeyError: 'x'")
    assert "1 more: exceptions counter -n 0" in run("exceptions", "counter", "-n", "1")[1]
    assert "    ValueError: 'y'\n" in run("list", "-a")[1]
    told = records.archived(id_of(handle))
    assert told[""]["state"] == told["/status"]["status"] == "FAILED"
    assert f"/vertices/{told['']['vertices'][0]['id']}" in told


def test_a_driver_that_is_killed_leaves_its_last_failure(start, records):
    handle = start()
    handle.job.history.attempt_failed(RuntimeError("KeyError: 'x'"), 100)
    told = records.archived(id_of(handle))
    assert told["/exceptions"]["root-exception"] == "KeyError: 'x'"


def test_a_killed_job_says_from_where_it_continues(run, start, records, driver, tmp_path):
    handle = start(configuration={"execution.checkpointing.dir": tmp_path.as_uri()})
    history, mine = handle.job.history, tmp_path / id_of(handle)
    history.restored_from(3, "file:/sp/savepoint-3", savepoint=True)
    with history.checkpoint(4, f"{mine.as_uri()}/chk-4", savepoint=False):
        pass
    driver.archive(driver.jobs.all()[0])  # and the checkpoint after it is not told any more
    assert checkpoint_of_lost(records.archived(id_of(handle))) == "file:/sp/savepoint-3"
    saved(mine / "chk-5", False)
    checkpoint = folder((mine / "chk-5").as_uri())
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    records.write(replace(records.all()[0], pid=process.pid, socket="/nowhere"))
    why = f"the driver (process {process.pid}) has ended without a word"
    assert f"    {why}; latest checkpoint: {checkpoint.uri}\n" in run("list", "-a")[1]
    _, out, _ = run("exceptions", "counter")
    assert out.startswith(f"counter ({id_of(handle)}) is LOST: 1 failure\n")
    then = f"`run -s {checkpoint.uri} SCRIPT` continues from its latest checkpoint"
    assert then in out
    last = run("logs", "counter")[1].splitlines()[-1]
    assert last.startswith(f"counter ({id_of(handle)}) is LOST: {why}: it was killed")
    assert last.endswith(then)
    lines = run("checkpoints", "counter")[1].splitlines()
    assert lines[1] == "began with 3: file:/sp/savepoint-3"
    assert lines[2] == f"the latest complete one, from which `run -s` continues: {checkpoint.uri}"
    assert lines[3].endswith("chk-4")


def test_a_killed_query_continues_from_its_folder_once_a_micro_batch_is_complete(
    run, start, records, tmp_path
):
    handle = start(configuration={"execution.checkpointing.dir": tmp_path.as_uri()})
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    records.write(replace(records.all()[0], pid=process.pid, socket="/nowhere"))
    assert run("exceptions", "counter")[1].endswith(" lost; no complete checkpoint was found\n")
    commits = tmp_path / id_of(handle) / "query" / "commits"
    commits.mkdir(parents=True)
    (commits / ".0.crc").touch()
    assert run("exceptions", "counter")[1].endswith(" lost; no complete checkpoint was found\n")
    (commits / "0").touch()
    home = (tmp_path / id_of(handle)).as_uri()
    assert f"`run -s {home} SCRIPT` continues from" in run("exceptions", "counter")[1]
    assert f"latest checkpoint: {home}\n" in run("list", "-a")[1]


def test_a_restarting_job_is_listed_with_cause_and_count(run, start):
    handle = start()
    handle.job.history.attempt_failed(RuntimeError("Traceback:\nKeyError: 'x'"), 100)
    handle.enter(JobStatus.RESTARTING)
    lines = run("list")[1].splitlines()
    assert lines[2].endswith("(RESTARTING)")
    assert lines[3] == "    restart 1, because of KeyError: 'x'"
    handle.enter(JobStatus.RUNNING)
    lines = run("list")[1].splitlines()
    assert lines[2].endswith("(RUNNING)")
    assert lines[3].startswith("    restart 1 at 20")
    assert lines[3].endswith(" was because of KeyError: 'x'")


def test_a_job_that_stands_still_says_what_the_driver_waits_for(run, start):
    history = start().job.history
    now = history.times[JobStatus.RUNNING]
    history.waiting = ("the sink Files to commit checkpoint 7", now + 60_000)
    assert run("list")[1].splitlines()[3] == "-" * 62
    history.waiting = (history.waiting[0], now - 60_000)
    text = "    the driver waits for the sink Files to commit checkpoint 7, since "
    assert run("list")[1].splitlines()[3].startswith(text)
    history.waits(None)
    assert run("list")[1].splitlines()[3] == "-" * 62


def test_what_the_functions_of_a_job_do(run, start):
    handle = start()
    moves = Stack("map", 1, "", ("here (job.py:3)",))
    stuck = Stack("sum", 0, "total", ("wait (job.py:7)", "ask (job.py:9)"))
    handle.sample_stacks = lambda samples, pause: [
        Samples(samples, {}, (Current(moves, "", "", False), Current(stuck, "'x'", "7", True)))
    ]
    _, out, _ = run("stacks", "counter")
    assert out == (
        f"counter ({id_of(handle)}) is RUNNING: 2 in functions, of which 1 with the same "
        "element for a second\n"
        "\ntotal, subtask 0, unchanged\n    element: 'x'\n    key: 7\n"
        "    wait (job.py:7)\n    ask (job.py:9)\n"
        "\nmap, subtask 1\n    here (job.py:3)\n"
    )
    handle.enter(JobStatus.FAILED, RuntimeError("why"))
    status, _, error = run("stacks", "counter")
    assert (status, "is FAILED: it has ended" in error) == (1, True)


def test_the_log_of_a_job(run, start, driver, tmp_path, records):
    log = tmp_path / "job.log"
    log.write_text("".join(f"line {n}\n" for n in range(200)))
    driver.log = str(log)
    handle = start()
    assert run("logs", "counter", "-n", "2")[1] == "line 198\nline 199\n"
    assert len(run("logs", "counter", "-n", "0")[1].splitlines()) == 200
    handle.enter(JobStatus.FAILED, RuntimeError("why"))
    failed = f"counter ({id_of(handle)}) is FAILED: why\n"
    assert run("logs", "counter", "-n", "1")[1] == f"line 199\n{failed}"
    assert f"    why; log: {log}\n" in run("list", "-a")[1]


def test_texts_of_records_are_no_commands_of_the_terminal(run, driver, start, tmp_path):
    """The text clears a screen, sets its title, writes over a line, and turns around."""
    hostile = "\x1b[2J\x1b]0;owned\x07\rall is well\x9b31m\u202egnp.exe\ud800\b\b"
    escaped = r"\x1b[2J\x1b]0;owned\x07\rall is well\x9b31m\u202egnp.exe\ud800\x08\x08"
    log = tmp_path / "job.log"
    log.write_text(f"a line\t{hostile}\n", errors="replace")
    driver.log = str(log)
    handle = start(name=f"counter{hostile}")
    handle.job.history.attempt_failed(RuntimeError(f"ValueError: {hostile}"), 100)
    handle.enter(JobStatus.RESTARTING)
    asked = id_of(handle)
    for command in (["list"], ["exceptions", asked], ["logs", asked], ["checkpoints", asked]):
        _, out, err = run(*command)
        assert all(each in "\t\n" or each.isprintable() for each in out + err), command
        assert escaped in out or command[0] in {"checkpoints", "logs"}
    assert run("logs", asked)[1].startswith("a line\t\\x1b[2J")
    handle.error = RuntimeError(hostile)
    assert escaped in run("savepoint", asked)[2]


def test_the_log_of_a_job_in_the_foreground(run, driver, start, caplog):
    driver._tail.attach()
    try:
        handle = start()
        logging.getLogger("pyflink_on_spark").warning("a warning")
        assert run("logs", "counter")[1].endswith(" - a warning\n")
        handle.enter(JobStatus.FINISHED)
    finally:
        logging.getLogger("pyflink_on_spark").removeHandler(driver._tail)
    driver._server.stop()
    driver._server.server_close()
    os.unlink(driver._server.server_address)
    assert run("logs", "counter")[1].endswith(" - a warning\n")


def test_a_job_that_collects_leaves_a_record_only_if_it_fails(driver, records):
    for status in (JobStatus.FINISHED, JobStatus.FAILED):
        made = replace(job(), collected="c")
        handle = Handle(made)
        driver.offer(OperatedJob(made, handle))
        assert records.all()[-1].state == "RUNNING"
        handle.enter(status, None)
    assert [record.state for record in records.all()] == ["FAILED"]


def test_a_long_list_is_cut(run, start):
    for _ in range(25):
        start().cancel()
    out = run("list", "-a")[1]
    assert out.count("(CANCELED)") == 20
    assert "5 more have ended before: list -a --limit 0" in out
    assert run("list", "-a", "--limit", "0")[1].count("(CANCELED)") == 25


_DRIVER = """
import sys, threading
from pyflink_on_spark._operate.server.job_registry import DRIVER
from tests.operate.operated import Handle, job
made = job(configuration={"rest.port": "0", "pyflink-on-spark.rest.linger": sys.argv[1]})
handle = Handle(made)
DRIVER.offer(DRIVER.watch(made, handle))
print(DRIVER.network.url, made.settings.job_id, flush=True)
handle.ended.wait()
print("the script ends", flush=True)
"""


@pytest.mark.parametrize(("linger", "asks"), [("60 s", True), ("300 ms", False)])
def test_a_client_of_the_network_gets_the_location_after_the_end(home, linger, asks):
    """The script has ended; the driver waits for the client, up to the limit."""
    with subprocess.Popen(
        [sys.executable, "-c", _DRIVER, linger], stdout=subprocess.PIPE, text=True
    ) as process:
        url, job_id = process.stdout.readline().split()
        body = json.dumps({"targetDirectory": "/data"}).encode()
        request = urllib.request.Request(f"{url}/jobs/{job_id}/stop", body)
        asked = json.load(urllib.request.urlopen(request))["request-id"]
        if not asks:
            assert process.wait(20) == 0
            return
        assert process.stdout.readline() == "the script ends\n"
        told = {"status": {"id": "IN_PROGRESS"}}
        while told["status"]["id"] == "IN_PROGRESS":
            told = json.load(urllib.request.urlopen(f"{url}/jobs/{job_id}/savepoints/{asked}"))
        assert told["operation"]["location"] == "/data/savepoint-2"
        assert process.wait(20) == 0


def test_the_socket_and_its_folder_are_the_user_s_own(start, records):
    start()
    socket = records.all()[0].socket
    assert os.stat(socket).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(socket)).st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_made(monkeypatch, tmp_path, driver, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYFLINK_ON_SPARK_HOME", str(tmp_path / "file"))
    made = job()
    driver.offer(OperatedJob(made, Handle(made)))
    assert "cannot be operated from another shell" in caplog.text
    assert driver.jobs.all()[0].job is made


def test_a_long_path_has_its_socket_elsewhere(monkeypatch, tmp_path, start, run):
    monkeypatch.setenv("PYFLINK_ON_SPARK_HOME", str(tmp_path / ("long" * 30)))
    start()
    assert "counter (RUNNING)" in run("list")[1]


def test_only_the_last_records_stay(start, records):
    few = {"jobstore.max-capacity": "3"}
    for _ in range(5):
        start(configuration=few).cancel()
    start(configuration=few)
    assert [record.over for record in records.all()] == [True, True, True, False]


def test_records_are_removed_once_there_are_a_tenth_too_many(start, records):
    ten = {"jobstore.max-capacity": "10"}
    counts = []
    for _ in range(12):
        start(configuration=ten).cancel()
        counts.append(len(records.all()))
    assert counts == [*range(1, 12), 11]
    assert records.all()[0].over


def test_records_expire(start, records, monkeypatch):
    start().cancel()
    (ended,) = records.all()
    long_ago = ended.started / 1000 - 3600
    os.utime(records._folder / f"{ended.id}.json", (long_ago, long_ago))
    records.write(replace(ended, id="d" * 32, ended=round(long_ago * 1000)))
    os.utime(records._folder / f"{'d' * 32}.json", (long_ago, long_ago))
    start(configuration={"jobstore.expiration-time": "60 s"})
    assert [record.over for record in records.all()] == [True, False]


def test_a_damaged_record_is_no_job(run, records, start):
    start()
    (records._folder / ("b" * 32 + ".json")).write_text("{")
    (records._folder / ("c" * 32 + ".json")).write_text(json.dumps({"id": "c"}))
    assert run("list")[1].count("RUNNING") == 1


def test_a_checkpoint_record_in_progress_has_no_end():
    assert CheckpointRecord(1, False, 0, None).ended is None
