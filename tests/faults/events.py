"""The numbered events of the soak: how they are written, and what has to become of them.

    python -m tests.faults.events FOLDER --seconds 60 --rate 500

writes files of events for some time, each complete the moment it is there.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from pathlib import Path

EVENTS_A_FILE = 100
KEYS = 17
STEP = 10
"""Event time between two events, in ms."""
WINDOW = 5_000
"""In ms."""
BURST = 300
"""How many events a session has; as many follow that are in none."""
SLOT = 7_000
"""After what event time a timer is set, in ms."""
DISORDER = 50 * EVENTS_A_FILE * STEP
"""By how much event time may run ahead, in ms: many files may be found late."""


def key_of(number: int) -> int:
    """Return the key of an event."""
    return number * 7919 % KEYS


def line_of(number: int) -> str:
    """Return an event as a line of text."""
    return f"{number},{key_of(number)},{number * STEP}"


def write_file(folder: Path, index: int) -> None:
    """Write a file of events, under another name until it is complete."""
    first = index * EVENTS_A_FILE
    hidden = folder / f".{index:08}"
    hidden.write_text("".join(f"{line_of(n)}\n" for n in range(first, first + EVENTS_A_FILE)))
    hidden.rename(folder / f"{index:08}")


def expected_windows(count: int) -> list[str]:
    """Return the results of the windows for the events up to a number."""
    numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number in range(count):
        numbers[key_of(number), number * STEP // WINDOW * WINDOW].append(number)
    return sorted(
        f"{key},{start},{len(found)},{sum(found)}" for (key, start), found in numbers.items()
    )


def expected_sums(count: int) -> dict[str, list[str]]:
    """Return the results of other windows and the timers, by name; see ``job.py``."""
    found: dict[str, dict[tuple[int, int], list[int]]] = {
        name: defaultdict(list) for name in ("sliding", "sessions", "timers", "lists")
    }
    sessions: dict[tuple[int, int], int] = {}
    for number in range(count):
        key, time = key_of(number), number * STEP
        last = time // (WINDOW // 2) * (WINDOW // 2)
        for start in (last, last - WINDOW // 2):
            found["sliding"][key, start].append(number)
        for name in ("timers", "lists"):
            found[name][key, time // SLOT * SLOT].append(number)
        if number // BURST % 2 == 0:
            first = sessions.setdefault((key, number // BURST), time)
            found["sessions"][key, first].append(number)
    return {
        name: sorted(f"{key},{start},{len(all_)},{sum(all_)}" for (key, start), all_ in of.items())
        for name, of in found.items()
    }


AHEAD, MOST = 17, 3
"""Of the queries in ``job_tables.py``."""


def expected_rows(count: int) -> dict[str, list[str]]:
    """Return the rows of the queries after all events, by name; see ``job_tables.py``."""
    of_keys: dict[int, list[int]] = defaultdict(list)
    for number in range(count):
        of_keys[key_of(number)].append(number)
    return {
        "totals": [f"{key},{len(found)},{sum(found)}" for key, found in of_keys.items()],
        "pairs": [f"{number + AHEAD},{number}" for number in range(0, count - AHEAD, 2)],
        "newest": [f"{key},{n}" for key, found in of_keys.items() for n in found[-MOST:]],
    }


def rows_after(changes: list[str]) -> list[str]:
    """Return the rows that are left after changes in any order; of too many removals a mark."""
    balance: Counter[str] = Counter()
    for change in changes:
        balance[change[1:]] += 1 if change[0] == "+" else -1
    mark = [f"removed too often: {row}" for row, left in balance.items() if left < 0]
    return mark + list(balance.elements())


def check_counts(lines: list[str], count: int) -> list[str]:
    """Return the errors in the lines of the count per key; none if all is well."""
    rows = [tuple(map(int, line.split(","))) for line in lines]
    numbers = [number for _, number, _ in rows]
    problems = []
    if missing := sorted(set(range(count)) - set(numbers)):
        problems.append(f"{len(missing)} events are lost, such as {missing[:5]}")
    if len(numbers) > len(set(numbers)):
        problems.append(f"{len(numbers) - len(set(numbers))} events are there twice")
    for key in range(KEYS):
        counts = sorted(found for k, _, found in rows if k == key)
        if counts != list(range(1, len(counts) + 1)):
            problems.append(f"the counts of key {key} are not 1 to {len(counts)}")
    return problems


def main() -> None:
    """Write files at a steady rate."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=float, required=True, help="events a second")
    options = parser.parse_args()
    begun = time.monotonic()
    index = 0
    while (elapsed := time.monotonic() - begun) < options.seconds:
        if index * EVENTS_A_FILE <= elapsed * options.rate:
            write_file(options.folder, index)
            index += 1
        else:
            time.sleep(0.02)


if __name__ == "__main__":
    main()
