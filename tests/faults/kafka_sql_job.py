"""The job of the soak of Kafka in SQL; plain PyFlink, with the command line of `kafka_job.py`."""

from __future__ import annotations

from kafka_job import WINDOW, main
from pyflink.table import StreamTableEnvironment

EVENTS = """
    CREATE TABLE events (
        number BIGINT, k BIGINT, t BIGINT,
        ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR ts AS ts
    ) WITH (
        'connector' = 'kafka', 'topic' = '{input}', 'properties.bootstrap.servers' = '{servers}',
        'properties.group.id' = '{group}', 'scan.startup.mode' = 'earliest-offset',
        'format' = 'csv' {bounded}
    )
"""
SUMS = """
    CREATE TABLE sums (line STRING) WITH (
        'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}',
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'of-{topic}',
        'properties.transaction.timeout.ms' = '600000', 'format' = 'raw'
    )
"""
QUERY = f"""
    INSERT INTO sums SELECT CONCAT_WS(',', CAST(k AS STRING),
        CAST(MIN(t) / {WINDOW} * {WINDOW} AS STRING), CAST(COUNT(*) AS STRING),
        CAST(SUM(number) AS STRING))
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{WINDOW // 1000}' SECOND))
    GROUP BY k, window_start, window_end
"""


def build(env, options):
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set_local_timezone("UTC")
    bounded = ", 'scan.bounded.mode' = 'latest-offset'" if options.bounded else ""
    t_env.execute_sql(EVENTS.format(**{**vars(options), "bounded": bounded}))
    t_env.execute_sql(SUMS.format(**vars(options)))
    statements = t_env.create_statement_set()
    statements.add_insert_sql(QUERY)
    statements.attach_as_datastream()


if __name__ == "__main__":
    main(build)
