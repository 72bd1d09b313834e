"""The workflows for hosted CI call what tox and .ci/run do, and nothing of their own."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ENVIRONMENT = re.compile(r"tox -e ([\w-]+)")
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def load(workflow):
    return YAML(typ="safe").load(workflow.read_text(encoding="utf-8"))


def commands_of(workflow):
    for job in load(workflow)["jobs"].values():
        for step in job["steps"]:
            if "run" in step:
                matrix = job.get("strategy", {}).get("matrix", {}).get("environment", [""])
                for value in matrix:
                    yield step["run"].replace("${{ matrix.environment }}", value)


@pytest.fixture(scope="module")
def environments():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return {name.removeprefix("testenv:") for name in parser.sections()}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_a_workflow_calls_what_developers_call(workflow, environments):
    for command in commands_of(workflow):
        named = ENVIRONMENT.findall(command)
        assert set(named) <= environments, command
        assert named or command in {".ci/run", "python -m pip install tox"} or "test -e" in command


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_actions_are_pinned_by_the_hash_of_their_commit(workflow):
    steps = [step for job in load(workflow)["jobs"].values() for step in job["steps"]]
    actions = [step["uses"] for step in steps if "uses" in step]
    assert actions
    assert [action for action in actions if not PINNED.fullmatch(action)] == []


def test_only_a_tag_is_published():
    jobs = load(ROOT / ".github/workflows/release.yml")["jobs"]
    publish = jobs.pop("publish")
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert publish["needs"] == "package"
    assert publish["permissions"] == {"id-token": "write"}
    assert all("permissions" not in job for job in jobs.values())


def test_there_is_a_workflow_for_each_purpose():
    assert [workflow.stem for workflow in WORKFLOWS] == [
        "docs",
        "lint",
        "nightly",
        "release",
        "tests",
    ]


def test_the_tests_run_on_every_python_that_the_package_supports():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    supported = re.findall(r"Python :: (3\.\d+)", parser["metadata"]["classifiers"])
    tests = load(ROOT / ".github/workflows/tests.yml")["jobs"]["tests"]
    assert tests["strategy"]["matrix"]["python"] == supported
