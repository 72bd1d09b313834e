"""The dependencies of a job: modules, archives, packages to install; in this process."""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys
import zipfile

import pytest

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._runtime.user_code import (
    Archive,
    PythonDependencies,
    Requirements,
    import_from,
    lay_out,
)
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.testing import local_engine


@pytest.fixture
def env():
    with local_engine():
        environment = StreamExecutionEnvironment.get_execution_environment()
        environment.set_parallelism(1)
        yield environment
    import_from([])


def in_a_job(env, function):
    stream = env.from_collection([0]).map(lambda _: function())
    with stream.execute_and_collect() as results:
        return next(iter(results))


def importing(module):
    return lambda: importlib.import_module(module).VALUE


def test_a_module(env, tmp_path):
    (tmp_path / "one_module.py").write_text("VALUE = 1")
    env.add_python_file(str(tmp_path / "one_module.py"))
    assert in_a_job(env, importing("one_module")) == 1
    assert in_a_job(env, importing("one_module")) == 1


def test_what_is_in_a_folder_but_not_the_folder_itself(env, tmp_path):
    (tmp_path / "folder" / "package_in_folder").mkdir(parents=True)
    (tmp_path / "folder" / "package_in_folder" / "__init__.py").write_text("VALUE = 2")
    env.add_python_file((tmp_path / "folder").as_uri())
    assert in_a_job(env, importing("package_in_folder")) == 2
    with pytest.raises(RuntimeError, match="No module named 'folder'"):
        in_a_job(env, importing("folder"))


def test_a_zip(env, tmp_path):
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("zipped_package/__init__.py", "")
        archive.writestr("zipped_package/inner.py", "VALUE = 3")
    env.add_python_file(str(tmp_path / "modules.zip"))
    assert in_a_job(env, importing("zipped_package.inner")) == 3


def test_a_module_that_has_changed_is_imported_anew(env, tmp_path):
    module = tmp_path / "changing_module.py"
    env.add_python_file(str(module))
    for text in ("VALUE = 'old'", "VALUE = 'newer'"):
        module.write_text(text)
        assert in_a_job(env, importing("changing_module")) == text.split("'")[1]


def test_the_last_one_added_is_the_first_to_be_looked_in(env, tmp_path):
    for value in ("first", "second"):
        (tmp_path / value).mkdir()
        (tmp_path / value / "twice_there.py").write_text(f"VALUE = {value!r}")
        env.add_python_file(str(tmp_path / value))
    assert in_a_job(env, importing("twice_there")) == "second"


def test_archives_are_in_the_working_directory(env, tmp_path):
    before = os.getcwd()
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("inner/a.txt", "hello")
    env.add_python_archive(str(tmp_path / "data.zip"))
    env.add_python_archive(str(tmp_path / "data.zip"), "renamed")

    def read():
        with open("data.zip/inner/a.txt") as one, open("renamed/inner/a.txt") as other:
            return one.read(), other.read()

    assert in_a_job(env, read) == ("hello", "hello")
    assert os.getcwd() == before


def test_programs_in_archives_stay_programs(tmp_path):
    program = tmp_path / "program.sh"
    program.write_text("#!/bin/sh\necho run\n")
    program.chmod(0o755)
    with zipfile.ZipFile(tmp_path / "tools.zip", "w") as archive:
        archive.write(program, "bin/program.sh")
    wanted = PythonDependencies(archives=(Archive(str(tmp_path / "tools.zip"), "tools"),))
    [folder] = lay_out(wanted, tmp_path, sys.executable)
    unpacked = os.path.join(folder.path, "tools", "bin", "program.sh")
    assert subprocess.check_output([unpacked], text=True) == "run\n"


def test_from_the_configuration(tmp_path):
    (tmp_path / "a.py").touch()
    (tmp_path / "b.zip").touch()
    (tmp_path / "r.txt").touch()
    keys = {
        "python.files": f"{tmp_path}/a.py, file://{tmp_path}/b.zip",
        "python.archives": f"{tmp_path}/b.zip,{tmp_path}/b.zip#target",
        "python.requirements": f"{tmp_path}/r.txt#{tmp_path}",
    }
    dependencies = PythonDependencies.of(keys)
    assert dependencies.files == (f"{tmp_path}/a.py", f"{tmp_path}/b.zip")
    assert [archive.target for archive in dependencies.archives] == ["b.zip", "target"]
    assert dependencies.requirements == Requirements(f"{tmp_path}/r.txt", str(tmp_path))


def test_the_setters_write_flinks_options():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.add_python_file("a.py")
    env.add_python_file("b.py")
    env.add_python_archive("c.zip", "target")
    env.add_python_archive("d.zip")
    env.set_python_requirements("r.txt", "cache")
    env.set_python_executable("python3")
    options = env._configuration.to_dict()
    assert options == {
        "python.files": "b.py,a.py",
        "python.archives": "c.zip#target,d.zip",
        "python.requirements": "r.txt#cache",
        "python.executable": "python3",
    }


@pytest.mark.parametrize(
    "name",
    [
        lambda env: env.add_python_file("/nowhere/x.py"),
        lambda env: env.add_python_archive("/nowhere/x.py"),
        lambda env: env.set_python_requirements("/nowhere/x.py"),
        lambda env: env.set_python_requirements(__file__, "/nowhere/x.py"),
        lambda env: env.register_cached_file("file:///nowhere/x.py", "x"),
    ],
)
def test_what_is_missing_fails_the_job(env, name):
    name(env)
    with pytest.raises(FileNotFoundError, match=r"/nowhere/x\.py"):
        in_a_job(env, int)


def test_an_archive_stays_in_the_working_directory():
    with pytest.raises(ValueError, match="not a folder inside"):
        PythonDependencies.of({"python.archives": f"{__file__}#../elsewhere"})


def test_an_archive_that_is_none(tmp_path):
    (tmp_path / "bad.zip").write_text("no archive")
    wanted = PythonDependencies(archives=(Archive(str(tmp_path / "bad.zip"), "bad"),))
    with pytest.raises(EnvironmentSetupError, match=r"bad\.zip cannot be unpacked"):
        lay_out(wanted, tmp_path, sys.executable)


def test_a_cached_file_is_said_to_be_of_no_use(env, caplog, tmp_path, monkeypatch):
    monkeypatch.setattr("pyflink_on_spark._compat.recorded._SAID", set())
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        env.register_cached_file(str(tmp_path / "file"), "name")
    assert "no way to read such a file" in caplog.text
    assert in_a_job(env, int) == 0


def test_jars_are_a_list():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.add_jars("file:///a.jar", "file:///b.jar")
    env.add_jars("file:///c.jar")
    jars = env._configuration.get_string("pipeline.jars", "")
    assert Configuration.parse_list_value(jars) == [f"file:///{n}.jar" for n in "abc"]


@pytest.fixture
def wheel(tmp_path):
    """A package to install, in a folder that pip can find it in."""
    folder = tmp_path / "packages"
    folder.mkdir()
    info = "tiny_requirement-1.0.dist-info"
    files = {
        "tiny_requirement.py": "VALUE = 'installed'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-requirement\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / "tiny_requirement-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in files))
    (tmp_path / "requirements.txt").write_text("tiny-requirement==1.0\n")
    return tmp_path


@pytest.mark.slow
def test_requirements_are_installed_once(env, wheel, monkeypatch):
    env.set_python_requirements(str(wheel / "requirements.txt"), str(wheel / "packages"))
    assert in_a_job(env, importing("tiny_requirement")) == "installed"
    monkeypatch.setattr(subprocess, "run", None)
    assert in_a_job(env, importing("tiny_requirement")) == "installed"


@pytest.mark.slow
def test_requirements_that_pip_cannot_install(env, wheel):
    (wheel / "requirements.txt").write_text("no-such-requirement==1.0\n")
    env.set_python_requirements(str(wheel / "requirements.txt"), str(wheel / "packages"))
    with pytest.raises(EnvironmentSetupError, match=r"(?s)pip could not.*no-such-requirement"):
        in_a_job(env, int)
