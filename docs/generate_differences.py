"""Writes differences.md and pyflink_defects.md: every ``On Spark:`` section of public things.

A section that names the version PyFlink 2.3 is about a defect of that version.

python docs/generate_differences.py

A test in tests/docs fails if they are stale.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark.tools.check.verdict import deviations

PACKAGE = "pyflink_on_spark"
PARTS = ("common", "datastream", "metrics", "util", "table")
REFERENCE = Path(__file__).parent / "reference"
_VERSION = "PyFlink 2.3"
"""The version that an entry about a defect names."""
HEAD = """\
# Where this differs from PyFlink

This page has what a program that is ported has to know: what is not there, what behaves otherwise
on purpose, and what has no effect. What PyFlink 2.3.0 gets wrong or cannot run, and this package
can, is on [a page of its own](pyflink_defects.md). Everything on neither page behaves as in
PyFlink 2.3.0; anything else is a bug. A feature that does not work raises
`UnsupportedFlinkFeature`, which says what to do instead.
`python -m pyflink_on_spark check script.py` reports such features without running the script.

The lists are generated: each entry is the `On Spark:` section of a docstring. To change one, change
the docstring, then run `python docs/generate_differences.py`.

## Errors

- A job that fails raises `JobExecutionError`, a cancelled one `JobCancelledError`, both of
  `pyflink_on_spark.errors`, where PyFlink raises `py4j.protocol.Py4JJavaError`. In a script that
  imports py4j both errors are also a `Py4JJavaError`, so that its `except` clauses need no change.
  `str(error)` begins with the traceback of the script's own function. `error.java_exception` offers
  that text with `toString()`, `getMessage()` and `printStackTrace()`; it is not a Java object.
- Errors that are detected before a job starts are Python's own, where PyFlink raises a
  `Py4JJavaError`: `FileNotFoundError` for a missing file, `ValueError` or `TypeError` for a wrong
  argument. `from_descriptor` refuses a connector that is not there; PyFlink does when it is used.
- An error in the `close` of a function of `pyflink.datastream.functions` does not fail the job, as
  in PyFlink, and is logged with its traceback. All other functions are closed; PyFlink skips those
  that follow in the same worker. Write important data in `process_element` or a sink. An error in
  the `close` of a sink, or of a sink function of `pyflink_on_spark.extensions`, fails the job, as
  in Java.
- `SystemExit`, `GeneratorExit`, `asyncio.CancelledError` and other errors that are not an
  `Exception` fail the job, also in asynchronous functions, where a job of PyFlink may hang.

## In general

- **Execution.** A streaming job runs in long-running Spark tasks (*hosts*) that exchange elements
  directly. A job with BATCH semantics runs stage by stage. Functions run in Python processes only:
  bundles to and from a JVM, and the options about them, do not exist.
- **Watermarks.** An unbounded job emits periodic watermarks by the clock, as PyFlink does. A
  bounded job counts elements, and looks at the clock only where its functions are slow, so that its
  results can be repeated.
- **Checkpoints** use aligned barriers. The effect on state is always exactly once. Checkpoints
  and savepoints of Flink start jobs; [moving in](../use/moving_in.md) says what is left out.
- **A changed program or query** does not start from state that means something else: state of
  another declared type, of other windows, or of another sum. PyFlink finds state by the places of
  operators, reads the old type as if it were the new one, and mixes sums.
  `pyflink-on-spark.changed-state` takes or drops such state ([state.md](../use/state.md)).
- **Types.** A value that does not have a state's declared type is refused when it is put into the
  state, and so is a result of `reduce` or `sum` on a keyed stream that does not have the stream's
  type. PyFlink refuses such a value when it writes the state, at the end of a bundle.
- **`print` in a function** writes to the standard error of Spark's workers: with a local master,
  that of the driver. PyFlink on one machine writes to standard output, and its worker processes
  show nothing. The sink `DataStream.print` writes to standard output.
- **A main output that nobody reads**, beside a side output that is read, is not converted to its
  declared type, so that a wrong type is not found.

## Tables and SQL

- **Times** are exact to the microsecond, also in columns with more digits.
- `APPROX_COUNT_DISTINCT` counts exactly.
- **Not there:** `sink.partition-commit.policy.class` and `partition.time-extractor.class`, since
  there are no Java classes; in `MATCH_RECOGNIZE` the anchors `^` and `$`, `SUBSET`, the table's
  name in place of a variable, and `FIRST` or `LAST` inside of an aggregate, of which PyFlink
  ignores some and gives NULL for others; a correlated query with `LIMIT` after `IN` and `EXISTS`,
  for which PyFlink takes the first rows of the whole table.
- **Functions.** `SHOW FUNCTIONS` lists what PyFlink lists. Of that SQL cannot call `ML_PREDICT`,
  since there are no models, and `AGG_DECIMAL_PLUS`, `AGG_DECIMAL_MINUS` and
  `HIVE_AGG_DECIMAL_PLUS`, which Flink's planner uses in its plans. `call` does not take the names
  `as`, `asc`, `cast`, `desc`, `distinct`, `end`, `flatten`, `get`, `over`, `rangeTo`, `start`,
  `withColumns` and `withoutColumns`, which are methods and functions of the Table API.
- **Python aggregate functions** update their groups once for each bundle, as in PyFlink
  (`python.fn-execution.bundle.size` and `bundle.time`). A watermark between the rows of a bundle
  passes at once; PyFlink holds it back until the bundle ends, so that no row of the bundle is late.
  Pandas functions over frames of rows behave alike there.
- **Mini-batches.** `table.exec.mini-batch.enabled` has no effect. In Flink a watermark then comes
  for each batch of rows, so that fewer rows are late, and a deduplication that keeps the first row
  by event time emits updates and takes late rows into account.
- **Watermarks.** The watermark of a table follows each row that takes it further than
  `pipeline.auto-watermark-interval`, as in PyFlink. After 10,000 watermarks there are at least 64
  rows for each further one, so that watermarks do not cost more than rows.
- **Late rows** of an OVER that nobody uses are dropped, too: Flink's planner leaves the OVER out.
  An interval join of a table with itself reads rows of the first side before those of the second.
  A late row of the first can then be joined, which Flink drops.
- **`numLateRecordsDropped`** counts each late row. In Flink the local phase of a window without
  keys adds up rows before it looks for late ones, and such rows count as one.
- **Views** are resolved when they are created: they read the same table after its name has
  changed. Flink reads the view's text again and finds no table.
- **Kinds of changes.** A Top-N takes the old row of an update back as a deletion, also where the
  order only grows, as that of `COUNT(*) DESC`, and nothing comes of two equal rows that replace
  each other; in PyFlink the first is an update, and the second two changes. A row of an upsert
  source that is the first of its key to pass a filter is a `+U` if the key had a row before; in
  PyFlink it is a `+I`. What is left is the same.
- `FOR SYSTEM_TIME AS OF` needs a time attribute of the versions. Flink takes `MAX` of one, too.
- `1e0 / 0` of constants is refused wherever it stands. Flink computes it as part of a larger
  constant, as in `1e0 / 0 > 1`.
- A user's function that is named `plus` does not replace `+` of the Table API.
- What `ON CONFLICT` holds back until the next watermark does not expire.
- **Texts.** `EXPLAIN` has the sections of Flink, and the operators of this project. The list
  "Supported form(s)" is missing for some functions, an interval shows as `INTERVAL SECOND(3)`, and
  a syntax error does not list the words that may follow.
- `SHOW CREATE TABLE`, `SHOW CREATE CATALOG` and `DESCRIBE CATALOG EXTENDED` hide the values of
  secrets, such as passwords, also those in URLs. Flink shows them.
"""

DEFECTS = """\
# Defects of PyFlink that are not repeated here

PyFlink 2.3.0 gives wrong results for the statements on this page, or fails, and this package does
not. A program that runs on PyFlink and does not work around such a defect needs no change. What a
ported program has to know is on [the page of differences](differences.md). The tests that show
these defects are in `compat_tests/`, marked `pyflink_bug`, and in the lists of random programs.

## Streams

- **None** that a function emits into a stream without a declared type is an element like any other.
  PyFlink fails with a `NullPointerException` where such an element leaves its Python worker.
- A side output that nobody takes is left out. PyFlink emits the pair of tag and value into the main
  output.
- `side_output_late_data` takes a tag whose type is in use. PyFlink then fails to pickle the tag:
  `cannot pickle '_thread.RLock' object`.
- `reduce` and `sum` give complete rolling results in BATCH mode, also with
  `python.state.cache-size: 0`. PyFlink loses elements.
- A `reduce` that returns None clears the state of the key: the next element is the first again. In
  PyFlink all further results of the key are None.

## NULL and numbers

- The NULL of an outer join of the Table API is NULL. PyFlink takes the columns of the other side to
  be NOT NULL, and returns -1 for the NULL of a number.
- An entry that a map has not is NULL. In PyFlink it is -1 if the values of the map are NOT NULL.
- An array that contains NULL can be collected. PyFlink raises `EOFError: Ran out of input`.
- A `DECIMAL` that may have more than 38 digits (`p * p` of `DECIMAL(38, 2)`) is nullable. In Flink
  it is NOT NULL if its operands are, and a job fails that has to write NULL.
- `CAST` of a text to a short `DECIMAL` reads what Flink reads, its oddities included: up to a
  precision of 18, `'x'` is 0 and `'99.999'` as `DECIMAL(4, 2)` is 100.00. Flink refuses the latter
  where it computes it while planning, as for a constant.
- A constant that has too many digits for its `CAST`, as `CAST(123.456 AS DECIMAL(4, 2))`, is NULL,
  as that of a column is in both engines. PyFlink fails when the job runs.
- A Python function gets of `CAST(1.05 AS DECIMAL)` what the type says, `Decimal("1")`. PyFlink
  passes the constant before its `CAST`, `Decimal("1.05")`.
- `-0.0` is `-0.0`. Flink's planner makes 0.0 of it where it computes a constant.
- `SUM` over `union_all` of a `FLOAT` and a `DOUBLE` column of the Table API adds in `DOUBLE`, which
  both engines declare. PyFlink adds in `FLOAT`.
- `IN` compares whole values. Flink first shortens the texts, bytes and numbers of the list to
  the type of what is on the left: `'a' IN (s || 'x')` is TRUE there if `s` is `'a'`, and so is
  `n IN (65537, 3)` if `n` is the `SMALLINT` 1. If the list has columns, it shortens its numbers to
  the type of a column, too: `1 IN (1.5, i)` is TRUE.
- `IF`, `ARRAY` and `MAP` take arrays and rows whose elements have different types. PyFlink cannot
  generate code for their conversion.

## Times and intervals

- `CAST` of a timestamp before 1970 as `DATE` is its day; in Flink it can be the day after. So can
  what `EXTRACT` and `HOUR` to `QUARTER` make of one, and the hour of 1969-12-30 12:00 is -12 there.
  `CAST` of one as `TIME` fails: `Invalid time format: [00:00:0/]`.
- A result of type `INTERVAL` is a `timedelta` or a number of months; PyFlink fails to pass it to
  Python (PickleException). `TIMESTAMPADD` takes `MICROSECOND`, which Flink refuses.
- `WHERE (a - b) DAY > INTERVAL '1' DAY` reads files, too. PyFlink's planner fails to push the
  condition into the source: `scala.MatchError`. `MAX` and `MIN` take intervals; PyFlink's planner
  fails. The months between two values of `TIME` are 0 or -1; in PyFlink they are thousands.
- A point in time (`TIMESTAMP_LTZ`) can be collected. PyFlink fails to pass it to Python.
- The `UNION` of `TIMESTAMP` and `TIMESTAMP_LTZ` is a `TIMESTAMP_LTZ`; in Flink it is a `TIMESTAMP`.
- The `UNION ALL` of a processing time and an event time is no time attribute. In Flink it is the
  attribute of the first table, and a job fails that reads event time from it.

## Groups, windows and OVER

- `FIRST_VALUE` and `LAST_VALUE` over `HOP`, `CUMULATE` and `SESSION`, `SUM(DISTINCT ...)` and
  `LISTAGG(DISTINCT ...)` over `HOP` work. Flink cannot merge them, and its planner fails.
- `SELECT DISTINCT` of grouping sets has no doubles. Flink's planner takes the keys for unique and
  keeps two equal rows where a key is NULL in the data.
- A global aggregate over a stream without rows gives no row. Flink gives one if its planner finds
  that the condition before it is never true.
- `RANK` and `DENSE_RANK` over a stream count the rows that come before in order. PyFlink counts
  equal rows as well.
- `OVER (ORDER BY proctime RANGE BETWEEN INTERVAL ... PRECEDING ...)` gives a row when it comes.
  PyFlink holds it back until the clock has advanced, and loses what it holds at the end of a
  bounded input.
- `STDDEV_POP` of an INT and `PERCENTILE` with `OVER` in the order of a column that is no time
  attribute take all rows so far. PyFlink computes the first with integers, and the second of each
  row alone.
- `FIRST_VALUE` with `OVER` in the order of a column that is no time attribute repeats no row whose
  value stays as it was. PyFlink does, depending on the clock. A deleted row that has twins leaves
  them in the sums of rows that are equal in the order.
- In BATCH mode `LAG` and `LEAD` use the distance and the default that they name. PyFlink confuses
  such constants as soon as one SELECT has `OVER` in several orders: `LAG(n, 1, -1)` is a `LEAD`
  there, or the job fails. After `PERCENT_RANK`, its `CUME_DIST` counts rows that are equal in the
  order one by one.
- In BATCH mode `COLLECT` and `ARRAY_AGG` may stand beside an aggregate with DISTINCT. PyFlink's
  planner fails there: `Min aggregate function does not support type`.

## The first rows of an order

- A Top-N, a LIMIT or an ORDER BY with LIMIT whose first ranks are left out (`OFFSET`, `n >= 2`)
  takes rows back that leave the wanted ranks because a row before them went. PyFlink forgets that,
  and keeps more rows than the query asks for.
- `WHERE rownum < column` over a stream keeps one row less than the column says. PyFlink keeps as
  many as with `<=`.
- `WHERE rownum <= 1` takes a row back before it gives the one in its place. PyFlink's planner
  leaves that out unless the order is one column with `DESC`: then its rows of kind +U come alone,
  and `COUNT(*)` over them counts the rows that were replaced, too.

## Joins and queries inside of queries

- A filter over the versions of a table, which `FOR SYSTEM_TIME AS OF` reads, leaves out versions.
  In Flink a version that was updated later does not count at all then.
- A correlated query reads views of `VALUES` as it reads tables. PyFlink's planner fails there:
  `unexpected correlate variable`.
- A row whose columns are NULL where a correlated query uses them has the rows for which the
  condition holds, as in `p.w > t.v OR t.v IS NULL`, and `LATERAL (SELECT t.v FROM p)` keeps it.
  PyFlink's planner loses it.
- A function with `OVER` in a correlated `LATERAL` is over the rows that belong to each row before
  it. PyFlink computes it over the rows of all of them. After `LEFT JOIN LATERAL`, the counts of
  no rows are 0 also beside other aggregates. There they are NULL.
- `SELECT DISTINCT` and `LATERAL (... ORDER BY ... LIMIT n)` have no rows for a NULL key. PyFlink
  makes a Top-N of them, which has.
- A query inside of a query may use columns two levels around it also after `IN`, and an `ON` of
  `LEFT JOIN LATERAL` what the query selects of the row before. PyFlink's planner fails there.
- `ON a.f IS NOT DISTINCT FROM b.d` joins a `FLOAT` and a `DOUBLE`, too. PyFlink's planner fails
  there over streams: `Equality join predicate on incompatible types`.
- `INTERSECT ALL` compares all columns. PyFlink may leave out those that nothing after it uses.

## MATCH_RECOGNIZE

- A measure of a variable that has taken no row is NULL. In PyFlink it is NOT NULL if the column is,
  and an INT is then -1.
- A measure that is a column of event time is no time attribute, and the schema says so. PyFlink's
  schema shows `*ROWTIME*`, and its planner refuses windows over it all the same.
- `MATCH_ROWTIME()` of a match that comes at the end of the input, because an earlier one cannot
  become longer any more, is the time of its last row. PyFlink gives the highest time there is,
  which Python has no datetime for.

## Tables that are written

- Rows without a value of the partition's column can be read again. Flink writes them into
  `__DEFAULT_PARTITION__`, and cannot read that table ("Path should not be null or empty").
- Rows that are only added into an upsert table (`jdbc`, `upsert-kafka`) need no `ON CONFLICT`: the
  last row of a key counts, as in versions before 2.3, which refuses the statement.
  `ON CONFLICT DO NOTHING` and `DO ERROR` take rows of `from_elements`, which have no watermarks.
- The keys of `INTERSECT` and `EXCEPT` are all columns; Flink finds none where the first table has a
  primary key. Nor does it where `WHERE x = 1` follows groups by a column `x` that may be NULL; here
  they are the groups'.

## Python functions and pandas

- A row for which a Python table function of a `LEFT JOIN` gives nothing keeps its kind. In PyFlink
  it has the kind of the row that came out before it, and a row that is taken back may be added.
- In BATCH mode Python aggregate functions work, and in STREAMING mode those of pandas. PyFlink
  refuses both: `non-Pandas UDAFs are not supported in batch mode currently`.
- A Python function may return a tuple for an `ARRAY`, where PyFlink wants a list, and functions of
  pandas take a `MAP`.
- `from_pandas` takes columns of pandas' nullable types and of Arrow (`Int64`, `string`,
  `large_string[pyarrow]`, ...), which PyFlink refuses, and keeps the microseconds of timestamps,
  which PyFlink cuts to milliseconds. `to_pandas` gives the right point in time for
  `TIMESTAMP_LTZ`; PyFlink shows the time in UTC with the name of the local zone. It also takes
  maps, and rows in rows and in arrays, which PyFlink refuses.
- A function that is registered under the name of an operator, as `plus`, does not take the place of
  the operator. In the Table API of PyFlink `a + b` calls it.

## The Table API

- It compares and converts as SQL does. PyFlink refuses `col("n") > "1"` and
  `col("d") == "2024-01-01"` ("Invalid function call"), and its messages name other functions.
- `select("a, b")` and other texts in place of expressions work as in former versions of PyFlink.
- `object_of` and `Expression.object_update` make objects, as their documentation says. PyFlink 2.3
  calls a method that Java has not, and raises `Py4JError`: there `call("OBJECT_OF", ...)` works.
"""


def document() -> str:
    """Return the text of the page of differences."""
    return _page(HEAD, of_defects=False)


def defects() -> str:
    """Return the text of the page of PyFlink's defects."""
    return _page(DEFECTS, of_defects=True)


def _page(head: str, *, of_defects: bool) -> str:
    lines = [head]
    for section, entries in sorted(_entries().items()):
        shown = [entry for entry in entries if (_VERSION in entry[0]) is of_defects]
        if shown:
            lines += [f"## {section.replace(PACKAGE, 'pyflink', 1)}", ""]
            lines += [f"- {names}: {text}" for text, names in shown]
            lines.append("")
    return "\n".join(lines)


def _entries() -> dict[str, list[tuple[str, str]]]:
    """Return, for each section, the texts and the names that each holds for."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module, name, thing in _public():
        for inner, docstring in _documented(name, thing):
            for text in deviations(docstring):
                found[_section(module)][_sentences(text)].append(f"`{inner}`")
    return {
        section: [(text, ", ".join(dict.fromkeys(names))) for text, names in texts.items()]
        for section, texts in found.items()
    }


def _section(module: str) -> str:
    """Return the package that a module belongs to; connectors are one of their own."""
    parts = module.split(".")
    return ".".join(parts[: 3 if "connectors" in parts else 2])


def _public() -> Iterator[tuple[str, str, Any]]:
    """Yield the public things of all modules, each under the shortest module that has it."""
    names: dict[int, tuple[str, str, Any]] = {}
    parts = {id(part) for _, _, thing in _exported() for part in _parts(thing)}
    for module in sorted(_modules(), key=lambda name: (name.count("."), name)):
        members = vars(importlib.import_module(module))
        for name in members.get("__all__") or members:
            thing = members.get(name)
            if not name.startswith("_") and _is_ours(thing) and id(thing) not in parts:
                names.setdefault(id(thing), (module, name, thing))
    yield from sorted(names.values(), key=lambda entry: entry[:2])


def _modules() -> Iterator[str]:
    for part in PARTS:
        name = f"{PACKAGE}.{part}"
        if importlib.util.find_spec(name) is None:
            continue
        yield name
        for info in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if not any(piece.startswith("_") for piece in info.name.split(".")):
                yield info.name


def _is_ours(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    mirrored = module.startswith(tuple(f"{PACKAGE}.{part}" for part in PARTS))
    return mirrored and (inspect.isclass(thing) or callable(thing))


def _documented(name: str, thing: Any) -> Iterator[tuple[str, str | None]]:
    yield name, thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
    if not inspect.isclass(thing):
        return
    for owner in (thing, *_parts(thing)):
        for member, declared in owner.__dict__.items():
            value = getattr(declared, "__func__", declared)
            if inspect.isclass(value) and value.__qualname__ == f"{owner.__qualname__}.{member}":
                yield from _documented(f"{name}.{member}", value)
            elif not member.startswith("_") and (callable(value) or isinstance(value, property)):
                yield f"{name}.{member}", value.__doc__


def _parts(thing: Any) -> Iterator[type]:
    """Yield the classes that an exported class is made of but nobody imports."""
    exported = {id(thing) for _, _, thing in _exported()}
    bases = getattr(thing, "__mro__", ())[1:]
    elsewhere = {part for base in bases if id(base) in exported for part in base.__mro__}
    for base in bases:
        if _is_ours(base) and base not in elsewhere:
            yield base


@functools.cache
def _exported() -> tuple[tuple[str, str, Any], ...]:
    return tuple(
        (module, name, members[name])
        for module in _modules()
        for members in [vars(importlib.import_module(module))]
        for name in members.get("__all__", ())
        if name in members
    )


def _sentences(text: str) -> str:
    return (text[:1].upper() + text[1:].rstrip(".") + ".").replace("``", "`")


if __name__ == "__main__":
    (REFERENCE / "differences.md").write_text(document(), encoding="utf-8")
    (REFERENCE / "pyflink_defects.md").write_text(defects(), encoding="utf-8")
