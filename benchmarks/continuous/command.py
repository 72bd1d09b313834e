"""The command line of all jobs of `jobs/`."""

from __future__ import annotations

import argparse
import sys


def parse_arguments():
    """Return the options of the benchmark; a rate of 0 stands for the highest possible."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True, help="where notes and checkpoints go")
    parser.add_argument("--keys", type=int, required=True)
    parser.add_argument("--rate", type=float, default=0, help="records a second; 0: all it can")
    parser.add_argument("--window", type=int, default=5_000, help="ms")
    parser.add_argument("--checkpoint", type=int, default=3_000, help="ms")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--disk", action="store_true", help="state on disk")
    parser.add_argument("--rows", type=int, default=0, help="of a micro-batch, where one is set")
    return parser.parse_args()


def wait_for_end():
    """Return when there is no more input: the benchmark wants the job to stop."""
    sys.stdin.read()
