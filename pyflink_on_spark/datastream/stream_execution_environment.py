"""The environment in which a program is built and executed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.builtin import CollectionSource
from pyflink_on_spark._filesystem.location import local_path
from pyflink_on_spark._graph.physical_graph import execution_plan_json
from pyflink_on_spark._graph.stream_graph import GraphSettings, StreamGraph, Transformation
from pyflink_on_spark._job.display import console
from pyflink_on_spark._job.job import (
    UNEXECUTED,
    JobHandle,
    base_configuration,
    current_engine,
    translate,
)
from pyflink_on_spark._options import flink, python
from pyflink_on_spark._options.checkpointing import CHANGELOG, SAVEPOINT_DIRECTORY
from pyflink_on_spark._options.option import Option
from pyflink_on_spark._options.registry import (
    OPTIONS,
    check_own_keys,
    note_option,
    note_without_effect,
)
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.types.converters import (
    ConversionError,
    plain_error,
    source_converter,
)
from pyflink_on_spark._runtime.user_code import DELIMITER, PARAMETER_DELIMITER, require
from pyflink_on_spark.common import (
    Configuration,
    ExecutionConfig,
    JobClient,
    JobExecutionResult,
    WatermarkStrategy,
)
from pyflink_on_spark.common.configuration import values_of
from pyflink_on_spark.common.restart_strategy import RestartStrategyConfiguration
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from pyflink_on_spark.datastream.checkpoint_config import CheckpointConfig
from pyflink_on_spark.datastream.checkpointing_mode import CheckpointingMode
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.data_stream import DataStream
from pyflink_on_spark.datastream.data_stream.data_stream import add_operator
from pyflink_on_spark.datastream.data_stream.operator_settings import checked_max_parallelism
from pyflink_on_spark.datastream.execution_mode import RuntimeExecutionMode
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup
from pyflink_on_spark.datastream.state_backend import read_state_backend, write_state_backend
from pyflink_on_spark.datastream.time_characteristic import TimeCharacteristic
from pyflink_on_spark.serializers import PickleSerializer

__all__ = ["StreamExecutionEnvironment"]


_NO_BUFFER_TIMEOUT = -1
DEFAULT_JOB_NAME = "Flink Streaming Job"
_numbers = itertools.count()
_READ_BY_EACH_JOB = (
    "execution.",
    "metrics.latency.",
    "parallelism.",
    "pipeline.sources.",
    "python.",
    "task.",
)
_NO_OPERATORS = "No operators defined in streaming topology. Cannot execute."
_CLOSED = (
    "this StreamExecutionEnvironment is closed: get a new one with "
    "StreamExecutionEnvironment.get_execution_environment()"
)


class GeneralSettings:
    """The part of an environment that holds settings of any kind.

    Args:
        configuration: where they are kept.
    """

    _default_parallelism: ClassVar[int | None] = None

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}
        self._time_characteristic = TimeCharacteristic.EventTime

    def get_config(self) -> ExecutionConfig:
        """Return the execution config, a view of the configuration."""
        return ExecutionConfig(self._configuration)

    def get_parallelism(self) -> int:
        """Return the parallelism of operators that set none of their own."""
        return self._explicit_parallelism() or self.get_default_local_parallelism()

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the parallelism of operators that set none of their own."""
        self.get_config().set_parallelism(parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups of operators that set none; -1 if it was not set."""
        return flink.MAX_PARALLELISM.read(values_of(self._configuration))

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups of operators that set none of their own.

        Raises:
            TypeError: it is no int.
            ValueError: it is not from 1 to 32768.
        """
        self.get_config().set_max_parallelism(checked_max_parallelism(max_parallelism))
        return self

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism where none was set: the number of cores."""
        return self._default_parallelism or os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the parallelism for this process where none was set."""
        GeneralSettings._default_parallelism = parallelism

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Choose STREAMING, BATCH or AUTOMATIC: BATCH if every source ends."""
        flink.RUNTIME_MODE.write(values_of(self._configuration), execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long (ms) operators may hold back elements.

        On Spark: recorded; a buffer is sent when it is full or its subtask is idle, or after
        about 100 ms.
        """
        if timeout_millis < _NO_BUFFER_TIMEOUT:
            raise ValueError("Timeout of buffer must be non-negative or -1")
        if timeout_millis == _NO_BUFFER_TIMEOUT:
            flink.BUFFER_TIMEOUT_ENABLED.write(values_of(self._configuration), False)
        else:
            flink.BUFFER_TIMEOUT.write(values_of(self._configuration), timeout_millis)
        return self

    def get_buffer_timeout(self) -> int:
        """Return how long operators may hold back elements, in ms; -1: until a buffer is full."""
        if not flink.BUFFER_TIMEOUT_ENABLED.read(values_of(self._configuration)):
            return _NO_BUFFER_TIMEOUT
        return flink.BUFFER_TIMEOUT.read(values_of(self._configuration))

    def disable_operator_chaining(self) -> Self:
        """Let each operator be a task of its own.

        On Spark: it shows in the tasks' names only; what can run without an exchange still does.
        """
        flink.OPERATOR_CHAINING.write(values_of(self._configuration), False)
        return self

    def is_chaining_enabled(self) -> bool:
        """True if operators are chained into tasks."""
        return flink.OPERATOR_CHAINING.read(values_of(self._configuration))

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """True if operators with different numbers of key groups are chained."""
        return flink.MIXED_CHAINING.read(values_of(self._configuration))

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Make a slot sharing group known. On Spark: recorded, no effect."""
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> Self:
        """Choose the kind of time (removed in Flink 2; event time is the default since 1.12)."""
        self._time_characteristic = characteristic
        if characteristic is TimeCharacteristic.ProcessingTime:
            self.get_config().set_auto_watermark_interval(0)
        return self

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """Return the kind of time (removed in Flink 2)."""
        return self._time_characteristic

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

    def _explicit_parallelism(self) -> int | None:
        chosen = flink.PARALLELISM.read(values_of(self._configuration))
        return chosen if chosen > 0 else None


class Dependencies(GeneralSettings):
    """The part of an environment that describes the dependencies of its jobs.

    Everything is kept in the configuration, and looked at when a job is started.
    """

    _cached_files: dict[str, str]

    def add_jars(self, *jars_path: str) -> None:
        """Name jars of Flink connectors. On Spark: recorded; this package needs no jars."""
        self._append_to_list(flink.JARS, jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Name class paths of Flink connectors. On Spark: recorded, as ``add_jars``."""
        self._append_to_list(flink.CLASSPATHS, classpaths)

    def add_python_file(self, file_path: str) -> None:
        """Make Python modules importable in the workers.

        Args:
            file_path: a module; or a folder or a zip, with the modules and packages inside it.

        On Spark: a path on this machine; a missing one fails the job when it is started.
        """
        put_first(self._configuration, python.FILES, file_path)

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Install packages for the workers.

        Args:
            requirements_file_path: what to install, in the form of ``pip install -r``.
            requirements_cache_dir: a folder with the packages; if given, pip asks no index.

        On Spark: pip installs them once, in this process's temporary folder, and the workers are
        sent the result. So they must fit the workers' platform.
        """
        text = requirements_text(requirements_file_path, requirements_cache_dir)
        python.REQUIREMENTS.write(values_of(self._configuration), text)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack a zip in the working directory of the workers.

        Args:
            archive_path: the file; with the suffix of a tar file it may be one, too.
            target_dir: the folder to unpack it in; the archive's name if not given.
        """
        put_last(self._configuration, python.ARCHIVES, archive_text(archive_path, target_dir))

    def set_python_executable(self, python_exec: str) -> None:
        """Choose the interpreter of the workers.

        Args:
            python_exec: its path; also one inside an archive that was added before.

        On Spark: it counts when the first job of the process starts Spark, and needs what this
        package needs (PySpark, pyarrow, cloudpickle). A Spark that runs already keeps its own, and
        the log says so.
        """
        python.EXECUTABLE.write(values_of(self._configuration), python_exec)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Name a file for Flink's distributed cache.

        Args:
            file_path: the file.
            name: the name in the cache.
            executable: whether it is a program.

        On Spark: recorded; a missing file fails the job when it is started, as in PyFlink. Python
        functions cannot read the cache in PyFlink either.
        """
        self._cached_files[name] = file_path
        note_recorded(
            "register_cached_file()",
            "PyFlink gives Python functions no way to read such a file either; "
            "add_python_archive() sends files that they can open",
        )

    def _check_cached_files(self) -> None:
        for name, path in self._cached_files.items():
            require(local_path(path), f"register_cached_file(..., {name!r})")

    def _append_to_list(self, option: Option[str], items: tuple[str, ...]) -> None:
        known = Configuration.parse_list_value(option.read(values_of(self._configuration)))
        option.write(values_of(self._configuration), str([*known, *items]))
        note_option(values_of(self._configuration), option)


def requirements_text(requirements_file: str, cache_dir: str | None) -> str:
    """Return the value of the option for requirements and the folder with their packages."""
    return PARAMETER_DELIMITER.join(filter(None, [requirements_file, cache_dir]))


def archive_text(archive: str, target_dir: str | None) -> str:
    """Return an item of the option for archives."""
    return PARAMETER_DELIMITER.join(filter(None, [archive, target_dir]))


def put_first(configuration: Configuration, option: Option[str], item: str) -> None:
    """Add an item at the beginning of the list that an option holds."""
    known = option.read(values_of(configuration))
    option.write(values_of(configuration), DELIMITER.join(filter(None, [item, known])))


def put_last(configuration: Configuration, option: Option[str], item: str) -> None:
    """Add an item at the end of the list that an option holds."""
    known = option.read(values_of(configuration))
    option.write(values_of(configuration), DELIMITER.join(filter(None, [known, item])))


class Sources(GeneralSettings):
    """The part of an environment that makes streams of sources."""

    def from_collection(
        self, collection: list[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Make a stream of the elements of a collection; it has one subtask.

        Args:
            collection: copied at once.
            type_info: the type of the elements; untyped if not given.

        Raises:
            ValueError: an element is not of the type.
            AttributeError: an element is not of the type, and that is a date, a time or an instant.
            TypeError: an element is not of the type, and that has no fields; or it cannot be
                pickled; or the type is ``Types.PICKLED_BYTE_ARRAY()``.
        """
        elements: Iterable[Any] = collection
        if type_info is not None:
            elements = _converted(collection, type_info)
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
        runtime_source = runtime_source.with_watermarks(self._watermark_rule(watermark_strategy))
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
        text = StreamFormat.text_line_format(charset_name)
        source = FileSource.for_record_stream_format(text, file_path).build()
        name = "Custom File Source"
        return self.from_source(source, WatermarkStrategy.no_watermarks(), name, Types.STRING())

    def _watermark_rule(self, strategy: WatermarkStrategy) -> WatermarkRule:
        spec = strategy._spec
        delay = None if spec.kind == "none" else spec.bound_ms
        return WatermarkRule(delay, spec.idle_timeout_ms)

    def _from_runtime_source(
        self, source: Any, name: str, type_info: TypeInformation | None
    ) -> DataStream:
        declared = Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info
        parallelism = self._explicit_parallelism() if source.parallel else 1
        flow = add_operator(
            self,  # type: ignore[arg-type]
            name,
            None,
            (),
            declared,
            source=source,
            parallel=source.parallel,
            parallelism=parallelism,
        )
        return DataStream(flow)


def _converted(collection: Iterable[Any], type_info: TypeInformation) -> list[object]:
    """Return elements in the form that functions see; raise Python's own errors, as PyFlink."""
    elements = list(collection)
    if elements and isinstance(type_info, PickledBytesTypeInfo):
        raise TypeError(
            "from_collection() reads no elements as PICKLED_BYTE_ARRAY: leave type_info out for "
            "elements of any type"
        )
    try:
        return list(map(source_converter(type_info), elements))
    except ConversionError as error:
        raise plain_error(error) from None


class Checkpointing(GeneralSettings):
    """The part of an environment that sets what outlives a failure."""

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the checkpoint config, a view of the configuration."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> Self:
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
        """Return the guarantee of checkpoints."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return the guarantee of checkpoints."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """True if unaligned checkpoints are enabled and the mode is EXACTLY_ONCE."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """True if unaligned checkpoints are forced."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Ask for changes of state to be logged, or not."""
        CHANGELOG.write(values_of(self._configuration), enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """True if changes of state are to be logged; None if this is not set."""
        if not CHANGELOG.is_set(values_of(self._configuration)):
            return None
        return CHANGELOG.read(values_of(self._configuration))

    def set_state_backend(self, state_backend) -> Self:
        """Choose where state is kept (removed in Flink 2)."""
        write_state_backend(self._configuration, state_backend)
        return self

    def get_state_backend(self):
        """Return where state is kept; None if nothing was chosen (removed in Flink 2)."""
        return read_state_backend(self._configuration)

    def set_restart_strategy(
        self, restart_strategy_configuration: RestartStrategyConfiguration
    ) -> Self:
        """Choose what to do when the job fails (removed in Flink 2)."""
        self.get_config().set_restart_strategy(restart_strategy_configuration)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the strategy for restarts after failures (removed in Flink 2)."""
        return self.get_config().get_restart_strategy()

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Set where savepoints are written if nothing else is said."""
        SAVEPOINT_DIRECTORY.write(values_of(self._configuration), directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return where savepoints are written if nothing else is said."""
        return SAVEPOINT_DIRECTORY.read(values_of(self._configuration))


class StreamExecutionEnvironment(Checkpointing, Dependencies, Sources):
    """Collects the operators of a program, and runs them.

    Args:
        j_stream_execution_environment: the environment's ``Configuration``; use
            ``get_execution_environment``.
        serializer: accepted; elements are always pickled.

    Example:
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env = env.set_parallelism(1)
        >>> sink = env.from_collection(["a", "b"]).map(str.upper).print()
        >>> result = env.execute("upper case")
        A
        B
    """

    def __init__(self, j_stream_execution_environment, serializer=PickleSerializer()):
        handle = j_stream_execution_environment
        if not isinstance(handle, EnvironmentHandle):
            handle = EnvironmentHandle(handle)
        super().__init__(handle.configuration)
        self._j_stream_execution_environment = handle
        self.serializer = serializer
        self._transformations: list[Transformation] = []
        self._printers: dict[str, Any] = {}
        self._progress_listeners: list[Any] = []
        self._cached_files: dict[str, str] = {}
        self._closed = False
        self._number = next(_numbers)

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment.

        Its configuration begins with that of ``FLINK_CONF_DIR`` and with the options of
        ``python -m pyflink_on_spark``.

        Args:
            configuration: Flink's keys; ``spark.*`` keys go to the session. They win.

        Raises:
            ValueError: an option has a value that it cannot have.
        """
        environment = StreamExecutionEnvironment(Configuration())
        environment.configure(Configuration.from_dict(base_configuration()))
        if configuration is not None:
            environment.configure(configuration)
        return environment

    def configure(self, configuration: Configuration) -> None:
        """Take over every key of a configuration.

        Raises:
            ValueError: an option has a value that it cannot have, or this package's prefix and a
                name that it does not have; nothing is taken over.
        """
        together = Configuration(self._configuration).add_all(configuration)
        check_own_keys(together.key_set())
        ExecutionConfig._check(together)
        CheckpointConfig._check(together)
        self._configuration.add_all(configuration)

    def close(self) -> None:
        """End the use of the environment.

        On Spark: a closed environment accepts no operators and runs no jobs. PyFlink's does.
        """
        self._forget()
        self._closed = True

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run everything that was added since the last time, and wait for the end.

        Raises:
            JobExecutionError: if the job fails; it begins with the user's own traceback. In a
                script that imports py4j it also is a ``py4j.protocol.Py4JJavaError``.
            ValueError: if nothing was added.
        """
        return JobExecutionResult(self._submit(self._take(), job_name, attached=True).result())

    def execute_async(self, job_name: str = DEFAULT_JOB_NAME) -> JobClient:
        """Run everything that was added since the last time, and return at once."""
        return JobClient(self._submit(self._take(), job_name))

    def get_execution_plan(self) -> str:
        """Return the execution plan, as Flink's JSON."""
        if not self._transformations:
            raise ValueError(_NO_OPERATORS)
        graph = StreamGraph(self._transformations, self._graph_settings(self._transformations))
        return execution_plan_json(graph)

    # -- for the mirror's other classes ----------------------------------------------------------

    def _add(self, transformation: Transformation) -> None:
        self._require_open()
        self._transformations.append(transformation)
        UNEXECUTED.added(self._number, transformation)

    def _forget(self) -> list[Transformation]:
        UNEXECUTED.executed(self._number)
        forgotten, self._transformations = self._transformations, []
        self._printers = {}
        return forgotten

    def _printing_channel(self) -> str:
        channel = f"print-{len(self._printers)}"
        self._printers[channel] = _print_lines
        return channel

    def _collect(
        self, job_name: str | None, channel: str, beside: list[Transformation]
    ) -> Iterator[object]:
        return self._submit(self._take(), job_name, channel, beside=beside).collected()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(_CLOSED)

    def _take(self) -> list[Transformation]:
        self._require_open()
        if not self._transformations:
            raise ValueError(_NO_OPERATORS)
        UNEXECUTED.executed(self._number)
        taken = list(self._transformations)
        self._transformations.clear()
        return taken

    def _submit(
        self,
        transformations: list[Transformation],
        job_name: str | None,
        collected: str | None = None,
        attached: bool = False,
        beside: Iterable[Transformation] = (),
    ) -> JobHandle:
        printers, self._printers = self._printers, {}
        self._check_cached_files()
        self._check_options()
        job = translate(
            transformations,
            self._graph_settings(transformations),
            name=job_name or flink.NAME.read(values_of(self._configuration)) or DEFAULT_JOB_NAME,
            job_parameters=flink.GLOBAL_JOB_PARAMETERS.read(values_of(self._configuration)),
            configuration=self._configuration.to_dict(),
            printers=printers,
            collected=collected,
            attached=attached,
            listeners=self._progress_listeners,
            beside=beside,
        )
        return current_engine().submit(job)

    def _check_options(self) -> None:
        """Refuse unknown and invalid options of this package, and log options without effect."""
        check_own_keys(self._configuration.key_set())
        for option in OPTIONS:
            if option.key.startswith(_READ_BY_EACH_JOB):
                option.read(values_of(self._configuration))
        note_without_effect(values_of(self._configuration))

    def _graph_settings(self, transformations: list[Transformation]) -> GraphSettings:
        mode = flink.RUNTIME_MODE.read(values_of(self._configuration))
        maximum = self.get_max_parallelism()
        endless = _endless(transformations)
        if mode == flink.BATCH and endless is not None:
            raise ValueError(_no_batch(endless))
        return GraphSettings(
            parallelism=self.get_parallelism(),
            max_parallelism=maximum if maximum > 0 else None,
            chaining=self.is_chaining_enabled(),
            python_chaining=python.OPERATOR_CHAINING.read(values_of(self._configuration)),
            batch=mode == flink.BATCH or (mode == flink.AUTOMATIC and endless is None),
        )


def _endless(transformations: Iterable[Transformation]) -> Transformation | None:
    """Return a source that never ends, if there is one."""
    seen: set[Transformation] = set()
    stack = list(transformations)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.source is not None and not node.source.bounded:
            return node
        stack += [edge.upstream for edge in node.edges]
    return None


def _no_batch(source: Transformation) -> str:
    return (
        f"BATCH mode needs sources that end, and the source {source.name!r} (added at "
        f"{source.call_site}) does not: choose RuntimeExecutionMode.STREAMING or AUTOMATIC"
    )


def _print_lines(lines: list[str]) -> None:
    console.write("\n".join(lines))


class EnvironmentHandle:
    """Holds an environment's configuration, for ``get_j_env_configuration``.

    Args:
        configuration: the environment's.
    """

    def __init__(self, configuration: Configuration) -> None:
        call = "StreamExecutionEnvironment(j_stream_execution_environment)"
        self.configuration = own_handle(configuration, Configuration, call)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise_unsupported(
            f"_j_stream_execution_environment.{name}",
            kind=Gap.NEVER,
            reason="it is a method of a Java object",
            instead="Use the methods of StreamExecutionEnvironment.",
        )


__getattr__ = missing_name(__name__)
