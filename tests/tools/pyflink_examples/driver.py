"""Runs an example, with the interpreter of either engine: `driver.py ENGINE PATH [NAME ...]`.

ENGINE is `local` or `spark` for the engines of this project, or `pyflink` for the PyFlink that is
installed. With names, the example is imported and these functions of it are called, with `json` as
the module: the example means the module, but an expression of that name hides it.
"""

from __future__ import annotations

import importlib.util
import json
import random
import runpy
import sys


def _call(path: str, names: list[str]) -> None:
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.json = json
    for name in names:
        getattr(module, name)()


def main() -> None:
    """Run the example that the command line names, with random numbers that are always the same."""
    engine, path, *names = sys.argv[1:]
    if engine != "pyflink":
        import pyflink_on_spark

        pyflink_on_spark.install()
    if engine == "local":
        from pyflink_on_spark.testing import install_local_engine

        install_local_engine()
    import numpy as np

    random.seed(7)
    np.random.seed(7)
    sys.argv = [path]
    if names:
        _call(path, names)
    else:
        runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    main()
