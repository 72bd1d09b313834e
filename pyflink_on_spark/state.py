"""State as data: reads checkpoints and savepoints without the job, writes and changes savepoints.

Example:
    ::

        from pyflink_on_spark.state import CheckpointContents, to_pandas

        contents = CheckpointContents("file:///savepoints/savepoint-1a2b3c-0123456789ab")
        for operator in contents.operators():
            print(operator.id, operator.size, [state.name for state in operator.states])
        for entry in contents.entries("counter", "count"):
            print(entry.key, entry.value)
        frame = to_pandas(contents, "counter", "count")
"""

from __future__ import annotations

import shutil
import struct
import tempfile
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import latest_checkpoint
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder, signer_of
from pyflink_on_spark._runtime.checkpoints.contents import (
    CheckpointContents,
    Opaque,
    OperatorSummary,
    SourceSummary,
    StateEntry,
    StateSummary,
    load_safely,
)
from pyflink_on_spark._runtime.checkpoints.savepoint_writer import SavepointWriter
from pyflink_on_spark._runtime.coders import load as load_of_job
from pyflink_on_spark._runtime.state.moved_in import decoder, unpickled
from pyflink_on_spark.flink_state import FlinkCheckpoint, is_of_flink
from pyflink_on_spark.flink_state.conversion import convert, heirs_without_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

__all__ = [
    "CheckpointContents",
    "MovedInContents",
    "Opaque",
    "OperatorSummary",
    "SavepointWriter",
    "SourceSummary",
    "StateEntry",
    "StateSummary",
    "latest_checkpoint",
    "open_checkpoint",
    "to_pandas",
    "to_spark",
]


def open_checkpoint(
    path: str, configuration: Mapping[str, str] | None = None, *, trusted: bool = False
) -> CheckpointContents:
    """Open a checkpoint or savepoint, which Flink may have written.

    Args:
        path: its folder, or its ``_metadata``.
        configuration: says how file systems are reached.
        trusted: whether to load classes of the job, which runs their code.

    Returns:
        ``CheckpointContents``; of one of Flink ``MovedInContents``.

    Raises:
        CheckpointError: it is not there, or damaged.
    """
    kind = MovedInContents if is_of_flink(path, configuration) else CheckpointContents
    return kind(path, configuration, trusted=trusted)


class MovedInContents(CheckpointContents):
    """A checkpoint or savepoint of Flink, with the state of PyFlink's operators.

    It is written as one of ours, in a temporary folder that lives as long as this object. Values
    are as PyFlink's workers have written them: pickles are loaded, and others are bytes, which
    ``typed_entries`` reads.

    Args:
        path: its folder, or its ``_metadata``.
        configuration: says how file systems are reached.
        trusted: whether to load classes of the job, which runs their code.

    Raises:
        CheckpointError: it is not there, or damaged.
    """

    def __init__(
        self,
        path: str,
        configuration: Mapping[str, str] | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        flinks = FlinkCheckpoint(path, configuration)
        if signer_of(configuration or {}) is not None:
            raise CheckpointError(f"{flinks.path} is of Flink, which signs nothing")
        home = tempfile.mkdtemp(prefix="moved-in-")
        weakref.finalize(self, shutil.rmtree, home, ignore_errors=True)
        load = load_of_job if trusted else load_safely
        found = convert(flinks, folder(home), heirs_without_job, load)
        super().__init__(home, trusted=trusted)
        self.load_value = load
        self.path = flinks.path
        self.left_out = tuple(found.refused)
        """The parts that only a job can restore, each with the reason as a sentence."""
        self.damaged = tuple(found.damaged)
        """Those of them that cannot be read to their end."""

    def entries(self, operator: str, state: str) -> Iterator[StateEntry]:
        """Iterate over the entries of a state, with pickles loaded."""
        for entry in super().entries(operator, state):
            value, namespace = unpickled(entry.value, self.load_value), entry.namespace
            yield replace(entry, value=value, namespace=_window(namespace))

    def typed_entries(self, operator: str, descriptor: Any) -> Iterator[StateEntry]:
        """Iterate over the entries of a state, with values of their types.

        Args:
            operator: the operator's id, or an unambiguous part of it.
            descriptor: the descriptor of the state, as the job creates it.

        Raises:
            CheckpointError: there is no such operator or state, or it is of another type.
        """
        name, kind = descriptor.get_name(), descriptor._kind
        decode = decoder(name, kind, descriptor.type_info, False, self.load_value)
        for entry in super().entries(operator, name):
            yield replace(entry, value=decode(entry.value), namespace=_window(entry.namespace))


def _window(namespace: object) -> Any:
    """Return the start and the end of a time window."""
    if isinstance(namespace, bytes) and len(namespace) == _START_AND_END.size:
        return _START_AND_END.unpack(namespace)
    return namespace


_START_AND_END = struct.Struct(">qq")
_COLUMNS = ["key", "namespace", "value"]


def to_pandas(contents: CheckpointContents, operator: str, state: object) -> pd.DataFrame:
    """Return a state as a DataFrame with the columns ``key``, ``namespace`` and ``value``.

    Args:
        contents: the checkpoint or savepoint.
        operator: the operator's id, or an unambiguous part of it.
        state: the state's name; of a savepoint of Flink the descriptor, which says its type.

    Raises:
        CheckpointError: there is no such operator or state.
    """
    import pandas as pd

    return pd.DataFrame(_rows(contents, operator, state), columns=_COLUMNS)


def to_spark(
    spark: Any, contents: CheckpointContents, operator: str, state: object, schema: object
) -> Any:
    """Return a state as a Spark DataFrame with the columns ``key``, ``namespace`` and ``value``.

    The state passes through the driver. The namespace is a text, None outside of windows.

    Args:
        spark: the SparkSession.
        contents: the checkpoint or savepoint.
        operator: the operator's id, or an unambiguous part of it.
        state: the state's name; of a savepoint of Flink the descriptor, which says its type.
        schema: the columns in Spark's notation, for example ``"key string, namespace string, value
            bigint"``.

    Raises:
        CheckpointError: there is no such operator or state.
    """
    rows = [
        (key, None if namespace is None else repr(namespace), value)
        for key, namespace, value in _rows(contents, operator, state)
    ]
    return spark.createDataFrame(rows, schema)


def _rows(contents: CheckpointContents, operator: str, state: Any) -> Iterator[tuple[object, ...]]:
    if isinstance(state, str):
        entries = contents.entries(operator, state)
    elif isinstance(contents, MovedInContents):
        entries = contents.typed_entries(operator, state)
    else:
        entries = contents.entries(operator, state.get_name())
    return ((e.key, e.namespace, e.value) for e in entries)
