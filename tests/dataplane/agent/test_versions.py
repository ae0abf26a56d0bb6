"""Releases side by side on a host: what counts as one, and what an agent starts."""

from __future__ import annotations

import json
import os
import pathlib
import stat

import pytest

from dataplane.agent.install_version import install
from dataplane.agent.versions import (
    OWN,
    OWN_ROOT,
    Release,
    VersionError,
    VersionReports,
    Versions,
    digest_of,
    release_facts,
)
from dataplane.config.release import NEWEST_PROTOCOL, OLDEST_PROTOCOL, VERSION
from tests.waiting import until


@pytest.fixture
def source(tmp_path):
    """A tree that is just enough of a release."""
    tree = tmp_path / "tree"
    (tree / "dataplane" / "config").mkdir(parents=True)
    (tree / "zookeeper_access").mkdir()
    (tree / "dataplane" / "__main__.py").write_text("print('broker')\n")
    (tree / "zookeeper_access" / "__init__.py").write_text("")
    stamp(tree, "7.1")
    return tree


@pytest.fixture
def versions(tmp_path):
    found = tmp_path / "versions"
    found.mkdir(mode=0o755)
    found.chmod(0o755)
    return found


def stamp(tree, version, oldest="3.2-IV0", newest="3.9-IV0"):
    (tree / "dataplane" / "config" / "release.py").write_text(
        f'from typing import Final\n\nVERSION: Final = "{version}"\n'
        f'OLDEST_PROTOCOL: Final = "{oldest}"\nNEWEST_PROTOCOL = "{newest}"\n'
    )


def refusal(versions, name):
    with pytest.raises(VersionError) as caught:
        Versions(versions).find(name)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_what_is_installed_is_found_with_what_it_says_of_itself(source, versions):
    made = install(source, versions, "7.1")
    found = Versions(versions).find("7.1")
    assert found == made
    assert (found.name, found.software, found.oldest, found.newest) == (
        "7.1",
        "7.1",
        "3.2-IV0",
        "3.9-IV0",
    )
    assert found.command[1:] == ("-P", "-m", "dataplane")
    assert dict(found.environment) == {"PYTHONPATH": str(versions / "7.1")}
    assert [path.name for path in versions.iterdir()] == ["7.1"]


def test_one_with_an_interpreter_of_its_own_is_run_by_that(source, versions):
    install(source, versions, "7.1")
    interpreter = versions / "7.1" / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    for path in (interpreter.parent, interpreter.parent.parent):
        path.chmod(0o755)
    interpreter.symlink_to("/usr/bin/true")
    assert Versions(versions).find("7.1").command[0] == str(interpreter)
    interpreter.parent.chmod(0o777)
    assert "may be written by others" in refusal(versions, "7.1")


def test_the_agents_own_software_is_a_version_too():
    own = Versions().find(OWN)
    assert (own.software, own.oldest, own.newest) == (VERSION, OLDEST_PROTOCOL, NEWEST_PROTOCOL)
    assert own.environment == ()
    with pytest.raises(VersionError, match="no --versions"):
        Versions().find("7.1")


def test_a_release_older_than_such_names_sends_what_the_newest_of_3_9_does(source, versions):
    (source / "dataplane" / "config" / "release.py").unlink()
    found = install(source, versions, "old")
    assert (found.software, found.oldest, found.newest) == ("", "3.9-IV0", "3.9-IV0")


def test_the_digest_is_of_names_and_contents_and_not_of_what_python_compiled(source, versions):
    first = install(source, versions, "a").digest
    assert install(source, versions, "b").digest == first == digest_of(source, is_checked=False)
    assert list((versions / "a").rglob("*.pyc"))
    (source / "dataplane" / "__main__.py").write_text("print('another')\n")
    assert install(source, versions, "c").digest != first
    (source / "dataplane" / "more.py").write_text("")
    assert install(source, versions, "d").digest != Versions(versions).find("c").digest


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "x" * 64, "a b", "a\nb", "ä"])
def test_what_cannot_be_a_name_leads_nowhere(source, versions, name):
    assert "cannot be the name of a version" in refusal(versions, name)
    with pytest.raises(VersionError):
        install(source, versions, name)


def test_no_directory_takes_the_place_of_the_agents_own(source, versions):
    with pytest.raises(VersionError, match="cannot be the name"):
        install(source, versions, OWN)
    install(source, versions, "7.1").root.rename(versions / OWN)
    _, refused = Versions(versions).all()
    assert refused == {OWN: "this cannot be the name of a version"}
    assert Versions(versions).find(OWN).root == OWN_ROOT


def test_a_name_is_given_once_and_what_is_no_release_leaves_nothing(source, versions, tmp_path):
    install(source, versions, "7.1")
    with pytest.raises(VersionError, match="is there already"):
        install(source, versions, "7.1")
    with pytest.raises(VersionError, match="holds no dataplane"):
        install(tmp_path / "nothing", versions, "8")
    (source / "dataplane" / "__main__.py").unlink()
    with pytest.raises(VersionError, match=r"holds no dataplane/__main__\.py"):
        install(source, versions, "9")
    assert [path.name for path in versions.iterdir()] == ["7.1"]


@pytest.mark.parametrize("part", ["", "dataplane", "dataplane/config/release.py"])
def test_what_others_may_write_is_refused_and_named(source, versions, part):
    install(source, versions, "7.1")
    path = versions / "7.1" / part
    path.chmod(path.stat().st_mode | 0o020)
    assert "may be written by others: chmod go-w" in refusal(versions, "7.1")


def test_links_are_refused(source, versions, tmp_path):
    install(source, versions, "7.1")
    (versions / "linked").symlink_to(versions / "7.1")
    assert "is a link" in refusal(versions, "linked")
    (tmp_path / "elsewhere.py").write_text("import os")
    (versions / "7.1" / "dataplane" / "more.py").symlink_to(tmp_path / "elsewhere.py")
    assert "more.py is a link" in refusal(versions, "7.1")


def test_what_belongs_to_another_user_is_refused(source, versions, monkeypatch):
    install(source, versions, "7.1")
    uid = os.geteuid() or 4_711
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    if versions.stat().st_uid == 0:
        pytest.skip("what belongs to root is trusted")
    with pytest.raises(VersionError, match="belongs to another user"):
        Versions(versions)


def test_a_directory_that_others_may_write_is_none_to_begin_with(versions):
    versions.chmod(0o777)
    with pytest.raises(VersionError, match="may be written by others"):
        Versions(versions)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("VERSION = '1'\n", "has no OLDEST_PROTOCOL"),
        ("VERSION = f()\nOLDEST_PROTOCOL = NEWEST_PROTOCOL = 'x'", "has no VERSION"),
        ("def (", "cannot be read"),
        ("x = '\0'", "cannot be read"),
        ("#" * 20_000, "is too long"),
    ],
)
def test_facts_that_cannot_be_understood_are_refused_without_running_them(source, text, why):
    (source / "dataplane" / "config" / "release.py").write_text(text)
    with pytest.raises(VersionError, match=why):
        release_facts(source)


def test_what_of_a_version_cannot_be_read_is_said_without_its_path(source):
    """Tenants read why a version is none."""
    os.mknod(source / "dataplane" / "odd.py", stat.S_IFSOCK | 0o644)
    with pytest.raises(VersionError) as caught:
        digest_of(source, is_checked=False)
    assert str(caught.value) == f"version {source.name} cannot be read: No such device or address"


def test_a_report_names_each_and_why_others_are_none(source, versions):
    install(source, versions, "7.1")
    (versions / "empty").mkdir(mode=0o755)
    (versions / "empty").chmod(0o755)
    (versions / ".installing-x").mkdir()
    said = json.loads(Versions(versions).report())
    assert [row["name"] for row in said["versions"]] == [OWN, "7.1"]
    assert said["refused"] == {"empty": "version empty holds no dataplane/__main__.py"}
    assert said["versions"][1]["digest"] == Versions(versions).find("7.1").digest


def test_a_start_looks_at_the_files_as_they_are_now(source, versions):
    kept = Versions(versions)
    install(source, versions, "7.1")
    before = kept.find("7.1").digest
    kept.report()
    file = versions / "7.1" / "dataplane" / "__main__.py"
    file.write_text("print('changed in place')\n")
    assert kept.find("7.1").digest != before


async def test_reports_are_written_when_something_else_is_there(source, versions):
    kept, written, heard = Versions(versions), [], []

    async def write(data):
        written.append([row["name"] for row in json.loads(data)["versions"]])

    reports = VersionReports(kept.report, write, on_change=lambda: heard.append(1), every_s=0.01)
    reports.start()
    try:
        await until(lambda: written == [[OWN]])
        install(source, versions, "7.1")
        await until(lambda: written == [[OWN], [OWN, "7.1"]])
        assert heard == [1]
    finally:
        await reports.close()


def test_this_tree_is_a_release():
    assert release_facts(OWN_ROOT) == (VERSION, OLDEST_PROTOCOL, NEWEST_PROTOCOL)
    assert isinstance(Versions().find(OWN), Release)
    assert pathlib.Path(OWN_ROOT, "dataplane", "__main__.py").is_file()
