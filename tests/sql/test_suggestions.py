"""Names that there are not: the message names the most similar one that there is."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.errors import ValidationError, did_you_mean
from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment


@pytest.fixture(scope="module")
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql(
        "CREATE TABLE orders (order_id INT, price DOUBLE) WITH "
        "('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    return t_env


@pytest.mark.parametrize(
    ("query", "end"),
    [
        ("SELECT order_ids FROM orders", "in any table; did you mean 'order_id'?"),
        ("SELECT PRICE FROM orders", "in any table; did you mean 'price'?"),
        ("SELECT o.prise FROM orders o", "in table 'o'; did you mean 'price'?"),
        ("SELECT ordrs.price FROM orders", "Table 'ordrs' not found; did you mean 'orders'?"),
        ("SELECT * FROM order_s", "Object 'order_s' not found; did you mean 'orders'?"),
        ("SELECT * FROM defalt_database.orders", "found; did you mean 'default_database'?"),
        ("SELECT UPER('x')", "UPER(<CHARACTER>); did you mean 'UPPER'?"),
        ("SELECT cont(price) FROM orders", "cont(<NUMERIC>); did you mean 'COUNT'?"),
    ],
)
def test_names_in_queries(t_env, query, end):
    with pytest.raises(ValidationError) as raised:
        t_env.sql_query(query)
    assert str(raised.value).endswith(end)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("'connector' = 'filesytem'", "identifier 'filesytem'; did you mean 'filesystem'?"),
        ("'connector' = 'filesystem', 'path' = '/x', 'format' = 'cvs'", "did you mean 'csv'?"),
        (
            "'connector' = 'datagen', 'row-per-second' = '1'",
            "row-per-second - did you mean 'rows-per-second'?",
        ),
    ],
)
def test_connectors_formats_and_options(t_env, options, text):
    t_env.execute_sql(f"CREATE TEMPORARY TABLE made (a INT) WITH ({options})")
    try:
        with pytest.raises(ValidationError) as raised:
            t_env.sql_query("SELECT * FROM made")
        assert text in str(raised.value)
    finally:
        t_env.drop_temporary_table("made")


@pytest.mark.parametrize("wanted", ["x", "something else", ""])
def test_what_is_not_similar_is_not_suggested(wanted):
    assert did_you_mean(wanted, ["order_id", "price"]) == ""


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("INSERT INTO ordrs SELECT * FROM orders", "orders"),
        ("DROP TABLE ordrs", "orders"),
        ("USE CATALOG default_catlog", "default_catalog"),
    ],
)
def test_names_in_other_statements(t_env, statement, name):
    with pytest.raises(PyFlinkOnSparkError) as caught:
        t_env.execute_sql(statement)
    assert str(caught.value).endswith(f". Did you mean '{name}'?")
    with pytest.raises(PyFlinkOnSparkError, match=r"was not found\. Did you mean 'orders'\?"):
        t_env.from_path("ordrs")


def test_a_missing_file_names_its_table(t_env, tmp_path):
    t_env.execute_sql(
        "CREATE TEMPORARY TABLE lines (a INT) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}/absent', 'format' = 'csv')"
    )
    from pyflink_on_spark.testing import local_engine

    with local_engine(), pytest.raises(FileNotFoundError) as raised:
        t_env.execute_sql("SELECT * FROM lines").print()
    assert str(raised.value).endswith("absent (the table default_catalog.default_database.lines)")
