"""The client that is generated from Flink's description of its REST API works against this one.

The client checks the types of fields. Not here: where the description differs from what Flink
sends, so that the client fails with Flink itself (metrics, watermarks, the ids of slot sharing
groups, the mode of checkpoints, configurations).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

from pyflink_on_spark._operate.server.job_registry import DRIVER
from pyflink_on_spark._operate.server.rest.routing import Request

flink_job_manager_api = pytest.importorskip("flink_job_manager_api")

NOT_THERE = {
    # Only `serve` takes scripts.
    "delete_jar", "generate_plan_from_jar", "get_jar_list", "submit_job_from_jar",
    # There are no cached data sets, and no templates for the places of logs.
    "delete_cluster_data_set", "get_cluster_data_set_delete_status",
    "get_job_manager_log_url", "get_task_manager_log_url",
    # A driver ends with its jobs, does not depend on its client, and keeps the parallelism.
    "shutdown_cluster", "trigger_heartbeat", "get_rescaling_status",
}  # fmt: skip
OF_PROCESS = [
    "get_cluster_overview", "get_dashboard_configuration", "get_jobs_overview",
    "get_job_ids_with_statuses_overview", "get_job_manager_log_list", "get_task_managers",
    "get_cluster_data_set_list",
]  # fmt: skip
OF_JOB = [
    "get_job_plan", "get_job_exceptions", "get_job_accumulators", "get_job_status_info",
    "get_checkpointing_statistics", "get_job_manager_job_environment",
]  # fmt: skip
OF_TASK = [
    "get_job_vertex_details", "get_job_vertex_back_pressure", "get_subtasks_times",
    "get_job_vertex_task_managers", "get_job_vertex_accumulators",
    "get_subtasks_all_accumulators",
]  # fmt: skip


def test_each_path_of_the_generated_client_is_there_but_for_those_that_are_known():
    calls = importlib.import_module("flink_job_manager_api.api.default")
    missing = set()
    for module in pkgutil.iter_modules(calls.__path__):
        source = inspect.getsource(importlib.import_module(f"{calls.__name__}.{module.name}"))
        method = re.search(r'"method": "(\w+)"', source)[1].upper()
        path = re.sub(r"\{\w+\}", "x", re.search(r'"url": f?"([^"]+)"', source)[1])
        answer = DRIVER.router.answer(Request(method, path))
        if answer.status in {404, 405} and NO_SUCH_PATH.search(str(answer.content)):
            missing.add(module.name)
    assert missing == NOT_THERE


NO_SUCH_PATH = re.compile("Not found: |does not take")


def ask(url, name, *path):
    call = importlib.import_module(f"flink_job_manager_api.api.default.{name}")
    answer = call.sync_detailed(*path, client=flink_job_manager_api.Client(base_url=url))
    assert answer.status_code == 200, answer.content
    return answer.parsed


def known_fields(parsed):
    """Return the fields at this level and below that do not belong to Flink's API."""
    extra = getattr(parsed, "additional_properties", {})
    return {key for key in extra if not key.isupper()}


@pytest.mark.parametrize("name", OF_PROCESS)
def test_the_process_for_the_generated_client(url, name):
    assert known_fields(ask(url, name)) <= EXTRA


@pytest.mark.parametrize("name", OF_JOB)
def test_a_job_for_the_generated_client(url, reported, name):
    assert known_fields(ask(url, name, reported.id)) <= EXTRA


@pytest.mark.parametrize("name", OF_TASK)
def test_a_task_for_the_generated_client(url, reported, name):
    assert known_fields(ask(url, name, reported.id, reported.tasks[1].id)) <= EXTRA


# What Flink sends, and the version of the description lacks.
EXTRA = {"backpressure-level", "root-exception", "timestamp", "all-exceptions", "truncated"}
