"""A catalog of Hive with Spark's embedded metastore, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SITE = """<configuration>
<property><name>javax.jdo.option.ConnectionURL</name>
<value>jdbc:derby:memory:metastore;create=true</value></property>
<property><name>hive.metastore.warehouse.dir</name><value>{0}/warehouse</value></property>
</configuration>"""
_ROOT = Path(__file__).parents[2]


def test_tables_of_hive_are_made_read_and_written(tmp_path):
    (tmp_path / "hive-site.xml").write_text(_SITE.format(tmp_path))
    script = Path(__file__).with_name("hive_tables.py")
    done = subprocess.run(
        [sys.executable, "-m", "pyflink_on_spark", "--master", "local[2]", script, tmp_path],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PLANTED": "secret"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = dict(line.partition(" ")[::2] for line in done.stdout.splitlines() if " " in line)
    assert "('id', 'BIGINT', True, None, None, None, '${env:PLANTED}')" in seen["described"]
    assert "('at_', 'TIMESTAMP(9)'" in seen["described"]
    assert "('short', 'VARCHAR(5)'" in seen["described"]
    assert seen["partitions"] == "[('day_=mon',), ('day_=tue',)]"
    assert seen["read"] == (
        "[(1, Decimal('1.50'), datetime.datetime(2024, 2, 29, 1, 2, 3, 500000), ['a', 'b'], 'vv', "
        "'mon'), (2, Decimal('2.50'), None, ['c'], 'w', 'tue')]"
    )
    assert seen["overwritten"] == "[(2, 'tue'), (11, 'mon')]"
    assert seen["unpartitioned"] == "[(3, 'c')] [] [(4, 'd')]"
    assert seen["view"] == "[(4,)]"
    assert done.stdout.count("refused a catalog of type 'hive' cannot be changed in this way") == 4
    assert "CREATE TEMPORARY VIEW or FUNCTION" in seen["refused"]
    assert f"(called at {script}:" in seen["refused"]
    assert seen["tables"] == "[('clicks',), ('orders',)]"
    assert seen["generic"] == "[(1, 2), (2, 3), (3, 4)]"
    assert seen["streamed"] == (
        "[(2, 'tue'), (11, 'mon'), (101, 'wed'), (102, 'wed'), (103, 'wed')]"
    )
    assert seen["failed"] == "True"
    assert "WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND" in done.stdout
    assert seen["databases"] == "[('default',)]"
