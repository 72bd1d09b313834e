"""Files that are handed out in order: by the enumerator, to readers that ask."""

from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.source import FilesDone, SplitFileSource
from pyflink_on_spark._connectors.formats.file_format import FileSplit, TextLines
from pyflink_on_spark._connectors.hybrid import SourceChain
from pyflink_on_spark._runtime.contract.connector import MOST_AHEAD, AskingReader
from tests.connectors.reading import checkpoint, context_of, readers_of, take
from tests.runtime.harness import FakeClock


def source_of(folder, interval=10):
    config = FileSourceConfig.of(TextLines(), [str(folder)])
    return SplitFileSource(
        FileSourceConfig(config.file_format, config.paths, discovery_interval=interval)
    )


def write(folder, names, lines=1):
    for name in names:
        (folder / name).write_text("".join(f"{name}{n}\n" for n in range(lines)))


def search(enumerator):
    enumerator.found(enumerator.search())
    return enumerator


def handed_out(enumerator):
    found = []
    while (unread := enumerator.take()) is not None:
        found.append(unread)
    return found


def names(unread):
    return "".join(item[0].path[-1] for item in unread)


def test_files_come_in_the_order_in_which_they_were_found(tmp_path):
    write(tmp_path, "cb")
    enumerator = search(source_of(tmp_path).enumerator(None))
    write(tmp_path, "da")
    assert names(handed_out(search(search(enumerator)))) == "bcad"


def test_what_was_begun_comes_first_and_nothing_is_found_again(tmp_path):
    source = source_of(tmp_path)
    write(tmp_path, "bcd")
    enumerator = search(source.enumerator(None))
    done, begun = enumerator.take(), enumerator.take()
    write(tmp_path, "a")
    saved = [*search(enumerator).snapshot(), (*begun[:2], 7, begun[3])]
    assert done[0].path.endswith("b")
    write(tmp_path, "e")
    again = handed_out(search(source.enumerator(saved)))
    assert names(again) == "cdae"
    assert [(skip, number) for _, _, skip, number in again] == [(7, 1), (0, 2), (0, 3), (0, 4)]


def test_a_checkpoint_in_which_each_subtask_had_files_of_its_own(tmp_path):
    write(tmp_path, "abcdef")

    def split(name):
        return FileSplit(str(tmp_path / name))

    saved = [
        FilesDone((str(tmp_path / "a"),)),
        (split("c"), 5, 2),
        (split("e"), None, 0),
        FilesDone(()),
        (split("b"), None, 1),
    ]
    again = handed_out(search(source_of(tmp_path).enumerator(saved)))
    assert names(again) == "bcedf"
    assert again[1] == (split("c"), 5, 2, 1)


class TestAskingReader:
    def reader(self, folder):
        return AskingReader(source_of(folder), context_of())

    def splits(self, folder, count, lines=1):
        unread = []
        for number in range(count):
            path = folder / f"{number:03}"
            path.write_text("x\n" * lines)
            unread.append((FileSplit(str(path)), None, 0, number))
        return unread

    def test_one_file_is_there_in_advance(self, tmp_path):
        reader, splits = self.reader(tmp_path), self.splits(tmp_path, 3, lines=5)
        reader.limit = 2
        assert reader.poll() is None
        assert (reader.splits_wanted(), reader.splits_wanted()) == (1, 0)
        reader.add_splits(splits[:1], at_once=True)
        assert reader.poll().values == ["x", "x"]
        assert reader.splits_wanted() == 1
        reader.add_splits(splits[1:2], at_once=True)
        assert reader.splits_wanted() == 0
        assert [item[2:] for item in reader.snapshot()] == [(2, 0), (0, 1)]
        assert not reader.ended

    def asked_for(self, folder, lines, files, at_once=True):
        """Return how much a reader asks for that gets each answer too late."""
        reader, splits = self.reader(folder), self.splits(folder, files, lines)
        reader.limit, asked = 10, []
        while splits:
            if wanted := reader.splits_wanted():
                asked.append(wanted)
                while reader.poll():
                    pass
                reader.add_splits(splits[:wanted], at_once=at_once)
                del splits[:wanted]
            reader.poll()
        return asked

    def test_of_small_files_more_are_there_in_advance(self, tmp_path):
        assert max(self.asked_for(tmp_path, 1, 400)) == MOST_AHEAD

    def test_of_large_files_hardly_more_than_one_is(self, tmp_path):
        assert set(self.asked_for(tmp_path, 100, 20)) == {1, 2}

    def test_waiting_for_new_files_does_not_make_them_small(self, tmp_path):
        assert set(self.asked_for(tmp_path, 1, 50, at_once=False)) == {1}


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 2)])
def test_a_folder_after_another_source(tmp_path, before, after):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    write(old, "ab", 3)
    write(new, "pqrs", 3)
    chain = SourceChain([source_of(old, None), source_of(new)])
    clock = FakeClock()
    readers = readers_of(chain, before, clock=clock)
    for reader in readers:
        reader.limit = 2
    found = take(readers, 10)
    saved = checkpoint(readers)
    write(new, "t", 3)
    found += take(readers_of(chain, after, saved, clock), 21 - len(found))
    assert sorted(found) == [f"{name}{n}" for name in "abpqrst" for n in range(3)]
