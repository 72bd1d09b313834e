"""The tiers of the Table API that the compatibility tests belong to, and how many cases there are.

    python -m compat_tests.table_tiers

prints the number of cases of each file and tier, without running them.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parent
TIERS = {
    "sources, statements and bridges": (
        "alterations", "catalog_objects", "distributions", "errors", "file_sinks", "formats",
        "java_errors", "options_of_streams", "partition_commits", "partitions", "plans", "schemas",
        "statements", "streams", "texts", "timestamps",
    ),
    "row by row": (
        "batch_statements", "bitmaps", "dsl", "functions", "intervals", "json_paths", "literals",
        "mixed_types", "newer_functions", "objects", "orders", "python_functions", "python_values",
        "queries", "small_names", "user_types", "variants", "warehouse",
    ),
    "updating": (
        "aggregates", "changelogs", "conflicts", "pruned_plans", "rankings", "sink_keys",
        "state_ttl", "upsert_keys", "view_statements",
    ),
    "windows": (
        "late_joins", "late_rows", "late_windows", "match_recognize", "ordered_over", "over",
        "row_windows", "timed_statements", "timed_unions", "window_changes", "windows",
    ),
    "joins": ("correlated", "joins", "subqueries", "timed_joins"),
}  # fmt: skip
"""The tests of each tier, by what their files are named after."""


def main() -> None:
    """Print a table in Markdown."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--engine=local"]
    files = sorted(FOLDER.glob("test_table_*.py"))
    done = subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, check=True, cwd=FOLDER.parent
    )
    counts = Counter(line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line)
    by_name = {Path(path).stem.removeprefix("test_table_"): n for path, n in counts.items()}
    print("| tier | cases | files, each with its cases |\n| --- | ---: | --- |")
    for number, (tier, names) in enumerate(TIERS.items(), 1):
        shown = ", ".join(f"`{name}` {by_name[name]}" for name in names)
        print(f"| {number}. {tier} | {sum(by_name[name] for name in names)} | {shown} |")


if __name__ == "__main__":
    main()
