"""TableEnvironment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark._connectors.builtin import CollectSink
from pyflink_on_spark._graph.stream_graph import Aligned, Transformation
from pyflink_on_spark._options import python
from pyflink_on_spark._options.flink import BATCH, RUNTIME_MODE
from pyflink_on_spark._sql.errors import TableError, ValidationError, as_sentence
from pyflink_on_spark._sql.parser.statements import parse_path, parse_statement
from pyflink_on_spark._sql.plan.nodes import INSERT, ChangeKinds, ExternalSink, Node, Schema, Sink
from pyflink_on_spark._sql.plan.nodes import Schema as RowSchema
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView
from pyflink_on_spark._sql.planner.physical import GraphBuilder
from pyflink_on_spark._sql.planner.physical_planner import plan
from pyflink_on_spark._sql.session.commands import explain, run_command
from pyflink_on_spark._sql.session.session import Session, compiled
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.common import Configuration, JobExecutionResult
from pyflink_on_spark.common.configuration import values_of
from pyflink_on_spark.common.data_types import DataType, RowType
from pyflink_on_spark.dataset import ExecutionEnvironment
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from pyflink_on_spark.datastream.stream_execution_environment import (
    archive_text,
    put_first,
    put_last,
    requirements_text,
)
from pyflink_on_spark.serializers import PickleSerializer
from pyflink_on_spark.table._inner import description_of, node_of, syntax_of
from pyflink_on_spark.table._values.data_frames import elements_of, frame_type
from pyflink_on_spark.table._values.elements import rows_of_elements
from pyflink_on_spark.table.compiled_plan import CompiledPlan
from pyflink_on_spark.table.descriptors import ConnectorDescriptor, ConnectTableDescriptor
from pyflink_on_spark.table.environment_settings import EnvironmentSettings
from pyflink_on_spark.table.explain_detail import ExplainDetail
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expression.parts import constant
from pyflink_on_spark.table.model_descriptor import ModelDescriptor
from pyflink_on_spark.table.module import Module, ModuleEntry
from pyflink_on_spark.table.plan_reference import PlanReference
from pyflink_on_spark.table.result_kind import ResultKind
from pyflink_on_spark.table.statement_set import StatementSet
from pyflink_on_spark.table.table import Table
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_descriptor import TableDescriptor
from pyflink_on_spark.table.table_environment.catalogs import Catalogs
from pyflink_on_spark.table.table_environment.former_methods import FormerMethods, former_config
from pyflink_on_spark.table.table_result import Change, StatementResult, TableResult, table_printers
from pyflink_on_spark.table.udf import AggregateFunction, UserDefinedFunctionWrapper, defined

if TYPE_CHECKING:
    import pandas

_CHANNEL = "collect"


class Jobs:
    """Submits the jobs of one TableEnvironment.

    Args:
        environment: where its streams are.
        config: options that come before the environment's.
        session: what plans queries.
    """

    def __init__(
        self, environment: StreamExecutionEnvironment, config: TableConfig, session: Session
    ) -> None:
        self._environment, self._config, self._session = environment, config, session

    def configuration(self) -> Configuration:
        """Return all options as they are now."""
        together = Configuration(self._environment._configuration)
        return together.add_all(self._config.get_configuration())

    def configure_environment(self) -> None:
        """Give the environment of the streams the options of tables, as they are now."""
        self._environment.configure(self._config.get_configuration())

    def collect(self, node: Node, *, kinds: bool) -> StatementResult:
        """Start a job that brings the rows of a query to the program.

        Args:
            node: the query.
            kinds: whether rows are printed with their kinds.
        """
        settings = self._session.settings()
        sink = ExternalSink(node.schema, node, "*anonymous_collect$1*", ChangeKinds.ALL)
        planned = plan([sink], settings)
        (stream,) = planned.streams
        builder = GraphBuilder(settings)
        builder.write("Collect", stream.edges, CollectSink(_CHANNEL), aligned=Aligned.INPUT)
        transformations = [*planned.transformations, *builder.added]
        handle = self._submit(transformations, "collect", _CHANNEL)
        return StatementResult(
            node.schema,
            ResultKind.SUCCESS_WITH_CONTENT,
            lambda: _changes(handle.collected(), stream.changelog),
            settings.time_zone,
            kinds,
            handle,
        )

    def insert(self, sinks: Sequence[Sink]) -> StatementResult:
        """Start a job that writes to tables."""
        settings = self._session.settings()
        planned = plan(sinks, settings)
        names = ",".join(str(sink.path) for sink in sinks)
        handle = self._submit(list(planned.transformations), f"insert-into_{names}")
        columns = tuple(str(sink.path) for sink in sinks)
        schema = Schema(columns, (logical.BIGINT,) * len(columns))
        return StatementResult(
            schema,
            ResultKind.SUCCESS_WITH_CONTENT,
            lambda: iter([(INSERT, (-1,) * len(columns))]),
            settings.time_zone,
            print_text=True,
            job=handle,
            finished=handle.result,
        )

    def run(self, sinks: Sequence[Sink], name: str) -> JobExecutionResult:
        """Run a job that writes to tables, and return when it has ended.

        Args:
            sinks: what is written, and where to.
            name: the job's.
        """
        planned = plan(sinks, self._session.settings())
        return JobExecutionResult(self._submit(list(planned.transformations), name).result())

    def attach(self, sinks: Sequence[Sink]) -> None:
        """Let the environment's next job write to tables, too."""
        planned = plan(sinks, self._session.settings())
        for transformation in planned.transformations:
            self._environment._add(transformation)
        self.configure_environment()
        self._environment._printers.update(table_printers(planned.transformations))

    def _submit(
        self, transformations: list[Transformation], name: str, collected: str | None = None
    ) -> Any:
        """Start a job with the options of tables."""
        self.configure_environment()
        environment = StreamExecutionEnvironment.get_execution_environment(self.configuration())
        environment._cached_files = self._environment._cached_files
        environment._progress_listeners = self._environment._progress_listeners
        environment._printers = table_printers(transformations)
        return environment._submit(transformations, name, collected)


def _changes(elements: Iterator[Any], changelog: bool) -> Iterator[Change]:
    if changelog:
        return elements
    return _inserts(elements)


def _inserts(rows: Iterator[Any]) -> Iterator[Change]:
    try:
        for row in rows:
            yield INSERT, row
    finally:
        close = getattr(rows, "close", None)
        if close is not None:
            close()


@unsupported_class(
    kind=Gap.NOT_YET,
    reason="SQL cannot call models",
    instead="Call models in Python functions, or store them in a Catalog.",
    known_as="TableEnvironment",
)
class NotYet:
    """Methods that may come later."""

    def create_model(
        self,
        model_path: str,
        model_descriptor: ModelDescriptor,
        ignore_if_exists: bool | None = False,
    ): ...

    def create_temporary_model(
        self,
        model_path: str,
        model_descriptor: ModelDescriptor,
        ignore_if_exists: bool | None = False,
    ): ...


@unsupported_class(
    kind=Gap.NEVER,
    reason="Java's functions and modules need Flink itself",
    instead="Write functions in Python.",
    known_as="TableEnvironment",
)
class NeedsFlink:
    """Methods that need Flink itself."""

    def load_module(self, module_name: str, module: Module): ...

    def create_java_temporary_system_function(self, name: str, function_class_name: str): ...

    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool | None = None
    ): ...

    def create_java_temporary_function(self, path: str, function_class_name: str): ...

    def register_java_function(self, name: str, function_class_name: str): ...


class FunctionDependencies:
    """The part of a TableEnvironment that describes the dependencies of its jobs."""

    _config: TableConfig

    def add_python_file(self, file_path: str):
        """Make Python modules importable in the workers.

        Args:
            file_path: a module; or a folder or a zip, with the modules and packages inside it.
        """
        put_first(self._config.get_configuration(), python.FILES, file_path)

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ):
        """Install packages for the workers.

        Args:
            requirements_file_path: what to install, in the form of ``pip install -r``.
            requirements_cache_dir: a folder with the packages; if given, pip asks no index.
        """
        text = requirements_text(requirements_file_path, requirements_cache_dir)
        python.REQUIREMENTS.write(values_of(self._config.get_configuration()), text)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None):
        """Unpack a zip in the working directory of the workers.

        Args:
            archive_path: the file; with the suffix of a tar file it may be one, too.
            target_dir: the folder to unpack it in; the archive's name if not given.
        """
        text = archive_text(archive_path, target_dir)
        put_last(self._config.get_configuration(), python.ARCHIVES, text)


class Modules:
    """The part of a TableEnvironment that says where SQL's functions come from."""

    _session: Session

    def list_modules(self) -> list[str]:
        """Return the names of the modules that are used, in the order of their functions."""
        return list(self._session.functions.modules.used)

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return all modules, those that are used first."""
        modules = self._session.functions.modules
        rest = [name for name in modules.loaded if name not in modules.used]
        return [ModuleEntry(name, name in modules.used) for name in (*modules.used, *rest)]

    def use_modules(self, *module_names: str):
        """Choose the modules in which SQL looks for functions.

        Raises:
            ValidationError: there is no such module, or one stands twice.
        """
        self._session.functions.modules.use(*module_names)

    def unload_module(self, module_name: str):
        """Remove a module.

        On Spark: SQL finds all of Flink's functions without the module ``core``, too. Flink's SQL
        finds most of them.

        Raises:
            ValidationError: there is no such module.
        """
        self._session.functions.modules.unload(module_name)

    def list_functions(self) -> list[str]:
        """Return the names of all functions, Flink's own and the user's."""
        return self._session.functions.listed()

    def drop_function(self, path: str) -> bool:
        """Remove a function from a catalog; tell whether there was one."""
        return self._session.functions.drop(path)

    def list_models(self) -> list[str]:
        """Return the names of the models: there are none."""
        return []

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models: there are none."""
        return []

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model; tell whether there was one.

        Raises:
            ValidationError: there is none, and that is not to be ignored.
        """
        if not ignore_if_not_exists:
            raise ValidationError(f"Model with identifier '{model_path}' does not exist.")
        return False

    def drop_temporary_model(self, model_path: str) -> bool:
        """Remove a temporary model; tell whether there was one."""
        return False


_OK = RowSchema(("result",), (logical.STRING,))
_NO_QUERY = (
    "Unsupported SQL query! sqlQuery() only accepts a single SQL query of type SELECT, UNION, "
    "INTERSECT, EXCEPT, VALUES, and ORDER_BY."
)
_NO_STATEMENT = (
    "Unsupported SQL query! executeSql() only accepts a single SQL statement of type "
    "CREATE TABLE, DROP TABLE, CREATE VIEW, DROP VIEW, USE, SHOW, DESCRIBE, EXPLAIN, INSERT, "
    "SELECT and the like; "
    "options are set with get_config().set(key, value)."
)


class TableEnvironment(FormerMethods, Catalogs, Modules, FunctionDependencies, NotYet, NeedsFlink):
    """Plans and runs queries.

    Args:
        j_tenv: use ``create``.
        serializer: accepted; elements are always pickled.
    """

    def __init__(self, j_tenv, serializer=PickleSerializer()):
        environment, settings, streaming_results, *config = j_tenv
        self._environment: StreamExecutionEnvironment = environment
        self._config = config[0] if config else TableConfig()
        self._config.add_configuration(settings.get_configuration())
        batch = Configuration(environment._configuration).add_all(settings.get_configuration())
        self._print_kinds = streaming_results or settings.is_streaming_mode()
        self._session = Session(
            lambda: self._jobs.configuration().to_dict(),
            RUNTIME_MODE.read(values_of(batch)) == BATCH,
            settings.get_built_in_catalog_name(),
            settings.get_built_in_database_name(),
        )
        self._jobs = Jobs(environment, self._config, self._session)
        self._unnamed = 0
        self._waiting = []

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Return a new environment.

        Args:
            environment_settings: its mode, or its options.

        Example:
            >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        """
        settings = environment_settings
        if isinstance(settings, Configuration):
            settings = EnvironmentSettings.new_instance().with_configuration(settings).build()
        environment = StreamExecutionEnvironment.get_execution_environment()
        return TableEnvironment((environment, settings, False))

    def get_config(self) -> TableConfig:
        """Return the options."""
        return self._config

    # -- statements ------------------------------------------------------------------------------

    def sql_query(self, query: str) -> Table:
        """Return the result of a query, as a table.

        Raises:
            ValidationError: something in it is wrong; the message says where.
        """
        statement = parse_statement(query)
        if not isinstance(statement, syntax.QueryStatement):
            raise ValidationError(_NO_QUERY)
        return Table(self._session.bind(statement.query), self)

    def execute_sql(self, stmt: str) -> TableResult:
        """Carry out a statement.

        Raises:
            ValidationError: something in it is wrong; the message says where.
        """
        statement = parse_statement(stmt)
        if isinstance(statement, syntax.QueryStatement):
            return self._collect(self._session.bind(statement.query))
        if isinstance(statement, syntax.Insert):
            return TableResult(self._jobs.insert([self._session.bind_insert(statement)]))
        if isinstance(statement, syntax.CreateTable) and statement.query is not None:
            return TableResult(self._jobs.insert([self._session.create_table_as(statement)]))
        if isinstance(statement, syntax.StatementSet):
            inserts = [self._session.bind_insert(insert) for insert in statement.inserts]
            return TableResult(self._jobs.insert(inserts))
        if isinstance(statement, syntax.CompilePlan):
            return self._compile_plan(statement)
        if isinstance(statement, syntax.ExecutePlan):
            return self.execute_plan(PlanReference.from_file(statement.file))
        if isinstance(statement, syntax.Explain):
            text = self._explained(statement.statement, statement.details)
            return self._listing(_OK, [(text,)], as_text=True)
        if isinstance(statement, syntax.SetOption):
            raise TableError(_NO_STATEMENT)
        listing = run_command(self._session, statement)
        if listing is None:
            return self._done()
        return self._listing(listing.schema, listing.rows)

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail) -> str:
        """Return how a statement is carried out.

        Raises:
            ValidationError: something in it is wrong; the message says where.
        """
        return self._explained(parse_statement(stmt), extra_details)

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Plan an INSERT.

        Raises:
            TableException: it is no INSERT.
            ValidationError: something in it is wrong; the message says where.
        """
        if not isinstance(parse_statement(stmt), syntax.Insert):
            raise TableError(
                "Unsupported SQL query! compilePlanSql() only accepts a single SQL statement of "
                "type INSERT"
            )
        return CompiledPlan(compiled(self._session, [stmt]), self)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Return the plan at a place.

        Raises:
            TableException: there is none, it is one of Flink's, or its tables have changed.
        """
        return CompiledPlan(plan_reference._text(), self)

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Start a job of the plan at a place; for what it raises see ``load_plan``.

        On Spark: Works; PyFlink 2.3 fails with a Py4JError.
        """
        return self.load_plan(plan_reference).execute()

    def _compile_plan(self, statement: syntax.CompilePlan) -> TableResult:
        texts = [str(insert.span) for insert in statement.inserts]
        plan = CompiledPlan(compiled(self._session, texts), self)
        plan.write_to_file(statement.file, statement.if_not_exists or statement.execute)
        if not statement.execute:
            return self._done()
        return self.execute_plan(PlanReference.from_file(statement.file))

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of INSERTs that run as one job."""
        return StatementSet(None, self)

    # -- tables ----------------------------------------------------------------------------------

    def from_path(self, path: str) -> Table:
        """Return a table or view of a catalog.

        Raises:
            ValidationError: it is not there.
        """
        qualified = self._session.catalog.qualify(parse_path(path))
        found = self._session.catalog.find(qualified)
        if found is None:
            hint = as_sentence(self._session.catalog.similar(qualified))
            raise ValidationError(f"Table `{path}` was not found.{hint}")
        table = Table(self._session.described(qualified, found), self)
        if isinstance(found, CatalogTable):
            table._declared = found.schema
        return table

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a descriptor describes; it is in no catalog."""
        path = self._session.anonymous_path(descriptor.get_options().get("connector", "source"))
        described = self._described(descriptor)
        table = Table(self._session.read(path, described), self)
        table._declared = described.schema
        return table

    def from_elements(
        self,
        elements: Iterable,
        schema: DataType | list[str] | None = None,
        verify_schema: bool = True,
    ) -> Table:
        """Return a table of the program's own rows.

        Args:
            elements: tuples, lists, dicts, Rows, single values, or expressions of constants.
            schema: the type of the rows, or the names of the columns; found out if not given.
            verify_schema: whether to check that values are of their types.

        Raises:
            TypeError: a value is not of its type, or the types of two rows do not fit.
        """
        values = [
            constant(syntax_of(element)) if isinstance(element, Expression) else element
            for element in elements
        ]
        return Table(rows_of_elements(values, schema, verify_schema), self)

    @renamed(table_or_data_stream="table")
    def create_temporary_view(
        self, view_path: str, table_or_data_stream: Table | DataStream, *fields_or_schema: object
    ):
        """Give a table or a stream a name for this session.

        Args:
            view_path: the name.
            table_or_data_stream: what it stands for.
            fields_or_schema: the columns of a stream, as for ``from_data_stream``.

        Raises:
            ValidationError: there is one of that name.
        """
        node = (
            node_of(table_or_data_stream)
            if isinstance(table_or_data_stream, Table)
            else self._stream_node(table_or_data_stream, fields_or_schema)
        )
        path = self._session.catalog.qualify(parse_path(view_path))
        self._session.catalog.add(path, CatalogView(node), temporary=True)

    def from_pandas(
        self,
        pdf: pandas.DataFrame,
        schema: RowType | list[str] | tuple[str] | list[DataType] | tuple[DataType] | None = None,
        splits_num: int = 1,
    ) -> Table:
        """Return a table of the rows of a DataFrame.

        Args:
            pdf: the DataFrame.
            schema: the type of the rows, or the names or the types of the columns.
            splits_num: accepted; the rows are handed over at once.

        Raises:
            TypeError: the schema is something else.
            RuntimeError: a value is not of the type of its column.
        """
        kind = frame_type(pdf, schema)
        return Table(rows_of_elements(elements_of(pdf, kind), kind, verified=False), self)

    # -- functions -------------------------------------------------------------------------------

    def create_temporary_system_function(
        self, name: str, function: UserDefinedFunctionWrapper | AggregateFunction
    ):
        """Add a function for this session.

        Args:
            name: what SQL and ``call`` call it.
            function: what ``udf``, ``udtf`` or ``udaf`` returned, or an AggregateFunction.

        Raises:
            ValidationError: there is one of that name.
        """
        self._session.functions.add_system(name, defined(function))

    def create_temporary_function(
        self, path: str, function: UserDefinedFunctionWrapper | AggregateFunction
    ):
        """Add a function for this session.

        Args:
            path: what SQL and ``call`` call it.
            function: what ``udf``, ``udtf`` or ``udaf`` returned, or an AggregateFunction.

        Raises:
            ValidationError: there is one of that name.
        """
        self._session.functions.add_temporary(path, defined(function))

    def drop_temporary_system_function(self, name: str) -> bool:
        """Remove a function of this session; tell whether there was one."""
        return self._session.functions.drop_system(name)

    def drop_temporary_function(self, path: str) -> bool:
        """Remove a function of this session; tell whether there was one."""
        return self._session.functions.drop_temporary(path)

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the functions of this session."""
        return self._session.functions.user_names()

    # -- for the mirror's other classes ----------------------------------------------------------

    def _stream_node(self, stream: DataStream, fields: tuple[Any, ...]) -> Node:
        raise TypeError("a DataStream needs a StreamTableEnvironment")

    def _described(self, descriptor: TableDescriptor) -> CatalogTable:
        schema = descriptor.get_schema()
        return self._session.described_table(
            None if schema is None else description_of(schema),
            descriptor.get_options(),
            tuple(descriptor.get_partition_keys()),
            descriptor.get_comment(),
        )

    def _collect(self, node: Node) -> TableResult:
        return TableResult(self._jobs.collect(node, kinds=self._print_kinds))

    def _sink(self, node: Node, target: str | TableDescriptor, overwrite: bool) -> Any:
        if isinstance(target, TableDescriptor):
            path = self._session.anonymous_path(target.get_options().get("connector", "sink"))
            table = self._described_like(target, node)
            return self._session.insert_into(node, path, table, overwrite)
        path = self._session.catalog.qualify(parse_path(target))
        return self._session.insert_into(node, path, self._session.table(path), overwrite)

    def _described_like(self, descriptor: TableDescriptor, node: Node) -> CatalogTable:
        """Return the described table; a descriptor without columns takes those of a query."""
        if descriptor.get_schema() is not None:
            return self._described(descriptor)
        return self._session.described_table(
            self._session.description_of(node.schema),
            descriptor.get_options(),
            tuple(descriptor.get_partition_keys()),
            descriptor.get_comment(),
        )

    def _explained(self, statement: syntax.Statement, details: Iterable[Any]) -> str:
        sinks: list[object]
        if isinstance(statement, syntax.QueryStatement):
            sinks = [self._query_sink(self._session.bind(statement.query))]
        elif isinstance(statement, syntax.Insert):
            sinks = [self._session.bind_insert(statement)]
        elif isinstance(statement, syntax.StatementSet):
            sinks = [self._session.bind_insert(insert) for insert in statement.inserts]
        else:
            raise ValidationError("Only queries and INSERTs can be explained.")
        return self._explain(sinks, details)

    def _explain(self, sinks: list[Any], details: Iterable[Any]) -> str:
        changelog = {ExplainDetail.CHANGELOG_MODE, "CHANGELOG_MODE"}
        wanted = any(detail in changelog for detail in details)
        return explain(sinks, self._session.settings(), changelog_mode=wanted)

    @staticmethod
    def _query_sink(node: Node) -> ExternalSink:
        return ExternalSink(node.schema, node, "*anonymous_collect$1*", ChangeKinds.ALL)

    def _unnamed_view(self, node: Node) -> str:
        name = f"UnnamedTable${self._unnamed}"
        self._unnamed += 1
        path = self._session.catalog.qualify((name,))
        self._session.catalog.add(path, CatalogView(node), temporary=True)
        return name

    def _use_mode(self, *, batch: bool) -> None:
        """Carry out later statements in batch or in streaming mode."""
        self._session.batch = batch
        self._print_kinds = not batch

    def _done(self) -> TableResult:
        return TableResult(
            StatementResult(_OK, ResultKind.SUCCESS, lambda: iter([(INSERT, ("OK",))]))
        )

    def _listing(
        self, schema: RowSchema, rows: Iterable[Any], as_text: bool = False
    ) -> TableResult:
        changes = [(INSERT, row) for row in rows]
        zone = self._session.settings().time_zone
        kind = ResultKind.SUCCESS_WITH_CONTENT
        return TableResult(
            StatementResult(schema, kind, lambda: iter(changes), zone, print_text=as_text)
        )


class BatchTableEnvironment(TableEnvironment):
    """Plans and runs queries over tables that end.

    Args:
        j_tenv: use ``create``.
    """

    def __init__(self, j_tenv):
        super().__init__(j_tenv)

    def connect(self, connector_descriptor: ConnectorDescriptor) -> ConnectTableDescriptor:
        """Describe a table by what it connects to; see ``TableEnvironment.connect``."""
        return super().connect(connector_descriptor)

    @staticmethod
    def create(  # type: ignore[override]
        execution_environment: ExecutionEnvironment = None,
        table_config: TableConfig = None,
        environment_settings: EnvironmentSettings = None,
    ) -> BatchTableEnvironment:
        """Return a new environment.

        Args:
            execution_environment: its parallelism and other settings.
            table_config: its options; together with ``execution_environment`` only.
            environment_settings: its mode and options; not together with the others.

        Raises:
            ValueError: nothing was given, or what cannot be together; or the settings are for
                streaming mode.
        """
        note_former("BatchTableEnvironment", "use TableEnvironment.create")
        environment, settings = execution_environment, environment_settings
        settings, config = former_config(settings, table_config, environment)
        if environment is None and settings is None:
            raise ValueError(
                "No argument found, the param 'execution_environment' or 'environment_settings' "
                "is required."
            )
        if environment is not None and settings is not None:
            raise ValueError(
                "The param 'execution_environment' and 'environment_settings' cannot be used at "
                "the same time"
            )
        if settings is not None and settings.is_streaming_mode():
            raise ValueError(
                "The environment settings for BatchTableEnvironment must be set to batch mode."
            )
        if environment is None:
            environment = ExecutionEnvironment.get_execution_environment()
        if settings is None:
            settings = EnvironmentSettings.in_batch_mode()
        return BatchTableEnvironment((environment._environment, settings, False, *config))
