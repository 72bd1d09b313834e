"""Files of JSON with marks and characters that other programs write."""

from __future__ import annotations

from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment


def test_a_mark_of_the_encoding_and_half_of_a_character(tmp_path, local_engine):
    (tmp_path / "read").write_bytes(b'\xef\xbb\xbf{"a":"x"}\n{"a":"\\ud800y"}\n')
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name in ("read", "written"):
        t_env.execute_sql(
            f"CREATE TABLE {name} (a STRING) WITH ('connector' = 'filesystem', 'format' = 'json', "
            f"'path' = '{tmp_path / name}')"
        )
    t_env.execute_sql("INSERT INTO written SELECT a FROM read").wait()
    lines = [
        line
        for path in (tmp_path / "written").rglob("part-*")
        for line in path.read_bytes().splitlines()
    ]
    assert sorted(lines) == [b'{"a":"?y"}', b'{"a":"x"}']
