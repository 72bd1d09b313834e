"""A pandas function in SQL over a stream, and a filter of its results."""

from __future__ import annotations

from benchmarks.command import main

MODULUS = 1_000_003


def flink(env, numbers, records, typed=True):
    """A table has types, so ``typed`` makes no difference."""
    from pyflink.common import Types
    from pyflink.table import DataTypes, StreamTableEnvironment
    from pyflink.table.udf import udf

    @udf(result_type=DataTypes.BIGINT(), func_type="pandas")
    def mixed(number):
        return number ^ number * 7919 % MODULUS

    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_view("numbers", numbers)
    t_env.create_temporary_function("mixed", mixed)
    table = t_env.sql_query(
        "SELECT m FROM (SELECT mixed(f0) AS m FROM numbers) WHERE MOD(m, 1000) = 0"
    )
    return t_env.to_data_stream(table).map(lambda row: str(row[0]), Types.STRING())


def loop(records):
    def mixed(number):
        return number ^ number * 7919 % MODULUS

    for number in range(1, records + 1):
        value = mixed(number)
        if value % 1_000 == 0:
            yield str(value)


def inlined(records):
    for number in range(1, records + 1):
        value = number ^ number * 7919 % MODULUS
        if value % 1_000 == 0:
            yield str(value)


if __name__ == "__main__":
    main(flink=flink, loop=loop, inlined=inlined)
