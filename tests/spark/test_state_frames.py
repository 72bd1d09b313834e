"""States as Spark DataFrames, in both directions."""

from __future__ import annotations

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.state import CheckpointContents, SavepointWriter, to_spark

COUNT = ValueStateDescriptor("count", Types.LONG())


def test_a_state_from_a_spark_frame_and_back(spark, tmp_path):
    frame = spark.createDataFrame([("a", 3), ("b", 5)], "key string, value bigint")
    writer = SavepointWriter().put("counter", COUNT, frame, key_type=Types.STRING())
    contents = CheckpointContents(writer.write(str(tmp_path / "savepoint")))
    schema = "key string, namespace string, value bigint"
    found = to_spark(spark, contents, "counter", "count", schema)
    assert sorted(map(tuple, found.collect())) == [("a", None, 3), ("b", None, 5)]
