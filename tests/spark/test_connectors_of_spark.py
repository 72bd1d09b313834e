"""The code of docs/use/connectors/spark.md, with stand-ins for the connectors that it names."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)

import pyflink_on_spark
from pyflink_on_spark.extensions import to_spark

PAGE = Path(__file__).parents[2] / "docs" / "use" / "connectors" / "spark.md"
REQUIRED = {
    "es": {"es.nodes", "es.port", "path"},
    "mongodb": {"connection.uri", "database", "collection"},
    "iceberg": {"path"},
}
"""The options without which a connector does not know where to read or write."""
IDS = {"es": "es.mapping.id", "mongodb": "idFieldList"}


class _StandIn(DataSource):
    """Documents as JSON lines, in one file for each index, collection or table."""

    def schema(self):
        return (self._file().with_suffix(".ddl")).read_text(encoding="utf-8")

    def reader(self, schema):
        return _Documents(self._file())

    def writer(self, schema, overwrite):
        assert not overwrite
        key = self.options.get(IDS.get(self.name(), ""))
        if self.name() == "mongodb":
            assert self.options["operationtype"] == "replace"
        return _Changes(self._file(), key)

    def _file(self):
        given = {name.lower() for name in self.options}
        missing = {name.lower() for name in REQUIRED[self.name()]} - given
        assert not missing, missing
        name = self.options.get("path") or self.options["collection"]
        return Path(PLACE) / f"{name}.json"


class _Documents(DataSourceReader):
    def __init__(self, file):
        self._file = file

    def partitions(self):
        return [InputPartition(0)]

    def read(self, partition):
        for line in self._file.read_text(encoding="utf-8").splitlines():
            yield tuple(json.loads(line).values())


class _Written(WriterCommitMessage):
    def __init__(self, rows):
        self.rows = rows


class _Changes(DataSourceWriter):
    def __init__(self, file, key):
        self._file, self._key = file, key

    def write(self, iterator):
        return _Written([row.asDict() for row in iterator])

    def commit(self, messages):
        text = self._file.read_text(encoding="utf-8") if self._file.exists() else ""
        known = [json.loads(line) for line in text.splitlines()]
        for row in (row for message in messages for row in message.rows):
            if self._key is not None:
                known = [each for each in known if each[self._key] != row[self._key]]
            known.append(row)
        self._file.write_text("".join(f"{json.dumps(row)}\n" for row in known), encoding="utf-8")


PLACE = ""


def register(session):
    """Let a session find the stand-ins; jars of connectors are found by all sessions."""
    for kind in REQUIRED:
        named = type(kind, (_StandIn,), {"name": classmethod(lambda cls, kind=kind: kind)})
        session.dataSource.register(named)


def to_session_with_stand_ins(stream, write):
    def written(frame, checkpoint):
        register(frame.sparkSession)
        # Spark looks for them in the active session, which this makes active.
        frame.sparkSession.createDataFrame([], "nothing INT")
        write(frame, checkpoint)

    return to_spark(stream, written)


@pytest.fixture
def place(spark, tmp_path, monkeypatch):
    """Where the stand-ins keep their documents."""
    monkeypatch.setattr(sys.modules[__name__], "PLACE", str(tmp_path))
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    register(spark)
    yield tmp_path
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def put(place, name, ddl, *rows):
    (place / f"{name}.ddl").write_text(ddl, encoding="utf-8")
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (place / f"{name}.json").write_text(text, encoding="utf-8")


def found(place, name):
    lines = (place / f"{name}.json").read_text(encoding="utf-8").splitlines()
    return sorted((json.loads(line) for line in lines), key=str)


def test_the_code_of_the_page(spark, place):
    orders = [{"order_id": n, "amount": n * 60} for n in range(4)]
    put(place, "texts", "text STRING", {"text": "to be or"}, {"text": "not to be"})
    put(place, "orders", "order_id INT, amount INT", *orders)
    put(place, "lake.shop.orders", "order_id INT, amount INT", *orders)
    pyflink_on_spark.install()
    names = {"__name__": "__main__"}
    first, *others = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(first.replace("spark.jars.packages", "spark.app.none"), PAGE, "exec"), names)
    names["to_spark"] = to_session_with_stand_ins
    for code in others:
        exec(compile(code, PAGE, "exec"), names)
    assert names["spark"] is spark
    counts = [{"word": w, "n": n} for w, n in (("be", 2), ("not", 1), ("or", 1), ("to", 2))]
    assert found(place, "counts") == sorted(counts, key=str)
    assert found(place, "large") == orders[2:]
    assert found(place, "lake.shop.large") == orders[2:]

    again = spark.createDataFrame([("be", 2), ("be", 1)], "word STRING, n INT")
    names["index"](again, 1)
    names["replace"](spark.createDataFrame([(2, 120), (2, 120)], "order_id INT, amount INT"), 1)
    assert found(place, "counts") == sorted(counts, key=str)
    assert found(place, "large") == orders[2:]
    with pytest.raises(Exception, match=r"es\.nodes"):
        spark.read.format("es").load("texts").collect()
