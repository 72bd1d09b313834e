"""The installed package contains all files that it needs."""

from __future__ import annotations

import configparser
import pkgutil
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pyflink_on_spark

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pyflink_on_spark"


@pytest.fixture
def setup_cfg():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_every_file_that_is_not_python_is_shipped(setup_cfg):
    patterns = setup_cfg["options.package_data"]["*"].split()
    paths = [
        path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}
    ]
    others = [path.name for path in paths]
    assert {"py.typed", "log_quiet.properties"} <= set(others)
    assert [path for path in paths if not (path.parent / "__init__.py").exists()] == []
    assert [name for name in others if not any(fnmatch(name, p) for p in patterns)] == []


def test_the_versions_that_scripts_install_are_those_that_setup_cfg_allows(setup_cfg):
    lines = (ROOT / "scripts/constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {
        canonicalize_name(name): version
        for name, _, version in (line.partition("==") for line in lines if line[0] != "#")
    }
    wanted = setup_cfg["options"]["install_requires"]
    wanted += "".join(setup_cfg.get("options.extras_require", extra) for extra in ("test", "dev"))
    requirements = [Requirement(line) for line in wanted.splitlines() if re.match(r"\w", line)]
    assert len(requirements) > 30
    for requirement in requirements:
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_the_extra_brings_the_command_flink(setup_cfg):
    project = tomllib.loads((ROOT / "flink-command/pyproject.toml").read_text("utf-8"))["project"]
    assert setup_cfg["options.extras_require"]["flink-command"].strip() == project["name"]
    assert project["version"] == pyflink_on_spark.__version__
    assert project["dependencies"] == [setup_cfg["metadata"]["name"]]
    assert set(project["scripts"]) == {"flink", "sql-client.sh"}
    for place in project["scripts"].values():
        assert callable(pkgutil.resolve_name(place))
