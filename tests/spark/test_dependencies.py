"""The dependencies of a job, in Spark's workers."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

from pyflink_on_spark._spark.session.dependencies import spark_settings
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import RuntimeExecutionMode

ROOT = Path(__file__).resolve().parents[2]


def in_workers(env, function):
    stream = env.from_collection([0, 1]).rebalance().map(lambda _: function())
    with stream.execute_and_collect() as results:
        [result] = set(results)
    return result


def importing(module):
    return lambda: importlib.import_module(module).VALUE


def test_modules_archives_and_requirements(env, tmp_path):
    (tmp_path / "shipped_module.py").write_text("VALUE = 1")
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("shipped_package/__init__.py", "VALUE = 2")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "shipped_from_folder.py").write_text("VALUE = 3")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("inner/a.txt", "hello")
    wheel = tmp_path / "shipped_requirement-1.0-py3-none-any.whl"
    info = "shipped_requirement-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("shipped_requirement.py", "VALUE = 4")
        archive.writestr(f"{info}/METADATA", "Name: shipped-requirement\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    (tmp_path / "requirements.txt").write_text("shipped-requirement")

    env.set_parallelism(2)
    env.add_python_file(str(tmp_path / "shipped_module.py"))
    env.add_python_file(str(tmp_path / "modules.zip"))
    env.add_python_file(str(tmp_path / "folder"))
    env.add_python_archive(str(tmp_path / "data.zip"), "data")
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path))

    def look():
        modules = [
            "shipped_module",
            "shipped_package",
            "shipped_from_folder",
            "shipped_requirement",
        ]
        values = [importlib.import_module(name).VALUE for name in modules]
        return (*values, Path("data/inner/a.txt").read_text())

    assert in_workers(env, look) == (1, 2, 3, 4, "hello")
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert in_workers(env, look) == (1, 2, 3, 4, "hello")


def test_another_job_has_another_module_of_that_name(env, tmp_path):
    here = os.getcwd()
    for value in ("one", "two"):
        (tmp_path / value).mkdir()
        (tmp_path / value / "module_of_a_job.py").write_text(f"VALUE = {value!r}")
        keys = {"python.files": f"{tmp_path}/{value}/module_of_a_job.py"}
        env.configure(Configuration.from_dict(keys))
        assert in_workers(env, importing("module_of_a_job")) == value
    assert in_workers(env, os.getcwd) == here


def test_with_checkpoints(env, tmp_path):
    (tmp_path / "module_of_a_host.py").write_text("VALUE = 5")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("a.txt", "hello")
    env.enable_checkpointing(1000)
    env.add_python_file(str(tmp_path / "module_of_a_host.py"))
    env.add_python_archive(str(tmp_path / "data.zip"), "data")
    look = importing("module_of_a_host")
    assert in_workers(env, lambda: (look(), Path("data/a.txt").read_text())) == (5, "hello")


def test_a_running_spark_keeps_its_interpreter(env, tmp_path, caplog):
    other = tmp_path / "python"
    other.write_text("#!/bin/sh")
    other.chmod(0o755)
    env.set_python_executable(str(other))
    for _ in range(2):
        assert in_workers(env, lambda: sys.executable) == sys.executable
    warnings = [record.getMessage() for record in caplog.records]
    [warning] = [text for text in warnings if str(other) in text]
    assert warning == (
        f"spark.pyspark.python (set_python_executable) is {other}, but Spark runs already, and its "
        f"workers stay with {sys.executable}: choose the interpreter before the first job"
    )
    caplog.clear()
    env.set_python_executable(sys.executable)
    assert in_workers(env, int) == 0
    assert not caplog.records


def test_an_interpreter_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "env.zip", "w") as archive:
        program = zipfile.ZipInfo("bin/python")
        program.external_attr = 0o755 << 16
        archive.writestr(program, "#!/bin/sh")
    keys = {"python.archives": f"{tmp_path}/env.zip#env", "python.executable": "env/bin/python"}
    chosen = spark_settings(keys)["spark.pyspark.python"]
    assert Path(chosen).read_text() == "#!/bin/sh"
    assert os.access(chosen, os.X_OK)
    assert spark_settings({**keys, "spark.master": "spark://host:7077"}) == {
        "spark.master": "spark://host:7077",
        "spark.pyspark.python": "env/bin/python",
        "spark.archives": f"{tmp_path}/env.zip#env",
    }


@pytest.mark.skipif(os.name == "nt", reason="links to interpreters")
def test_the_first_job_chooses_the_interpreter(tmp_path):
    venv.create(tmp_path / "other", system_site_packages=False, symlinks=True)
    # It sees the packages of the interpreter that runs the tests.
    [site] = (tmp_path / "other" / "lib").glob("python*/site-packages")
    (site / "those.pth").write_text("\n".join(p for p in sys.path if "site-packages" in p))
    script = f"""
        from pyflink_on_spark.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        env.set_python_executable({str(tmp_path / "other" / "bin" / "python")!r})
        def prefix(_):
            import sys
            return sys.prefix
        env.from_collection([0]).map(prefix).print()
        env.execute()
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.stdout.splitlines() == [str(tmp_path / "other")], done.stderr
