"""``python -m pyflink_on_spark archive``."""

from __future__ import annotations

import sys

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.session.java_home import find_java
from pyflink_on_spark._spark.session.jvm_archive import SWITCH, JvmArchive, find_archive
from pyflink_on_spark.tools.archive.recorder import record
from pyflink_on_spark.tools.commands import parser_of


def main(arguments: list[str]) -> int:
    """Record the archive, unless it exists.

    Returns:
        0, or 1 if there can be no archive.
    """
    parser_of(
        "archive",
        "Record the archive of Java classes with which Spark starts in half the time. Without this "
        "command the first script that ends records it in the background. Use it where nothing "
        "runs in the background, as when the image of a container is built.",
    ).parse_args(arguments)
    try:
        archive = find_archive(find_java())
    except EnvironmentSetupError as error:
        return _refused(str(error))
    if archive is None:
        return _refused(
            f"no archive can be used here: {SWITCH} switches it off, Spark's conf folder has "
            "files, or the cache folder is not this user's alone"
        )
    return _recorded(archive)


def _recorded(archive: JvmArchive) -> int:
    record(archive, wait=True)
    file = archive.file()
    if file is None:
        return _refused("Java did not start from the archive that it recorded")
    print(file)
    return 0


def _refused(why: str) -> int:
    print(f"archive: {why}", file=sys.stderr)
    return 1
