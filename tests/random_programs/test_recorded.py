"""The quick tier: some recorded programs, in-process. ``tox -e random`` runs all, in all ways."""

from __future__ import annotations

import pytest

from tests.random_programs import recordings
from tests.random_programs.comparing import compare
from tests.random_programs.ledger import entries

pytestmark = pytest.mark.slow

PROGRAMS = {"whole": 100, "cut": 40, "restarted": 40}


@pytest.fixture(scope="module")
def recorded():
    return list(recordings.everything())


def sample(programs, count):
    """Return some programs of all files."""
    return [programs[number * len(programs) // count] for number in range(count)]


@pytest.mark.parametrize("way", PROGRAMS)
def test_recorded_programs(way, recorded):
    """If this fails: ``python -m tests.random_programs show SEED --way WAY``."""
    found = compare(sample(recorded, PROGRAMS[way]), way)
    assert found.programs == PROGRAMS[way]
    assert found.new == {}
    assert found.gone == [], "take these out of ledger.toml"


def test_the_ledger_has_a_reason_for_each_program_that_is_recorded(recorded):
    seeds = {recording.program.seed for recording in recorded}
    listed = [seed for entry in entries() for seed in entry.programs]
    assert set(listed) <= seeds
    assert all(entry.reason for entry in entries())
