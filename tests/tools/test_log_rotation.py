"""The log of a detached driver, which several processes append to."""

from __future__ import annotations

from pyflink_on_spark.tools.operate.detach import RotatedLog


def test_a_short_log_stays(tmp_path):
    log = tmp_path / "job.log"
    assert not RotatedLog(log, 10, 2).rotate_if_long()
    log.write_text("short")
    assert not RotatedLog(log, 10, 2).rotate_if_long()
    assert log.read_text() == "short"


def test_a_long_log_becomes_parts_and_who_has_it_open_writes_on(tmp_path):
    log = tmp_path / "job.log"
    rotated = RotatedLog(log, 10, 2)
    with log.open("a") as writer:
        for number in range(4):
            writer.write(f"part {number} is long")
            writer.flush()
            assert rotated.rotate_if_long()
        writer.write("the end")
    assert log.read_text() == "the end"
    assert (tmp_path / "job.log.1").read_text() == "part 3 is long"
    assert (tmp_path / "job.log.2").read_text() == "part 2 is long"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "job.log", "job.log.1", "job.log.2"
    ]  # fmt: skip
    assert (tmp_path / "job.log.1").stat().st_mode & 0o777 == 0o600
