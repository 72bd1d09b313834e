"""Checks a wheel and an sdist: python .ci/check_package.py FOLDER.

Both have the version of the package, and all of its files.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyflink_on_spark import __version__

ROOT = Path(__file__).resolve().parent.parent


def main(folder: str) -> int:
    """Return the exit status; print what is wrong."""
    [wheel] = Path(folder).glob("*.whl")
    [sdist] = Path(folder).glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        top = f"pyflink_on_spark-{__version__}/"
        in_sdist = {name.removeprefix(top) for name in archive.getnames()}
    expected = _files_of_the_package()
    wrong = [
        *(f"{file.name} has not version {__version__}" for file in (wheel, sdist) if _other(file)),
        *(f"{wheel.name} lacks {name}" for name in sorted(expected - in_wheel)),
        *(f"{sdist.name} lacks {name}" for name in sorted(expected - in_sdist)),
        *(f"{wheel.name} has {name}" for name in sorted(in_wheel) if _foreign(name)),
    ]
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


def _files_of_the_package() -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / "pyflink_on_spark").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def _other(file: Path) -> bool:
    return not file.name.startswith(f"pyflink_on_spark-{__version__}")


def _foreign(name: str) -> bool:
    return name.split("/", maxsplit=1)[0] not in {
        "pyflink_on_spark",
        f"pyflink_on_spark-{__version__}.dist-info",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
