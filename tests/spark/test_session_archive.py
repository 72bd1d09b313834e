"""The JVM's class-data archive: when it is offered, and that a broken one never is."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pyflink_on_spark._operate.view.job_records import VARIABLE, home
from pyflink_on_spark._spark.session import jvm_archive
from pyflink_on_spark._spark.session.java_home import JavaRuntime
from pyflink_on_spark.tools.archive import command
from pyflink_on_spark.tools.archive import recorder as jvm_archive_recorder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="archives are used on POSIX only")
JAVA = JavaRuntime(Path("/opt/jdk"), 21, "a build")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(jvm_archive.SWITCH, raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    return tmp_path / "pyflink_on_spark"


@pytest.fixture
def archive(cache):
    found = jvm_archive.find_archive(JAVA)
    assert found is not None
    return found


def publish(archive, content=b"classes"):
    recorded = archive.stem.with_name("being-recorded")
    recorded.write_bytes(content)
    archive.publish(recorded)


def test_without_an_archive_there_are_no_options(archive):
    assert archive.start_options() == []


def test_a_published_archive_is_used(archive):
    publish(archive)
    assert f"-XX:SharedArchiveFile={archive.file()}" in archive.start_options()
    assert "-Xshare:auto" in archive.start_options()


def test_an_archive_that_was_cut_off_is_not_used(archive):
    publish(archive)
    archive.file().write_bytes(b"cla")
    assert archive.start_options() == []


def test_the_cache_folder_is_private(archive, cache):
    assert cache.stat().st_mode & 0o777 == 0o700


def test_a_cache_folder_that_others_can_write_is_not_used(archive, cache):
    cache.chmod(0o777)
    assert jvm_archive.find_archive(JAVA) is None


def test_another_java_has_another_archive(archive):
    other = jvm_archive.find_archive(JavaRuntime(JAVA.home, 21, "another build"))
    assert other.stem != archive.stem


def test_another_spark_has_another_archive(archive, tmp_path, monkeypatch):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core.jar").write_bytes(b"")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert jvm_archive.find_archive(JAVA).stem != archive.stem


@pytest.mark.parametrize("value", ["off", "0", "False"])
def test_it_can_be_switched_off(cache, monkeypatch, value):
    monkeypatch.setenv(jvm_archive.SWITCH, value)
    assert jvm_archive.find_archive(JAVA) is None


def test_a_folder_with_files_on_the_class_path_rules_archives_out(cache, tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    assert jvm_archive.find_archive(JAVA) is not None
    (tmp_path / "conf" / "spark-env.sh").write_text("")
    assert jvm_archive.find_archive(JAVA) is None


def test_a_home_that_cannot_be_written_is_no_error(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert jvm_archive.find_archive(JAVA) is None


def test_a_discarded_archive_is_recorded_again_after_an_hour(archive, monkeypatch):
    publish(archive)
    archive.discard()
    assert archive.file() is None
    registered = []
    monkeypatch.setattr(jvm_archive.atexit, "register", lambda *call: registered.append(call))
    archive.record_at_exit()
    assert registered == []
    before = time.time() - 3700
    os.utime(archive.failure, (before, before))
    archive.record_at_exit()
    assert len(registered) == 1


def test_only_archives_that_a_jvm_starts_from_are_published(archive, monkeypatch):
    steps = []

    def run_job(*options):
        steps.append(options)
        if len(steps) == 1:
            Path(options[0].split("=", 1)[1]).write_bytes(b"classes")
        return False

    monkeypatch.setattr(jvm_archive_recorder, "_run_job", run_job)
    jvm_archive_recorder.record(archive)
    assert archive.file() is None
    assert archive.failure.exists()
    assert "-Xshare:on" in steps[1]
    assert not list(archive.stem.parent.glob("*.unproven"))


def test_recording_publishes_what_was_proved(archive, monkeypatch):
    def run_job(*options):
        file = Path(options[-1].split("=", 1)[1]) if "-Xshare:on" in options else None
        if file is None:
            Path(options[0].split("=", 1)[1]).write_bytes(b"classes")
        else:
            assert file.read_bytes() == b"classes"
        return True

    monkeypatch.setattr(jvm_archive_recorder, "_run_job", run_job)
    jvm_archive_recorder.record(archive)
    assert archive.file().read_bytes() == b"classes"


def test_one_process_at_a_time_records(archive, monkeypatch):
    import fcntl

    monkeypatch.setattr(
        jvm_archive_recorder, "_run_job", lambda *_: pytest.fail("recorded at the same time")
    )
    with archive.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        jvm_archive_recorder.record(archive)


def test_jobs_that_record_are_not_among_the_user_s(archive, monkeypatch):
    before = home()
    homes = []

    def run(command, env, **_):
        with monkeypatch.context() as patch:
            patch.setenv(VARIABLE, env[VARIABLE])
            homes.append(home())
        return SimpleNamespace(returncode=1)

    monkeypatch.setattr(jvm_archive_recorder.subprocess, "run", run)
    jvm_archive_recorder.record(archive)
    (other,) = homes
    assert other != before
    assert not other.exists()


def test_archives_that_are_no_longer_used_go(archive):
    publish(archive)
    old = archive.stem.with_name("jvm-spark1-old.7.jsa")
    old.write_bytes(b"classes")
    os.utime(old, (0, 0))
    jvm_archive.remove_unused(archive.stem.parent)
    assert not old.exists()
    assert archive.file() is not None


def test_archives_have_a_limit(archive, monkeypatch):
    folder = archive.stem.parent
    monkeypatch.setattr(jvm_archive, "_MOST_BYTES", 15)
    now = time.time()
    for age, name in enumerate(["newest", "middle", "oldest"]):
        file = folder / f"jvm-{name}.7.jsa"
        file.write_bytes(b"classes")
        os.utime(file, (now - age, now - age))
    jvm_archive.remove_unused(folder)
    assert {file.name for file in folder.glob("*.jsa")} == {"jvm-newest.7.jsa", "jvm-middle.7.jsa"}


def test_the_command_says_where_the_archive_is(archive, cache, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_java", lambda: JAVA)
    monkeypatch.setattr(command, "find_archive", lambda java: archive)
    monkeypatch.setattr(command, "record", lambda place, wait: publish(place))
    assert command.main([]) == 0
    assert capsys.readouterr().out.strip() == str(archive.file())


def test_the_command_says_that_there_can_be_no_archive(cache, monkeypatch, capsys):
    monkeypatch.setenv(jvm_archive.SWITCH, "off")
    monkeypatch.setattr(command, "find_java", lambda: JAVA)
    assert command.main([]) == 1
    assert jvm_archive.SWITCH in capsys.readouterr().err
