"""Tables and results as the last line of a notebook's cell."""

from __future__ import annotations

import pytest

from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.testing import local_engine


@pytest.fixture(autouse=True)
def _engine():
    with local_engine():
        yield


@pytest.fixture
def batch():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_a_table_shows_its_columns(batch):
    shown = batch.sql_query("SELECT 1 AS a, 'x' AS `<b>`")._repr_html_()
    assert "<td>a</td><td>INT NOT NULL</td>" in shown
    assert "<td>&lt;b&gt;</td><td>CHAR(1) NOT NULL</td>" in shown


def test_a_result_shows_its_rows(batch):
    shown = batch.execute_sql("SELECT a FROM (VALUES ('<x>'), (CAST(NULL AS STRING))) AS t(a)")
    assert shown._repr_html_() == (
        "<table><thead><tr><th>a</th></tr></thead>"
        "<tbody><tr><td>&lt;x&gt;</td></tr><tr><td>NULL</td></tr></tbody></table>"
    )


@pytest.mark.parametrize(("count", "cut"), [(100, False), (101, True)])
def test_a_long_result_shows_its_beginning(batch, count, cut):
    table = batch.from_elements([(i,) for i in range(count)], ["n"])
    shown = table.execute()._repr_html_()
    assert shown.count("<tr>") == 101
    assert ("the first 100 rows" in shown) is cut


def test_statements_show_what_they_list(batch):
    assert "<td>OK</td>" in batch.execute_sql("CREATE VIEW v AS SELECT 1 AS a")._repr_html_()
    assert "<td>v</td>" in batch.execute_sql("SHOW VIEWS")._repr_html_()


def test_a_stream_is_not_waited_for():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen')")
    result = t_env.execute_sql("SELECT n FROM numbers")
    job = result.get_job_client()
    assert str(job.get_job_id()) in result._repr_html_()
    job.cancel().result()
