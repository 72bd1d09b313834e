"""The installed package contains all files that it needs."""

from __future__ import annotations

import configparser
from fnmatch import fnmatch
from pathlib import Path

import pytest

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
