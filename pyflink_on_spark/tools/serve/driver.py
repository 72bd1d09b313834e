"""The process of a driver that ``serve`` starts: it gets its script over standard input."""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import TYPE_CHECKING

from pyflink_on_spark._operate.dispatcher.drivers import PLAN, PREPARE
from pyflink_on_spark.tools.operate.run_options import IN_BACKGROUND, UsageError, parse

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.routing import JsonObject


def main() -> int:
    """Prepare if asked to, wait for a script, and run it; return the exit status.

    Without a script, the server has ended before it had one.
    """
    if PREPARE in sys.argv:
        _prepare()
    line = sys.stdin.readline()
    if not line.strip():
        return 0
    order = json.loads(line)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    _move(order)
    if PLAN in sys.argv:
        return _show_plan(order["arguments"])
    sys.argv[1:] = ["run", IN_BACKGROUND, order["log"], *order["arguments"]]
    runpy.run_module("pyflink_on_spark", run_name="__main__")  # exits
    return 0


def _prepare() -> None:
    """Start Spark and what jobs need; if that is impossible, the job that comes says why."""
    from pyflink_on_spark._compat.errors import PyFlinkOnSparkError

    try:
        from pyflink_on_spark import table  # noqa: F401 - many scripts use tables
        from pyflink_on_spark._spark.session.session import prepare_session
        from pyflink_on_spark.tools.serve.rehearsal import rehearse

        prepare_session()
        rehearse()
    except PyFlinkOnSparkError as error:
        print(f"Spark was not prepared: {error}", file=sys.stderr)


def _show_plan(arguments: list[str]) -> int:
    """Print the tasks of a script's first job in JSON; return the exit status."""
    from pyflink_on_spark._operate.server.rest.job import plan_of
    from pyflink_on_spark._operate.view.jobs import tasks_of
    from pyflink_on_spark.tools.operate.commands import first_job

    try:
        job = first_job(parse(arguments))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    if job is None:
        print("the script ran to its end without executing a job", file=sys.stderr)
        return 1
    print(json.dumps(plan_of(job, tasks_of(job))))
    return 0


def _move(order: JsonObject) -> None:
    """Take over the working directory and the environment variables of the client."""
    if order["directory"] is not None:
        os.chdir(order["directory"])
    environment = order["environment"]
    if environment is None:
        return
    changed = {name: text for name, text in environment.items() if os.environ.get(name) != text}
    os.environ.update(changed)
    if "pyspark" in sys.modules:  # prepared
        from pyflink_on_spark._spark.jobs.worker_environment import late_variables

        late_variables.update(changed)


if __name__ == "__main__":
    sys.exit(main())
