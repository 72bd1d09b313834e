"""Where a program begins and from where it is run."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._graph.execution_plan import execution_plan_json
from pyflink_on_spark._graph.job import JobHandle, current_engine
from pyflink_on_spark._graph.stream_graph import GraphSettings, StreamGraph
from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._graph.translation import translate
from pyflink_on_spark._runtime.collection_source import CollectionSource
from pyflink_on_spark._runtime.types import source_converter
from pyflink_on_spark.common import (
    Configuration,
    ExecutionConfig,
    JobClient,
    JobExecutionResult,
    WatermarkStrategy,
)
from pyflink_on_spark.common._recorded import note_recorded
from pyflink_on_spark.common.restart_strategy import RestartStrategyConfiguration
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream.checkpoint_config import CheckpointConfig
from pyflink_on_spark.datastream.checkpointing_mode import CheckpointingMode
from pyflink_on_spark.datastream.data_stream import DataStream
from pyflink_on_spark.datastream.data_stream.flow import add_operator
from pyflink_on_spark.datastream.execution_mode import RuntimeExecutionMode
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup
from pyflink_on_spark.datastream.time_characteristic import TimeCharacteristic
from pyflink_on_spark.serializers import PickleSerializer

DEFAULT_JOB_NAME = "Flink Streaming Job"
_CHAINING = "pipeline.operator-chaining.enabled"
_OLD_CHAINING = "pipeline.operator-chaining"
_PYTHON_CHAINING = "python.operator-chaining.enabled"
_RUNTIME_MODE = "execution.runtime-mode"
_BUFFER_TIMEOUT = "execution.buffer-timeout.interval"
_CHANGELOG = "state.changelog.enabled"
_WATERMARK_ELEMENTS = "pyflink-on-spark.watermark-interval-elements"
_WATERMARK_DEFAULT = 10_000
_console = threading.Lock()
_NO_OPERATORS = "No operators defined in streaming topology. Cannot execute."


class StreamExecutionEnvironment:
    """Collects the operators of a program, and runs them.

    Args:
        j_stream_execution_environment: the environment's ``Configuration``; use
            ``get_execution_environment``.
        serializer: accepted; elements are always pickled.
    """

    def __init__(self, j_stream_execution_environment, serializer=PickleSerializer()):
        self._configuration: Configuration = j_stream_execution_environment
        self.serializer = serializer
        self._transformations: list[Transformation] = []
        self._printers: dict[str, Any] = {}
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}
        self._cached_files: dict[str, str] = {}
        self._time_characteristic = TimeCharacteristic.EventTime
        self._closed = False

    # -- making one ------------------------------------------------------------------------------

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment.

        Args:
            configuration: Flink's keys; ``spark.*`` keys go to the session.
        """
        environment = StreamExecutionEnvironment(Configuration())
        if configuration is not None:
            environment.configure(configuration)
        return environment

    def configure(self, configuration: Configuration) -> None:
        """Take over every key of a configuration."""
        self._configuration.add_all(configuration)

    def close(self) -> None:
        """End the use of the environment: nothing can be added or run any more."""
        self._transformations.clear()
        self._closed = True

    # -- settings --------------------------------------------------------------------------------

    def get_config(self) -> ExecutionConfig:
        """Return the execution config, a view of the configuration."""
        return ExecutionConfig(self._configuration)

    def get_parallelism(self) -> int:
        """Return the parallelism of operators that set none of their own."""
        chosen = self.get_config().get_parallelism()
        return chosen if chosen > 0 else self.get_default_local_parallelism()

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set the parallelism of operators that set none of their own."""
        self.get_config().set_parallelism(parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups of operators that set none; -1 if it was not set."""
        return self.get_config().get_max_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set the number of key groups of operators that set none of their own."""
        self.get_config().set_max_parallelism(max_parallelism)
        return self

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism where none was set: the number of cores."""
        return self._default_parallelism or os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the parallelism for this process where none was set."""
        StreamExecutionEnvironment._default_parallelism = parallelism

    _default_parallelism: int | None = None

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Choose STREAMING, BATCH or AUTOMATIC: BATCH if every source ends."""
        self._configuration.set_string(_RUNTIME_MODE, execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """Set how long (ms) operators may hold back elements.

        On Spark: recorded; a micro-batch is handed on as a whole.
        """
        if timeout_millis < -1:
            raise ValueError("Timeout of buffer must be non-negative or -1")
        self._configuration.set_string(_BUFFER_TIMEOUT, f"{timeout_millis} ms")
        return self

    def get_buffer_timeout(self) -> int:
        """Return how long (ms) operators may hold back elements."""
        text = self._configuration.get_string(_BUFFER_TIMEOUT, "100 ms")
        return int(text.removesuffix("ms").strip())

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Let each operator be a task of its own.

        On Spark: it shows in the tasks' names only; what can run without an exchange still does.
        """
        self._configuration.set_boolean(_CHAINING, False)
        return self

    def is_chaining_enabled(self) -> bool:
        """Tell whether operators would be chained into tasks."""
        old = self._configuration.get_boolean(_OLD_CHAINING, True)
        return self._configuration.get_boolean(_CHAINING, old)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Tell whether operators with different numbers of key groups would be chained."""
        key = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
        return self._configuration.get_boolean(key, True)

    def register_slot_sharing_group(
        self, slot_sharing_group: SlotSharingGroup
    ) -> StreamExecutionEnvironment:
        """Make a slot sharing group known. On Spark: recorded; there are no slots."""
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the checkpoint config, a view of the configuration."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(
        self, interval: int, mode: CheckpointingMode | None = None
    ) -> StreamExecutionEnvironment:
        """Checkpoint the job every ``interval`` ms."""
        config = self.get_checkpoint_config()
        config.set_checkpoint_interval(interval)
        if mode is not None:
            config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in ms; -1 if there are none."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return what checkpoints guarantee."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return what checkpoints guarantee."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Tell whether unaligned checkpoints were asked for."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Tell whether unaligned checkpoints were forced."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> StreamExecutionEnvironment:
        """Ask for changes of state to be logged, or not."""
        self._configuration.set_boolean(_CHANGELOG, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Tell whether changes of state are to be logged; None if nothing was said."""
        if not self._configuration.contains_key(_CHANGELOG):
            return None
        return self._configuration.get_boolean(_CHANGELOG, False)

    def set_state_backend(self, state_backend) -> StreamExecutionEnvironment:
        """Choose where state is kept (removed in Flink 2)."""
        from pyflink_on_spark.datastream.state_backend import write_state_backend

        write_state_backend(self._configuration, state_backend)
        return self

    def get_state_backend(self):
        """Return where state is kept; None if nothing was chosen (removed in Flink 2)."""
        from pyflink_on_spark.datastream.state_backend import read_state_backend

        return read_state_backend(self._configuration)

    def set_restart_strategy(
        self, restart_strategy_configuration: RestartStrategyConfiguration
    ) -> StreamExecutionEnvironment:
        """Choose what to do when the job fails (removed in Flink 2)."""
        self.get_config().set_restart_strategy(restart_strategy_configuration)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return what to do when the job fails (removed in Flink 2)."""
        return self.get_config().get_restart_strategy()

    def set_stream_time_characteristic(
        self, characteristic: TimeCharacteristic
    ) -> StreamExecutionEnvironment:
        """Choose the kind of time (removed in Flink 2; event time is the default since 1.12)."""
        self._time_characteristic = characteristic
        if characteristic is TimeCharacteristic.ProcessingTime:
            self.get_config().set_auto_watermark_interval(0)
        return self

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """Return the kind of time (removed in Flink 2)."""
        return self._time_characteristic

    def set_default_savepoint_directory(self, directory: str) -> StreamExecutionEnvironment:
        """Set where savepoints are written if nothing else is said."""
        self._configuration.set_string("execution.checkpointing.savepoint-dir", directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return where savepoints are written if nothing else is said."""
        key = "execution.checkpointing.savepoint-dir"
        return self._configuration.get_string(key, None)  # type: ignore[arg-type]

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """Name a Java serializer. On Spark: recorded; elements are Python objects."""
        self.get_config().add_default_kryo_serializer(type_class_name, serializer_class_name)

    def register_type_with_kryo_serializer(
        self, type_class_name: str, serializer_class_name: str
    ) -> None:
        """Name a Java serializer. On Spark: recorded; elements are Python objects."""
        config = self.get_config()
        config.register_type_with_kryo_serializer(type_class_name, serializer_class_name)

    def register_type(self, type_class_name: str) -> None:
        """Name a Java type. On Spark: recorded; elements are Python objects."""
        self.get_config().register_pojo_type(type_class_name)

    # -- what jobs need from outside -------------------------------------------------------------

    def add_jars(self, *jars_path: str) -> None:
        """Name jars of Flink connectors. On Spark: recorded; this package needs no jars."""
        self._append_to_list("pipeline.jars", jars_path)
        note_recorded("add_jars()", "the connectors of this package need no jars")

    def add_classpaths(self, *classpaths: str) -> None:
        """Name class paths of Flink connectors. On Spark: recorded, as ``add_jars``."""
        self._append_to_list("pipeline.classpaths", classpaths)
        note_recorded("add_classpaths()", "the connectors of this package need no jars")

    def add_python_file(self, file_path: str) -> None:
        """Send a Python file, package or zip to the workers, importable there."""
        if not os.path.exists(file_path.removeprefix("file://")):
            raise FileNotFoundError(f"add_python_file: there is no {file_path}")
        files = self._configuration.get_string("python.files", "")
        self._configuration.set_string("python.files", ",".join(filter(None, [files, file_path])))

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Raise: nothing is installed for a job yet."""
        raise_unsupported(
            "set_python_requirements()",
            kind=Gap.NOT_YET,
            reason="nothing is installed on the workers for a single job",
            instead="Install the requirements in the workers' environment.",
        )

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Raise: archives are not sent to the workers yet."""
        raise_unsupported(
            "add_python_archive()",
            kind=Gap.NOT_YET,
            reason="archives are not unpacked on the workers",
            instead="Set spark.archives in the configuration.",
        )

    def set_python_executable(self, python_exec: str) -> None:
        """Choose the interpreter of the workers; of no effect once a Spark session runs."""
        self._configuration.set_string("python.executable", python_exec)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Raise: files are not sent to the workers yet."""
        raise_unsupported(
            "register_cached_file()",
            kind=Gap.NOT_YET,
            reason="files are not copied to the workers",
            instead="Set spark.files in the configuration.",
        )

    # -- sources ---------------------------------------------------------------------------------

    def from_collection(
        self, collection: list[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Make a stream of the elements of a collection; it has one subtask.

        Args:
            collection: copied at once.
            type_info: the type of the elements; untyped if not given.

        Raises:
            ValueError: if an element is not of the type.
            TypeError: if one cannot be pickled.
        """
        elements: Iterable[Any] = collection
        if type_info is not None:
            elements = list(map(source_converter(type_info), collection))
        source = CollectionSource(elements, type_info)
        return self._from_runtime_source(source, "Collection Source", type_info)

    def from_source(
        self,
        source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Make a stream of a source.

        Args:
            source: for example a FileSource or a NumberSequenceSource.
            watermark_strategy: how watermarks are made of the source's own timestamps; a
                TimestampAssigner in it has no effect here, as in PyFlink.
            source_name: the operator's name.
            type_info: the type of the elements, if it is not the source's own.
        """
        runtime_source = getattr(source, "_source", None)
        if runtime_source is None:
            raise TypeError(f"{type(source).__name__} is not a source that can be read from")
        declared = type_info or runtime_source.produced_type
        return self._from_runtime_source(runtime_source, source_name, declared)

    def add_source(
        self,
        source_func,
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Make a stream of an old-style source, for example a FlinkKafkaConsumer."""
        return self.from_source(
            source_func, WatermarkStrategy.no_watermarks(), source_name, type_info
        )

    def create_input(self, input_format, type_info: TypeInformation | None = None) -> DataStream:
        """Make a stream of an input format.

        Args:
            input_format: from ``datastream.formats``.
            type_info: the type of the elements, if it is not the format's own.
        """
        return self.from_source(
            input_format, WatermarkStrategy.no_watermarks(), "Custom File source", type_info
        )

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """Make a stream of the lines of a file or folder (removed in Flink 2)."""
        from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat

        text = StreamFormat.text_line_format(charset_name)
        source = FileSource.for_record_stream_format(text, file_path).build()
        name = "Custom File Source"
        return self.from_source(source, WatermarkStrategy.no_watermarks(), name, Types.STRING())

    # -- running ---------------------------------------------------------------------------------

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run everything that was added since the last time, and wait for the end.

        Raises:
            JobExecutionError: if the job fails; it begins with the user's own traceback.
            ValueError: if nothing was added.
        """
        return self._submit(self._take(), job_name).result()

    def execute_async(self, job_name: str = DEFAULT_JOB_NAME) -> JobClient:
        """Run everything that was added since the last time, and return at once."""
        return JobClient(self._submit(self._take(), job_name))

    def get_execution_plan(self) -> str:
        """Return what would be run, as Flink's JSON."""
        if not self._transformations:
            raise ValueError(_NO_OPERATORS)
        graph = StreamGraph(self._transformations, self._graph_settings(self._transformations))
        return execution_plan_json(graph)

    # -- for the mirror's other classes ----------------------------------------------------------

    def _add(self, transformation: Transformation) -> None:
        if self._closed:
            raise RuntimeError("The environment is closed; get a new one.")
        self._transformations.append(transformation)

    def _forget(self) -> None:
        self._transformations.clear()
        self._printers = {}

    def _explicit_parallelism(self) -> int | None:
        chosen = self.get_config().get_parallelism()
        return chosen if chosen > 0 else None

    def _printing_channel(self) -> str:
        channel = f"print-{len(self._printers)}"
        self._printers[channel] = _print_lines
        return channel

    def _watermark_interval(self) -> int:
        if self.get_config().get_auto_watermark_interval() == 0:
            return 0
        return self._configuration.get_integer(_WATERMARK_ELEMENTS, _WATERMARK_DEFAULT)

    def _collect(self, job_name: str | None, channel: str) -> Iterator[Any]:
        return self._submit(self._take(), job_name, channel).collected()

    def _take(self) -> list[Transformation]:
        if self._closed:
            raise RuntimeError("The environment is closed; get a new one.")
        if not self._transformations:
            raise ValueError(_NO_OPERATORS)
        taken = list(self._transformations)
        self._transformations.clear()
        return taken

    def _submit(
        self,
        transformations: list[Transformation],
        job_name: str | None,
        collected: str | None = None,
    ) -> JobHandle:
        printers, self._printers = self._printers, {}
        job = translate(
            transformations,
            self._graph_settings(transformations),
            name=job_name or self._configuration.get_string("pipeline.name", DEFAULT_JOB_NAME),
            job_parameters=self.get_config().get_global_job_parameters(),
            configuration=self._configuration.to_dict(),
            printers=printers,
            collected=collected,
        )
        return current_engine().submit(job)

    def _graph_settings(self, transformations: list[Transformation]) -> GraphSettings:
        mode = self._configuration.get_string(_RUNTIME_MODE, "STREAMING").upper()
        maximum = self.get_max_parallelism()
        settings = GraphSettings(
            parallelism=self.get_parallelism(),
            max_parallelism=maximum if maximum > 0 else None,
            chaining=self.is_chaining_enabled(),
            python_chaining=self._configuration.get_boolean(_PYTHON_CHAINING, True),
            batch=mode == "BATCH" or (mode == "AUTOMATIC" and _all_end(transformations)),
        )
        if settings.batch and not _all_end(transformations):
            raise ValueError("BATCH mode needs sources that end; one of this job's does not.")
        return settings

    def _from_runtime_source(
        self, source: Any, name: str, type_info: TypeInformation | None
    ) -> DataStream:
        declared = Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info
        parallelism = self._explicit_parallelism() if source.parallel else 1
        flow = add_operator(
            self,
            name,
            None,
            (),
            declared,
            source=source,
            parallel=source.parallel,
            parallelism=parallelism,
        )
        return DataStream(flow)

    def _append_to_list(self, key: str, items: tuple[str, ...]) -> None:
        known = self._configuration.get_string(key, "")
        joined = ";".join(filter(None, [known, *items]))
        self._configuration.set_string(key, joined)


def _all_end(transformations: Iterable[Transformation]) -> bool:
    seen: set[Transformation] = set()
    stack = list(transformations)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.source is not None and not node.source.bounded:
            return False
        stack += [edge.upstream for edge in node.edges]
    return True


def _print_lines(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    with _console:  # print() writes the text and its end apart: another sink's could come between
        sys.stdout.write(text)
        sys.stdout.flush()
