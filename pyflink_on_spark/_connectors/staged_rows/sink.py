"""The sink that stages rows for Spark."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._connectors.staged_rows.staged_file import (
    StagedFile,
    attempt_of,
    files_in,
    not_handed_over,
    note_handed_over,
    remove_files,
)
from pyflink_on_spark._connectors.staged_rows.writer import StagedWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

HandOver = Callable[[list[str], int], None]


@dataclass(frozen=True)
class StagingPlace:
    """The folder in which rows are staged.

    Args:
        path: a local folder; on a cluster a folder that all workers and the driver share.
        stays: whether the folder outlives the process.
    """

    path: str
    stays: bool


class StagedSink(Sink):
    """Writes Parquet files, and hands over the files of a checkpoint together.

    Each run of a job has a folder of its own. A note in the folder says up to which checkpoint the
    rows of each attempt were handed over. The note is written before the files are removed, and
    stays as long as a checkpoint may name them.

    Args:
        place: returns the folder for the configuration of a job.
        hand_over: called with the files and the number of the checkpoint, or 0 without checkpoints.
            Like ``place`` it stays in the driver: workers get the sink without it.
    """

    def __init__(
        self, place: Callable[[Mapping[str, str]], StagingPlace], hand_over: HandOver
    ) -> None:
        self._place: Callable[[Mapping[str, str]], StagingPlace] | None = place
        self._hand_over: HandOver | None = hand_over
        self._folder, self._stays = "", False
        self._type: TypeInformation | None = None
        self._in_savepoints: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_place": None, "_hand_over": None, "_in_savepoints": set()}

    def with_input_type(self, type_info: Any) -> Sink:
        """Return this sink for a stream of a type.

        Raises:
            TypeError: a DataFrame does not support such values.
        """
        from pyflink_on_spark._connectors.staged_rows.arrow_types import arrow_schema

        arrow_schema(type_info)
        typed = self._copied()
        typed._type = type_info
        return typed

    def with_configuration(self, configuration: Mapping[str, str]) -> Sink:
        """Return this sink for one run of a job, with a folder of its own."""
        assert self._place is not None
        place = self._place(configuration)
        placed = self._copied()
        placed._folder, placed._stays = str(Path(place.path, uuid.uuid4().hex)), place.stays
        return placed

    def _copied(self) -> StagedSink:
        copied = copy.copy(self)
        copied._place, copied._hand_over = self._place, self._hand_over
        return copied

    def check_durable(self) -> None:
        """Raise if rows are staged where they do not outlive the process."""
        if not self._stays:
            raise CheckpointError(
                "to_spark() stages rows in a temporary folder, which this process removes; "
                "a checkpoint or savepoint that stays would name missing files. Give "
                "to_spark() a folder that stays (staging=...), or keep checkpoints in a local "
                "folder (execution.checkpointing.dir)."
            )

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer with a file of its own for each checkpoint."""
        return StagedWriter(self._folder, self._type, context.task.attempt, self._stays)

    def commit(self, committables: list[Any]) -> None:
        """Hand over the files that were not handed over, write the note, then remove the files.

        Raises:
            FileNotFoundError: files are missing that the note does not mention.
        """
        waiting = not_handed_over(committables)
        if waiting:
            _check_there(waiting)
            assert self._hand_over is not None
            number = max(file.number for file in waiting)
            self._hand_over(sorted(file.path for file in waiting), number)
            note_handed_over(waiting)
        remove_files([*committables, *self._abandoned(committables)])
        self._in_savepoints -= {file.path for file in committables}

    def keep(self, committables: list[Any]) -> None:
        """Do not remove the files as leftovers of an earlier attempt."""
        self._in_savepoints |= {file.path for file in committables}

    def abort(self, committables: list[Any]) -> None:
        remove_files(committables)

    def _abandoned(self, committed: list[StagedFile]) -> list[StagedFile]:
        """Return the leftovers of earlier attempts of this run that no savepoint names."""
        own = [file.attempt for file in committed if file.folder == Path(self._folder)]
        return [
            StagedFile(str(path))
            for path in files_in(Path(self._folder))
            if own and attempt_of(path) < max(own) and str(path) not in self._in_savepoints
        ]


def _check_there(files: list[StagedFile]) -> None:
    missing = sorted(file.path for file in files if not Path(file.path).exists())
    if missing:
        number = max(file.number for file in files)
        raise FileNotFoundError(
            f"checkpoint {number} has rows for to_spark() in {missing[0]}, which is gone, and it "
            f"is noted nowhere that they were handed over ({len(missing)} of {len(files)} files "
            "are missing). The staging folder has to stay for as long as a checkpoint or "
            "savepoint that was made with it; begin with another one."
        )
