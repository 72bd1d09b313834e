"""The texts of expressions, schemas and descriptors, as `str` shows them."""

# ruff: noqa: E501, F403, F405

from __future__ import annotations

import pytest
from pyflink.table import DataTypes, FormatDescriptor, Schema, TableDescriptor
from pyflink.table.expression import (
    JsonOnNull,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from pyflink.table.expressions import *
from pyflink.table.expressions import coalesce, map_from_arrays

a, b = col("a"), col("b")

# fmt: off
TEXTS = [
    (log(lit(10)), 'log(10)'),
    (a.log(10), 'log(10, a)'),
    (a.log(), 'log(a)'),
    (a.ln, 'ln(a)'),
    (a.log2, 'log2(a)'),
    (a.log10, 'log10(a)'),
    (and_(a,b,a), 'and(a, b, a)'),
    (or_(a,b,a), 'or(a, b, a)'),
    (a&b&a, 'and(and(a, b), a)'),
    (a|b|a, 'or(or(a, b), a)'),
    (~a, 'isNotTrue(a)'),
    (UNBOUNDED_ROW, 'UNBOUNDED_ROW'),
    (UNBOUNDED_RANGE, 'UNBOUNDED_RANGE'),
    (CURRENT_ROW, 'CURRENT_ROW'),
    (CURRENT_RANGE, 'CURRENT_RANGE'),
    (to_timestamp_ltz(a,0), 'TO_TIMESTAMP_LTZ(a, 0)'),
    (to_timestamp_ltz(a), 'TO_TIMESTAMP_LTZ(a)'),
    (to_timestamp("x"), "toTimestamp('x')"),
    (to_timestamp("x","y"), "toTimestamp('x', 'y')"),
    (to_date("x"), "toDate('x')"),
    (to_date("x","y"), "toDate('x', 'y')"),
    (concat("a",b), "concat('a', b)"),
    (concat_ws("-",a,b), "concat_ws('-', a, b)"),
    (a.percentile(0.5), 'PERCENTILE(a, 0.5)'),
    (a.distinct, 'distinct(a)'),
    (a.count.distinct, 'distinct(count(a))'),
    (a.sum, 'sum(a)'),
    (a.sum0, 'sum0(a)'),
    (a.min, 'min(a)'),
    (a.max, 'max(a)'),
    (a.avg, 'avg(a)'),
    (a.count, 'count(a)'),
    (a.first_value, 'first_value(a)'),
    (a.last_value, 'last_value(a)'),
    (a.list_agg(","), "listAgg(a, ',')"),
    (a.list_agg(), "listAgg(a, ',')"),
    (a.collect, 'collect(a)'),
    (a.stddev_pop, 'stddevPop(a)'),
    (a.stddev_samp, 'stddevSamp(a)'),
    (a.var_pop, 'varPop(a)'),
    (a.var_samp, 'varSamp(a)'),
    (a.percentile(0.5,1), 'PERCENTILE(a, 0.5, 1)'),
    (a.alias("x"), "as(a, 'x')"),
    (a.alias("x","y"), "as(a, 'x', 'y')"),
    (a.cast(DataTypes.INT()), 'cast(a, INT)'),
    (a.try_cast(DataTypes.INT()), 'TRY_CAST(a, INT)'),
    (a.asc, 'asc(a)'),
    (a.desc, 'desc(a)'),
    (a.in_(1,2), 'in(a, 1, 2)'),
    (a.start, 'start(a)'),
    (a.end, 'end(a)'),
    (a.rowtime, 'rowtime(a)'),
    (a.proctime, 'proctime(a)'),
    (a.over(b), 'over(a, b)'),
    (if_then_else(a>1,b,a), 'ifThenElse(greaterThan(a, 1), b, a)'),
    (a.between(1,2), 'between(a, 1, 2)'),
    (a.not_between(1,2), 'notBetween(a, 1, 2)'),
    (a.then(1,2), 'ifThenElse(a, 1, 2)'),
    (a.if_null(1), 'IFNULL(a, 1)'),
    (a.is_null, 'isNull(a)'),
    (a.is_not_null, 'isNotNull(a)'),
    (a.is_true, 'isTrue(a)'),
    (a.is_false, 'isFalse(a)'),
    (a.is_not_true, 'isNotTrue(a)'),
    (a.is_not_false, 'isNotFalse(a)'),
    (a.floor(), 'floor(a)'),
    (a.ceil(), 'ceil(a)'),
    (a.round(2), 'round(a, 2)'),
    (a.truncate(2), 'truncate(a, 2)'),
    (a.substring(1,2), 'substring(a, 1, 2)'),
    (a.substring(1), 'substring(a, 1)'),
    (a.substr(1,2), 'substr(a, 1, 2)'),
    (a.trim(), "trim(true, true, ' ', a)"),
    (a.trim_leading(), "trim(true, false, ' ', a)"),
    (a.trim_trailing(), "trim(false, true, ' ', a)"),
    (a.replace("x","y"), "replace(a, 'x', 'y')"),
    (a.char_length, 'charLength(a)'),
    (a.upper_case, 'upper(a)'),
    (a.lower_case, 'lower(a)'),
    (a.like("x"), "LIKE(a, 'x')"),
    (a.like("x","y"), "LIKE(a, 'x', 'y')"),
    (a.similar("x"), "similar(a, 'x')"),
    (a.position("x"), "position(a, 'x')"),
    (a.lpad(1,"x"), "lpad(a, 1, 'x')"),
    (a.rpad(1,"x"), "rpad(a, 1, 'x')"),
    (a.overlay("x",1,2), "overlay(a, 'x', 1, 2)"),
    (a.overlay("x",1), "overlay(a, 'x', 1)"),
    (a.regexp("x"), "regexp(a, 'x')"),
    (a.regexp_replace("x","y"), "regexpReplace(a, 'x', 'y')"),
    (a.regexp_extract("x",1), "regexpExtract(a, 'x', 1)"),
    (a.regexp_extract("x"), "regexpExtract(a, 'x')"),
    (a.from_base64, 'fromBase64(a)'),
    (a.encode("x"), "encode(a, 'x')"),
    (a.decode("x"), "decode(a, 'x')"),
    (a.left(1), 'left(a, 1)'),
    (a.right(1), 'right(a, 1)'),
    (a.instr("x"), "instr(a, 'x')"),
    (a.locate("x"), "locate(a, 'x')"),
    (a.locate("x",1), "locate(a, 'x', 1)"),
    (a.parse_url("x"), "parseUrl(a, 'x')"),
    (a.parse_url("x","y"), "parseUrl(a, 'x', 'y')"),
    (a.ltrim(), 'ltrim(a)'),
    (a.rtrim(), 'rtrim(a)'),
    (a.repeat(2), 'repeat(a, 2)'),
    (a.split_index(",",1), "splitIndex(a, ',', 1)"),
    (a.str_to_map(), 'strToMap(a)'),
    (a.str_to_map(",","="), "strToMap(a, ',', '=')"),
    (a.to_date, 'cast(a, DATE)'),
    (a.get("x"), "get(a, 'x')"),
    (a.flatten, 'flatten(a)'),
    (a.at(1), 'at(a, 1)'),
    (a.cardinality, 'cardinality(a)'),
    (a.element, 'element(a)'),
    (a.array_append(1), 'ARRAY_APPEND(a, 1)'),
    (a.array_contains(1), 'ARRAY_CONTAINS(a, 1)'),
    (a.array_max(), 'ARRAY_MAX(a)'),
    (a.array_min(), 'ARRAY_MIN(a)'),
    (a.array_position(1), 'ARRAY_POSITION(a, 1)'),
    (a.array_prepend(1), 'ARRAY_PREPEND(a, 1)'),
    (a.array_remove(1), 'ARRAY_REMOVE(a, 1)'),
    (a.array_union(b), 'ARRAY_UNION(a, b)'),
    (a.array_except(b), 'ARRAY_EXCEPT(a, b)'),
    (a.array_intersect(b), 'ARRAY_INTERSECT(a, b)'),
    (a.split(","), "SPLIT(a, ',')"),
    (a.map_entries, 'MAP_ENTRIES(a)'),
    (a.map_keys, 'MAP_KEYS(a)'),
    (a.map_values, 'MAP_VALUES(a)'),
    (a.sha2(256), 'sha2(a, 256)'),
    (a.is_json(), 'IS_JSON(a)'),
    (a.json_exists("x"), "JSON_EXISTS(a, 'x')"),
    (a.json_value("x"), "JSON_VALUE(a, 'x', STRING, NULL, null, NULL, null)"),
    (a.json_value("x",DataTypes.INT()), "JSON_VALUE(a, 'x', INT, NULL, null, NULL, null)"),
    (a.json_query("x"), "JSON_QUERY(a, 'x', STRING, WITHOUT_ARRAY, NULL, NULL)"),
    (a.json_quote(), 'JSON_QUOTE(a)'),
    (a.json_unquote(), 'JSON_UNQUOTE(a)'),
    (a.to_csv, "get(a, 'to_csv')"),
    (current_date(), 'currentDate()'),
    (current_time(), 'currentTime()'),
    (current_timestamp(), 'currentTimestamp()'),
    (local_time(), 'localTime()'),
    (local_timestamp(), 'localTimestamp()'),
    (current_watermark(a), 'CURRENT_WATERMARK(a)'),
    (unix_timestamp(), 'unixTimestamp()'),
    (unix_timestamp("x"), "unixTimestamp('x')"),
    (unix_timestamp("x","y"), "unixTimestamp('x', 'y')"),
    (from_unixtime(1), 'fromUnixtime(1)'),
    (from_unixtime(1,"x"), "fromUnixtime(1, 'x')"),
    (date_format(a,"x"), "dateFormat(a, 'x')"),
    (convert_tz("a","b","c"), "convertTz('a', 'b', 'c')"),
    (temporal_overlaps(a,b,a,b), 'temporalOverlaps(a, b, a, b)'),
    (rand(), 'rand()'),
    (rand(1), 'rand(1)'),
    (rand_integer(1), 'randInteger(1)'),
    (rand_integer(1,2), 'randInteger(2, 1)'),
    (uuid(), 'uuid()'),
    (pi(), 'pi()'),
    (e(), 'e()'),
    (null_of(DataTypes.INT()), 'null'),
    (negative(a), 'minusPrefix(a)'),
    (-a, 'minusPrefix(a)'),
    (a+b, 'plus(a, b)'),
    (a-b, 'minus(a, b)'),
    (a*b, 'times(a, b)'),
    (a/b, 'divide(a, b)'),
    (a%b, 'mod(a, b)'),
    (a==b, 'equals(a, b)'),
    (a!=b, 'notEquals(a, b)'),
    (a<b, 'lessThan(a, b)'),
    (a<=b, 'lessThanOrEqual(a, b)'),
    (a>b, 'greaterThan(a, b)'),
    (a>=b, 'greaterThanOrEqual(a, b)'),
    (a**2, 'power(a, 2)'),
    (2**a, 'power(2, a)'),
    (1+a, 'plus(1, a)'),
    (1-a, 'minus(1, a)'),
    (2*a, 'times(a, 2)'),
    (2/a, 'divide(2, a)'),
    (2%a, 'mod(2, a)'),
    (atan2(a,b), 'atan2(a, b)'),
    (row(a,b,1), 'row(a, b, 1)'),
    (row_interval(2), '2'),
    (array(a,1), 'array(a, 1)'),
    (map_("a",1), "map('a', 1)"),
    (source_watermark(), 'SOURCE_WATERMARK()'),
    (json_string(a), 'JSON_STRING(a)'),
    (call("f",a), 'f(a)'),
    (call_sql("a+1"), '[a+1]'),
    (with_columns(a,b), 'withColumns(a, b)'),
    (without_columns(a), 'withoutColumns(a)'),
    (with_columns(range_("a","b")), 'withColumns(rangeTo(a, b))'),
    (range_("a","b"), 'rangeTo(a, b)'),
    (range_(1,2), 'rangeTo(1, 2)'),
    (lit(1), '1'),
    (lit(1.5), '1.5'),
    (lit("x"), "'x'"),
    (lit(True), 'true'),
    (lit(None,DataTypes.INT()), 'null'),
    (lit(1).days, '86400000'),
    (lit(1).day, '86400000'),
    (lit(1).hours, '3600000'),
    (lit(1).minutes, '60000'),
    (lit(1).seconds, '1000'),
    (lit(1).millis, '1'),
    (lit(1).weeks, '604800000'),
    (lit(1).months, '1'),
    (lit(1).month, '1'),
    (lit(1).years, '12'),
    (lit(1).quarters, '3'),
    (lit(1).rows, "get(1, 'rows')"),
    (lit(1.5).floor(), 'floor(1.5)'),
    (log(10), 'log(10)'),
    (log(2,10), 'log(10, 2)'),
    (concat("a","b"), "concat('a', 'b')"),
    (col("a.b"), 'a.b'),
    (a.count_, "get(a, 'count_')"),
    (a.url_encode(), 'URL_ENCODE(a)'),
    (a.url_decode(), 'URL_DECODE(a)'),
    (a.printf(1), 'PRINTF(a, 1)'),
    (a.starts_with("x"), "STARTSWITH(a, 'x')"),
    (a.ends_with("x"), "ENDSWITH(a, 'x')"),
    (a.translate("a","b"), "TRANSLATE3(a, 'a', 'b')"),
    (a.elt(1), 'ELT(a, 1)'),
    (a.btrim(), 'BTRIM(a)'),
    (a.btrim("x"), "BTRIM(a, 'x')"),
    (a.regexp_count("x"), "REGEXP_COUNT(a, 'x')"),
    (a.regexp_instr("x"), "REGEXP_INSTR(a, 'x')"),
    (a.regexp_substr("x"), "REGEXP_SUBSTR(a, 'x')"),
    (a.regexp_extract_all("x"), "REGEXP_EXTRACT_ALL(a, 'x')"),
    (a.regexp_extract_all("x",1), "REGEXP_EXTRACT_ALL(a, 'x', 1)"),
    (call("sum0",a), 'sum0(a)'),
    (timestamp_diff(TimePointUnit.DAY,a,b), 'timestampDiff(DAY, a, b)'),
    (a.extract(TimeIntervalUnit.DAY), 'extract(DAY, a)'),
    (a.floor(TimeIntervalUnit.DAY), 'floor(a, DAY)'),
    (a.ceil(TimeIntervalUnit.DAY), 'ceil(a, DAY)'),
    (a.is_json(JsonType.OBJECT), 'IS_JSON(a, OBJECT)'),
    (a.json_value("x",DataTypes.STRING(),JsonValueOnEmptyOrError.DEFAULT,"e",JsonValueOnEmptyOrError.NULL,None), "JSON_VALUE(a, 'x', STRING, DEFAULT, 'e', NULL, null)"),
    (json_object_agg(JsonOnNull.NULL,a,b), 'JSON_OBJECTAGG_NULL_ON_NULL(a, b)'),
    (json_object_agg(JsonOnNull.ABSENT,a,b), 'JSON_OBJECTAGG_ABSENT_ON_NULL(a, b)'),
    (json_array_agg(JsonOnNull.ABSENT,a), 'JSON_ARRAYAGG_ABSENT_ON_NULL(a)'),
    (temporal_overlaps(a,lit(1).days,b,lit(2).hours), 'temporalOverlaps(a, 86400000, b, 7200000)'),
    (a.exp, 'exp(a)'),
    (a.bin, 'bin(a)'),
    (a.hex, 'hex(a)'),
    (a.sign, 'sign(a)'),
    (a.trim("x"), "trim(true, true, 'x', a)"),
    (a.trim_leading("x"), "trim(true, false, 'x', a)"),
    (a.distinct.count, 'count(distinct(a))'),
    (a.count.distinct.alias("x"), "as(distinct(count(a)), 'x')"),
    ((a.sum+1).alias("n"), "as(plus(sum(a), 1), 'n')"),
    (a.sum.over(b), 'over(sum(a), b)'),
    (a.sum.distinct.over(b), 'over(distinct(sum(a)), b)'),
    (coalesce(a,b), 'COALESCE(a, b)'),
    (map_from_arrays(a,b), 'MAP_FROM_ARRAYS(a, b)'),
    (a.bitmap_build_agg(), 'BITMAP_BUILD_AGG(a)'),
    (a.bitmap_and(b), 'BITMAP_AND(a, b)'),
    (a.bitmap_to_string(), 'BITMAP_TO_STRING(a)'),
    (lit(1).days+lit(2).hours, 'plus(86400000, 7200000)'),
    (lit(-5).seconds, '-5000'),
    (null_of(DataTypes.STRING()), 'null'),
    (lit('a"b'), '\'a"b\''),
    (lit("it's"), "'it''s'"),
    (lit(1e10), '1.0E10'),
    (lit(1.0), '1.0'),
    (lit(12345678901), '12345678901'),
    (call("f",a,1), 'f(a, 1)'),
    (current_database(), 'currentDatabase()'),
    (a.ltrim("x"), "ltrim(a, 'x')"),
    (a.cast(DataTypes.ROW([DataTypes.FIELD("x",DataTypes.INT())])), 'cast(a, ROW<`x` INT>)'),
    (and_(a,b), 'and(a, b)'),
    (and_(a,b,a,b), 'and(a, b, a, b)'),
    (not_(a), 'not(a)'),
    (col("a")&True, 'and(a, true)'),
    (a.inet_aton(), 'INET_ATON(a)'),
    (a.array_slice_, "get(a, 'array_slice_')"),
    (concat_ws("-",a,b,"c"), "concat_ws('-', a, b, 'c')"),
    (rand_integer(a,b), 'randInteger(b, a)'),
    (row("a",1.0,a).alias("x"), "as(row('a', 1.0, a), 'x')"),
    (a.to_timestamp, 'cast(a, TIMESTAMP(3))'),
    (a.uuid, "get(a, 'uuid')"),
]
# fmt: on


@pytest.mark.parametrize(("expression", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_expressions(expression, text):
    assert str(expression) == text


def _schema():
    return (
        Schema.new_builder()
        .column("id", DataTypes.INT().not_null())
        .column("s", "STRING")
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id")
        .column_by_expression("e", "id + 1")
        .column_by_expression("e2", col("id") + 1)
        .column_by_metadata("m", DataTypes.BIGINT())
        .column_by_metadata("m2", "BIGINT", "offset")
        .column_by_metadata("m3", "BIGINT", "offset", True)
        .column_by_metadata("m4", "bigint", None, True)
        .column("ts", "TIMESTAMP(3)")
        .build()
    )


SCHEMA = (
    "(\n"
    "  `id` INT NOT NULL,\n"
    "  `s` [STRING],\n"
    "  `e` AS [id + 1],\n"
    "  `e2` AS plus(id, 1),\n"
    "  `m` BIGINT METADATA,\n"
    "  `m2` [BIGINT] METADATA FROM 'offset',\n"
    "  `m3` [BIGINT] METADATA FROM 'offset' VIRTUAL,\n"
    "  `m4` [bigint] METADATA VIRTUAL,\n"
    "  `ts` [TIMESTAMP(3)],\n"
    "  WATERMARK FOR `ts` AS [ts - INTERVAL '5' SECOND],\n"
    "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED\n"
    ")"
)


def test_a_schema():
    assert str(_schema()) == SCHEMA


def test_a_schema_of_another_one():
    built = Schema.new_builder().column("first", DataTypes.BIGINT()).from_schema(_schema()).build()
    assert str(built) == SCHEMA.replace("(\n", "(\n  `first` BIGINT,\n", 1)


def test_a_schema_with_expressions():
    fields = DataTypes.ROW([DataTypes.FIELD("ts", DataTypes.TIMESTAMP_LTZ(3))])
    moved = Schema.new_builder().from_row_data_type(fields)
    moved = moved.watermark("ts", col("ts") - lit(5).seconds).build()
    assert str(moved) == "(\n  `ts` TIMESTAMP_LTZ(3),\n  WATERMARK FOR `ts` AS minus(ts, 5000)\n)"
    own = Schema.new_builder().column("ts", DataTypes.TIMESTAMP(3))
    own = own.watermark("ts", source_watermark()).primary_key_named("pk", "ts").build()
    assert str(own) == (
        "(\n  `ts` TIMESTAMP(3),\n  WATERMARK FOR `ts` AS SOURCE_WATERMARK(),\n"
        "  CONSTRAINT `pk` PRIMARY KEY (`ts`) NOT ENFORCED\n)"
    )


def test_a_table():
    built = TableDescriptor.for_connector("kafka").schema(_schema()).option("a", "b")
    built = built.option("topic", "t").format("json").partitioned_by("s").comment("hi").build()
    assert str(built) == (
        f"{SCHEMA}\nCOMMENT 'hi'\nPARTITIONED BY (`s`)\n"
        "WITH (\n  'a' = 'b',\n  'connector' = 'kafka',\n  'format' = 'json',\n  'topic' = 't'\n)"
    )
    assert (
        str(TableDescriptor.for_connector("print").build())
        == "\nWITH (\n  'connector' = 'print'\n)"
    )


def test_the_order_of_options_is_that_of_java():
    built = TableDescriptor.for_connector("print").option("password", "x").option("q", "it's")
    assert str(built.comment("it's").build()) == (
        "\nCOMMENT 'it's'\nWITH (\n  'q' = 'it''s',\n  'password' = 'x',\n"
        "  'connector' = 'print'\n)"
    )


def test_a_format():
    assert str(FormatDescriptor.for_format("json").build()) == "json[{}]"
    built = FormatDescriptor.for_format("json").option("b", "y").option("a", "z").build()
    assert str(built) == "json[{a=z, b=y}]"
    assert dict(built.get_options()) == {"a": "z", "b": "y"}
