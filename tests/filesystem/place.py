"""A folder on a file system, as a test fills it and looks into it."""

from __future__ import annotations

from pyflink_on_spark._filesystem.location import locate


class Place:
    """A folder.

    Args:
        uri: as a user gives it.
        aws: the server of S3.
    """

    def __init__(self, uri, aws=None):
        self.uri, self.aws = uri, aws
        self.path, self.files = (found := locate(uri)).path, found.files

    def __truediv__(self, name):
        return Place(f"{self.uri}/{name}", self.aws)

    def __str__(self):
        return self.uri

    def write(self, content):
        """Make this a file."""
        with self.files.create(self.path) as file:
            file.write(content)
        return self

    def read(self):
        """Return the content of this file."""
        with self.files.open(self.path) as file:
            return file.read()

    def tree(self):
        """Return the names below of all files, hidden ones too, and what is in them."""
        return {
            path[len(self.path) + 1 :]: Place(f"{self.uri}{path[len(self.path) :]}").read()
            for path in self.files.all_files(self.path)
        }

    def visible(self):
        """Return the lines that users see, in all files."""
        return sorted(
            line
            for name, content in self.tree().items()
            if not name.rpartition("/")[2].startswith(".")
            for line in content.decode().splitlines()
        )

    def hidden(self):
        """Return the names of hidden files."""
        return [name for name in self.tree() if name.rpartition("/")[2].startswith(".")]
