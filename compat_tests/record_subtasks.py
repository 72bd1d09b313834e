"""Writes ``subtasks_of_keys.json``: run it with an interpreter that has apache-flink.

    python -m compat_tests.record_subtasks [CASE ...]

A sink of Java's after each ``key_by`` prints the subtask before each element.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile

from compat_tests.key_cases import PLANS, RECORD, key_cases


def record(names: list[str]) -> dict[str, dict[str, str]]:
    """Return the subtasks of the keys of some cases, a digit each, by case and plan."""
    from pyflink import common
    from pyflink.datastream import StreamExecutionEnvironment

    cases = {name: case for name, case in key_cases(common).items() if name in names or not names}
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        for case, (key_type, keys) in cases.items():
            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(1)
            numbers = env.from_collection(list(range(len(keys))), common.Types.INT())
            keyed = numbers.key_by(keys.__getitem__, key_type)
            for parallelism, maximum in PLANS:
                sink = keyed._j_data_stream.print(f"{case}@{parallelism}/{maximum}")
                sink.setParallelism(parallelism)
                sink.setMaxParallelism(maximum)
            env.execute(case)
        printed.seek(0)
        text = printed.read().decode()
    record: dict[str, dict[str, str]] = {}
    for case, (_, keys) in cases.items():
        for parallelism, maximum in PLANS:
            plan = f"{parallelism}/{maximum}"
            line = rf"^{case}@{plan}:(\d)> .*?, (\d+)\]$"
            found = {
                int(number): int(subtask) - 1
                for subtask, number in re.findall(line, text, re.MULTILINE | re.DOTALL)
            }
            digits = "".join(str(found[number]) for number in range(len(keys)))
            record.setdefault(case, {})[plan] = digits
    return record


if __name__ == "__main__":
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    content = json.dumps(known | record(sys.argv[1:]), indent=1, ensure_ascii=False)
    RECORD.write_text(f"{content}\n", encoding="utf-8")
