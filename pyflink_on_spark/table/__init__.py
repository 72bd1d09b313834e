"""The data types of the Table API, which CSV, Parquet and ORC are described with.

On Spark: there is no Table API; Spark SQL is for queries.
"""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.types import DataTypes

__all__ = ["DataTypes"]

__getattr__ = missing_name(
    __name__,
    "The Table API is not part of pyflink_on_spark, which runs DataStream programs: of it there "
    "are the DataTypes of file formats. Use Spark SQL for queries.",
)
