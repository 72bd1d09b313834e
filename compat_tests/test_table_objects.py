"""OBJECT_OF, OBJECT_UPDATE, and values of STRUCTURED types."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment
from pyflink.table.expressions import call, col, object_of

from compat_tests.tables import check_values, last, query, rows, value

ONE = "OBJECT_OF('c', 'a', 1)"
TWO = "OBJECT_OF('c', 'a', 1, 'b', 2)"
ROWS = "(VALUES (1, 10, 'p'), (2, 20, 'q'), (3, 10, 'p'), (4, CAST(NULL AS INT), 'p'))"


@pytest.fixture
def b():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def create_objects(t_env):
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW v AS SELECT k, OBJECT_OF('c', 'a', x, 'b', y) AS o "
        f"FROM {ROWS} AS t(k, x, y)"
    )


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("OBJECT_OF('c', 'a', 1, 'b', 'x')", "'c', `a` INT NOT NULL, `b` CHAR(1) NOT NULL"),
        ("OBJECT_OF('c')", "'c', "),
        ("OBJECT_OF('com.example.User', 'a', NULL)", "'com.example.User', `a` NULL"),
        ("OBJECT_OF('a$B', 'a', 1, 'A', 2)", "'a$B', `a` INT NOT NULL, `A` INT NOT NULL"),
        ("OBJECT_OF('c', '', 1, 'a b`c', 1)", "'c', `` INT NOT NULL, `a b``c` INT NOT NULL"),
        (
            "OBJECT_OF('c', 'a', OBJECT_OF('d', 'b', 7), 'l', ARRAY[OBJECT_OF('e', 'q', 1)])",
            "'c', `a` STRUCTURED<'d', `b` INT NOT NULL>, "  # noqa: ISC004
            "`l` ARRAY<STRUCTURED<'e', `q` INT NOT NULL>> NOT NULL",
        ),
        (f"OBJECT_UPDATE({TWO}, 'a', 'x')", "'c', `a` CHAR(1) NOT NULL, `b` INT NOT NULL"),
        (
            f"OBJECT_UPDATE({TWO}, 'b', 'x', 'a', CAST(NULL AS INT))",
            "'c', `a` INT, `b` CHAR(1) NOT NULL",
        ),
        (f"OBJECT_UPDATE({TWO})", "'c', `a` INT NOT NULL, `b` INT NOT NULL"),
        (
            "OBJECT_UPDATE(CAST(NULL AS STRUCTURED<'d', a INT>), 'a', 2)",
            "'d', `a` INT NOT NULL",
        ),
        (f"CAST({ONE} AS STRUCTURED<'d', a BIGINT>)", "'d', `a` BIGINT"),
        (f"CASE WHEN TRUE THEN {ONE} END", "'c', `a` INT NOT NULL"),
    ],
)
def test_types(b, expression, kind):
    assert value(b, f"TYPEOF({expression})") == f"STRUCTURED<{kind}>"


def test_values(b):
    expected = {
        f"{ONE}.a": 1,
        f"{ONE}.A": 1,
        "OBJECT_OF('c', 'a', 1, 'A', 2).A": 1,
        "OBJECT_OF('c', 'a', OBJECT_OF('d', 'b', 7)).a.b": 7,
        f"OBJECT_UPDATE({TWO}, 'b', 'x', 'a', 5).b": "x",
        f"OBJECT_UPDATE({TWO}, 'b', 'x').a": 1,
        "OBJECT_UPDATE(CAST(NULL AS STRUCTURED<'d', a INT>), 'a', 2) IS NULL": True,
        "CAST(NULL AS STRUCTURED<'d', a INT>) IS NULL": True,
        f"CAST({ONE} AS STRING)": "(a=1)",
        "CAST(OBJECT_OF('c', 'b', 'x', 'n', CAST(NULL AS INT), 't', TRUE) AS STRING)": (
            "(b=x, n=NULL, t=TRUE)"
        ),
        "CAST(OBJECT_OF('c', 'a', OBJECT_OF('d', 'b', 7)) AS STRING)": "(a=(b=7))",
        "CAST(OBJECT_OF('c') AS STRING)": "()",
        f"CAST({ONE} AS VARCHAR(3))": "(a=",
        f"CAST({ONE} AS ROW<a BIGINT>).a": 1,
        "CAST(ROW(1) AS STRUCTURED<'c', a INT>).a": 1,
        f"CAST({ONE} AS STRUCTURED<'d', a BIGINT>).a": 1,
        "TRY_CAST(OBJECT_OF('c', 'a', 'x') AS STRUCTURED<'c', a INT>).a": None,
        f"{ONE} = {ONE}": True,
        f"{ONE} = OBJECT_OF('c', 'a', 2)": False,
        f"{ONE} <> OBJECT_OF('c', 'a', 2)": True,
        "OBJECT_OF('c', 'a', CAST(NULL AS INT)) = OBJECT_OF('c', 'a', CAST(NULL AS INT))": True,
        f"{ONE} IS DISTINCT FROM {ONE}": False,
        f"{ONE} IS NULL": False,
        f"{ONE} IN ({ONE}, OBJECT_OF('c', 'a', 2))": True,
        f"JSON_STRING({ONE})": '{"a":1}',
        f"JSON_OBJECT('x' VALUE {ONE})": '{"x":{"a":1}}',
        f"COALESCE({ONE}, OBJECT_OF('c', 'a', 2)).a": 1,
        f"(CASE WHEN FALSE THEN {ONE} ELSE OBJECT_OF('c', 'a', 2) END).a": 2,
        f"CARDINALITY(ARRAY[{ONE}, OBJECT_OF('c', 'a', 2)])": 2,
    }  # fmt: skip
    check_values(b, expected)


@pytest.mark.parametrize(
    "call",
    [
        *(f"OBJECT_OF('{name}', 'a', 1)" for name in ("", " ", "1c", "a..b", "a.", ".a", "a b")),
        *(f"OBJECT_OF('{name}', 'a', 1)" for name in ("a-b", "a.class", "true", "_", "c''d")),
        "OBJECT_OF(CAST(NULL AS STRING), 'a', 1)",
        "OBJECT_OF(1, 'a', 1)",
        "OBJECT_OF('c' || 'd', 'a', 1)",
        "OBJECT_OF('c', 'a', 1, 'a', 2)",
        "OBJECT_OF('c', 1, 1)",
        "OBJECT_OF('c', 'a' || 'b', 1)",
        f"OBJECT_UPDATE({TWO}, 'b', 'x', 'b', 3)",
        f"OBJECT_UPDATE({TWO}, 'B', 1)",
        f"OBJECT_UPDATE({TWO}, 1, 1)",
        f"OBJECT_UPDATE({TWO}, 'a' || '', 1)",
        "OBJECT_UPDATE(ROW(1), 'EXPR$0', 2)",
        "OBJECT_UPDATE(1, 'a', 2)",
    ],
)
def test_invalid_calls(b, call):
    with pytest.raises(Exception, match="Invalid function call"):
        b.sql_query(f"SELECT TYPEOF({call})")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("OBJECT_OF()", r"No match found for function signature OBJECT_OF\(\)"),
        ("OBJECT_OF('c', 'a')", r"signature OBJECT_OF\(<CHARACTER>, <CHARACTER>\)"),
        (
            f"OBJECT_UPDATE({ONE}, 'a')",
            r"signature OBJECT_UPDATE\(<STRUCTURED<'c', `a` INT NOT NULL>>, <CHARACTER>\)",
        ),
        (f"{ONE} = OBJECT_OF('d', 'a', 1)", "Incompatible structured types: STRUCTURED<'c', `a`"),
        (f"{ONE} = OBJECT_OF('c', 'b', 1)", "Incompatible structured types"),
        (f"{ONE} = ROW(1)", "Incompatible types: STRUCTURED<'c', `a` INT NOT NULL> and ROW"),
        (f"{ONE} < {ONE}", "Cannot apply '<' to arguments of type '<STRUCTURED<'C', `A` INT"),
        (f"CAST({ONE} AS INT)", "Cast function cannot convert value of type STRUCTURED<'c', `a`"),
        (f"CASE WHEN TRUE THEN {ONE} ELSE {TWO} END IS NULL", "Illegal mixing of types in CASE"),
        (f"NULLIF({ONE}, {ONE}) IS NULL", "Illegal mixing of types in CASE"),
        (f"IF(TRUE, {ONE}, {ONE}) IS NULL", "Cannot apply 'IF'"),
    ],
)
def test_what_fails(b, expression, message):
    with pytest.raises(Exception, match=message):
        value(b, expression)


@pytest.mark.parametrize("column", [ONE, f"ARRAY[{ONE}]"])
def test_python_has_no_such_values(b, column):
    table = b.sql_query(f"SELECT {column} AS o")
    with pytest.raises(TypeError, match="Unsupported row data type: STRUCTURED<'c', `a` INT NOT"):
        table.execute().collect()


def test_queries_in_batches(b):
    create_objects(b)
    assert query(b, "SELECT k, o.a, v.o.b FROM v") == [
        (1, 10, "p"), (2, 20, "q"), (3, 10, "p"), (4, None, "p")
    ]  # fmt: skip
    assert query(b, "SELECT o.* FROM v WHERE k = 2") == [(20, "q")]
    grouped = query(b, "SELECT CAST(o AS STRING), COUNT(*) FROM v GROUP BY o")
    assert sorted(grouped) == [("(a=10, b=p)", 2), ("(a=20, b=q)", 1), ("(a=NULL, b=p)", 1)]
    joined = query(b, "SELECT l.k, r.k FROM v l JOIN v r ON l.o = r.o")
    assert sorted(joined) == [(1, 1), (1, 3), (2, 2), (3, 1), (3, 3), (4, 4)]
    assert query(b, "SELECT COUNT(o), COUNT(DISTINCT o) FROM v") == [(4, 3)]


def test_queries_in_streams(t_env):
    create_objects(t_env)
    grouped = last(t_env, "SELECT CAST(o AS STRING), COUNT(*) FROM v GROUP BY o")
    assert grouped == [("(a=10, b=p)", 2), ("(a=20, b=q)", 1), ("(a=NULL, b=p)", 1)]
    joined = last(t_env, "SELECT l.k, r.k FROM v l JOIN v r ON l.o = r.o")
    assert joined == [(1, 1), (1, 3), (2, 2), (3, 1), (3, 3), (4, 4)]
    assert last(t_env, "SELECT LAST_VALUE(o).a FROM v") == [(None,)]


def test_printed(b, printed):
    create_objects(b)
    lines = printed(b.execute_sql("SELECT OBJECT_UPDATE(o, 'b', 5) AS o FROM v").print)
    assert sorted(line.strip("| ") for line in lines[3:7]) == [
        "(a=10, b=5)", "(a=10, b=5)", "(a=20, b=5)", "(a=NULL, b=5)"
    ]  # fmt: skip


def test_described(b, printed):
    create_objects(b)
    (line,) = (line for line in printed(b.execute_sql("DESCRIBE v").print) if " o " in line)
    assert [cell.strip() for cell in line.split("|")[1:4]] == [
        "o", "STRUCTURED<'c', `a` INT, `b` CHAR(1) NOT NULL>", "TRUE"
    ]  # fmt: skip
    resolved = str(b.from_path("v").get_resolved_schema())
    assert "`o` STRUCTURED<'c', `a` INT, `b` CHAR(1) NOT NULL>" in resolved


def test_the_table_api(b):
    create_objects(b)
    objects = b.from_path("v")
    assert rows(objects.where(col("k") == 1).select(col("o").get("a"), col("o").get("b"))) == [
        (10, "p")
    ]
    assert rows(objects.where(col("k") == 2).select(col("o").flatten)) == [(20, "q")]
    changed = objects.where(col("k") == 1).select(
        call("OBJECT_UPDATE", col("o"), "b", 3, "a", "x").alias("o")
    )
    assert rows(changed.select(col("o").get("a"), col("o").get("b"))) == [("x", 3)]
    made = objects.where(col("k") == 1).select(call("OBJECT_OF", "c", "a", col("k")).alias("o"))
    assert rows(made.select(col("o").get("a"))) == [(1,)]


@pytest.mark.pyflink_bug("object_of calls a method of Java with parameters that it has not")
def test_object_of(b):
    table = b.from_elements([(1, "x")], ["i", "s"])
    made = object_of("c", "a", col("i"), "b", col("s"))
    assert rows(table.select(made.alias("o")).select(col("o").flatten)) == [(1, "x")]


@pytest.mark.pyflink_bug("object_update calls a method of Java with parameters that it has not")
def test_object_update(b):
    create_objects(b)
    changed = b.from_path("v").where(col("k") == 1).select(col("o").object_update("a", "x"))
    assert rows(changed.select(col("_c0").flatten)) == [("x", "p")]


@pytest.mark.parametrize(
    "make",
    [
        lambda: call("OBJECT_OF", "", "a", 1),
        lambda: call("OBJECT_OF", "c", "a", 1, "a", 2),
        lambda: call("OBJECT_OF", "c", "a"),
        lambda: call("OBJECT_OF", col("s"), "a", 1),
        lambda: call("OBJECT_UPDATE", call("OBJECT_OF", "c", "a", 1), "z", 2),
        lambda: call("OBJECT_UPDATE", call("OBJECT_OF", "c", "a", 1), "a"),
    ],
)
def test_invalid_calls_of_the_table_api(b, make):
    table = b.from_elements([(1, "x")], ["i", "s"])
    with pytest.raises(Exception, match="Invalid function call"):
        table.select(make())


def test_order(b):
    create_objects(b)
    assert query(b, "SELECT k FROM v WHERE k <> 3 ORDER BY o") == [(4,), (1,), (2,)]
    assert query(b, "SELECT k FROM v WHERE k <> 3 ORDER BY o DESC") == [(2,), (1,), (4,)]


def test_unnested(b):
    create_objects(b)
    text = "SELECT u.x, u.y FROM v CROSS JOIN UNNEST(ARRAY[o]) AS u(x, y) WHERE k < 3"
    assert query(b, text) == [(10, "p"), (20, "q")]


def test_fields_as_columns(b):
    create_objects(b)
    assert query(b, "SELECT a, v.b FROM v WHERE a = 20") == [(20, "q")]
    assert sorted(query(b, "SELECT b, COUNT(*) FROM v GROUP BY b")) == [("p", 3), ("q", 1)]
    nested = "(SELECT CAST(ROW(ROW(1)) AS ROW<a ROW<x INT>>) AS r)"
    assert query(b, f"SELECT x, a.x FROM {nested}") == [(1, 1)]
    assert query(b, "SELECT a FROM (SELECT 5 AS a, CAST(ROW(1) AS ROW<a INT>) AS r)") == [(5,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT A FROM v", "Column 'A' not found in any table"),
        ("SELECT a FROM (SELECT o, o AS p FROM v)", "Column 'a' is ambiguous"),
        ("SELECT a FROM v CROSS JOIN UNNEST(ARRAY[o]) AS u(a, b)", "Column 'a' is ambiguous"),
    ],
)
def test_fields_that_are_no_columns(b, text, message):
    create_objects(b)
    with pytest.raises(Exception, match=message):
        b.sql_query(text)


def test_no_membership_in_queries(b):
    create_objects(b)
    with pytest.raises(Exception, match="Values passed to IN operator must have compatible types"):
        b.sql_query("SELECT k FROM v WHERE o IN (SELECT o FROM v)")


def test_the_schema(b):
    create_objects(b)
    kind = "STRUCTURED<'c', `a` INT, `b` CHAR(1) NOT NULL>"
    assert str(b.from_path("v").get_schema()) == f"root\n |-- k: INT NOT NULL\n |-- o: {kind}\n"


@pytest.mark.parametrize(
    ("column", "written", "line"),
    [
        ("STRUCTURED<'c', a INT, b STRING>", TWO.replace("2", "'x'"), "+I[+I[1, x]]"),
        ("STRUCTURED<'c', a BIGINT, b STRING 'text'>", "ROW(1, 'x')", "+I[+I[1, x]]"),
        ("STRUCTURED<'d', a INT, b INT>", TWO, "+I[+I[1, 2]]"),
        ("ROW<x INT, y INT>", TWO, "+I[+I[1, 2]]"),
    ],
)
def test_a_print_table(b, printed, column, written, line):
    b.get_config().set("parallelism.default", "1")
    b.execute_sql(f"CREATE TABLE p (o {column}) WITH ('connector' = 'print')")
    insert = f"INSERT INTO p SELECT {written}"
    assert printed(lambda: b.execute_sql(insert).wait()) == [line]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("STRUCTURED<'1c', a INT>", "Invalid class name '1c'"),
        ("STRUCTURED<'', a INT>", "Invalid class name ''"),
        ("STRUCTURED<c, a INT>", 'Encountered "c"'),
        ("STRUCTURED<'c' a INT>", 'Encountered "a"'),
        ("STRUCTURED('c', a INT)", "SQL parse failed"),
    ],
)
def test_types_that_are_none(b, kind, message):
    with pytest.raises(Exception, match=message):
        b.execute_sql(f"CREATE TABLE p (o {kind}) WITH ('connector' = 'print')")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'connector' = 'datagen', 'number-of-rows' = '1'", "Unsupported type"),
        ("'connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json'", "Unsupported type"),
        ("'connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv'", "Unsupported type"),
    ],
)
def test_what_has_no_objects(b, options, message):
    b.execute_sql(f"CREATE TABLE s (o STRUCTURED<'c', a INT>) WITH ({options})")
    with pytest.raises(Exception, match=message):
        b.sql_query("SELECT * FROM s").execute().collect()


def test_streams_have_no_objects(env):
    t_env = StreamTableEnvironment.create(env)
    table = t_env.sql_query(f"SELECT {ONE} AS o")
    with pytest.raises(Exception):  # noqa: B017, PT011 - PyFlink's names no type
        list(t_env.to_data_stream(table).execute_and_collect())
