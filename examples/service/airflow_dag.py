"""A bounded job each night, and a check each hour that an unbounded one still runs; for Airflow."""

from __future__ import annotations

import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

PYTHON = "/srv/counter/venv/bin/python"
BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

with DAG("nightly_counts", schedule="@daily", start_date=BEGIN, catchup=False):
    BashOperator(
        task_id="count",
        # The exit status is that of the script; a task that is killed sends SIGTERM.
        bash_command=f"exec {PYTHON} -m pyflink_on_spark run /srv/counter/nightly.py {{{{ ds }}}}",
        retries=2,
    )

with DAG("counter_is_running", schedule="@hourly", start_date=BEGIN, catchup=False):
    BashOperator(
        task_id="look",
        bash_command=f"{PYTHON} -m pyflink_on_spark list -r | grep -F ': counter (RUNNING)'",
    )
