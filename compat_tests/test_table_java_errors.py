"""Errors that PyFlink's JVM raises: the classes that scripts catch, and the names in the texts."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyflink.table.catalog import ObjectPath
from pyflink.table.expressions import col
from pyflink.util.exceptions import CatalogException, JavaException, TableException

API = "org.apache.flink.table.api."
VALIDATION, PARSER = API + "ValidationException", API + "SqlParserException"
ARGUMENT = "java.lang.IllegalArgumentException"


@pytest.fixture
def table(t_env):
    t_env.execute_sql("CREATE TABLE d (id INT, name STRING) WITH ('connector' = 'datagen')")
    return t_env.from_path("d")


def check(error: Py4JJavaError, java_class: str, message: str = "") -> None:
    """Compares the name of Java's class, wherever a script can find it."""
    assert error.java_exception.getClass().getName() == java_class
    assert error.java_exception.getClass().getSimpleName() == java_class.rsplit(".", maxsplit=1)[-1]
    assert error.java_exception.toString().startswith(f"{java_class}: ")
    assert f"{java_class}: " in str(error)
    assert message in str(error)
    assert message in error.java_exception.getMessage()
    assert java_class not in error.java_exception.getMessage()


@pytest.mark.parametrize(
    ("text", "java_class", "message"),
    [
        ("SELECT value FROM d", PARSER, 'SQL parse failed. Encountered "value" at line 1, column'),
        ("SELECT 'abc FROM d", PARSER, "SQL parse failed."),
        ("SELECT", API + "SqlParserEOFException", 'Encountered "<EOF>" at line 1, column 6.'),
        ("SELECT 1; SELECT 2", ARGUMENT, "only single statement supported"),
        ("SELECT no_col FROM d", VALIDATION, "Column 'no_col' not found in any table"),
        ("SELECT * FROM nope", VALIDATION, "Object 'nope' not found"),
        ("CREATE TABLE x (a INT)", VALIDATION, "Unsupported SQL query!"),
        ("SELECT id FROM d WHERE id = 'x'", VALIDATION, "implicit type conversion"),
    ],
)  # fmt: skip
def test_queries(t_env, table, text, java_class, message):
    with pytest.raises(Py4JJavaError) as raised:
        t_env.sql_query(text).explain()
    check(raised.value, java_class, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO nope SELECT id FROM d", "Cannot find table"),
        ("DROP TABLE nope", "Table with identifier"),
        ("DESCRIBE nope", "Tables or views with the identifier"),
        ("USE MODULES nope", "No module with name 'nope' exists"),
        ("DROP FUNCTION nope", "Function default_database.nope does not exist in Catalog"),
        ("SHOW TABLES FROM nope", "Database 'default_catalog'.'nope' doesn't exist."),
        ("CREATE TABLE x (a INT, a INT)", "A regular Column named 'a' already exists"),
    ],
)  # fmt: skip
def test_statements(t_env, table, text, message):
    with pytest.raises(Py4JJavaError) as raised:
        t_env.execute_sql(text)
    check(raised.value, VALIDATION, message)


@pytest.mark.parametrize(
    ("call", "java_class", "message"),
    [
        (lambda t_env, d: d.select(col("x")), VALIDATION, "Cannot resolve field [x], input"),
        (lambda t_env, d: d.select(col("id"), col("id")), VALIDATION, "Ambiguous column name: id"),
        (lambda t_env, d: d.filter(col("id")), VALIDATION, "requires a boolean expression"),
        (lambda t_env, d: t_env.from_path("nope"), VALIDATION, "Table `nope` was not found"),
        (lambda t_env, d: t_env.from_path("a b"), PARSER, "Invalid SQL identifier a b."),
        (lambda t_env, d: d.execute_insert("nope"), VALIDATION, "Cannot find table"),
        (lambda t_env, d: t_env.unload_module("nope"), VALIDATION, "No module with name 'nope'"),
        (lambda t_env, d: ObjectPath("", "a"), ARGUMENT, "databaseName cannot be null or empty"),
        (lambda t_env, d: ObjectPath.from_string("a"), ARGUMENT, "Cannot get split 'a'"),
    ],
)  # fmt: skip
def test_calls(t_env, table, call, java_class, message):
    with pytest.raises(Py4JJavaError) as raised:
        call(t_env, table)
    check(raised.value, java_class, message)


@pytest.mark.parametrize(
    ("text", "kind", "begin"),
    [
        ("USE nope", CatalogException,
         "org.apache.flink.table.catalog.exceptions.CatalogException: A database with name [nope]"),
        ("DROP DATABASE default_database", TableException,
         API + "TableException: Could not execute DROP DATABASE default_catalog.default_database"),
        ("SET 'a' = 'b'", TableException, API + "TableException: Unsupported SQL query!"),
    ],
)  # fmt: skip
def test_errors_with_a_class_in_python(t_env, text, kind, begin):
    with pytest.raises(kind) as raised:
        t_env.execute_sql(text)
    assert not isinstance(raised.value, Py4JJavaError)
    assert isinstance(raised.value, JavaException)
    assert str(raised.value).startswith(begin)
    assert raised.value.stack_trace == str(raised.value)
