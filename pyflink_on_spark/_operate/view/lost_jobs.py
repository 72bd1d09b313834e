"""The end of a job whose driver was killed, and the checkpoint from which it continues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._operate.view.job_records import LOST, JobRecord
from pyflink_on_spark._runtime.checkpoints.checkpoint import latest_checkpoint


def checkpoint_of_lost(archived: Mapping[str, Any]) -> str | None:
    """The path of the latest complete checkpoint of a job; None if none is found.

    What a killed driver has told last is some seconds old, and a checkpoint of that time may be
    replaced by now. So the folder is looked at.

    Args:
        archived: what was kept of the job.
    """
    history = archived.get("/checkpoints", {}).get("history", [])
    paths = [
        str(each["external_path"])
        for each in history
        if each.get("external_path") and not each["is_savepoint"]
    ]
    try:
        return latest_checkpoint(paths[0].rpartition("/")[0]) if paths else None
    except Exception:  # noqa: BLE001 - a file system may raise anything, and needs a configuration
        return None


def with_loss(path: str, kept: Any, record: JobRecord, archived: Mapping[str, Any]) -> Any:
    """An answer about a job that was kept; failures begin with the loss of the driver.

    Args:
        path: what follows ``/jobs/:id``.
        kept: the answer.
        record: the job's.
        archived: all that was kept of the job.
    """
    if path != "/exceptions" or record.state != LOST:
        return kept
    found = checkpoint_of_lost(archived)
    then = f". `run -s {found} SCRIPT` continues from its latest checkpoint" if found else ""
    loss = {
        "exceptionName": record.cause,
        "stacktrace": f"{record.cause}: it was killed, or its machine was lost{then}",
        "timestamp": record.ended,
    }
    history = kept["exceptionHistory"]
    told = {"root-exception": loss["stacktrace"], "timestamp": record.ended}
    entries = [loss, *history["entries"]]
    return {**kept, **told, "exceptionHistory": {**history, "entries": entries}}
