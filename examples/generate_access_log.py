"""Writes a web server's access log, in the combined format, the same for the same arguments.

    python examples/generate_access_log.py OUTPUT [--lines 5000] [--seed 7] [--malformed 0.01]

Some paths, hosts and visitors are much more frequent than others, times go up by fits and starts,
and a few lines are malformed, as in real life.
"""

from __future__ import annotations

import argparse
import datetime
import random
from pathlib import Path

HOSTS = ["www.example.org", "shop.example.org", "docs.example.org", "api.example.org"]
PATHS = [
    "/",
    "/index.html",
    "/search",
    "/about",
    "/login",
    "/static/site.css",
    "/static/site.js",
    "/images/logo.png",
    "/products/1",
    "/products/2",
    "/products/3",
    "/cart",
    "/checkout",
    "/docs/install",
    "/docs/tutorial",
    "/feed.xml",
    "/admin",
    "/favicon.ico",
]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0", "ExampleBot/1.0 (+https://example.org)"]
START = datetime.datetime(2024, 2, 29, 23, 40, tzinfo=datetime.UTC)


class LogWriter:
    """Draws one line after the other from a seeded random number generator."""

    def __init__(self, seed, malformed):
        # random() is the one method whose sequence is the same in every Python version.
        self._random = random.Random(seed).random
        self._malformed = malformed
        self._time = START

    def line(self):
        self._time += datetime.timedelta(seconds=int(self._random() ** 4 * 8))
        line = self._well_formed()
        if self._random() < self._malformed:
            return line[: int(self._random() * 40)]
        return line

    def _well_formed(self):
        path = self._skewed(PATHS)
        status = self._status(path)
        size = "-" if status in {204, 304} else 200 + int(self._random() ** 3 * 50_000)
        method = "POST" if path in {"/login", "/checkout"} else "GET"
        return (
            f"{self._skewed(HOSTS)} 192.0.2.{1 + int(self._random() ** 2 * 254)} - - "
            f"[{self._time:%d/%b/%Y:%H:%M:%S %z}] "
            f'"{method} {path} HTTP/1.1" {status} {size} "-" "{self._skewed(AGENTS)}"'
        )

    def _status(self, path):
        draw = self._random()
        if path == "/admin":
            return 403
        if draw < 0.02:
            return 500 if path != "/checkout" else 503
        if draw < 0.06:
            return 404
        return 304 if path.startswith("/static") and draw < 0.5 else 200

    def _skewed(self, choices):
        return choices[int(self._random() ** 2 * len(choices))]


def write_access_log(path, lines=5000, seed=7, malformed=0.01):
    writer = LogWriter(seed, malformed)
    with open(path, "w", encoding="utf-8") as log:
        log.writelines(writer.line() + "\n" for _ in range(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes an access log.")
    parser.add_argument("output", type=Path)
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--malformed", type=float, default=0.01, help="share of malformed lines")
    arguments = parser.parse_args()
    write_access_log(arguments.output, arguments.lines, arguments.seed, arguments.malformed)
