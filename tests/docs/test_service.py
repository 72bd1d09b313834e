"""The files of docs/operate/service.md: each is well-formed, and names only what exists."""

from __future__ import annotations

import ast
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.state import SavepointWriter, latest_checkpoint

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "examples" / "service"
PAGE = (ROOT / "docs" / "operate" / "service.md").read_text(encoding="utf-8")
# The fields of the Spark operator's v1beta2 that the file may use, by object.
FIELDS = {
    "spec": {
        "type", "pythonVersion", "mode", "sparkVersion", "image", "imagePullPolicy",
        "mainApplicationFile", "arguments", "sparkConf", "restartPolicy", "driver", "executor",
        "deps", "volumes", "monitoring", "timeToLiveSeconds", "hadoopConf",
    },
    "restartPolicy": {
        "type", "onFailureRetries", "onFailureRetryInterval", "onSubmissionFailureRetries",
        "onSubmissionFailureRetryInterval",
    },
    "driver": {
        "cores", "coreLimit", "memory", "memoryOverhead", "serviceAccount", "labels", "env",
        "envFrom", "terminationGracePeriodSeconds", "volumeMounts", "annotations",
    },
    "executor": {
        "cores", "coreLimit", "memory", "memoryOverhead", "instances", "labels", "env", "envFrom",
        "volumeMounts", "annotations",
    },
}  # fmt: skip


def yaml(name):
    return YAML(typ="safe").load((FILES / name).read_text())


def test_each_file_is_on_the_page():
    names = {path.name for path in FILES.iterdir() if path.is_file()}
    assert set(re.findall(r"examples/service/([\w.]+)\)", PAGE)) == names | set()


def test_the_configuration_has_options_that_exist(monkeypatch):
    configuration = Configuration.from_dict(_flat(yaml("config.yaml")))
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    environment._check_options()
    known = (ROOT / "docs" / "reference" / "options.md").read_text()
    for key in _flat(yaml("config.yaml")):
        assert f"`{key}`" in known or key.startswith("metrics.reporter."), key


def _flat(tree, prefix=""):
    found = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def test_the_unit_of_systemd(tmp_path):
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str
    parser.read(FILES / "counter.service")
    assert parser["Service"]["KillMode"] == "mixed"
    assert "start.py checkpoints savepoints -- " in parser["Service"]["ExecStart"]
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    text = (FILES / "counter.service").read_text()
    unit = tmp_path / "counter.service"
    unit.write_text(text.replace("/srv/counter/venv/bin/python", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_dockerfile():
    lines = (FILES / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    known = {"FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert {step for step, _ in steps} <= known
    for step, rest in steps:
        if step == "COPY":
            assert all((ROOT / source).exists() for source in rest.split()[:-1]), rest
        if step in {"ENTRYPOINT", "CMD"}:
            assert json.loads(rest)


def test_the_application_of_kubernetes():
    application = yaml("spark_application.yaml")
    assert application["apiVersion"] == "sparkoperator.k8s.io/v1beta2"
    assert application["kind"] == "SparkApplication"
    spec = application["spec"]
    for name, fields in FIELDS.items():
        assert set(spec if name == "spec" else spec[name]) <= fields, name
    assert spec["mainApplicationFile"].rpartition("/")[2] in {p.name for p in FILES.iterdir()}
    assert all(isinstance(argument, str) for argument in spec["arguments"])


def test_the_dags_of_airflow():
    tree = ast.parse((FILES / "airflow_dag.py").read_text())
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    standard = {f"airflow.providers.standard.{kind}.bash" for kind in ("operators", "sensors")}
    assert imported == {"__future__", "airflow.sdk", *standard}


def test_the_alerts_name_metrics_that_exist():
    rules = yaml("alerts.yaml")["groups"][0]["rules"]
    told = {rule["alert"] for rule in rules}
    table = PAGE.partition("## Alerts")[2]
    assert told == set(re.findall(r"\b[A-Z]\w+[a-z][A-Z]?\w*\b", "".join(
        line.split("|")[1] for line in table.splitlines() if line.startswith("| ")
    ))) - {"alert"}  # fmt: skip
    samples = (ROOT / "pyflink_on_spark/_operate/metrics.py").read_text()
    for rule in rules:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        (metric,) = re.findall(
            r"flink_(?:jobmanager_job|taskmanager_job_task(?:_operator)?)_(\w+)", rule["expr"]
        )
        assert f'"{metric}"' in samples


def test_the_log_as_lines_of_json():
    script = "import logging_config, logging; logging.getLogger('a').info('a line')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=FILES, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    told = json.loads(done.stderr)
    assert (told["level"], told["logger"], told["message"]) == ("INFO", "a", "a line")


@pytest.fixture
def started(monkeypatch):
    """Return with which arguments start.py starts a job."""
    names = {"__name__": "start"}
    exec(compile((FILES / "start.py").read_text(), "start.py", "exec"), names)
    names["main"] = lambda arguments: arguments
    return names["start"]


def test_a_start_from_the_latest(started, tmp_path):
    folders = [str(tmp_path / "checkpoints"), str(tmp_path / "savepoints")]
    given = [*folders, "--", "--ui", "counter.py"]
    assert started(given) == ["run", "--ui", "counter.py"]
    state = ValueStateDescriptor("v", Types.LONG())
    for path in ("savepoints/savepoint-1", "checkpoints/job/chk-2", "savepoints/savepoint-2"):
        writer = SavepointWriter().put("op", state, [(1, 1)])
        written = writer.write(str(tmp_path / path))
        metadata = tmp_path / path / "_metadata"
        assert metadata.exists()
        (tmp_path / "checkpoints" / "job" / "shared").mkdir(parents=True, exist_ok=True)
        assert latest_checkpoint(*folders) == written
    assert started(given) == ["run", "-s", written, "--ui", "counter.py"]
