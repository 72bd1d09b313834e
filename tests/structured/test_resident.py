"""The process of a slot: it outlives workers, and ends when nothing needs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pyflink_on_spark._spark.structured import resident
from pyflink_on_spark._spark.structured.resident import Resident
from pyflink_on_spark._spark.structured.state_log import Head, StateLog
from tests.structured.in_process import Chunks
from tests.structured.in_process import Head as StoredHead

pytestmark = pytest.mark.slow


class Slot:
    """Answers with its process and how often it was asked; says all that to its log, too."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._asked = folder, 0

    def begin(self) -> Any:
        return self.serve, (self._folder / "over").exists

    def serve(self, request: Any, log: StateLog) -> Any:
        self._asked += 1
        if isinstance(request, Exception):
            raise request
        if request == "fail":
            raise ValueError("as it was asked to")
        if request == "wait":
            (self._folder / "waits").touch()
            time.sleep(600)
        head = log.head() or Head()
        before = log.read(head)
        log.append(head, f"{request},".encode(), "me", b"")
        return os.getpid(), self._asked, before


@pytest.fixture
def sockets():
    with tempfile.TemporaryDirectory() as folder:  # the path of a socket has to be short
        yield Path(folder, "sockets")


@pytest.fixture
def slot(tmp_path, sockets, monkeypatch):
    monkeypatch.setattr(resident, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(resident, "_folder", lambda: sockets.mkdir(exist_ok=True) or sockets)
    yield Resident(str(tmp_path), Slot(tmp_path).begin)
    (tmp_path / "over").touch()


@pytest.fixture
def store():
    return StoredHead(), Chunks()


def ends(process: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not Path(f"/proc/{process}/fd").exists() or not os.listdir(f"/proc/{process}/fd"):
            return True
        time.sleep(0.05)
    return False


def test_one_process_answers_and_sees_the_log(slot, store):
    first = slot.run("a", *store)
    again = slot.run("b", *store)
    assert first == (first[0], 1, b"")
    assert again == (first[0], 2, b"a,")
    assert first[0] != os.getpid()
    assert StateLog(*store).head().version == 2


def test_the_worker_still_learns_how_its_own_processes_end(slot, store):
    slot.run("a", *store)
    done = subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=False)
    assert done.returncode == 3


def test_an_error_is_raised_in_the_worker_and_changes_nothing(slot, store):
    slot.run("a", *store)
    with pytest.raises(ValueError, match="as it was asked to"):
        slot.run("fail", *store)
    assert slot.run("b", *store)[2] == b"a,"


@pytest.mark.parametrize("error", [ConnectionRefusedError("the store refuses"), EOFError("torn")])
def test_the_slots_own_trouble_with_a_connection_is_not_taken_for_its_end(slot, store, error):
    with pytest.raises(type(error), match=str(error)):
        slot.run(error, *store)


def test_an_error_at_its_start_is_raised_in_the_worker(store, sockets, monkeypatch):
    def fails():
        raise ValueError("cannot begin")

    monkeypatch.setattr(resident, "_folder", lambda: sockets.mkdir(exist_ok=True) or sockets)
    for _ in range(2):
        with pytest.raises(ValueError, match="cannot begin"):
            Resident("it", fails).run("a", *store)


def test_a_process_that_ends_at_its_start_is_not_started_forever(store, sockets, monkeypatch):
    monkeypatch.setattr(resident, "_folder", lambda: sockets.mkdir(exist_ok=True) or sockets)
    with pytest.raises(RuntimeError, match="the process of it has ended 5 times at its start"):
        Resident("it", lambda: os._exit(1)).run("a", *store)


def test_a_process_that_takes_no_request_is_given_up(slot, store, tmp_path, monkeypatch):
    monkeypatch.setattr(resident, "_TELL_SECONDS", 0.01)
    monkeypatch.setattr(resident, "_HELLO_SECONDS", 0)

    def begins_slowly():
        while not (tmp_path / "over").exists():
            time.sleep(0.05)

    with pytest.raises(RuntimeError, match=r"the process of it takes no request for \d+ s"):
        Resident("it", begins_slowly).run("a", *store)


def test_a_worker_tells_what_it_waits_for(slot, capsys):
    ready = iter([False, False, True])
    slot._wait_for_hello(SimpleNamespace(poll=lambda _: next(ready)))
    line = f"the process of {slot.name} has begun nothing for 0 s\n"
    assert re.sub(r"for \d+ s", "for 0 s", capsys.readouterr().err) == 2 * line


def test_another_process_follows_one_that_is_killed(slot, store):
    process, *_ = slot.run("a", *store)
    os.kill(process, signal.SIGKILL)
    assert ends(process)
    assert slot.run("b", *store)[1:] == (1, b"a,")


def test_it_ends_when_it_is_not_needed(slot, store, tmp_path, sockets):
    process, *_ = slot.run("a", *store)
    (tmp_path / "over").touch()
    assert ends(process)
    assert not sockets.exists()


def test_it_ends_with_a_worker_that_is_killed_while_it_waits(slot, store, tmp_path):
    process, *_ = slot.run("a", *store)
    worker = os.fork()
    if worker == 0:
        try:
            slot.run("wait", *store)
        finally:
            os._exit(0)
    while not (tmp_path / "waits").exists():
        time.sleep(0.05)
    assert Path(f"/proc/{process}/fd").exists()
    os.kill(worker, signal.SIGKILL)
    assert ends(process)
    assert slot.run("b", *store)[1:] == (1, b"a,")


def test_it_stays_however_often_it_looks_for_its_worker(slot, store, monkeypatch):
    monkeypatch.setattr(resident, "_LOOK_SECONDS", 0.00001)
    asked = [slot.run("a", *store)[1] for _ in range(500)]
    assert asked == list(range(1, 501))


def test_it_starts_where_another_one_has_removed_the_folder(slot, store, monkeypatch):
    folder, removed = resident._folder, []

    def removed_once():
        place = folder()
        if not removed:
            removed.append(place)
            place.rmdir()
        return place

    monkeypatch.setattr(resident, "_folder", removed_once)
    assert slot.run("a", *store)[1] == 1
    assert removed
