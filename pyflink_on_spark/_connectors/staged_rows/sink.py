"""The sink that stages rows for Spark."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._connectors.staged_rows.staged_file import (
    StagedFile,
    attempt_of,
    file_name,
    files_in,
    make_safe,
    not_handed_over,
    note_handed_over,
    remove_files,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

HandOver = Callable[[list[str], int], None]


@dataclass(frozen=True)
class StagingPlace:
    """Where rows are staged.

    Args:
        path: a local folder; on a cluster one that all workers and the driver reach.
        stays: whether it outlives the process.
    """

    path: str
    stays: bool


class StagedSink(Sink):
    """Writes Parquet files, and hands those of a checkpoint over as one.

    Each run of a job has a folder of its own. There it is noted up to which checkpoint the rows of
    each attempt were handed over: before their files are removed, all at once, and for as long as a
    checkpoint may name them.

    Args:
        place: says for a job's configuration where to stage.
        hand_over: takes the files and the checkpoint's number; 0 without checkpoints. Like
            ``place`` for the driver only: it does not travel.
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
            TypeError: if a DataFrame cannot have such values.
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
                "to_spark() stages rows in a temporary folder, which goes with this process; a "
                "checkpoint or savepoint that stays would name files that are gone. Give "
                "to_spark() a folder that stays (staging=...), or keep checkpoints in a local "
                "folder (execution.checkpointing.dir)."
            )

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer with a file of its own for each checkpoint."""
        return _StagedWriter(self._folder, self._type, context.task.attempt, self._stays)

    def commit(self, committables: list[Any]) -> None:
        """Hand over what was not handed over before, note that, and only then remove the files.

        Raises:
            FileNotFoundError: if files are gone and there is no such note.
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
        """Spare files; nobody but this very sink removes what was left in its folder."""
        self._in_savepoints |= {file.path for file in committables}

    def abort(self, committables: list[Any]) -> None:
        """Remove the files."""
        remove_files(committables)

    def _abandoned(self, committed: list[StagedFile]) -> list[StagedFile]:
        """Return what former attempts of this run left, and no savepoint has.

        All of theirs that counts is committed.
        """
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


class _StagedWriter(SinkWriter):
    def __init__(self, folder: str, type_info: Any, attempt: int, stays: bool) -> None:
        from pyflink_on_spark._connectors.staged_rows.arrow_types import (
            arrow_schema,
            is_composite,
            to_arrow,
        )

        self._folder, self._attempt, self._stays = Path(folder), attempt, stays
        self._schema = arrow_schema(type_info)
        self._convert = to_arrow(type_info)
        self._single = self._schema.names == ["value"] and not is_composite(type_info)
        self._file: Path | None = None
        self._open: Any = None
        self._ended: list[StagedFile] = []

    def write(self, elements: Iterator[Any]) -> None:
        """Append rows to the file."""
        import pyarrow as pa

        while values := list(islice(elements, BUNDLE_SIZE)):
            converted = list(map(self._convert, values))
            if self._single:
                batch = pa.RecordBatch.from_pydict({"value": converted}, self._schema)
            else:
                batch = pa.RecordBatch.from_pylist(converted, self._schema)
            self._writer().write_batch(batch)

    def prepare_commit(self) -> list[Any]:
        """End the file; if a checkpoint follows, it gets that one's number."""
        if self._file is None:
            return []
        self._open.close()
        staged = StagedFile(str(self._file))
        self._file = self._open = None
        self._ended.append(staged)
        return [staged]

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        """End the file, for a checkpoint."""
        prepared = self.prepare_commit()
        for file in self._ended:
            file.number = checkpoint_id
            if self._stays:
                make_safe(Path(file.path))
        self._ended.clear()
        return prepared

    def close(self) -> None:
        """Give up what is not prepared."""
        if self._file is not None:
            self._open.close()
            self._file.unlink(missing_ok=True)
            self._file = None

    def _writer(self) -> Any:
        from pyarrow import parquet

        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._folder / file_name(self._attempt, uuid.uuid4().hex)
            self._open = parquet.ParquetWriter(self._file, self._schema)
        return self._open
