"""Missing parts of PyFlink's tables raise one error that names the way out."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.table import (
    DataTypes,
    EnvironmentSettings,
    Module,
    SqlDialect,
    TableEnvironment,
)
from pyflink_on_spark.table.descriptors import Elasticsearch, Rowtime
from pyflink_on_spark.table.expressions import col
from pyflink_on_spark.table.model_descriptor import ModelDescriptor


@pytest.fixture(scope="module")
def t_env():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda env: Module(None), "Module is never supported.* create_temporary_system_function"),
        (lambda env: ModelDescriptor.for_provider("x"), "Call the model in a Python function"),
        (lambda env: Rowtime().timestamps_from_extractor("a.B"), "Use timestamps_from_field"),
        (lambda env: Elasticsearch(), "to_spark"),
        (lambda env: DataTypes.INT().bridged_to("java.lang.Integer"), "a class of Java"),
        (lambda env: env.create_java_function("f", "a.b.C"), "Write functions in Python"),
        (lambda env: env.from_elements([(1,)]).to_changelog(col("_1")), "TO_CHANGELOG.TABLE"),
        (lambda env: env.get_config().set_sql_dialect(SqlDialect.HIVE), "Flink's own dialect"),
        (lambda env: col("a").as_argument("b"), "not yet supported"),
    ],
)
def test_the_error_names_the_call_and_the_way_out(t_env, call, text):
    with pytest.raises(UnsupportedFlinkFeature, match=f"(?s){text}") as raised:
        call(t_env)
    assert "test_unsupported.py" in str(raised.value)
