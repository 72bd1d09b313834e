"""CSV messages and files: what is expected is what PyFlink 2.3 was seen to do."""

from __future__ import annotations

import bz2
import datetime
import gzip
import lzma
import zlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._connectors.formats import csv_records
from pyflink_on_spark._connectors.formats.csv_records import CsvDialect
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark.common import Instant, Row, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
)
from pyflink_on_spark.datastream.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
)
from pyflink_on_spark.table import DataTypes
from pyflink_on_spark.testing import local_engine

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
THREE = Types.ROW_NAMED(["a", "b", "c"], [Types.STRING(), Types.INT(), Types.STRING()])


def set_all(builder, options):
    for name, value in options.items():
        getattr(builder, name)(*([] if value is None else [value]))
    return builder.build()


def reader(row_type, **options):
    return set_all(CsvRowDeserializationSchema.Builder(row_type), options)._deserializer()


def writer(row_type, **options):
    return set_all(CsvRowSerializationSchema.Builder(row_type), options)._serializer()


def read_field(declared, text):
    return reader(Types.ROW([declared, Types.STRING()]))(f"{text},q".encode())[0]


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (Types.STRING(), ' "x" ', ' "x" '),
        (Types.STRING(), '"a""b"', 'a"b'),
        (Types.STRING(), 'a"b', 'a"b'),
        (Types.STRING(), "", ""),
        (Types.BOOLEAN(), "TRUE", True),
        (Types.BOOLEAN(), "yes", False),
        (Types.INT(), ' "12" '.strip(), 12),
        (Types.LONG(), " +5 ", 5),
        (Types.DOUBLE(), "1d", 1.0),
        (Types.BIG_DEC(), "1.10", Decimal("1.10")),
        (Types.SQL_DATE(), "2020-1-2", datetime.date(2020, 1, 2)),
        (Types.SQL_DATE(), "2020-02-30", datetime.date(2020, 3, 1)),
        (Types.SQL_TIME(), "1:2:3", datetime.time(1, 2, 3)),
        (
            Types.SQL_TIMESTAMP(),
            "2020-1-2 1:2:3.123456789",
            datetime.datetime(2020, 1, 2, 1, 2, 3, 123000),
        ),
        (Types.INSTANT(), "1970-01-01 00:00:05.123Z", Instant(5, 123_000_000)),
        (BYTES, "YWJj", b"abc"),
        (Types.BASIC_ARRAY(Types.INT()), "1; 2", [1, 2]),
        (Types.BASIC_ARRAY(Types.STRING()), "a;;b", ["a", "", "b"]),
        (Types.BASIC_ARRAY(Types.STRING()), "", []),
        (Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()]), "1;b", Row(x=1, y="b")),
        (Types.ROW([Types.INT()]), "", None),
    ],
)
def test_fields(declared, text, value):
    assert read_field(declared, text) == value


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (Types.INT(), ""),
        (Types.INT(), "1.0"),
        (Types.BYTE(), "300"),
        (Types.DOUBLE(), "abc"),
        (Types.BIG_DEC(), "1d"),
        (Types.SQL_DATE(), " 2020-01-02"),
        (Types.SQL_TIME(), "12:34"),
        (Types.SQL_TIMESTAMP(), "2020-01-02T12:34:56"),
        (Types.INSTANT(), "2020-01-02T12:34:56Z"),
        (BYTES, "!!"),
        (Types.BASIC_ARRAY(Types.INT()), "1;;2"),
        (Types.ROW([Types.INT(), Types.INT()]), "1"),
    ],
)
def test_fields_that_cannot_be_read(declared, text):
    with pytest.raises(ValueError, match=r"^Failed to deserialize CSV row .* field 'f0'"):
        read_field(declared, text)
    lenient = reader(Types.ROW([declared, Types.STRING()]), set_ignore_parse_errors=True)
    assert lenient(f"{text},q".encode())[1] == "q"


ESCAPED = {"set_escape_character": "\\"}
COMMENTS = {"set_allow_comments": True}


@pytest.mark.parametrize(
    ("options", "message", "values"),
    [
        ({}, b"x,1,y\r\nz,2,w", ["x", 1, "y"]),
        ({}, b"\xef\xbb\xbfx,1,y,", ["x", 1, "y"]),
        ({}, b'"a,b",1,"c\nd"', ["a,b", 1, "c\nd"]),
        ({}, b'"a" ,1, "y" ', ["a", 1, ' "y" ']),
        ({}, b"# x,1,y", ["# x", 1, "y"]),
        ({"set_null_literal": "n"}, b'n,n,"n"', [None, None, None]),
        ({"set_null_literal": ""}, b",,", [None, None, None]),
        ({"set_quote_character": "'"}, b"'a''b',1,\"y\"", ["a'b", 1, '"y"']),
        ({"set_field_delimiter": "\t"}, b"x\t1\ty", ["x", 1, "y"]),
        (ESCAPED, rb'a\,b,1,"c\"d"', ["a,b", 1, 'c"d']),
        (ESCAPED, rb"a\nb,1,c\\n", ["a\nb", 1, "c\\n"]),
        (COMMENTS, b"#x\n \n  # y\n x , 1 , y ", ["x ", 1, " y "]),
        (COMMENTS, b'"a\n#b",1,y', ["a\n#b", 1, "y"]),
    ],
)
def test_records(options, message, values):
    assert list(reader(THREE, **options)(message)) == values


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", "there is no record"),
        (b"x,1", "3 fields expected but was 2"),
        (b"\nx,1,y", "3 fields expected but was 1"),
        (b"x,1,y,z", "expected at most 3"),
        (b'"abc,1,y', "Missing closing quote"),
        (b'"a"b,1,y', "',' expected after '\"'"),
        (b"\xff,1,y", "can't decode"),
    ],
)
def test_messages_that_are_no_record(message, error):
    with pytest.raises(ValueError, match=error):
        reader(THREE)(message)
    lenient = reader(THREE, set_ignore_parse_errors=True)
    assert lenient(b"x") == Row(a="x", b=None, c=None)
    if b"expected but" not in error.encode():
        assert lenient(message) is None


def test_long_fields_are_read():
    text = "x" * 1_000_000
    assert reader(Types.ROW([Types.STRING()]))(f'"{text}"'.encode())[0] == text


@pytest.mark.parametrize(
    ("text", "options", "written"),
    [
        ("abc-/\xe9;|~", {}, "abc-/\xe9;|~"),
        ("a b", {}, '"a b"'),
        ("'", {}, '"\'"'),
        ("\\", {}, '"\\"'),
        ("x" * 24, {}, "x" * 24),
        ("x" * 25, {}, f'"{"x" * 25}"'),
        ('a"b', {}, '"a""b"'),
        ("a", {"set_field_delimiter": "|"}, '"a"'),
        ("~", {"set_field_delimiter": "|"}, "~"),
        ("-", {"set_field_delimiter": ";"}, '"-"'),
        ("+", {"set_field_delimiter": "\t"}, "+"),
        ("\\", ESCAPED, '"\\\\"'),
        ("\\", {"set_escape_character": "/"}, "\\"),
        ("/", {"set_escape_character": "/"}, '"//"'),
        ('a "b', {"disable_quote_character": None}, 'a "b'),
        ("it's", {"set_quote_character": "'"}, "'it''s'"),
    ],
)
def test_texts_are_quoted_where_jackson_quotes(text, options, written):
    row_type = Types.ROW([Types.STRING()])
    assert writer(row_type, **options)(Row(text)).decode() == f"{written}\n"


@pytest.mark.parametrize(
    ("declared", "value", "written"),
    [
        (Types.DOUBLE(), 1e10, "1.0E10"),
        (Types.FLOAT(), float("nan"), "NaN"),
        (Types.BIG_DEC(), Decimal("1.10"), "1.10"),
        (Types.BOOLEAN(), True, "true"),
        (Types.SQL_TIME(), datetime.time(12, 34, 0, 5000), "12:34:00"),
        (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 2, 3, 4), '"2020-01-02 03:04:00.0"'),
        (Types.INSTANT(), Instant(5, 123456789), '"1970-01-01 00:00:05.123Z"'),
        (BYTES, b"abc", "YWJj"),
        (Types.BASIC_ARRAY(Types.INT()), [1, None], "1;"),
        (Types.BASIC_ARRAY(Types.STRING()), ["a", "d,e"], '"a;d,e"'),
        (Types.ROW([Types.INT(), Types.STRING()]), Row(1, None), "1;"),
        (Types.STRING(), None, ""),
    ],
)
def test_fields_are_written(declared, value, written):
    row_type = Types.ROW([declared])
    assert writer(row_type)(Row(value)).decode() == f"{written}\n"


def test_writing_options():
    row_type = Types.ROW([Types.STRING(), Types.BASIC_ARRAY(Types.STRING())])
    options = {"set_null_literal": "n,", "set_line_delimiter": "\r\n"}
    write = writer(row_type, set_array_element_delimiter="--", **options)
    assert write(Row(None, ["a", None])) == b'n,,"a--n,"\r\n'
    with pytest.raises(ValueError, match="without an array element delimiter"):
        writer(row_type, set_array_element_delimiter="")(Row("a", ["b"]))


@pytest.mark.parametrize("row", [Row("a"), Row("a", "x", "c"), Row(1, 2, "c"), Row("a", 1, "c", 2)])
def test_a_row_that_does_not_fit(row):
    with pytest.raises(ValueError, match="Could not serialize row"):
        writer(THREE)(row)
    with pytest.raises(TypeError, match="CSV is written of rows"):
        writer(THREE)(("a", 1, "c"))


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(TEXT, st.integers(-(2**31), 2**31 - 1), TEXT, st.sampled_from([{}, ESCAPED]))
def test_what_is_written_is_read(text, number, other, options):
    row = Row(a=text, b=number, c=other)
    assert reader(THREE, **options)(writer(THREE, **options)(row)) == row


def columns(builder=None):
    builder = builder or CsvSchema.builder()
    builder.add_string_column("a").add_number_column("b", DataTypes.INT())
    return builder.add_string_column("c")


def read_file(schema, path):
    form = CsvReaderFormat.for_schema(schema)._format
    return [list(row) for bundle in form.read(FileSplit(str(path))) for row in bundle.values]


@pytest.mark.parametrize(
    ("option", "content", "rows"),
    [
        ("", b"x,1,y\rz,2,w", [["x", 1, "y"], ["z", 2, "w"]]),
        ("", b"", []),
        ("", b'"e\nf",2,g"h\n', [["e\nf", 2, 'g"h']]),
        ("use_header", b"c,b,a\nx,1,y\n", [["x", 1, "y"]]),
        ("use_header", b"a\n", []),
        ("skip_first_data_row", b'"abc,1,y\nz,2,w\n', [["z", 2, "w"]]),
        ("allow_comments", b"# c\nx,1,y\n\n  # d\n z,2,w#\n", [["x", 1, "y"], ["z", 2, "w#"]]),
        ("any_property_name", b"x,1,y,z,2\n", [["x", 1, "y"]]),
        ("null_value", b'NULL,NULL,"NULL"\n', [[None, None, None]]),
        ("escape_char", b'a\\,b,1,"c\\"d"\n', [["a,b", 1, 'c"d']]),
        ("quote_char", b"'a,b',1,'c''d'\n", [["a,b", 1, "c'd"]]),
        ("column_separator", b"x|1|y\n", [["x", 1, "y"]]),
        ("line_separator", b"x,1,y;z\n", [["x", 1, "y;z"]]),
    ],
)
def test_files(tmp_path, option, content, rows):
    arguments = {
        "any_property_name": "rest",
        "null_value": "NULL",
        "escape_char": "\\",
        "quote_char": "'",
        "column_separator": "|",
        "line_separator": ";",
    }
    builder = columns()
    if option:
        method = getattr(builder, f"set_{option}")
        method(*([arguments[option]] if option in arguments else []))
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    assert read_file(builder.build(), path) == rows


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (
            b"x,1,y\nx,zz,y\n",
            r"line 2: Fail to deserialize at field: b\. 'zz' is not a whole number",
        ),
        (b'"x\nx",1,y\n\n', r"line 3: Row length mismatch\. 3 fields expected but was 1"),
        (b"x,1,y\nx,1\n", r"line 2: Row length mismatch\. 3 fields expected but was 2"),
        (b"x,1,y,z\n", r"line 1: Too many entries: expected at most 3"),
        (b'x,1,y\n"abc,1,y\n', r"line 2: Missing closing quote for value"),
        (b'x,1,y\n"a"b,1,y\nx,1,y\n', r"line 2: ',' expected after '\"'"),
        (b"\xff,1,y\n", "can't decode"),
    ],
)
def test_errors_name_file_and_line(tmp_path, content, error):
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"cannot read {path}, {error}|cannot read {path}.*decode"
    ):
        read_file(columns().build(), path)


def test_a_file_that_needs_a_careful_reader_somewhere(tmp_path):
    path = tmp_path / "f.csv"
    path.write_bytes(b"a,b,c\n" + b'x,1,"y,z"\n' * 5000 + b'"x" ,1,y\n' * 3 + b"x,1,y\n" * 5000)
    rows = read_file(columns().set_use_header().build(), path)
    assert rows == [["x", 1, "y,z"]] * 5000 + [["x", 1, "y"]] * 5003
    with path.open("ab") as file:
        file.write(b"x,y,z\n")
    with pytest.raises(ValueError, match="line 10005: Fail to deserialize at field: b"):
        read_file(columns().set_use_header().build(), path)


def test_rows_in_front_of_an_error_come_out(tmp_path):
    path = tmp_path / "f.csv"
    path.write_bytes(b"x,1,y\n" * 5000 + b"x,,y\n")
    bundles = CsvReaderFormat.for_schema(columns().build())._format.read(FileSplit(str(path)))
    counts = []
    with pytest.raises(ValueError, match="line 5001"):
        counts.extend(len(bundle.values) for bundle in bundles)
    assert sum(counts) == 5000


@pytest.mark.parametrize(
    ("header", "error"),
    [
        (b"x,b,c", 'Mismatched header column #1: expected "a", actual "x"'),
        (b"a,b", 'Missing header column #3, expecting "c"'),
        (b"a,b,c,d", 'Extra header column "d"'),
        (b"", 'Missing header column #1, expecting "a"'),
    ],
)
def test_strict_headers(tmp_path, header, error):
    path = tmp_path / "f.csv"
    schema = columns().set_use_header().set_strict_headers().build()
    path.write_bytes(b"a,b,c\nx,1,y\n")
    assert read_file(schema, path) == [["x", 1, "y"]]
    path.write_bytes(header)
    with pytest.raises(ValueError, match=f"cannot read {path}: {error}"):
        read_file(schema, path)


def test_arrays_and_decimals_of_files(tmp_path):
    builder = CsvSchema.builder().add_array_column("l", "#", DataTypes.INT())
    builder.add_array_column("m", "").add_number_column("d", DataTypes.DECIMAL(5, 2))
    schema = builder.add_boolean_column("y").set_array_element_separator(":").build()
    path = tmp_path / "f.csv"
    path.write_bytes(b"1# 2,a#b:c,1.235, true \n,,1e3,x\n")
    assert read_file(schema, path) == [
        [[1, 2], ["a#b", "c"], Decimal("1.24"), True],
        [[], [], None, False],
    ]


COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".deflate": zlib.compress,
    "": lambda content: content,
}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files(tmp_path, suffix):
    path = tmp_path / f"f.csv{suffix}"
    content = COMPRESS[suffix](b"x,1,y\n" * 20_000)
    path.write_bytes(content)
    assert len(read_file(columns().build(), path)) == 20_000
    if suffix:
        path.write_bytes(content[:-9])
        with pytest.raises(OSError, match=f"cannot decompress {path}"):
            read_file(columns().build(), path)


def write_files(folder, schema, rows, declared):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    builder = FileSink.for_bulk_format(str(folder), CsvBulkWriters.for_schema(schema))
    builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    sink = builder.with_output_file_config(OutputFileConfig("part", ".csv")).build()
    env.from_collection(rows, declared).sink_to(sink)
    with local_engine():
        env.execute()
    [path] = folder.glob("*.csv")
    return path


FOUR = Types.ROW_NAMED(
    ["a", "b", "c", "d"],
    [Types.STRING(), Types.INT(), Types.BOOLEAN(), Types.BASIC_ARRAY(Types.STRING())],
)
ROWS = [
    Row("x", 1, True, ["p", "q"]),
    Row('a,b"c', 2, False, ["p;q", None, "", '"']),
    Row(None, None, None, None),
    Row("", 0, False, []),
]


@pytest.mark.parametrize(
    ("option", "arguments", "content"),
    [
        ("use_header", [], b'a,b,c,d\nx,1,true,p;q\n"a,b""c",2,false,"p;q;;;"""\n,,,\n,0,false,\n'),
        (
            "null_value",
            ["NULL"],
            b'x,1,true,p;q\n"a,b""c",2,false,"p;q;NULL;;"""\nNULL,NULL,NULL,NULL\n,0,false,\n',
        ),
        (
            "column_separator",
            ["|"],
            b'"x"|1|true|"p;q"\n"a,b""c"|2|false|"p;q;;;"""\n|||\n|0|false|\n',
        ),
        (
            "line_separator",
            ["X"],
            b'x,1,true,"p;q"X"a,b""c",2,false,"p;q;;;"""X,,,X,0,false,X',
        ),
    ],
)
def test_files_are_written_as_jackson_does(tmp_path, option, arguments, content):
    builder = CsvSchema.builder().add_string_column("a").add_number_column("b", DataTypes.INT())
    builder.add_boolean_column("c").add_array_column("d")
    getattr(builder, f"set_{option}")(*arguments)
    assert write_files(tmp_path, builder.build(), ROWS, FOUR).read_bytes() == content


def test_numbers_are_written_as_jackson_does(tmp_path):
    builder = CsvSchema.builder().add_number_column("f", DataTypes.DOUBLE())
    schema = builder.add_number_column("g", DataTypes.DECIMAL(10, 2)).build()
    declared = Types.ROW_NAMED(["f", "g"], [Types.DOUBLE(), Types.BIG_DEC()])
    rows = [Row(1e10, Decimal("1.50")), Row(float("nan"), None), Row(0.1, Decimal(100))]
    written = write_files(tmp_path, schema, rows, declared).read_bytes()
    assert written == b"1.0E10,1.5\nNaN,\n0.1,1E+2\n"


def test_rows_come_back_from_files(tmp_path):
    schema = columns(CsvSchema.builder().add_array_column("l", ";", DataTypes.INT())).build()
    declared = Types.ROW_NAMED(
        ["l", "a", "b", "c"],
        [Types.BASIC_ARRAY(Types.INT()), Types.STRING(), Types.INT(), Types.STRING()],
    )
    rows = [Row(l=[1, 2], a="x\ny", b=number, c=' "\xe9') for number in range(5)]
    write_files(tmp_path, schema, rows, declared)
    env = StreamExecutionEnvironment.get_execution_environment()
    form = CsvReaderFormat.for_schema(schema)
    source = FileSource.for_record_stream_format(form, str(tmp_path)).build()
    with local_engine():
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
        assert list(stream.map(lambda row: row).execute_and_collect()) == rows


def test_only_rows_are_written(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    sink = FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(columns().build()))
    with pytest.raises(TypeError, match="writes rows, and the stream is of"):
        env.from_collection([("x", 1, "y")]).sink_to(sink.build())


@pytest.mark.parametrize("name", ["lines.csv", "lines.csv.gz"])
def test_a_line_has_a_limit(tmp_path, monkeypatch, name):
    monkeypatch.setattr("pyflink_on_spark._connectors.formats.csv_files._CHUNK", 100)
    schema = CsvSchema.builder().add_string_column("a").build()
    form = CsvReaderFormat.for_schema(schema)._format
    path = tmp_path / name
    content = b"short\n" * 100 + b"x" * 5_000 + b"\nshort\n"
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match=r"has more than 1,000 bytes; pyflink-on-spark.max-record"):
        list(form.with_most(1_000).read(FileSplit(str(path))))
    rows = form.with_most(5_000).read(FileSplit(str(path)))
    assert sum(len(bundle.values) for bundle in rows) == 102


def test_many_blanks_after_quotes_take_no_quadratic_time(monkeypatch):
    mended = []
    push_back = csv_records._Lines.push_back
    monkeypatch.setattr(
        csv_records._Lines,
        "push_back",
        lambda lines, text: (mended.append(1), push_back(lines, text)),
    )
    fields = 1_000
    records = csv_records.RecordReader(['"x" ,' * fields + '"y" \n', "z\n"], CsvDialect())
    assert list(records) == [["x"] * fields + ["y"], ["z"]]
    assert len(mended) < 150
