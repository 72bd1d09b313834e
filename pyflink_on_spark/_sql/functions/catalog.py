"""The functions of a session: Flink's own, chapter by chapter, and those that the user adds."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._sql.errors import UnsupportedOperationError, ValidationError
from pyflink_on_spark._sql.functions.python.functions import AsyncFunction
from pyflink_on_spark._sql.plan.signatures import (
    AggregateFunction,
    Described,
    Nulls,
    Overload,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    always,
)
from pyflink_on_spark._sql.syntax.expressions import Call
from pyflink_on_spark._sql.types import logical

if TYPE_CHECKING:
    from pyflink_on_spark._sql.catalog import CatalogManager
    from pyflink_on_spark._sql.plan.options import ObjectPath

CHAPTERS = {
    "aggregates": """
        COUNT, APPROX_COUNT_DISTINCT, SUM, $SUM0, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE,
        LISTAGG, COLLECT, ARRAY_AGG, $SINGLE_VALUE, SINGLE_VALUE
    """,
    "arithmetic": """
        +, -, *, /, %, MOD, UNARY -, UNARY +
    """,
    "arrays_and_maps": """
        ARRAY, ROW, MAP, ITEM, CARDINALITY, ELEMENT, ARRAY_CONTAINS, ARRAY_DISTINCT,
        ARRAY_POSITION, ARRAY_REMOVE, ARRAY_APPEND, ARRAY_PREPEND, ARRAY_REVERSE,
        ARRAY_SLICE, ARRAY_UNION, ARRAY_CONCAT, ARRAY_EXCEPT, ARRAY_INTERSECT, ARRAY_MAX,
        ARRAY_MIN, ARRAY_JOIN, ARRAY_SORT, MAP_KEYS, MAP_VALUES, MAP_ENTRIES,
        MAP_FROM_ARRAYS, MAP_UNION
    """,
    "bitmaps": """
        BITMAP_BUILD, BITMAP_CARDINALITY, BITMAP_FROM_BYTES, BITMAP_TO_ARRAY,
        BITMAP_TO_BYTES, BITMAP_TO_STRING, BITMAP_AND, BITMAP_ANDNOT, BITMAP_OR, BITMAP_XOR,
        BITMAP_BUILD_AGG, BITMAP_BUILD_CARDINALITY_AGG, BITMAP_AND_AGG,
        BITMAP_AND_CARDINALITY_AGG, BITMAP_OR_AGG, BITMAP_OR_CARDINALITY_AGG,
        BITMAP_XOR_AGG, BITMAP_XOR_CARDINALITY_AGG
    """,
    "comparison": """
        =, <>, <, >, <=, >=, BETWEEN, NOT BETWEEN, IN, NOT IN, IS DISTINCT FROM, IS NOT
        DISTINCT FROM, AND, OR, NOT, IS NULL, IS NOT NULL, IS TRUE, IS NOT TRUE, IS FALSE,
        IS NOT FALSE, IS UNKNOWN, IS NOT UNKNOWN, CASE, COALESCE, IFNULL, TYPEOF, IF,
        NULLIF, TEMPORAL_OVERLAPS
    """,
    "hashes": """
        MD5, SHA1, SHA224, SHA256, SHA384, SHA512, SHA2, ENCODE, DECODE, TO_BASE64,
        FROM_BASE64, HEX, UNHEX, BIN
    """,
    "json": """
        JSON_QUOTE, JSON_UNQUOTE, JSON_VALUE, JSON_EXISTS, JSON_QUERY, JSON_STRING, JSON,
        $JSON, JSON_OBJECT, JSON_ARRAY, IS JSON, IS NOT JSON, JSON_ARRAYAGG_NULL_ON_NULL,
        JSON_ARRAYAGG_ABSENT_ON_NULL, JSON_OBJECTAGG_NULL_ON_NULL,
        JSON_OBJECTAGG_ABSENT_ON_NULL, PARSE_JSON, TRY_PARSE_JSON
    """,
    "mathematics": """
        SIN, COS, TAN, COT, ASIN, ACOS, ATAN, SINH, COSH, TANH, DEGREES, RADIANS, SQRT, LN,
        LOG10, LOG2, EXP, ATAN2, POWER, LOG, PI, E, ABS, SIGN, ROUND, TRUNCATE, FLOOR, CEIL,
        CEILING, GREATEST, LEAST, RAND, RAND_INTEGER, UUID
    """,
    "objects": """
        OBJECT_OF, OBJECT_UPDATE
    """,
    "ranking": """
        ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD
    """,
    "regular_expressions": """
        REGEXP, REGEXP_REPLACE, REGEXP_EXTRACT, REGEXP_EXTRACT_ALL, REGEXP_COUNT,
        REGEXP_INSTR, REGEXP_SUBSTR, SIMILAR TO, NOT SIMILAR TO, STR_TO_MAP
    """,
    "statistics": """
        STDDEV_POP, STDDEV_SAMP, STDDEV, VAR_POP, VAR_SAMP, VARIANCE, PERCENTILE
    """,
    "strings": """
        ||, UPPER, UCASE, LOWER, LCASE, CHAR_LENGTH, CHARACTER_LENGTH, CONCAT, CONCAT_WS,
        TRIM, LTRIM, RTRIM, BTRIM, SUBSTRING, SUBSTR, LEFT, RIGHT, LPAD, RPAD, REPEAT,
        REVERSE, INITCAP, REPLACE, POSITION, LOCATE, INSTR, SPLIT, SPLIT_INDEX,
        OVERLAY, ASCII, CHR, TRANSLATE, TRANSLATE3, STARTSWITH, ENDSWITH, URL_ENCODE,
        URL_DECODE, PARSE_URL, IS_ALPHA, IS_DIGIT, IS_DECIMAL, ELT, PRINTF, LIKE,
        NOT LIKE, INET_ATON, INET_NTOA
    """,
    "times": """
        PROCTIME, CURRENT_TIMESTAMP, NOW, CURRENT_ROW_TIMESTAMP, LOCALTIMESTAMP,
        CURRENT_DATE, CURRENT_TIME, LOCALTIME, EXTRACT, YEAR, QUARTER, MONTH, WEEK,
        DAYOFYEAR, DAYOFMONTH, DAYOFWEEK, HOUR, MINUTE, SECOND, DATE_FORMAT, TO_DATE,
        TO_TIMESTAMP, TO_TIMESTAMP_LTZ, UNIX_TIMESTAMP, FROM_UNIXTIME, CONVERT_TZ,
        TIMESTAMPADD, TIMESTAMPDIFF, MINUS_DATE, CURRENT_WATERMARK
    """,
}
"""The modules of ``functions.builtin``, and the names of the functions in their ``FUNCTIONS``."""


class BuiltinFunctions:
    """Flink's own functions by name in capitals."""

    def __init__(self) -> None:
        self._chapters = {
            name: chapter
            for chapter, names in CHAPTERS.items()
            for name in " ".join(names.split()).split(", ")
        }
        self._loaded: dict[str, object] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            chapter = self._chapters[name]
            module = importlib.import_module(f"pyflink_on_spark._sql.functions.builtin.{chapter}")
            self._loaded.update(
                (known, function)
                for function in module.FUNCTIONS
                for known in (function.name, *function.aliases)
            )
        return self._loaded[name]

    def find(self, name: str) -> Any:
        """Return the function of a name in any case, or None."""
        name = name.upper()
        return self[name] if name in self._chapters else None

    def names(self) -> list[str]:
        """Return the names of all functions that are no operators."""
        return [name for name in self._chapters if name[0].isalpha()]


@lru_cache(maxsize=1)
def builtin_functions() -> BuiltinFunctions:
    """Return Flink's own functions."""
    return BuiltinFunctions()


_OF_TABLE_API = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "divide": "/",
    "equals": "=",
    "notEquals": "<>",
    "lessThan": "<",
    "greaterThan": ">",
    "lessThanOrEqual": "<=",
    "greaterThanOrEqual": ">=",
    "minusPrefix": "UNARY -",
    "ifThenElse": "IF",
    "sum0": "$SUM0",
    "SUM0": "$SUM0",
    "at": "ITEM",
    "isFalse": "IS FALSE",
    "isNotFalse": "IS NOT FALSE",
    "isNotNull": "IS NOT NULL",
    "isNotTrue": "IS NOT TRUE",
    "isNull": "IS NULL",
    "isTrue": "IS TRUE",
    "IS_JSON": "IS JSON",
    "lowerCase": "LOWER",
    "notBetween": "NOT BETWEEN",
    "similar": "SIMILAR TO",
    "upperCase": "UPPER",
}


def function_of_call(call: Call, find: Callable[[str], object]) -> object:
    """The function of a call, or None; ``charLength`` of the Table API is CHAR_LENGTH of SQL.

    Args:
        call: the call.
        find: gives the function of a name, or None.
    """
    found = call.function or find(call.name)
    if found is None and call.span is None:
        words = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", call.name).upper()
        found = find(_OF_TABLE_API.get(call.name, words))
    return found


CURRENT_DATABASE = "CURRENT_DATABASE"
CORE = "core"


@dataclass(frozen=True)
class PythonFunction:
    """A function that is known by the name of a Python object, which is imported when it is used.

    Args:
        path: the object's module and name.
        language: ``PYTHON``; a program can also store functions of ``JAVA`` and ``SCALA``.
    """

    path: str
    language: str = "PYTHON"

    def load(self, name: str) -> Any:
        """Import the object.

        Args:
            name: the function's, for messages.

        Raises:
            ValidationError: there is no such object, or it is no function of ``udf`` and the like.
            UnsupportedFlinkFeature: it is a class of Java.
        """
        if self.language != "PYTHON":
            raise_unsupported(
                f"the function '{name}' in the language {self.language}",
                kind=Gap.NEVER,
                reason="no Java class can be called",
                instead="Write the function in Python: udf() of pyflink.table.udf.",
            )
        failed = f"Cannot instantiate user-defined function '{name}'."
        module_name, _, attribute = self.path.rpartition(".")
        try:
            found = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValidationError(
                f"{failed} Instantiating python function '{self.path}' failed: {error}"
            ) from None
        defined = getattr(found, "_defined", None)
        if defined is None:
            raise ValidationError(
                f"{failed} '{self.path}' is no function of udf(), udtf() or udaf()"
            )
        return defined()

    def rows(self) -> Rows:
        """Return the rows that say where the function comes from."""
        return [
            ("class name", self.path),
            ("function language", self.language),
            ("resource uris", "[]"),
        ]


class Modules:
    """The modules of a session, in which SQL looks for functions; Flink's own are in ``core``."""

    def __init__(self) -> None:
        self.loaded = [CORE]
        self.used = [CORE]

    def load(self, name: str) -> None:
        """Add a module, and use it.

        Raises:
            ValidationError: it is there already, or there is no such module.
        """
        if name in self.loaded:
            raise ValidationError(f"A module with name '{name}' already exists")
        if name != CORE:
            raise ValidationError(f"Unable to create module '{name}'.")
        self.loaded.append(name)
        self.used.append(name)

    def unload(self, name: str) -> None:
        """Remove a module.

        Raises:
            ValidationError: it is not there.
        """
        self._check(name)
        self.loaded.remove(name)
        self.used = [each for each in self.used if each != name]

    def use(self, *names: str) -> None:
        """Choose the modules in which functions are looked for, in this order.

        Raises:
            ValidationError: one of them is not there, or stands twice.
        """
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValidationError(f"Module '{name}' appears more than once")
            self._check(name)
        self.used = list(names)

    def _check(self, name: str) -> None:
        if name not in self.loaded:
            raise ValidationError(f"No module with name '{name}' exists")


class FunctionCatalog:
    """Finds functions by name.

    A name without a database is that of a temporary system function, of a function of Flink's, of a
    temporary function, or of a function of a catalog: the first of them that there is.

    Args:
        catalog: the catalogs of the session.
    """

    def __init__(self, catalog: CatalogManager) -> None:
        self._catalog = catalog
        self.modules = Modules()
        self._system: dict[str, object] = {}
        self._temporary: dict[ObjectPath, object] = {}

    def add_system(self, name: str, function: object, *, if_not_exists: bool = False) -> None:
        """Add a temporary function that is in no database.

        Raises:
            ValidationError: there is one of that name.
        """
        key = _parts(name)[-1]
        if key not in self._system:
            self._system[key] = function
        elif not if_not_exists:
            raise ValidationError(
                f"Could not register temporary system function. A function named '{key}' does "
                "already exist."
            )

    def add_temporary(self, name: str, function: object, *, if_not_exists: bool = False) -> None:
        """Add a temporary function to a database.

        Raises:
            ValidationError: there is one of that name.
        """
        path = self.path(name)
        if path not in self._temporary:
            self._temporary[path] = function
        elif not if_not_exists:
            raise ValidationError(
                f"Could not register temporary catalog function. A function '{path}' does already "
                "exist."
            )

    def add(self, name: str, function: PythonFunction, *, if_not_exists: bool = False) -> None:
        """Add a function to a database.

        Raises:
            ValidationError: there is one of that name.
            CatalogError: there is no such database.
        """
        path = self.path(name)
        functions = self._catalog.database(path).functions
        if path.name not in functions:
            functions[path.name] = function
        elif not if_not_exists:
            raise ValidationError(
                f"Function {path.database}.{path.name} already exists in Catalog {path.catalog}."
            )

    def alter(self, name: str, function: PythonFunction, *, if_exists: bool = False) -> None:
        """Change a function of a database.

        Raises:
            ValidationError: it is not there.
        """
        path = self.path(name)
        functions = self._catalog.database(path).functions
        if path.name in functions:
            functions[path.name] = function
        elif not if_exists:
            raise ValidationError(
                f"Function {path.database}.{path.name} does not exist in Catalog {path.catalog}."
            )

    def drop_system(self, name: str) -> bool:
        """Remove a temporary system function; tell whether there was one."""
        return self._system.pop(_parts(name)[-1], None) is not None

    def drop_temporary(self, name: str) -> bool:
        """Remove a temporary function; tell whether there was one."""
        return self._temporary.pop(self.path(name), None) is not None

    def drop(self, name: str) -> bool:
        """Remove a function of a database; tell whether there was one."""
        path = self.path(name)
        functions = self._catalog.database(path).functions
        return functions.pop(path.name, None) is not None

    def find(self, name: str) -> Any:
        """Return the function of a name in any case, or None.

        Raises:
            ValidationError: the Python object of that function is not there.
        """
        parts = _parts(name)
        if len(parts) == 1:
            found = self._system.get(parts[0])
            if found is None:
                found = self._builtin(name)
            if found is not None:
                return _loaded(found, parts[0])
        return self.find_own(name)

    def find_own(self, name: str) -> object:
        """Return the user's function of a name in a database, or None.

        Raises:
            ValidationError: the Python object of that function is not there.
        """
        if len(_parts(name)) > 3:
            return None
        path = self.path(name)
        found = self._temporary.get(path)
        if found is not None:
            return _loaded(found, path.name)
        return _loaded(self._permanent(path).get(path.name), str(path))

    def _permanent(self, path: ObjectPath) -> MutableMapping[str, object]:
        catalog = self._catalog.catalogs.get(path.catalog)
        database = None if catalog is None else catalog.databases.get(path.database)
        return {} if database is None else database.functions

    def _builtin(self, name: str) -> object:
        """Return a function of Flink's. SQL knows nearly all of them without the module, too."""
        if name.upper() == CURRENT_DATABASE:
            return current_database(self._catalog.current_database)
        return builtin_functions().find(name)

    def path(self, name: str) -> ObjectPath:
        """Return the whole name of a function that is in a database."""
        *place, own = _parts(name, fold=False)
        return self._catalog.qualify((*place, own.lower()))

    def user_names(self) -> list[str]:
        """Return the names of the user's functions in the current database, in order."""
        place = self.path("")
        temporary = {path.name for path in self._temporary if path[:2] == place[:2]}
        return sorted({*self._system, *temporary, *self._permanent(place)})

    def describe(self, parts: tuple[str, ...], *, extended: bool) -> Rows:
        """Return the rows that describe a function.

        Args:
            parts: of its name.
            extended: whether kind and signature belong to the rows.

        Raises:
            ValidationError: there is none of that name, or its Python object is not there.
            UnsupportedOperationError: the program registered it in a database.
        """
        if len(parts) > 3:
            raise ValidationError("Object identifier must consist of 1 to 3 parts.")
        *_, own = parts
        if len(parts) == 1:
            found = self._system.get(own.lower())
            if found is not None:
                function = _loaded(found, own)
                return described_user_function(
                    own, function, system=True, temporary=True, source=[], extended=extended
                )
            rows = described_builtin(own, extended=extended) if CORE in self.modules.used else None
            if rows is not None:
                return rows
        path = self._catalog.qualify((*parts[:-1], own.lower()))
        found = self._temporary.get(path)
        temporary = found is not None
        if found is None:
            found = self._permanent(path).get(path.name)
        if found is None:
            name = ".".join(f"`{part}`" for part in parts)
            raise ValidationError(f"Function with the identifier '{name}' doesn't exist.")
        function = _loaded(found, path.name if temporary else str(path))
        return described_user_function(
            str(path._replace(name=own)),
            function,
            system=False,
            temporary=temporary,
            source=found.rows() if isinstance(found, PythonFunction) else [],
            extended=extended,
        )

    def listed(self) -> list[str]:
        """Return the names of all functions in order; Flink's as its modules list them."""
        own = flinks_functions() if CORE in self.modules.used else ()
        return sorted({*own, *self.user_names()})

    def names(self) -> list[str]:
        """Return the names of all functions that SQL can call, in order."""
        own = {CURRENT_DATABASE, *builtin_functions().names()} if CORE in self.modules.used else ()
        return sorted({*own, *self.user_names()})


def _loaded(function: object, name: str) -> object:
    return function.load(name) if isinstance(function, PythonFunction) else function


def _parts(name: str, *, fold: bool = True) -> list[str]:
    """Return the parts of a function's name, in lower case if they are folded."""
    parts = name.replace("`", "").split(".")
    return [part.lower() for part in parts] if fold else parts


def current_database(name: str) -> ScalarFunction:
    """Return the function CURRENT_DATABASE while a database is the current one."""
    result = always(logical.STRING.with_nullable(False))
    return ScalarFunction(
        "CURRENT_DATABASE", (Overload((), result, lambda site: repr(name), Nulls.CALLED),)
    )


Rows = list[tuple[str, str]]

_KINDS: tuple[tuple[type[Described], str], ...] = (
    (AsyncFunction, "ASYNC_SCALAR"),
    (ScalarFunction, "SCALAR"),
    (TableFunction, "TABLE"),
    (AggregateFunction, "AGGREGATE"),
    (TableAggregateFunction, "TABLE_AGGREGATE"),
)


class FlinksFunction(NamedTuple):
    """A function of Flink's.

    Args:
        kind: as Flink names it.
        deterministic: whether it always has the same result for the same arguments.
        arguments: the texts of its forms, without its name.
    """

    kind: str
    deterministic: bool
    arguments: list[str]


@lru_cache(maxsize=1)
def flinks_functions() -> dict[str, FlinksFunction]:
    """Return the functions that Flink lists, by name.

    ``compat_tests.record_functions`` has recorded them.
    """
    text = files(__package__).joinpath("described.json").read_text(encoding="utf-8")
    return {name: FlinksFunction(*each) for name, each in json.loads(text).items()}


@lru_cache(maxsize=1)
def _by_lower_name() -> dict[str, FlinksFunction]:
    return {name.lower(): each for name, each in flinks_functions().items()}


def described_builtin(name: str, *, extended: bool) -> Rows | None:
    """Return the rows of a function of Flink's, or None.

    Args:
        name: in any case.
        extended: whether kind and forms belong to the rows.
    """
    found = _by_lower_name().get(name.lower())
    if found is None:
        return None
    rows = _place(system=True, temporary=False)
    return rows + _extension(name, *found) if extended else rows


def described_user_function(
    name: str, function: object, *, system: bool, temporary: bool, source: Rows, extended: bool
) -> Rows:
    """Return the rows of a user's function.

    Args:
        name: as the statement writes it, with its database unless it is a system function.
        function: it.
        system: whether it is in no database.
        temporary: whether the session forgets it.
        source: rows that say where it comes from; none for a function that the program registered.
        extended: whether kind and signature belong to the rows.

    Raises:
        UnsupportedOperationError: the program registered it in a database.
    """
    if not system and not source:
        raise UnsupportedOperationError(
            "This CatalogFunction is a InlineCatalogFunction. This method should not be called."
        )
    rows = _place(system=system, temporary=temporary) + source
    if not extended:
        return rows
    assert isinstance(function, Described)
    assert function.declaration is not None
    types = function.declaration.input_types
    shown = "*" if types is None else ", ".join(
        f"arg{index} => {kind.text()}" for index, kind in enumerate(types)
    )  # fmt: skip
    kind = next(kind for each, kind in _KINDS if isinstance(function, each))
    return rows + _extension(name, kind, function.declaration.deterministic, [f"({shown})"])


def _place(*, system: bool, temporary: bool) -> Rows:
    return [("is system function", _java(system)), ("is temporary", _java(temporary))]


def _extension(name: str, kind: str, deterministic: bool, arguments: list[str]) -> Rows:
    return [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", _java(deterministic)),
        ("supports constant folding", "true"),
        ("signature", "\n".join(name + each for each in arguments)),
    ]


def _java(value: bool) -> str:
    return "true" if value else "false"
