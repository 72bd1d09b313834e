"""The names of part files."""

from __future__ import annotations

import os
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import count

from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL


@dataclass(frozen=True)
class PartAffixes:
    """The prefix and suffix of the names of part files.

    Raises:
        TypeError: one of them is not a string.
    """

    prefix: str = "part"
    suffix: str = ""

    def __post_init__(self) -> None:
        for affix in (self.prefix, self.suffix):
            if not isinstance(affix, str):
                raise TypeError(f"prefix and suffix of part files must be str, not {affix!r}")

    def around(self, middle: str) -> str:
        """Return the name of a part file."""
        return f"{self.prefix}-{middle}{self.suffix}"


class PartNames(ABC):
    """Generates the names of the part files of one bucket."""

    @abstractmethod
    def next_path(self, folder: str) -> str:
        """Return the path of the next part file in the folder of the bucket."""


class UniqueNames(PartNames):
    """``<prefix>-<random id of the bucket and subtask>-<counter><suffix>``."""

    def __init__(self, affixes: PartAffixes) -> None:
        self._affixes = affixes
        self._id = uuid.uuid4()
        self._counter = count()

    def next_path(self, folder: str) -> str:
        return os.path.join(folder, self._affixes.around(f"{self._id}-{next(self._counter)}"))


class SubtaskNames(PartNames):
    """``<prefix>-<subtask>-<counter><suffix>``, without the names of existing files."""

    def __init__(self, affixes: PartAffixes, subtask_index: int, files: FileSystem = LOCAL) -> None:
        self._files = files
        self._affixes = affixes
        self._subtask_index = subtask_index
        self.counter = 0
        """The next number."""

    def next_path(self, folder: str) -> str:
        while True:
            name = self._affixes.around(f"{self._subtask_index}-{self.counter}")
            self.counter += 1
            path = os.path.join(folder, name)
            if not self._files.exists(path):
                return path
