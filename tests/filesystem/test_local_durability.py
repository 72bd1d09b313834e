"""New folders on local disks survive a power failure."""

from __future__ import annotations

from pyflink_on_spark._filesystem.local_files import LocalFiles


class Noting(LocalFiles):
    """Notes what is made durable."""

    def __init__(self):
        self.durable = []

    def make_durable(self, path):
        super().make_durable(path)
        self.durable.append(path)


def test_the_parents_of_new_folders_are_made_durable(tmp_path):
    files = Noting()
    files.create(f"{tmp_path}/job/chk-1/file").close()
    assert files.durable == [f"{tmp_path}/job", f"{tmp_path}"]


def test_nothing_is_done_for_folders_that_exist(tmp_path):
    files = Noting()
    files.create(f"{tmp_path}/file").close()
    assert files.durable == []
