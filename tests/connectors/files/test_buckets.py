from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._connectors.files.bucket_naming import (
    BasePathBuckets,
    DatePattern,
    DateTimeBuckets,
    parse_time_zone,
)

AFTERNOON = datetime(2026, 11, 21, 19, 5, 9, 127_000, tzinfo=UTC)
MIDNIGHT = datetime(987, 1, 4, 0, 0, 0, 0, tzinfo=UTC)

# What Java writes.
TEXTS = [
    ("yyyy-MM-dd--HH", AFTERNOON, "2026-11-21--19"),
    ("yyyy/MM/dd", AFTERNOON, "2026/11/21"),
    ("'d='yyyy-MM-dd", AFTERNOON, "d=2026-11-21"),
    ("y yy yyy yyyyy u uu", AFTERNOON, "2026 26 2026 02026 2026 26"),
    ("y yy yyyy", MIDNIGHT, "987 87 0987"),
    ("MMMM MMM MM M L LL LLL MMMMM", AFTERNOON, "November Nov 11 11 11 11 Nov N"),
    ("D DDD d dd", AFTERNOON, "325 325 21 21"),
    ("D DD DDD d dd M", MIDNIGHT, "4 04 004 4 04 1"),
    ("Q QQ QQQ QQQQ q", AFTERNOON, "4 04 Q4 4th quarter 4"),
    ("E EEE EEEE EEEEE a", AFTERNOON, "Sat Sat Saturday S PM"),
    ("h hh K KK k kk H HH", AFTERNOON, "7 07 7 07 19 19 19 19"),
    ("h hh K KK k kk H HH a", MIDNIGHT, "12 12 0 00 24 24 0 00 AM"),
    ("m mm s ss S SSS SSSSSSSSS", AFTERNOON, "5 05 9 09 1 127 127000000"),
    ("A n N", AFTERNOON, "68709127 127000000 68709127000000"),
    ("''y [H'q'] 'it''s'", AFTERNOON, "'2026 19q it's"),
    ("yyyyMMdd'T'HHmmss.SSS", AFTERNOON, "20261121T190509.127"),
    ("", AFTERNOON, ""),
]


@pytest.mark.parametrize(("pattern", "moment", "text"), TEXTS)
def test_a_pattern_writes_what_java_writes(pattern, moment, text):
    assert DatePattern(pattern).format(moment) == text


OFFSETS = "VV_xxx_x_X_XXXX_Z_ZZZZ_ZZZZZ_xxxxx"


@pytest.mark.parametrize(
    ("zone_id", "text"),
    [
        ("GMT-08:00", "GMT-08:00_-08:00_-08_-08_-0800_-0800_GMT-08:00_-08:00_-08:00"),
        ("UTC+8", "UTC+08:00_+08:00_+08_+08_+0800_+0800_GMT+08:00_+08:00_+08:00"),
        ("+8", "+08:00_+08:00_+08_+08_+0800_+0800_GMT+08:00_+08:00_+08:00"),
        ("Z", "Z_+00:00_+00_Z_Z_+0000_GMT_Z_+00:00"),
        ("UTC", "UTC_+00:00_+00_Z_Z_+0000_GMT_Z_+00:00"),
        ("UTC+0", "UTC_+00:00_+00_Z_Z_+0000_GMT_Z_+00:00"),
        ("+00", "Z_+00:00_+00_Z_Z_+0000_GMT_Z_+00:00"),
        ("UT+01:30", "UT+01:30_+01:30_+0130_+0130_+0130_+0130_GMT+01:30_+01:30_+01:30"),
        ("+0830", "+08:30_+08:30_+0830_+0830_+0830_+0830_GMT+08:30_+08:30_+08:30"),
        (
            "+080030",
            "+08:00:30_+08:00_+08_+08_+080030_+0800_GMT+08:00:30_+08:00:30_+08:00:30",
        ),
        ("Etc/GMT+5", "Etc/GMT+5_-05:00_-05_-05_-0500_-0500_GMT-05:00_-05:00_-05:00"),
        ("Asia/Kolkata", "Asia/Kolkata_+05:30_+0530_+0530_+0530_+0530_GMT+05:30_+05:30_+05:30"),
    ],
)
def test_time_zones_are_written_as_in_java(zone_id, text):
    name, zone = parse_time_zone(zone_id)
    assert DatePattern(OFFSETS, name).format(AFTERNOON.astimezone(zone)) == text


@pytest.mark.parametrize(
    "zone_id", ["nope/x", "EST", "UTC0", "gmt+8", "+19", "+18:30", "+9:30", "+08:99", "", "../x"]
)
def test_unknown_time_zones_are_refused(zone_id):
    with pytest.raises(ValueError, match=r"zone|offset"):
        parse_time_zone(zone_id)


@pytest.mark.parametrize(
    "pattern", ["b", "y{", "ddd", "hhh", "MMMMMM", "yyyy'x", "yyyy]", "aa", "SSSSSSSSSS", "#"]
)
def test_patterns_that_java_refuses_are_refused(pattern):
    with pytest.raises(ValueError, match="pattern"):
        DatePattern(pattern)


@pytest.mark.parametrize("pattern", ["G", "w", "yyyy-'W'ww", "z", "V", "OOOO", "B"])
def test_rarer_letters_are_refused_with_a_way_out(pattern):
    with pytest.raises(UnsupportedFlinkFeature, match="letter"):
        DatePattern(pattern)


def test_a_bucket_an_hour_in_a_time_zone():
    buckets = pickle.loads(pickle.dumps(DateTimeBuckets(zone_id="America/New_York")))
    now = int(AFTERNOON.timestamp() * 1000)
    assert buckets.bucket(now) == "2026-11-21--14"
    assert buckets.bucket(now + 3_600_000) == "2026-11-21--15"
    assert buckets.timed


def test_without_a_time_zone_the_machine_has_one():
    now = int(AFTERNOON.timestamp() * 1000)
    local = (AFTERNOON - timedelta()).astimezone()
    assert DateTimeBuckets("HHmm").bucket(now) == local.strftime("%H%M")


def test_a_bucket_is_below_the_base_path():
    assert DateTimeBuckets("/yyyy", "UTC").bucket(0) == "1970"
    assert BasePathBuckets().bucket(0) == ""


def test_a_colon_in_the_first_folder_is_refused():
    with pytest.raises(ValueError, match="colon"):
        DateTimeBuckets("HH:mm", "UTC")
    assert DateTimeBuckets("yyyy/HH:mm", "UTC").bucket(0) == "1970/00:00"
