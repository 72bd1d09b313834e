"""The sink that stages rows for Spark."""

from __future__ import annotations

import contextlib
import copy
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


_NOTE = "handed-over"
_SUFFIX = ".parquet"


@dataclass
class StagedFile:
    """A file that one subtask writes with one checkpoint: the committable of the sink.

    Args:
        path: the path of the file, in the folder of the run that wrote it.
        number: the number of the checkpoint; 0 before and without a checkpoint.
    """

    path: str
    number: int = 0

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(self.path).parent

    @property
    def attempt(self) -> int:
        """The attempt of the run that wrote the file."""
        return attempt_of(Path(self.path))


def file_name(attempt: int, unique: str) -> str:
    """Return the name of a file of an attempt."""
    return f"{attempt}-{unique}{_SUFFIX}"


def attempt_of(path: Path) -> int:
    """Return the attempt that wrote a file."""
    return int(path.name.partition("-")[0])


def files_in(folder: Path) -> list[Path]:
    """Return the files in the folder of a run."""
    return list(folder.glob(f"*-*{_SUFFIX}"))


def make_durable(path: Path) -> None:
    """Write a file to the disk, because the checkpoint that names it is durable, too."""
    LOCAL.make_durable(str(path))
    LOCAL.make_durable(str(path.parent))


def not_handed_over(files: Iterable[StagedFile]) -> list[StagedFile]:
    """Return the files that were handed over neither with their checkpoint nor with a later one."""
    last: dict[Path, dict[int, int]] = {}
    waiting = []
    for file in files:
        if file.folder not in last:
            last[file.folder] = _last_handed_over(file.folder)
        if not 0 < file.number <= last[file.folder].get(file.attempt, 0):
            waiting.append(file)
    return waiting


def note_handed_over(files: Iterable[StagedFile]) -> None:
    """Note, for all files of a checkpoint together, that Spark has their rows.

    Each attempt has its own number: a later attempt restarts from an earlier checkpoint, and does
    not have the rows that a savepoint has of an earlier attempt.
    """
    numbers: dict[Path, dict[int, int]] = {}
    for file in files:
        if file.number > 0:
            if file.folder not in numbers:
                numbers[file.folder] = _last_handed_over(file.folder)
            of_attempts = numbers[file.folder]
            of_attempts[file.attempt] = max(file.number, of_attempts.get(file.attempt, 0))
    for folder, of_attempts in numbers.items():
        Folder(str(folder)).write(_NOTE, json.dumps(of_attempts).encode())


def remove_files(files: Iterable[StagedFile]) -> None:
    """Remove files, and the folder of a run that contains neither files nor a note any more."""
    folders = set()
    for file in files:
        Path(file.path).unlink(missing_ok=True)
        folders.add(file.folder)
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _last_handed_over(folder: Path) -> dict[int, int]:
    """Return the last checkpoint whose rows were handed over, for each attempt."""
    try:
        noted = json.loads(Folder(str(folder)).read(_NOTE))
    except FileNotFoundError:
        return {}
    return {int(attempt): number for attempt, number in noted.items()}


class BatchColumns(Protocol):
    """Makes batches of Arrow."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a batch."""
        ...

    def batch(self, rows: Sequence[object]) -> pa.RecordBatch:
        """Return elements as a batch; at least one."""
        ...


class StreamColumns:
    """Makes batches of the elements of a stream.

    Args:
        type_info: the type of the stream.

    Raises:
        TypeError: a DataFrame does not support such values.
    """

    def __init__(self, type_info: Any) -> None:
        from pyflink_on_spark._connectors.spark_rows.arrow_types import (
            arrow_schema,
            is_composite,
            to_arrow,
        )

        self.schema = arrow_schema(type_info)
        self._convert = to_arrow(type_info)
        self._single = self.schema.names == ["value"] and not is_composite(type_info)

    def batch(self, rows: Sequence[object]) -> pa.RecordBatch:
        """Return elements as a batch."""
        import pyarrow as pa

        converted = list(map(self._convert, rows))
        if self._single:
            return pa.RecordBatch.from_pydict({"value": converted}, self.schema)
        return pa.RecordBatch.from_pylist(converted, self.schema)


class StagedWriter(SinkWriter):
    """Writes a file for each checkpoint.

    Args:
        folder: the folder of the run.
        columns: makes batches of the elements.
        attempt: the attempt of the job.
        stays: whether the folder outlives the process.
    """

    def __init__(self, folder: str, columns: BatchColumns, attempt: int, stays: bool) -> None:
        self._folder, self._attempt, self._stays = Path(folder), attempt, stays
        self._columns = columns
        self._file: Path | None = None
        self._open: Any = None
        self._ended: list[StagedFile] = []

    def write(self, elements: Iterator[object]) -> None:
        while values := list(islice(elements, BUNDLE_SIZE)):
            self._writer().write_batch(self._columns.batch(values))

    def prepare_commit(self) -> list[object]:
        """Close the file; a checkpoint that follows gives it its number."""
        if self._file is None:
            return []
        self._open.close()
        staged = StagedFile(str(self._file))
        self._file = self._open = None
        self._ended.append(staged)
        return [staged]

    def prepare_checkpoint(self, checkpoint_id: int) -> list[object]:
        prepared = self.prepare_commit()
        for file in self._ended:
            file.number = checkpoint_id
            if self._stays:
                make_durable(Path(file.path))
        self._ended.clear()
        return prepared

    def close(self) -> None:
        if self._file is not None:
            self._open.close()
            self._file.unlink(missing_ok=True)
            self._file = None

    def _writer(self) -> ParquetWriter:
        from pyarrow import parquet

        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._folder / file_name(self._attempt, uuid.uuid4().hex)
            self._open = parquet.ParquetWriter(self._file, self._columns.schema)
        return self._open


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
        self._columns: BatchColumns | None = None
        self._in_savepoints: set[str] = set()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_place": None, "_hand_over": None, "_in_savepoints": set()}

    def with_input_type(self, type_info: Any) -> Sink:
        """Return this sink for a stream of a type.

        Raises:
            TypeError: a DataFrame does not support such values.
        """
        from pyflink_on_spark._connectors.spark_rows.arrow_types import arrow_schema

        arrow_schema(type_info)
        typed: StagedSink = self._copied()
        typed._type = type_info
        return typed

    def with_configuration(self, configuration: Mapping[str, str]) -> Sink:
        """Return this sink for one run of a job, with a folder of its own."""
        assert self._place is not None
        place = self._place(configuration)
        placed: StagedSink = self._copied()
        placed._folder, placed._stays = str(Path(place.path, uuid.uuid4().hex)), place.stays
        return placed

    def _copied(self) -> StagedSink:
        copied: StagedSink = copy.copy(self)
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
        columns = self._columns or StreamColumns(self._type)
        return StagedWriter(self._folder, columns, context.task.attempt, self._stays)

    def commit(self, committables: list[StagedFile]) -> None:
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

    def keep(self, committables: list[StagedFile]) -> None:
        """Do not remove the files as leftovers of an earlier attempt."""
        self._in_savepoints |= {file.path for file in committables}

    def abort(self, committables: list[StagedFile]) -> None:
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
