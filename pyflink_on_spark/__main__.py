"""Runs a PyFlink script on Spark: ``python -m pyflink_on_spark script.py args``."""

from __future__ import annotations

import os
import runpy
import sys

from pyflink_on_spark._compat.import_hook import install

_USAGE = "usage: python -m pyflink_on_spark SCRIPT [ARGUMENT ...]"


def main(arguments: list[str] | None = None) -> int:
    """Run a script as Python would, with ``pyflink`` being this package.

    Args:
        arguments: the script and its own arguments; those of the process if not given.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stderr if not given else sys.stdout)
        return 0 if given else 2
    script = given[0]
    if not os.path.isfile(script):
        print(f"{_USAGE}\nthere is no script {script}", file=sys.stderr)
        return 2
    install()
    sys.argv = list(given)
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
