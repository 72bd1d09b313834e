"""The twenty-two queries of TPC-H over small tables, against the answers of SQLite."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from compat_tests import warehouse
from compat_tests.tables import last

NAMES = list(warehouse.QUERIES)
TABLES = warehouse.rows_of_tables()
ANSWERS = warehouse.answers(TABLES, warehouse.QUERIES)
UNORDERED = {
    name: text.rpartition("ORDER BY")[0] or text for name, text in warehouse.QUERIES.items()
}
UNORDERED_ANSWERS = warehouse.answers(TABLES, UNORDERED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the tables."""
    folder = tmp_path_factory.mktemp("warehouse")
    warehouse.write(folder, TABLES)
    return folder


def _environment(folder, *, streaming):
    from pyflink.table import EnvironmentSettings, TableEnvironment

    modes = EnvironmentSettings
    settings = modes.in_streaming_mode() if streaming else modes.in_batch_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1")
    for statement in warehouse.statements(folder):
        env.execute_sql(statement)
    return env


@pytest.mark.parametrize("name", NAMES)
def test_batch(folder, name):
    env = _environment(folder, streaming=False)
    with env.sql_query(warehouse.QUERIES[name]).execute().collect() as rows:
        found = [tuple(map(_plain, row)) for row in rows]
    assert ANSWERS[name]
    assert found == [_about(row) for row in ANSWERS[name]]


@pytest.mark.whole("a restart after each turn of joins of seven tables takes minutes")
@pytest.mark.parametrize("name", NAMES)
def test_streaming(folder, name):
    found = last(_environment(folder, streaming=True), UNORDERED[name])
    found = sorted((tuple(map(_plain, row)) for row in found), key=_order)
    assert found == [_about(row) for row in sorted(UNORDERED_ANSWERS[name], key=_order)]


def _plain(value):
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value


def _about(row):
    """The values of a row; SQLite computes in DOUBLE, the engines in DECIMAL."""
    return tuple(
        pytest.approx(value, rel=1e-5, abs=1e-6) if isinstance(value, float) else value
        for value in row
    )


def _order(row):
    return [f"{value:.2f}" if isinstance(value, float) else str(value) for value in row]
