"""The end of a job whose driver was killed, and the checkpoint from which it continues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._operate.view.job_records import LOST, JobRecord
from pyflink_on_spark._options.checkpointing import DIRECTORY
from pyflink_on_spark._runtime.checkpoints.checkpoint import latest_checkpoint


def checkpoint_of_lost(archived: Mapping[str, Any]) -> str | None:
    """The path of the latest complete checkpoint of a job, or of the one that it began with.

    What a killed driver has told last is some seconds old, and a checkpoint of that time may be
    replaced by now. So the folder is looked at. None if nothing is found.

    Args:
        archived: what was kept of the job.
    """
    config = archived.get("/config", {})
    options = config.get("execution-config", {}).get("user-config", {})
    directory = DIRECTORY.read(options)
    restored = archived.get("/checkpoints", {}).get("latest", {}).get("restored")
    first = None if restored is None else restored["external_path"]
    try:
        found = latest_checkpoint(f"{directory}/{config['jid']}") if directory else None
    except Exception:  # noqa: BLE001 - a file system may raise anything, and needs a configuration
        return None
    return found or first


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
