"""Findings in a file of SQL, as ``pyflink-on-spark sql -f`` carries it out."""

from __future__ import annotations

import re

from pyflink_on_spark.tools.check import tables
from pyflink_on_spark.tools.check.findings import Findings
from pyflink_on_spark.tools.sql.statements import split_statements

_OF_TABLES = re.compile(r"'connector(\.type)?'\s*=|\bCREATE\s+CATALOG\b", re.IGNORECASE)
_OF_THE_CLIENT = re.compile(r"(ADD|REMOVE)\s+JAR|QUIT|EXIT|CLEAR|HELP|SHOW\s+JARS", re.IGNORECASE)


def examine_sql(path: str, source: str) -> Findings:
    """Find what a file of SQL uses of Flink; files for other systems have no findings.

    Args:
        path: the file, for the report.
        source: its text.
    """
    findings = Findings(path)
    if not _OF_TABLES.search(source):
        return findings
    for name, verdict, index in tables.in_text(source):
        findings.add(name, verdict, source.count("\n", 0, index) + 1)
    statements, rest = split_statements(source)
    place = 0
    for statement in [*statements, *filter(None, [rest])]:
        place = source.index(statement, place)
        if not _OF_THE_CLIENT.match(statement):
            for name, verdict, _ in tables.in_statement(statement):
                findings.add(name, verdict, source.count("\n", 0, place) + 1)
    return findings
