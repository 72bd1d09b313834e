"""How a file source finds files and hands them out."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.files.enumeration import Enumeration, SplitAssignment
from pyflink_on_spark.common._java_handles import own_handle


class FileEnumeratorProvider:
    """How files are found and cut; made with one of the methods below.

    Args:
        j_file_enumerator_provider: the runtime's description.
    """

    def __init__(self, j_file_enumerator_provider: Any) -> None:
        call = "FileEnumeratorProvider(j_file_enumerator_provider)"
        self._enumeration = own_handle(j_file_enumerator_provider, Enumeration, call)

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Take all files but hidden ones, and let several subtasks read a large one.

        On Spark: text files are cut, too. In PyFlink their format keeps them whole.
        """
        return FileEnumeratorProvider(Enumeration.CUT_LARGE_FILES)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Take all files but hidden ones, each of them read by one subtask."""
        return FileEnumeratorProvider(Enumeration.WHOLE_FILES)


class FileSplitAssignerProvider:
    """Which subtask reads which file; made with the method below.

    Args:
        j_file_split_assigner: the runtime's description.
    """

    def __init__(self, j_file_split_assigner: Any) -> None:
        call = "FileSplitAssignerProvider(j_file_split_assigner)"
        self._assignment = own_handle(j_file_split_assigner, SplitAssignment, call)

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Prefer files that are near to a subtask.

        On Spark: the files go to the subtasks in turn, in order of their names; so a job reads them
        in the same order each time.
        """
        return FileSplitAssignerProvider(SplitAssignment.LOCALITY_AWARE)
