"""Wrong SQL and wrong calls: who raises, and what the message says."""

# ruff: noqa: E501

from __future__ import annotations

import re

import pytest
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udf

from compat_tests.tables import query


@pytest.fixture
def table(t_env):
    t_env.execute_sql(
        "CREATE TABLE d (id INT, name STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3')"
    )
    t_env.execute_sql("CREATE TABLE p (id INT, name STRING) WITH ('connector' = 'print')")
    return t_env.from_path("d")


@pytest.fixture
def typed(t_env):
    t_env.execute_sql(
        "CREATE TABLE typed (id INT, name STRING, d DATE, ts TIMESTAMP(3), b BOOLEAN, l ARRAY<INT>, r ROW<a INT>, "
        "m MAP<STRING, INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    return t_env


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT value FROM d", 'Encountered "value" at line 1, column 8'),
        ("SELECT", 'Encountered "<EOF>" at line 1, column 6'),
        ("SELECT id FROM d WHERE", 'Encountered "<EOF>" at line 1, column 22'),
        ("SELECT id\nFROM d\nWHERE )", r'Encountered "\)" at line 3, column 7'),
        ("SELECT id, FROM d", "at line 1, column 12"),
        ("SELECT id::INT FROM d", "at line 1, column 10"),
        ("SELECT 1; SELECT 2", "only single statement supported"),
        ("SELECT no_col FROM d",
         "From line 1, column 8 to line 1, column 13: Column 'no_col' not found in any table"),
        ("SELECT d.nope FROM d", "Column 'nope' not found in table 'd'"),
        ("SELECT nope.id FROM d", "Table 'nope' not found"),
        ("SELECT * FROM\n  nope", "From line 2, column 3 to line 2, column 6: Object 'nope' not found"),
        ("SELECT no_func(id) FROM d",
         r"No match found for function signature no_func\(<NUMERIC>\)"),
        ("SELECT UPPER(name, name) FROM d",
         "Invalid number of arguments to function 'UPPER'. Was expecting 1 arguments"),
        ("SELECT UPPER(id) FROM d", r"Cannot apply 'UPPER' to arguments of type 'UPPER\(<INTEGER>\)'"),
        ("SELECT id + name FROM d",
         r"Cannot apply '\+' to arguments of type '<INTEGER> \+ <VARCHAR\(2147483647\)>'"),
        ("SELECT id FROM d WHERE id", "WHERE clause must be a condition"),
        ("SELECT id FROM d ORDER BY 2 LIMIT 1",
         "At line 1, column 27: Ordinal out of range"),
        ("SELECT z FROM d", "At line 1, column 8: Column 'z' not found in any table"),
        ("SELECT id FROM d ORDER BY 0 LIMIT 1", "Ordinal out of range"),
        ("SELECT CAST(id AS foo) FROM d", "Unknown identifier 'foo'"),
        ("SELECT * FROM d AS a JOIN d AS a ON TRUE",
         "From line 1, column 27 to line 1, column 32: Duplicate relation name 'a' in FROM clause"),
        ("SELECT * FROM d, d", "Duplicate relation name 'd' in FROM clause"),
        ("CREATE TABLE x (a INT)", "Unsupported SQL query"),
        ("SELECT id FROM d GROUP", 'Encountered "<EOF>" at line 1, column 22'),
        ("SELECT id FROM d ORDER", 'Encountered "<EOF>" at line 1, column 22'),
        ("SELECT user FROM d", "Column 'user' not found in any table"),
        ("SELECT CURRENT_PATH", "Column 'CURRENT_PATH' not found in any table"),
        ("SELECT CURRENT_USER", "Column 'CURRENT_USER' not found in any table"),
        ("SELECT * FROM nodb.d", "line 1, column 20: Object 'nodb' not found"),
        ("SELECT * FROM nocat.nodb.d", "Object 'nocat' not found"),
        ("SELECT * FROM default_database.nope",
         "Object 'nope' not found within 'default_catalog.default_database'"),
        ("SELECT 1 UNION ALL SELECT 1, 2", "Column count mismatch in UNION ALL"),
        ("SELECT 1 UNION SELECT 1, 2", "Column count mismatch in UNION$"),
        ("SELECT 1 EXCEPT ALL SELECT 1, 2", "Column count mismatch in EXCEPT ALL"),
        ("SELECT 1 INTERSECT SELECT 1, 2", "Column count mismatch in INTERSECT"),
        ("SELECT (SELECT 1, 2)", (r"column 9 to line 1, column 19: Cannot apply '\$SCALAR_QUERY' to "
         r"arguments of type '\$SCALAR_QUERY\(<RECORDTYPE\(INTEGER EXPR\$0, INTEGER EXPR\$1\)>\)'")),
    ],
)  # fmt: skip
def test_wrong_queries(t_env, table, text, message):
    with pytest.raises(Exception, match=f"(?m){message}"):
        t_env.sql_query(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO p SELECT id FROM d", "Different number of columns"),
        ("INSERT INTO p SELECT name, id FROM d",
         "Incompatible types for sink column 'id' at position 1"),
        ("INSERT INTO p (nope) SELECT id FROM d", "Unknown target column 'nope'"),
        ("INSERT INTO nope SELECT id FROM d",
         "Cannot find table '`default_catalog`.`default_database`.`nope`'"),
        ("CREATE TABLE p (a INT) WITH ('connector' = 'print')", "already exists"),
        ("DROP TABLE nope", "'default_catalog.default_database.nope' does not exist"),
        ("USE nope", r"A database with name \[nope\] does not exist"),
        ("CREATE TABLE x (a INT, a STRING)", "A regular Column named 'a' already exists"),
        ("CREATE TABLE x (a INT, PRIMARY KEY (b) NOT ENFORCED)",
         "Primary key column 'b' is not defined in the schema"),
        ("CREATE TABLE x (a INT, PRIMARY KEY (a))", "ENFORCED"),
        ("CREATE TABLE x (a INT, WATERMARK FOR b AS b)",
         "The rowtime attribute field 'b' is not defined in the table schema"),
        ("CREATE TABLE x (a INT, WATERMARK FOR a AS a)",
         "Invalid data type of time field for watermark definition"),
        ("SET 'a' = 'b'", "Unsupported SQL query"),
    ],
)  # fmt: skip
def test_wrong_statements(t_env, table, text, message):
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'connector' = 'nope'", "Could not find any factory for identifier 'nope'"),
        ("'connector' = 'datagen', 'foo' = 'bar'", "Unsupported options found for 'datagen'"),
        ("'connector' = 'filesystem', 'format' = 'csv'", "(?s)required options are missing.*path"),
        ("'connector' = 'filesystem', 'path' = '/tmp/x'", "required options are missing"),
        ("'format' = 'csv'", "do not contain an option key 'connector'"),
        ("'connector' = 'print'", "can only be used as a sink"),
    ],
)
def test_wrong_options_show_when_the_table_is_read(t_env, options, message):
    t_env.execute_sql(f"CREATE TABLE x (a INT) WITH ({options})")
    with pytest.raises(Exception, match=message):
        t_env.sql_query("SELECT a FROM x")
    with pytest.raises(Exception, match=r"Unable to create a source for reading table"):
        t_env.sql_query("SELECT a FROM x")


FORMS = {
    "+": "'<NUMERIC> + <NUMERIC>'\n'<DATETIME_INTERVAL> + <DATETIME_INTERVAL>'\n"
    "'<DATETIME> + <DATETIME_INTERVAL>'\n'<DATETIME_INTERVAL> + <DATETIME>'",
    "ITEM": "<ARRAY>[<INTEGER>]\n<MAP>[<ANY>]\n<ROW>[<CHARACTER>|<INTEGER>]\n"
    "<VARIANT>[<CHARACTER>|<INTEGER>]",
    "LIKE": "'NOT LIKE(<STRING>, <STRING>, <STRING>)'",
    "%": "'<EXACT_NUMERIC> % <EXACT_NUMERIC>'",
    "||": "'<STRING> || <STRING>'\n'<EQUIVALENT_TYPE> || <EQUIVALENT_TYPE>'",
    "BETWEEN": "'<COMPARABLE_TYPE> BETWEEN <COMPARABLE_TYPE> AND <COMPARABLE_TYPE>'",
}


@pytest.mark.parametrize(
    ("expression", "operator", "types", "forms"),
    [
        ("id + d", "+", "<INTEGER> + <DATE>", FORMS["+"]),
        ("l + 1", "+", "<INTEGER ARRAY> + <INTEGER>", FORMS["+"]),
        ("r + 1", "+", "<RECORDTYPE:PEEK_NO_EXPAND(INTEGER A)> + <INTEGER>", FORMS["+"]),
        ("name % 2", "%", "<VARCHAR(2147483647)> % <INTEGER>", FORMS["%"]),
        ("-d", "-", "-<DATE>", "'-<NUMERIC>'\n'-<DATETIME_INTERVAL>'"),
        ("+d", "+", "+<DATE>", "'+<NUMERIC>'\n'+<DATETIME_INTERVAL>'"),
        ("NOT id", "NOT", "NOT<INTEGER>", "'NOT<BOOLEAN>'"),
        ("id AND TRUE", "AND", "<INTEGER> AND <BOOLEAN>", "'<BOOLEAN> AND <BOOLEAN>'"),
        ("id IS TRUE", "IS TRUE", "<INTEGER> IS TRUE", "'<BOOLEAN> IS TRUE'"),
        ("id > d", ">", "<INTEGER> > <DATE>", "'<COMPARABLE_TYPE> > <COMPARABLE_TYPE>'"),
        ("m = 1", "=", "<(VARCHAR(2147483647), INTEGER) MAP> = <INTEGER>",
         "'<COMPARABLE_TYPE> = <COMPARABLE_TYPE>'"),
        ("id || l", "||", "<INTEGER> || <INTEGER ARRAY>", FORMS["||"]),
        ("name NOT LIKE 1", "NOT LIKE", "NOT LIKE(<VARCHAR(2147483647)>, <INTEGER>)",
         FORMS["LIKE"]),
        ("d BETWEEN 1 AND 2", "BETWEEN ASYMMETRIC",
         "<DATE> BETWEEN ASYMMETRIC <INTEGER> AND <INTEGER>", FORMS["BETWEEN"]),
        ("d BETWEEN SYMMETRIC 1 AND 2", "BETWEEN SYMMETRIC",
         "<DATE> BETWEEN SYMMETRIC <INTEGER> AND <INTEGER>", FORMS["BETWEEN"]),
        ("d > ts", ">", "<DATE> > <TIMESTAMP(3)>", "'<COMPARABLE_TYPE> > <COMPARABLE_TYPE>'"),
        ("ts = DATE '2020-01-01'", "=", "<TIMESTAMP(3)> = <DATE>",
         "'<COMPARABLE_TYPE> = <COMPARABLE_TYPE>'"),
        ("d IS DISTINCT FROM ts", "IS DISTINCT FROM", "<DATE> IS DISTINCT FROM <TIMESTAMP(3)>",
         "'<COMPARABLE_TYPE> IS DISTINCT FROM <COMPARABLE_TYPE>'"),
        ("l[name]", "ITEM", "ITEM(<INTEGER ARRAY>, <VARCHAR(2147483647)>)", FORMS["ITEM"]),
        ("m[1]", "ITEM", "ITEM(<(VARCHAR(2147483647), INTEGER) MAP>, <INTEGER>)", FORMS["ITEM"]),
    ],
)  # fmt: skip
def test_operands_of_wrong_types(typed, expression, operator, types, forms):
    message = (
        f"From line 1, column 8 to line 1, column {7 + len(expression)}: Cannot apply "
        f"'{operator}' to arguments of type '{types}'. Supported form(s): {forms}"
    )
    with pytest.raises(Exception, match=re.escape(message)):
        typed.sql_query(f"SELECT {expression} FROM typed")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT d IN (1, 2) FROM typed", "Values passed to IN operator must have compatible types"),
        ("SELECT CASE WHEN b THEN d ELSE ts END FROM typed", "Illegal mixing of types in CASE"),
        ("SELECT d FROM typed UNION ALL SELECT ts FROM typed", "Type mismatch in column 1 of UNION"),
        ("SELECT NULLIF(d, ts) FROM typed", "Cannot apply '=' to arguments of type '<DATE> = <TIMES"),
        ("SELECT CAST(l AS INT) FROM typed",
         "cannot convert value of type INTEGER ARRAY to type INTEGER"),
        ("SELECT CAST(id AS ROW<a INT, b MAP<STRING, INT>>) FROM typed",
         ("cannot convert value of type INTEGER to type RecordType:peek_no_expand"
         r"\(INTEGER a, \(VARCHAR\(2147483647\), INTEGER\) MAP b\)")),
        ("SELECT -1e999", "column 8 to line 1, column 13: Numeric literal '-1E999' out of range"),
        ("SELECT - 9223372036854775809",
         "column 8 to line 1, column 28: Numeric literal '-9223372036854775809' out of range"),
        ("SELECT CAST(NULL AS ARRAY<INTERVAL DAY>)", "INTERVAL.* at line 1, column 27"),
        ("CREATE TABLE i (a INTERVAL DAY) WITH ('connector' = 'print')",
         "INTERVAL.* at line 1, column 19"),
        ("SHOW CREATE VIEW nope", ("Could not execute SHOW CREATE VIEW. View with identifier "
         "`default_catalog`.`default_database`.`nope` does not exist.")),
        ("SHOW CREATE VIEW typed", ("SHOW CREATE VIEW is only supported for views, but "
         "`default_catalog`.`default_database`.`typed` is a table. Please use SHOW CREATE TABLE")),
    ],
)  # fmt: skip
def test_other_messages(typed, text, message):
    with pytest.raises(Exception, match=message):
        typed.execute_sql(text)


@pytest.mark.parametrize(
    ("condition", "types"),
    [
        ("id = '1'", "INTEGER and CHAR"),
        ("'1' <> id", "CHAR and INTEGER"),
        ("id = name", "INTEGER and VARCHAR"),
        ("name = CAST(id AS DOUBLE)", "VARCHAR and DOUBLE"),
        ("id IS DISTINCT FROM name", "INTEGER and VARCHAR"),
        ("NULLIF(id, name) > 1", "INTEGER and VARCHAR"),
        ("CASE id WHEN name THEN TRUE END", "INTEGER and VARCHAR"),
    ],
)
def test_a_number_is_not_equal_to_a_text(typed, condition, types):
    with pytest.raises(Exception, match=f"implicit type conversion between {types} is not supp"):
        typed.sql_query(f"SELECT id FROM typed WHERE {condition}").explain()


@pytest.mark.parametrize("condition", ["id > name", "id IN (name, '1')", "d = name", "b <> 'true'"])
def test_other_comparisons_read_texts(typed, condition):
    typed.sql_query(f"SELECT id FROM typed WHERE {condition}").explain()


def test_arrays_have_an_index_of_type_int(typed):
    with pytest.raises(Exception, match="Integer expression type expected"):
        typed.sql_query("SELECT l[CAST(1 AS BIGINT)] FROM typed").explain()
    typed.sql_query("SELECT m[name], m['a'], MAP[1, 2][CAST(1 AS BIGINT)] FROM typed").explain()


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        ("INT", "length"),
        ("STRING", "max"),
        ("DATE", "null-rate"),
        ("TIMESTAMP(3)", "min"),
        ("BYTES", "null-rate"),
        ("ARRAY<CHAR(2)>", "element.length"),
        ("ROW<n INT>", "n.length"),
    ],
)
def test_made_up_rows_have_the_options_of_their_type(t_env, kind, option):
    t_env.execute_sql(
        f"CREATE TABLE x (a {kind}) WITH ('connector' = 'datagen', 'fields.a.{option}' = '1')"
    )
    with pytest.raises(Exception, match=rf"Unsupported options:\s+fields.a.{option}\s"):
        t_env.sql_query("SELECT a FROM x")


@pytest.mark.parametrize(
    ("kind", "option", "message"),
    [
        ("CHAR(3)", "'fields.a.length' = '3'",
         r"Custom length for fixed-length type \(CHAR/BINARY\) field 'a' is not supported"),
        ("VARCHAR(3)", "'fields.a.length' = '5'", "field 'a' should be shorter than '3' defined"),
        ("INT", "'fields.a.var-len' = 'true'", "The type of field 'a' is not within this range"),
    ],
)  # fmt: skip
def test_made_up_texts_have_the_length_of_their_type(t_env, kind, option, message):
    t_env.execute_sql(f"CREATE TABLE x (a {kind}) WITH ('connector' = 'datagen', {option})")
    with pytest.raises(Exception, match=message):
        t_env.sql_query("SELECT a FROM x")


def test_secrets_are_hidden_in_errors(t_env):
    t_env.execute_sql(
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'password' = 'p1',"
        " 'my.api-key' = 'p2', 'aws.credentials.basic.secretkey' = 'p3', 'a.user' = 'u')"
    )
    with pytest.raises(Exception, match="Table options are") as raised:
        t_env.sql_query("SELECT a FROM x")
    text = str(raised.value)
    assert "p1" not in text
    assert "p2" not in text
    assert "p3" not in text
    assert (
        "'a.user'='u'\n'aws.credentials.basic.secretkey'='******'\n'connector'='datagen'\n"
        "'my.api-key'='******'\n'password'='******'" in text
    )


def test_wrong_options_show_when_the_table_is_written(t_env):
    t_env.execute_sql("CREATE TABLE x (a INT) WITH ('connector' = 'datagen')")
    with pytest.raises(Exception, match="Unable to create a sink for writing table"):
        t_env.execute_sql("INSERT INTO x SELECT 1")


def test_a_connector_without_a_sink_is_refused_before_the_columns_are_compared(t_env, table):
    with pytest.raises(Exception, match="Unable to create a sink for writing table"):
        t_env.execute_sql("INSERT INTO d SELECT 'x', 1, 2")


def test_wrong_expressions(t_env, table):
    with pytest.raises(
        Exception, match=r"Cannot resolve field \[nope\], input field list:\[id, name\]"
    ):
        table.select(col("nope"))
    with pytest.raises(Exception, match="Filter operator requires a boolean expression"):
        table.filter(col("id"))
    with pytest.raises(Exception, match="Ambiguous column name: id"):
        table.select(col("id"), col("id"))
    with pytest.raises(Exception, match="Table `nope` was not found"):
        t_env.from_path("nope")
    with pytest.raises(Exception, match="Different number of columns"):
        table.select(col("id")).execute_insert("p")
    with pytest.raises(AttributeError):
        _ = table.nope


def test_null_into_not_null(t_env):
    t_env.execute_sql("CREATE TABLE s (c INT NOT NULL) WITH ('connector' = 'blackhole')")
    with pytest.raises(Exception, match="Column 'c' is NOT NULL"):
        t_env.execute_sql("INSERT INTO s SELECT CAST(NULL AS INT)").wait()


def test_elements_of_wrong_types(t_env):
    with pytest.raises(TypeError, match="Can not merge type"):
        t_env.from_elements([(1, "a"), ("x", "b")], ["n", "s"])
    kind = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
    with pytest.raises(TypeError, match="field n"):
        t_env.from_elements([("x",)], kind)


@pytest.mark.parametrize("line", ["null", "1", '"a"', "[1]", "true"])
def test_json_that_is_no_object_is_no_row(t_env, tmp_path, line):
    (tmp_path / "in").write_text(f"{line}\n")
    options = f"'connector' = 'filesystem', 'path' = 'file://{tmp_path}/in', 'format' = 'json'"
    t_env.execute_sql(f"CREATE TABLE j (n INT) WITH ({options})")
    with pytest.raises(Exception, match=re.escape(f"Failed to deserialize JSON '{line}'")):
        list(t_env.execute_sql("SELECT n FROM j").collect())


@pytest.mark.parametrize("name", ["one", "VALUE", "day", "hash", "rlike"])
def test_a_reserved_name_of_a_function_needs_back_ticks(t_env, name):
    t_env.create_temporary_function(name, udf(lambda i: i, result_type="INT"))
    with pytest.raises(Exception, match=r"SQL parse failed.* at line 1, column 8"):
        t_env.sql_query(f"SELECT {name}(1)")
    assert query(t_env, f"SELECT `{name}`(1)") == [(1,)]


def test_an_unbounded_table_in_batch_mode():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql("CREATE TABLE endless (a INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE TABLE nowhere (a INT) WITH ('connector' = 'blackhole')")
    message = "Querying an unbounded table 'default_catalog.default_database.endless' in batch mode"
    for call in (
        lambda: t_env.sql_query("SELECT a FROM endless"),
        lambda: t_env.execute_sql("SELECT a FROM endless"),
        lambda: t_env.execute_sql("INSERT INTO nowhere SELECT a FROM endless"),
    ):
        with pytest.raises(Exception, match=message):
            call()
