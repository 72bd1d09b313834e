"""Finding Java, with stand-ins for installed ones."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._spark.session.java_home import find_java

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")


def install(folder, version, *, release=True):
    """Make a folder that looks like an installed Java."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(
        "#!/bin/sh\n"
        f'echo "    java.home = {folder}" >&2\n'
        f'echo "    java.version = {version}" >&2\n'
        f'echo "    java.vendor = A Vendor" >&2\n'
    )
    java.chmod(0o755)
    if release:
        (folder / "release").write_text(f'IMPLEMENTOR="A Vendor"\nJAVA_VERSION="{version}"\n')
    return folder


def test_java_home_comes_first(tmp_path):
    named = install(tmp_path / "named", "21.0.2")
    on_path = install(tmp_path / "other", "17.0.1")
    java = find_java({"JAVA_HOME": str(named), "PATH": str(on_path / "bin")})
    assert (java.home, java.major) == (named, 21)


@pytest.mark.parametrize("nonsense", ["/nowhere", "", "not even a path\n"])
def test_a_senseless_java_home_gives_way_to_the_path(tmp_path, nonsense):
    on_path = install(tmp_path / "jdk", "17.0.1")
    java = find_java({"JAVA_HOME": nonsense, "PATH": f"/nowhere:{on_path / 'bin'}"})
    assert java.home == on_path


def test_an_old_java_gives_way_to_a_new_one(tmp_path):
    old = install(tmp_path / "old", "11.0.9")
    new = install(tmp_path / "new", "17")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")}).home == new


def test_links_are_followed_to_the_installation(tmp_path):
    jdk = install(tmp_path / "jdk", "21.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(jdk / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == jdk


def test_a_shim_is_asked_where_its_java_is(tmp_path):
    jdk = install(tmp_path / "jdk", "21.0.2", release=False)
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "java").write_text((jdk / "bin" / "java").read_text())
    (shims / "java").chmod(0o755)
    java = find_java({"PATH": str(shims)})
    assert (java.home, java.major) == (jdk, 21)


def test_another_build_has_another_identity(tmp_path):
    one, other = install(tmp_path / "a", "21.0.2"), install(tmp_path / "b", "21.0.3")
    found = {find_java({"JAVA_HOME": str(home), "PATH": ""}).identity for home in (one, other)}
    assert len(found) == 2


def test_without_java_the_error_says_what_to_do():
    with pytest.raises(EnvironmentSetupError) as caught:
        find_java({"PATH": "/nowhere"})
    text = str(caught.value)
    for word in ("Java 17 or 21", "JAVA_HOME", "PATH"):
        assert word in text
    assert "\n" not in text


def test_the_error_says_what_was_found(tmp_path):
    old = install(tmp_path / "old", "1.8.0_292")
    with pytest.raises(EnvironmentSetupError, match="PATH has Java 8"):
        find_java({"PATH": str(old / "bin"), "JAVA_HOME": "/nowhere"})


def test_a_java_that_does_not_run_is_none(tmp_path):
    broken = install(tmp_path / "jdk", "21", release=False)
    (broken / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(EnvironmentSetupError, match="no Java that runs"):
        find_java({"PATH": str(broken / "bin")})
