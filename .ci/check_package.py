"""Checks the wheels and sdists of a release: python .ci/check_package.py FOLDER.

They have the version of the package. The wheel and the sdist of the package have all of its files,
and those of flink-command have its commands.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark import __version__

ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = "pyflink_on_spark"
_COMMANDS = "pyflink_on_spark_flink_command"
_VERSIONED = {__version__, f"{__version__}.tar.gz"}


def main(folder: str) -> int:
    """Return the exit status; print what is wrong."""
    [wheel], [sdist] = _pair(folder, _PACKAGE)
    [commands], [commands_sdist] = _pair(folder, _COMMANDS)
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        top = f"{_PACKAGE}-{__version__}/"
        in_sdist = {name.removeprefix(top) for name in archive.getnames()}
    with zipfile.ZipFile(commands) as archive:
        points = f"{_COMMANDS}-{__version__}.dist-info/entry_points.txt"
        has_commands = points in archive.namelist() and b"\nflink =" in archive.read(points)
    expected = _files_of_the_package()
    wrong = [
        *(
            f"{file.name} has not version {__version__}"
            for file in (wheel, sdist, commands, commands_sdist)
            if file.name.split("-", maxsplit=1)[1].split("-py")[0] not in _VERSIONED
        ),
        *(f"{wheel.name} lacks {name}" for name in sorted(expected - in_wheel)),
        *(f"{sdist.name} lacks {name}" for name in sorted(expected - in_sdist)),
        *(f"{wheel.name} has {name}" for name in sorted(in_wheel) if _foreign(name)),
        *([] if has_commands else [f"{commands.name} lacks the command flink"]),
    ]
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


def _files_of_the_package() -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / "pyflink_on_spark").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def _pair(folder: str, name: str) -> tuple[list[Path], list[Path]]:
    """The wheels and the sdists of a distribution."""
    place = Path(folder)
    return list(place.glob(f"{name}-*.whl")), list(place.glob(f"{name}-*.tar.gz"))


def _foreign(name: str) -> bool:
    return name.split("/", maxsplit=1)[0] not in {
        _PACKAGE,
        f"{_PACKAGE}-{__version__}.dist-info",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
