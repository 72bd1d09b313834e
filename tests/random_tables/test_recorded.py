"""The quick tier: some recorded programs, in-process. ``tox -e random`` runs all, in all ways."""

from __future__ import annotations

import re

import pytest

from tests.random_tables import recordings
from tests.random_tables.comparing import compare, listed

PROGRAMS = {"whole": 20, "restarted": 6}


@pytest.fixture(scope="module")
def recorded():
    return list(recordings.lines())


@pytest.mark.parametrize("way", PROGRAMS)
def test_recorded_programs(way, recorded):
    """If this fails: ``python -m tests.random_tables show SEED --way WAY``."""
    count = PROGRAMS[way]
    sample = [recorded[number * len(recorded) // count] for number in range(count)]
    found = compare(map(recordings.read, sample), way)
    assert found.programs == count
    assert found.new == {}
    assert found.gone == [], "take these out of ledger.toml"


def test_the_ledger_has_a_reason_for_each_program_that_is_recorded(recorded):
    seeds = {int(re.match(r'\{"seed":(\d+),', line)[1]) for line in recorded}
    assert {seed for entry in listed() for seed in entry.programs} <= seeds
    assert all(entry.reason for entry in listed())
