"""The parts of the soak of tables: what they would miss, nobody else finds."""

from __future__ import annotations

import random
import sqlite3

import pytest

from tests.faults.disturbed import Plan
from tests.faults.events import expected_windows
from tests.faults.jdbc_soak import JdbcSoak
from tests.faults.test_soak import counted

EVENTS = 300


class Tables:
    """A database, which takes the statements of the soak as PostgreSQL does."""

    url = "jdbc:sqlite:"

    def __init__(self):
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def connect(self):
        return self.connection

    def write(self, table, lines):
        rows = [(line,) for line in lines]
        self.connection.executemany(f"INSERT INTO {table} VALUES (?)", rows)


@pytest.fixture
def tables():
    return Tables()


@pytest.fixture
def soak(tables, tmp_path):
    return JdbcSoak(tables, Plan(tmp_path, 1), random.Random(1))


def test_complete_tables_are_accepted(soak, tables):
    tables.write("counts", counted(range(EVENTS)))
    tables.write("windows", expected_windows(EVENTS))
    assert soak._count_seen() == EVENTS
    soak._check(EVENTS)
    assert soak._report.problems == []
    assert soak._report.records.startswith(f"{EVENTS} events, ")


def test_what_is_lost_and_what_is_there_twice_is_found(soak, tables):
    windows = expected_windows(EVENTS)
    tables.write("counts", counted(range(EVENTS))[:-1])
    tables.write("windows", [*windows[1:], windows[-1]])
    soak._check(EVENTS)
    lost, *others = soak._report.problems
    assert lost.startswith("1 events are lost")
    assert others == [
        f"1 windows are lost, such as {windows[:1]}",
        f"1 windows are not expected, such as {windows[-1:]}",
    ]
