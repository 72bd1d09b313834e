"""DAGs for Airflow: a job each night, one on a server, and a look whether an unbounded one runs."""

from __future__ import annotations

import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.sensors.bash import BashSensor
from airflow.sdk import DAG

COMMAND = "/srv/counter/venv/bin/python -m pyflink_on_spark"
SERVER = "-m localhost:8081"  # `serve`, whose token is in PYFLINK_ON_SPARK_TOKEN elsewhere
BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

with DAG("nightly_counts", schedule="@daily", start_date=BEGIN, catchup=False):
    BashOperator(
        task_id="count",
        # The exit status is that of the script; a task that is killed sends SIGTERM.
        bash_command=f"exec {COMMAND} run /srv/counter/nightly.py {{{{ ds }}}}",
        retries=2,
    )

with DAG("counts_on_a_server", schedule="@daily", start_date=BEGIN, catchup=False):
    submit = BashOperator(
        task_id="submit",
        # The last line is the result of the task: the job's id.
        bash_command=f"set -o pipefail; {COMMAND} run {SERVER} -d /srv/counter/nightly.py "
        "{{ ds }} | tee /dev/stderr | sed -n 's/.*JobID //p'",
    )
    wait = BashSensor(
        task_id="wait",
        bash_command=f"state=$({COMMAND} list {SERVER} -a --limit 0 "
        '| grep -F \'{{ ti.xcom_pull(task_ids="submit") }}\') || exit 1; echo "$state"; '
        'case "$state" in *"(FINISHED)") ;; *"(FAILED)" | *"(CANCELED)" | *"(LOST)") exit 1 ;; '
        "*) exit 99 ;; esac",
        retry_exit_code=99,
        poke_interval=30,
        mode="reschedule",
    )
    submit >> wait

with DAG("counter_is_running", schedule="@hourly", start_date=BEGIN, catchup=False):
    BashOperator(
        task_id="look",
        bash_command=f"{COMMAND} list -r | grep -F ': counter (RUNNING)'",
    )
