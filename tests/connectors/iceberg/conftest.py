"""Warehouses of Iceberg in local folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment


@dataclass(frozen=True)
class Warehouse:
    """A folder, and the options of its catalog."""

    folder: Path
    options: str

    def environment(self, *, batch=True, parallelism=1, **options):
        """Return a session whose current catalog has the tables of the folder."""
        form = EnvironmentSettings.in_batch_mode if batch else EnvironmentSettings.in_streaming_mode
        t_env = TableEnvironment.create(form())
        t_env.get_config().set("parallelism.default", str(parallelism))
        for key, value in options.items():
            t_env.get_config().set(key, value)
        t_env.execute_sql(f"CREATE CATALOG ice WITH ('type' = 'iceberg', {self.options})")
        t_env.use_catalog("ice")
        return t_env


def rows(t_env, text):
    """Return the rows of a query, sorted by their texts."""
    with t_env.execute_sql(text).collect() as found:
        return sorted((tuple(row) for row in found), key=str)


@pytest.fixture(params=["hadoop", "jdbc"])
def warehouse(request, tmp_path, local_engine):
    """A warehouse with either kind of catalog."""
    options = f"'catalog-type' = '{request.param}', 'warehouse' = '{tmp_path}/warehouse'"
    if request.param == "jdbc":
        options += f", 'uri' = 'jdbc:sqlite:{tmp_path}/catalog.db'"
    return Warehouse(tmp_path, options)


@pytest.fixture
def folders(tmp_path, local_engine):
    """A warehouse of folders."""
    return Warehouse(tmp_path, f"'catalog-type' = 'hadoop', 'warehouse' = 'file://{tmp_path}/w'")
