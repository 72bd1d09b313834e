"""The files of a job, which its script imports as its functions do."""

from __future__ import annotations

import sys
import zipfile

import pytest

from pyflink_on_spark._job.job import set_base_configuration
from pyflink_on_spark.tools.operate.run import job_files, run_script
from pyflink_on_spark.tools.operate.run_options import UsageError, parse

MODULE = "import sys, planted_words\nprint('main', planted_words.WORDS, sys.argv[1:])\n"
WORDS = "WORDS = ['to', 'be']\n"


@pytest.fixture
def run(script_process, capsys):

    def ran(line):
        options = parse(line.split())
        set_base_configuration(options.configuration)
        status = run_script(options)
        return status, capsys.readouterr().out

    yield ran
    set_base_configuration({})
    for name in ("planted_words", "planted_count"):
        sys.modules.pop(name, None)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "planted_count.py").write_text(MODULE, encoding="utf-8")
    (folder / "planted_words.py").write_text(WORDS, encoding="utf-8")
    return folder


def test_a_module_in_a_folder(run, source):
    out = "main ['to', 'be'] ['--input', 'x']\n"
    assert run("-pym planted_count -pyfs src --input x") == (0, out)


def test_a_module_in_a_zip(run, source, tmp_path):
    with zipfile.ZipFile(tmp_path / "src.zip", "w") as archive:
        for file in source.iterdir():
            archive.write(file, file.name)
            file.unlink()
    assert run("--pyModule planted_count --pyFiles src.zip") == (0, "main ['to', 'be'] []\n")


def test_a_single_file_without_those_beside_it(run, source, tmp_path):
    (tmp_path / "job.py").write_text(MODULE, encoding="utf-8")
    assert run("-py job.py -pyfs src/planted_words.py") == (0, "main ['to', 'be'] []\n")
    (folder,) = job_files()
    assert folder != str(source)


def test_the_script_s_own_folder_comes_first(run, source, tmp_path):
    (tmp_path / "job.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "planted_words.py").write_text("WORDS = []\n", encoding="utf-8")
    assert run("-py job.py -pyfs src") == (0, "main [] []\n")


@pytest.mark.parametrize(
    ("files", "told"),
    [("none.py", "python.files names a file that does not exist: none.py"),
     ("hdfs:///nn/x.zip", "hdfs:///nn/x.zip")],
)  # fmt: skip
def test_files_that_are_not_here(run, source, tmp_path, files, told):
    (tmp_path / "job.py").write_text(MODULE, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        run(f"-py job.py -pyfs {files}")
