"""The client that is generated from Flink's description of its REST API works against this one.

The client checks the types of fields. Not here: where the description differs from what Flink
sends, so that the client fails with Flink itself (metrics, watermarks, the ids of slot sharing
groups, the mode of checkpoints, configurations).
"""

from __future__ import annotations

import importlib

import pytest

flink_job_manager_api = pytest.importorskip("flink_job_manager_api")

OF_PROCESS = [
    "get_cluster_overview", "get_dashboard_configuration", "get_jobs_overview",
    "get_job_ids_with_statuses_overview", "get_job_manager_log_list", "get_task_managers",
]  # fmt: skip
OF_JOB = [
    "get_job_plan", "get_job_exceptions", "get_job_accumulators", "get_job_status_info",
    "get_checkpointing_statistics",
]  # fmt: skip
OF_TASK = [
    "get_job_vertex_details", "get_job_vertex_back_pressure", "get_subtasks_times",
    "get_job_vertex_task_managers", "get_job_vertex_accumulators",
    "get_subtasks_all_accumulators",
]  # fmt: skip


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
