"""A GROUP BY of SQL with 1,000 keys over a stream, whose last rows come back as a stream."""

from __future__ import annotations

from benchmarks.command import main

KEYS = 1_000


def flink(env, numbers, records, typed=True):
    """A table has types, so ``typed`` makes no difference."""
    from pyflink.common import Types
    from pyflink.table import StreamTableEnvironment

    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_view("numbers", numbers)
    table = t_env.sql_query(
        f"SELECT k, SUM(n) AS s FROM (SELECT MOD(f0, {KEYS}) AS k, f0 AS n FROM numbers) "
        f"GROUP BY k HAVING COUNT(*) = {records // KEYS}"
    )
    return t_env.to_changelog_stream(table).map(lambda row: f"{row[0]} {row[1]}", Types.STRING())


def loop(records):
    totals, counts, last = {}, {}, records // KEYS

    def add(key, number):
        totals[key] = totals.get(key, 0) + number
        counts[key] = counts.get(key, 0) + 1
        return counts[key]

    for number in range(1, records + 1):
        key = number % KEYS
        if add(key, number) == last:
            yield f"{key} {totals[key]}"


def inlined(records):
    totals, last = {}, records // KEYS
    for number in range(1, records + 1):
        key = number % KEYS
        found = totals.get(key)
        if found is None:
            found = totals[key] = [0, 0]
        found[0] += 1
        found[1] += number
        if found[0] == last:
            yield f"{key} {found[1]}"


if __name__ == "__main__":
    main(flink=flink, loop=loop, inlined=inlined)
