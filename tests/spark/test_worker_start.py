"""Workers import PySpark from where it is installed, and not, slowly, from Spark's archive."""

from __future__ import annotations

import os
import subprocess
import sys

from pyflink_on_spark._spark.session.spark_defaults import spark_home, worker_path

ASK = "import pyspark, py4j, sys; print(pyspark.__file__); print(py4j.__file__); print(sys.path)"


def asked(*paths, code=ASK):
    """The lines that a worker prints whose path Spark has put together."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=given, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def archives(home):
    return sorted((home / "python" / "lib").glob("py*.zip"))


def test_what_is_installed_comes_before_sparks_archives():
    found = archives(spark_home())
    assert len(found) == 2
    assert ".zip" in asked(*found).splitlines()[0]
    pyspark, py4j, path = asked(*found, worker_path()).splitlines()
    assert ".zip" not in pyspark + py4j
    assert all(str(archive) in path for archive in found)


def test_the_archives_of_another_spark_stay_in_front(tmp_path):
    lib = tmp_path / "pyspark" / "python" / "lib"
    lib.mkdir(parents=True)
    for archive in archives(spark_home()):
        (lib / archive.name).write_bytes(archive.read_bytes())
    assert asked(*archives(tmp_path / "pyspark"), worker_path()).startswith(str(lib))


def test_the_users_own_customisation_is_carried_out(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.mine = 'it ran'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = worker_path()
    assert asked(path, code="import sys; print(sys.mine, len(sys.path))").startswith("it ran")
    start = path.split(os.pathsep)[0]
    assert start not in asked(path, code="import sys; print(sys.path)")
