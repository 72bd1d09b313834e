"""Formats and folders of the filesystem connector."""

from __future__ import annotations

import json

import pytest

from compat_tests.tables import changes, query


def table(t_env, name, columns, path, form, more="", options=""):
    t_env.execute_sql(
        f"CREATE TABLE {name} ({columns}) {more} WITH "
        f"('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'{options})"
    )


def lines(folder):
    """Returns the lines of all files in a folder, sorted."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name[0] not in "._"]
    return sorted(line for file in files for line in file.read_text().splitlines())


@pytest.fixture
def written(tmp_path):
    def write(*content):
        path = tmp_path / "in.txt"
        path.write_text("".join(f"{line}\n" for line in content))
        return path

    return write


def test_raw(t_env, written, tmp_path):
    table(t_env, "t", "line STRING", written("one", "", "two, three"), "raw")
    assert query(t_env, "SELECT line FROM t") == [("one",), ("",), ("two, three",)]
    table(t_env, "target", "line STRING", tmp_path / "out", "raw")
    t_env.execute_sql("INSERT INTO target SELECT UPPER(line) FROM t").wait()
    assert lines(tmp_path / "out") == ["", "ONE", "TWO, THREE"]


def test_raw_has_one_column(t_env, written):
    table(t_env, "t", "a STRING, b STRING", written("x"), "raw")
    with pytest.raises(Exception, match="only supports single physical column"):
        query(t_env, "SELECT * FROM t")


COLUMNS = "id INT, name STRING, price DECIMAL(6, 2)"
BEFORE = {"id": 1, "name": "a", "price": 1.5}
AFTER = {"id": 1, "name": "b", "price": 2.25}
EXPECTED = [
    ("+I", 1, "a", "1.50"), ("-U", 1, "a", "1.50"), ("+U", 1, "b", "2.25"), ("-D", 1, "b", "2.25"),
]  # fmt: skip
CHANGES = {
    "debezium-json": [
        {"before": None, "after": BEFORE, "op": "c"},
        {"before": BEFORE, "after": AFTER, "op": "u"},
        {"before": AFTER, "after": None, "op": "d"},
    ],
    "ogg-json": [
        {"before": None, "after": BEFORE, "op_type": "I"},
        {"before": BEFORE, "after": AFTER, "op_type": "U"},
        {"before": AFTER, "after": None, "op_type": "D"},
    ],
    "maxwell-json": [
        {"data": BEFORE, "type": "insert"},
        {"data": AFTER, "old": {"name": "a", "price": 1.5}, "type": "update"},
        {"data": AFTER, "type": "delete"},
    ],
    "canal-json": [
        {"data": [BEFORE], "type": "INSERT"},
        {"data": [AFTER], "old": [{"name": "a", "price": 1.5}], "type": "UPDATE"},
        {"data": [AFTER], "type": "DELETE"},
    ],
}


@pytest.mark.parametrize("form", CHANGES)
def test_changelog_formats(t_env, written, tmp_path, form):
    table(t_env, "t", COLUMNS, written(*map(json.dumps, CHANGES[form])), form)
    found = changes(t_env.from_path("t"))
    assert [(*row[:3], str(row[3])) for row in found] == EXPECTED
    table(t_env, "target", COLUMNS, tmp_path / "out", form)
    t_env.execute_sql("INSERT INTO target SELECT * FROM t").wait()
    table(t_env, "again", COLUMNS, tmp_path / "out", form)
    kinds = {"-U": "-D", "+U": "+I"}
    found = sorted((*row[:3], str(row[3])) for row in changes(t_env.from_path("again")))
    assert found == sorted((kinds.get(row[0], row[0]), *row[1:]) for row in EXPECTED)


def test_written_changes(t_env, tmp_path):
    table(t_env, "d", COLUMNS, tmp_path / "d", "debezium-json")
    t_env.execute_sql("INSERT INTO d VALUES (1, 'a', 1.5)").wait()
    assert lines(tmp_path / "d") == [
        '{"before":null,"after":{"id":1,"name":"a","price":1.5},"op":"c"}'
    ]
    table(t_env, "c", COLUMNS, tmp_path / "c", "canal-json")
    t_env.execute_sql("INSERT INTO c VALUES (1, 'a', 1.5)").wait()
    assert lines(tmp_path / "c") == ['{"data":[{"id":1,"name":"a","price":1.5}],"type":"INSERT"}']


def test_a_corrupt_change(t_env, written):
    path = written('{"before":null,"after":{"id":1},"op":"c"}', "nonsense", '{"op":"c","after":{}}')
    table(t_env, "lenient", "id INT", path, "debezium-json",
          options=", 'debezium-json.ignore-parse-errors' = 'true'")  # fmt: skip
    assert query(t_env, "SELECT id FROM lenient") == [(1,), (None,)]
    table(t_env, "strict", "id INT", path, "debezium-json")
    with pytest.raises(Exception, match="JSON message 'nonsense'"):
        query(t_env, "SELECT id FROM strict")


CORRUPT = {
    "csv": (("1,a,5", "x,b,6", "3,c,7"), "(field: |column .)id", [(1, "5"), (None, "6"), (3, "7")]),
    "json": (
        ('{"id": 1, "n": "5"}', "nonsense", '{"id": 3, "n": "7"}'),
        "Failed to deserialize JSON 'nonsense'",
        [(1, "5"), (3, "7")],
    ),
}


@pytest.mark.parametrize("form", CORRUPT)
def test_a_corrupt_record(t_env, written, form):
    content, message, left = CORRUPT[form]
    columns = "id INT, name STRING, n STRING"
    table(t_env, "lenient", columns, written(*content), form,
          options=f", '{form}.ignore-parse-errors' = 'true'")  # fmt: skip
    assert query(t_env, "SELECT id, n FROM lenient") == left
    table(t_env, "strict", columns, written(*content), form)
    with pytest.raises(Exception, match=message):
        query(t_env, "SELECT id, n FROM strict")


def test_a_wrong_field_of_json_is_null(t_env, written):
    path = written(
        '{"i":"x","a":[1,"q"],"r":{"n":"bad","s":"k"},"z":"1"}', "[1]", "5", '{"i":2,"z":"2"}'
    )
    columns = "i INT, a ARRAY<INT>, r ROW<n INT, s STRING>, z STRING"
    table(t_env, "t", columns, path, "json", options=", 'json.ignore-parse-errors' = 'true'")
    assert query(t_env, "SELECT i, a[1], a[2], r.n, r.s, z FROM t") == [
        (None, 1, None, None, "k", "1"), (2, None, None, None, None, "2"),
    ]  # fmt: skip


def test_what_follows_the_value_of_json_does_not_matter(t_env, written):
    content = ('{"i":1} trailing', '{"i":2}{"i":3}', ' {"i":4},', '[{"i":5},{"i":6}]', "[]")
    options = ", 'json.ignore-parse-errors' = 'true'"
    table(t_env, "strict", "i INT", written(*content), "json")
    table(t_env, "lenient", "i INT", written(*content), "json", options=options)
    for name in ("strict", "lenient"):
        assert sorted(query(t_env, f"SELECT i FROM {name}")) == [(1,), (2,), (4,), (5,), (6,)]


def test_an_error_of_json_names_the_field(t_env, written):
    for content in ('{"s":"a","i":"x"}', '[{"i":1},{"i":"x"}]'):
        table(t_env, "t", "s STRING, i INT", written(content), "json")
        with pytest.raises(Exception, match="Fail to deserialize at field: i"):
            query(t_env, "SELECT s, i FROM t")
        t_env.execute_sql("DROP TABLE t")


WRONG_CHANGES = {
    "debezium-json": '{"before":{"i":1,"s":"a"},"after":{"i":"x","s":"b"},"op":"u"} trailing',
    "canal-json": '{"data":[{"i":"x","s":"b"}],"old":[{"i":1,"s":"a"}],"type":"UPDATE"} trailing',
    "maxwell-json": '{"data":{"i":"x","s":"b"},"old":{"i":1,"s":"a"},"type":"update"} trailing',
    "ogg-json": '{"before":{"i":1,"s":"a"},"after":{"i":"x","s":"b"},"op_type":"U"} trailing',
}


@pytest.mark.parametrize("form", WRONG_CHANGES)
def test_a_wrong_field_of_a_change(t_env, written, form):
    columns, path = "i INT, s STRING", written(WRONG_CHANGES[form])
    table(t_env, "t", columns, path, form, options=f", '{form}.ignore-parse-errors' = 'true'")
    with t_env.sql_query("SELECT i, s FROM t").execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(1, "a"), (None, "b")]
    table(t_env, "strict", columns, path, form)
    with pytest.raises(Exception, match=r'"i":"x"|For input string: "x"'):
        query(t_env, "SELECT i, s FROM strict")


def test_a_text_is_no_array_of_json(t_env, written):
    table(t_env, "t", "a ARRAY<STRING>", written('{"a":"abc"}'), "json")
    with pytest.raises(Exception, match=r"'abc' is no array|Fail to deserialize at field: a"):
        query(t_env, "SELECT CARDINALITY(a) FROM t")


def test_too_many_fields_of_csv(t_env, written):
    path = written("3,c,extra", "4,d", "5,e,", "6,f,,", "7")
    table(t_env, "lenient", "i INT, s STRING", path, "csv",
          options=", 'csv.ignore-parse-errors' = 'true'")  # fmt: skip
    assert query(t_env, "SELECT i, s FROM lenient") == [(4, "d"), (5, "e"), (7, None)]
    table(t_env, "strict", "i INT, s STRING", written("5,e,", "4,d"), "csv")
    assert query(t_env, "SELECT i, s FROM strict") == [(5, "e"), (4, "d")]
    table(t_env, "wrong", "i INT, s STRING", written("3,c,extra"), "csv")
    with pytest.raises(Exception, match=r"Failed to deserialize CSV row|Too many entries"):
        query(t_env, "SELECT i, s FROM wrong")


@pytest.mark.parametrize(
    ("form", "content"),
    [("csv", ("1,x,a", "2,y,b")), ("json", ('{"k":1,"n":"x","s":"a"}', '{"k":2,"n":"y","s":"b"}'))],
)
def test_columns_that_nobody_reads(t_env, written, form, content):
    table(t_env, "t", "k INT, n INT, s STRING", written(*content), form)
    assert query(t_env, "SELECT s, k FROM t") == [("a", 1), ("b", 2)]
    assert query(t_env, "SELECT COUNT(*) FROM t")[-1] == (2,)
    found = query(t_env, "SELECT x.s, y.k FROM t AS x JOIN t AS y ON x.k = y.k")
    assert sorted(found) == [("a", 1), ("b", 2)]


def folders(place):
    return {str(file.parent.relative_to(place)) for file in place.rglob("part-*")}


def test_partitions(t_env, tmp_path):
    table(t_env, "t", "id INT, city STRING, day_ INT", tmp_path / "t", "csv",
          "PARTITIONED BY (city, day_)")  # fmt: skip
    t_env.execute_sql(
        "INSERT INTO t VALUES (1, 'oslo', 2), (2, 'new york', 3), (3, 'oslo', 2)"
    ).wait()
    assert folders(tmp_path / "t") == {"city=oslo/day_=2", "city=new york/day_=3"}
    assert lines(tmp_path / "t") == ["1", "2", "3"]
    found = query(t_env, "SELECT city, id, CAST(day_ AS STRING) FROM t")
    assert sorted(found, key=lambda row: row[1]) == [
        ("oslo", 1, "2"), ("new york", 2, "3"), ("oslo", 3, "2"),
    ]  # fmt: skip
    assert query(t_env, "SELECT id FROM t WHERE city = 'new york'") == [(2,)]
    found = query(t_env, "SELECT day_, id FROM t")
    assert sorted(found) == [(2, 1), (2, 3), (3, 2)]
    assert sorted(query(t_env, "SELECT id FROM t")) == [(1,), (2,), (3,)]
    assert sorted(query(t_env, "SELECT city FROM t")) == [("new york",), ("oslo",), ("oslo",)]


def test_the_partition_of_nothing(t_env, tmp_path):
    table(t_env, "t", "id INT, city STRING", tmp_path / "t", "csv", "PARTITIONED BY (city)")
    t_env.execute_sql("INSERT INTO t VALUES (1, 'oslo'), (4, CAST(NULL AS STRING))").wait()
    assert folders(tmp_path / "t") == {"city=oslo", "city=__DEFAULT_PARTITION__"}


def test_metadata_of_files(t_env, written):
    path = written("1", "2")
    table(t_env, "t", "id INT, name STRING METADATA FROM 'file.name', "
          "size BIGINT NOT NULL METADATA FROM 'file.size', "
          "`file.path` STRING NOT NULL METADATA", path, "csv")  # fmt: skip
    found = query(t_env, "SELECT id, name, size, `file.path` FROM t")
    assert [row[:3] for row in found] == [(1, "in.txt", 4), (2, "in.txt", 4)]
    assert found[0][3].endswith(str(path))
    assert query(t_env, "SELECT name FROM t") == [("in.txt",), ("in.txt",)]


LINES = b'\xef\xbb\xbf{"a":\r1}\n{"a":2}\r\n\n{"a":3}\r{"a":4}\n{"a":5}'


@pytest.mark.parametrize("lenient", ["true", "false"])
def test_lines_of_json_end_with_line_feeds(t_env, tmp_path, lenient):
    (tmp_path / "in").write_bytes(LINES)
    table(t_env, "t", "a INT", tmp_path, "json", "", f", 'json.ignore-parse-errors' = '{lenient}'")
    assert query(t_env, "SELECT a FROM t") == [(1,), (2,), (3,), (5,)]


@pytest.mark.parametrize("lenient", [True, False])
def test_json_is_in_utf_8(t_env, tmp_path, lenient):
    (tmp_path / "in").write_bytes(b'{"a":"\xff"}\n{"a":"x"}\n')
    options = ", 'json.ignore-parse-errors' = 'true'" if lenient else ""
    table(t_env, "t", "a STRING", tmp_path, "json", "", options)
    if lenient:
        assert query(t_env, "SELECT a FROM t") == [("x",)]
    else:
        with pytest.raises(Exception, match="deserialize"):
            query(t_env, "SELECT a FROM t")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("BYTES", [b"a\xffb\rc", b"d", b"", b"e"]), ("STRING", ["a\ufffdb\rc", "d", "", "e"])],
)
def test_raw_lines_are_bytes(t_env, tmp_path, kind, expected):
    (tmp_path / "in").write_bytes(b"a\xffb\rc\r\nd\n\ne\r")
    table(t_env, "t", f"line {kind}", tmp_path, "raw")
    rows = [line for (line,) in query(t_env, "SELECT line FROM t")]
    assert rows == expected
