"""The search of a file source for files, and their assignment to subtasks."""

from __future__ import annotations

from pyflink_on_spark._connectors.files.config import Enumeration, SplitAssignment
from pyflink_on_spark.common._java_handles import own_handle


class FileEnumeratorProvider:
    """The search for files, and their division into splits.

    Args:
        j_file_enumerator_provider: made by the static methods of this class.
    """

    def __init__(self, j_file_enumerator_provider: object) -> None:
        call = "FileEnumeratorProvider(j_file_enumerator_provider)"
        self._enumeration = own_handle(j_file_enumerator_provider, Enumeration, call)

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Read all files but hidden ones, and split large ones between subtasks.

        On Spark: text files are split, too. In PyFlink their format does not allow it.
        """
        return FileEnumeratorProvider(Enumeration.SPLIT_LARGE_FILES)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Read all files but hidden ones, each file in one subtask."""
        return FileEnumeratorProvider(Enumeration.WHOLE_FILES)


class FileSplitAssignerProvider:
    """The assignment of files to subtasks.

    Args:
        j_file_split_assigner: made by the static method of this class.
    """

    def __init__(self, j_file_split_assigner: object) -> None:
        call = "FileSplitAssignerProvider(j_file_split_assigner)"
        self._assignment = own_handle(j_file_split_assigner, SplitAssignment, call)

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Prefer files that are stored near the subtask.

        On Spark: the subtasks get the files in turn, in order of their names, so that a job reads
        them in the same order each time.
        """
        return FileSplitAssignerProvider(SplitAssignment.LOCALITY_AWARE)
