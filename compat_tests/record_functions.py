"""Writes the functions that Flink lists and describes: run it with apache-flink's interpreter.

python -m compat_tests.record_functions pyflink_on_spark/_sql/functions/described.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def record() -> dict[str, Any]:
    """Return the kind, the determinism and the forms of each function, by name."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found = {}
    for (name,) in t_env.execute_sql("SHOW FUNCTIONS").collect():
        rows = t_env.execute_sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect()
        shown = dict(tuple(row) for row in rows)
        assert (shown["requirements"], shown["supports constant folding"]) == ("[]", "true")
        forms = [form.removeprefix(name) for form in shown["signature"].split("\n")]
        found[name] = [shown["kind"], shown["is deterministic"] == "true", forms]
    return found


def main() -> None:
    """Write the file."""
    lines = (f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in record().items())
    Path(sys.argv[1]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
