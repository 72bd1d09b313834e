"""Writes differences.md: every ``On Spark:`` section of the public classes and functions.

python docs/generate_differences.py

A test in tests/docs fails if it is stale.
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
DOCUMENT = Path(__file__).parent / "reference" / "differences.md"
HEAD = """\
# Where this differs from PyFlink

Everything that is not on this page behaves as in PyFlink 2.3.0; anything else is a bug. A feature
that does not work raises `UnsupportedFlinkFeature`, which says what to do instead.
`python -m pyflink_on_spark check script.py` reports such features without running the script.

The lists per module are generated: each entry is the `On Spark:` section of a docstring. To change
one, change the docstring, then run `python docs/generate_differences.py`.

## Errors

- A job that fails raises `JobExecutionError`, a cancelled one `JobCancelledError`, both of
  `pyflink_on_spark.errors`, where PyFlink raises `py4j.protocol.Py4JJavaError`. In a script that
  imports py4j both errors are also a `Py4JJavaError`, so that its `except` clauses need no change.
  `str(error)` begins with the traceback of the script's own function. `error.java_exception` offers
  that text with `toString()`, `getMessage()` and `printStackTrace()`; it is not a Java object.
- Errors that are detected before a job starts are Python's own, where PyFlink raises a
  `Py4JJavaError`: `FileNotFoundError` for a missing file, `ValueError` or `TypeError` for a wrong
  argument.
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
- **A changed program** does not start from state that means something else: state of another
  declared type, of other windows, or of another sum. PyFlink reads what was written in the old
  type as if it had the new one, and mixes the rest. `pyflink-on-spark.changed-state` takes or drops
  such state ([state.md](../use/state.md)).
- **Types.** A value that does not have a state's declared type is refused when it is put into the
  state, and so is a result of `reduce` or `sum` on a keyed stream that does not have the stream's
  type. PyFlink refuses such a value when it writes the state, at the end of a bundle.
- **None** that a function emits into a stream without a declared type is an element like any other.
  PyFlink fails with a `NullPointerException` where such an element leaves its Python worker.
- **`print` in a function** writes to the standard error of Spark's workers: with a local master,
  that of the driver. PyFlink on one machine writes to standard output, and its worker processes
  show nothing. The sink `DataStream.print` writes to standard output.
- **Outputs that nobody reads.** A side output that nobody takes is left out, where PyFlink emits
  the pair of tag and value into the main output. A main output that nobody reads, beside a side
  output that is read, is not converted to its declared type, so that a wrong type is not found.
- **Rolling results in BATCH mode** of `reduce` and `sum` are complete, also with
  `python.state.cache-size: 0`, where PyFlink loses elements.
- A `reduce` that returns None clears the state of the key: the next element is the first again. In
  PyFlink all further results of the key are None.

## Tables and SQL

- **Times** are exact to the microsecond, also in columns with more digits.
- **A changed query** does not start from state that means something else. Flink finds state by the
  places of operators in the plan, and so takes the sum of one column for that of another.
  `pyflink-on-spark.changed-state=TAKE` does the same here ([state.md](../use/state.md)).
- **The partition of nothing.** Flink writes rows without a value of the partition's column into
  `__DEFAULT_PARTITION__`, and cannot read that table ("Path should not be null or empty"). Here
  the rows are read.
- `APPROX_COUNT_DISTINCT` counts exactly.
- **Partitions and compaction.** `sink.partition-commit.policy.class` and
  `partition.time-extractor.class` raise `UnsupportedFlinkFeature`, since there are no Java classes.
- **Python aggregate functions** update their groups once for each bundle, as in PyFlink
  (`python.fn-execution.bundle.size` and `bundle.time`). A watermark between the rows of a bundle
  passes at once; PyFlink holds it back until the bundle ends, so that no row of the bundle is late.
  Pandas functions over frames of rows behave alike there.
- **A text as a short `DECIMAL`.** `CAST` reads what Flink reads, its oddities included: up to a
  precision of 18, `'x'` is 0 and `'99.999'` as `DECIMAL(4, 2)` is 100.00. Flink refuses the latter
  where it computes it while planning, as for a constant.
- **pandas.** `from_pandas` takes columns of pandas' nullable types and of Arrow (`Int64`, `string`,
  `large_string[pyarrow]`, ...), which PyFlink refuses, and keeps the microseconds of timestamps,
  which PyFlink cuts to milliseconds. `to_pandas` gives the right point in time for
  `TIMESTAMP_LTZ`; PyFlink shows the time in UTC with the name of the local zone.
- **Intervals.** A result of type `INTERVAL` is a `timedelta` or a number of months; PyFlink fails
  to pass it to Python (PickleException). `(ts1 - ts2) DAY` is not supported: use `TIMESTAMPDIFF`.
  `TIMESTAMPADD` takes `MICROSECOND`, which Flink refuses.
- **Aggregates that Flink cannot merge** work: `FIRST_VALUE` and `LAST_VALUE` over `HOP`, `CUMULATE`
  and `SESSION`, `SUM(DISTINCT ...)` and `LISTAGG(DISTINCT ...)` over `HOP`. Flink's planner fails.
- **Nullability.** A `DECIMAL` that may have more than 38 digits (`p * p` of `DECIMAL(38, 2)`) is
  nullable. In Flink it is NOT NULL if its operands are, and a job fails that has to write NULL.
- **Views** are resolved when they are created: they read the same table after its name has
  changed. Flink reads the view's text again and finds no table.
- `EXPLAIN` has the sections of Flink. The operators in them are those of this project.
- A Python function may return a tuple for an `ARRAY`. PyFlink wants a list.
- **The Table API** compares and converts as SQL does. PyFlink refuses `col("n") > "1"` and
  `col("d") == "2024-01-01"` ("Invalid function call"), and its messages name other functions.
- The `UNION` of `TIMESTAMP` and `TIMESTAMP_LTZ` is a `TIMESTAMP_LTZ`; in Flink it is a `TIMESTAMP`.
- `SELECT DISTINCT` of grouping sets has no doubles. Flink's planner takes the keys for unique and
  keeps two equal rows where a key is NULL in the data.
- The `UNION ALL` of a processing time and an event time is no time attribute. In Flink it is the
  attribute of the first table, and a job fails that reads event time from it.
- **Messages.** The list "Supported form(s)" is missing for some functions, an interval shows as
  `INTERVAL SECOND(3)`, and a syntax error does not list the words that may follow.
- `table.exec.mini-batch.enabled` has no effect. In Flink a deduplication that keeps the first row
  by event time emits updates with it, and takes late rows into account.
- A filter over the versions of a table, which `FOR SYSTEM_TIME AS OF` reads, leaves out versions.
  In Flink a version that was updated later does not count at all then.
- **Primary keys.** Rows that are only added into an upsert table (`jdbc`, `upsert-kafka`) need no
  `ON CONFLICT`: the last row of a key counts, as in versions before 2.3, which refuses the
  statement. `ON CONFLICT DO NOTHING` and `DO ERROR` take rows of `from_elements`, which have no
  watermarks; what they hold back until the next watermark does not expire. The keys of `INTERSECT`
  and `EXCEPT` are all columns; Flink finds none where the first table has a primary key. Nor does
  it where `WHERE x = 1` follows groups by a column `x` that may be NULL; here they are the groups'.
- A filter over upserts emits the first row of a key that passes as `+U` if the key had another row
  before; Flink emits `+I`.
- `FOR SYSTEM_TIME AS OF` needs a time attribute of the versions. Flink takes `MAX` of one, too.
- The watermark of a table follows each row that takes it further than
  `pipeline.auto-watermark-interval`, as in PyFlink. After 10,000 watermarks there are at least 64
  rows for each further one, so that watermarks do not cost more than rows.
- `OVER (ORDER BY proctime RANGE BETWEEN INTERVAL ... PRECEDING ...)` gives a row when it comes.
  PyFlink holds it back until the clock has advanced, and loses what it holds at the end of a
  bounded input.
- `RANK` and `DENSE_RANK` over a stream count the rows that come before in order. PyFlink counts
  equal rows as well.
- `WHERE rownum < column` over a stream keeps one row less than the column says. PyFlink keeps as
  many as with `<=`.
- `WHERE rownum <= 1` takes a row back before it gives the one in its place. PyFlink's planner
  leaves that out unless the order is one column with `DESC`: then its rows of kind +U come alone,
  and `COUNT(*)` over them counts the rows that were replaced, too.
- **`IN`** compares whole values. Flink first shortens the texts, bytes and numbers of the list to
  the type of a literal on the left: `'a' IN (s || 'x')` is TRUE there if `s` is `'a'`. If the list
  has columns, it shortens its numbers to the type of a column, too: `1 IN (1.5, i)` is TRUE.
- A row for which a Python table function of a `LEFT JOIN` gives nothing keeps its kind. In PyFlink
  it has the kind of the row that came out before it, and a row that is taken back may be added.
- **Late rows and mini-batches.** With `table.exec.mini-batch.enabled` Flink emits a watermark for
  each batch of rows, so that fewer rows are late. Here watermarks follow rows.
- **An OVER that nobody uses** still drops late rows. Flink's planner leaves it out, and they stay.
- A global aggregate over a stream without rows gives no row. Flink gives one if its planner finds
  that the condition before it is never true.
- An entry that a map has not is NULL. In PyFlink it is -1 if the values of the map are NOT NULL.
- `-0.0` is `-0.0`. Flink's planner makes 0.0 of it where it computes a constant.
- `INTERSECT ALL` compares all columns. PyFlink may leave out those that nothing after it uses.
- A Top-N takes the old row of an update back as a deletion, also where the order only grows, as
  that of `COUNT(*) DESC`, and nothing comes of two equal rows that replace each other. In PyFlink
  the first is an update, and the second two changes. What is left is the same.
- A Top-N, a LIMIT or an ORDER BY with LIMIT whose first ranks are left out (`OFFSET`, `n >= 2`)
  takes rows back that leave the wanted ranks because a row before them went. PyFlink forgets that,
  and keeps more rows than the query asks for.
- The NULL of an outer join of the Table API is NULL. PyFlink takes the columns of the other side to
  be NOT NULL, and returns -1 for the NULL of a number.
- In BATCH mode `LAG` and `LEAD` use the distance and the default that they name. PyFlink confuses
  such constants as soon as one SELECT has `OVER` in several orders: `LAG(n, 1, -1)` is a `LEAD`
  there, or the job fails. After `PERCENT_RANK`, its `CUME_DIST` counts rows that are equal in the
  order one by one.
- In BATCH mode Python aggregate functions work, not only those of pandas. PyFlink refuses them
  there: `non-Pandas UDAFs are not supported in batch mode currently`.
- In BATCH mode `COLLECT` and `ARRAY_AGG` may stand beside an aggregate with DISTINCT. PyFlink's
  planner fails there: `Min aggregate function does not support type`.
- A row of an upsert source that is the first of its key to pass a filter is an update if the key
  had a row before. PyFlink filters first, and it is an insertion there. What is left is the same.
- A correlated query reads views of `VALUES` as it reads tables. PyFlink's planner fails there:
  `unexpected correlate variable`.
- A row whose columns are NULL where a correlated query uses them has the rows for which the
  condition holds, as in `p.w > t.v OR t.v IS NULL`, and `LATERAL (SELECT t.v FROM p)` keeps it.
  PyFlink's planner loses it.
- A function with `OVER` in a correlated `LATERAL` is over the rows that belong to each row before
  it. PyFlink computes it over the rows of all of them. After `LEFT JOIN LATERAL`, the counts of
  no rows are 0 also beside other aggregates. There they are NULL.
- `IN` and `EXISTS` refuse a correlated query with `LIMIT`. PyFlink takes the first rows of
  the whole table, and then looks which of them belong to a row. The Top-N that it makes of
  `SELECT DISTINCT` and `LATERAL (... ORDER BY ... LIMIT n)` has no rows for a NULL key here.
- A query inside of a query may use columns two levels around it also after `IN`, and an `ON` of
  `LEFT JOIN LATERAL` what the query selects of the row before. PyFlink's planner fails there.
- An array that contains NULL can be collected. PyFlink raises `EOFError: Ran out of input`.
- `1e0 / 0` of constants is refused wherever it stands. Flink computes it as part of a larger
  constant, as in `1e0 / 0 > 1`.
- `CAST` of a timestamp before 1970 as `DATE` is its day; in Flink it can be the day after. So can
  what `EXTRACT` and `HOUR` to `QUARTER` make of one, and the hour of 1969-12-30 12:00 is -12 there.
- `SUM` over `union_all` of a `FLOAT` and a `DOUBLE` column of the Table API adds in `DOUBLE`, which
  both engines declare. PyFlink adds in `FLOAT`.
- A constant that has too many digits for its `CAST`, as `CAST(123.456 AS DECIMAL(4, 2))`, is NULL,
  as that of a column is in both engines. PyFlink fails when the job runs.
- `IF`, `ARRAY` and `MAP` take arrays and rows whose elements have different types. PyFlink cannot
  generate code for their conversion.
- `STDDEV_POP` of an INT and `PERCENTILE` with `OVER` in the order of a column that is no time
  attribute take all rows so far. PyFlink computes the first with integers, and the second of each
  row alone.
- `FIRST_VALUE` with `OVER` in the order of a column that is no time attribute repeats no row whose
  value stays as it was. PyFlink does, depending on the clock. A deleted row that has twins leaves
  them in the sums of rows that are equal in the order.
- `MATCH_RECOGNIZE` refuses `^`, `$`, `SUBSET`, the table's name in place of a variable, and `FIRST`
  or `LAST` inside of an aggregate. PyFlink reads them: it ignores the anchors and the navigation,
  and the columns of a subset or of the table are NULL.
- A measure of a variable that has taken no row is NULL. In PyFlink it is NOT NULL if the column is,
  and an INT is then -1.
- A measure that is a column of event time is no time attribute, and the schema says so. PyFlink's
  schema shows `*ROWTIME*`, and its planner refuses windows over it all the same.
- `MATCH_ROWTIME()` of a match that comes at the end of the input, because an earlier one cannot
  become longer any more, is the time of its last row. PyFlink gives the highest time there is,
  which Python has no datetime for.
- `object_of` and `Expression.object_update` make objects, as their documentation says. PyFlink 2.3
  calls a method that Java has not, and raises `Py4JError`: there `call("OBJECT_OF", ...)` works.
- `SHOW CREATE TABLE`, `SHOW CREATE CATALOG` and `DESCRIBE CATALOG EXTENDED` hide the values of
  secrets, such as passwords, also those in URLs. Flink shows them.
- `SHOW FUNCTIONS` and `DESCRIBE FUNCTION` know all functions of Flink, those too that are not
  supported yet.
"""


def document() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    for module, entries in sorted(_entries().items()):
        lines += [f"## {module.replace(PACKAGE, 'pyflink', 1)}", ""]
        lines += [f"- {names}: {text}" for text, names in entries]
        lines.append("")
    return "\n".join(lines)


def _entries() -> dict[str, list[tuple[str, str]]]:
    """Return, for each module users import from, the texts and the names that each holds for."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module, name, thing in _public():
        for inner, docstring in _documented(name, thing):
            for text in deviations(docstring):
                found[module][_sentences(text)].append(f"`{inner}`")
    return {
        module: [(text, ", ".join(dict.fromkeys(names))) for text, names in texts.items()]
        for module, texts in found.items()
    }


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
    DOCUMENT.write_text(document(), encoding="utf-8")
