"""Jars: checked by hash, fetched once, a failure is one line."""

from __future__ import annotations

import hashlib
import subprocess
from types import SimpleNamespace

import pytest

from spark_analytics import __main__ as command
from spark_analytics.io import jars

CONTENTS = {"a.jar": b"first", "b.jar": b"second"}


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Two small files stand for the connector."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in CONTENTS.items()]
    file = tmp_path / "jars.sha256"
    file.write_text("\n".join(lines) + "\n")
    hashes = jars.expected_hashes(file)
    monkeypatch.setattr(jars, "expected_hashes", lambda *_: hashes)
    return hashes


@pytest.fixture
def resolver(monkeypatch):
    """What the resolving process does; counts its calls."""
    seen = SimpleNamespace(calls=0, contents=dict(CONTENTS), stderr="", code=0)

    def run(arguments, **_):
        seen.calls += 1
        seen.arguments = arguments
        (ivy,) = [a.split("=", 1)[1] for a in arguments if a.startswith("spark.jars.ivy=")]
        folder = jars.Path(ivy) / "jars"
        folder.mkdir(parents=True)
        for name, data in seen.contents.items():
            (folder / name).write_bytes(data)
        return subprocess.CompletedProcess(arguments, seen.code, "", seen.stderr)

    monkeypatch.setattr(jars.subprocess, "run", run)
    return seen


def test_the_committed_list_names_the_connector_its_client_and_iceberg():
    words = ("spark-sql-kafka", "kafka-clients", "token-provider", "commons-pool2", "iceberg-spark")
    names = jars.expected_hashes()
    assert all(any(word in name for name in names) for word in words)
    assert len(names) == len(words)
    assert all(len(digest) == 64 for digest in jars.expected_hashes().values())


def test_fetching_twice_resolves_once(listed, resolver, tmp_path):
    target = tmp_path / "jars"
    assert jars.fetch(target)
    assert not jars.fetch(target)
    assert resolver.calls == 1
    assert sorted(path.name for path in target.iterdir()) == ["a.jar", "b.jar"]
    assert [path.name for path in jars.jar_paths(target)] == ["a.jar", "b.jar"]


def test_a_damaged_jar_is_fetched_again(listed, resolver, tmp_path):
    jars.fetch(tmp_path / "jars")
    (tmp_path / "jars" / "b.jar").write_bytes(b"torn")
    assert jars.fetch(tmp_path / "jars")
    assert jars.missing_or_wrong(tmp_path / "jars", listed) == []


def test_another_file_than_listed_is_refused_and_not_kept(listed, resolver, tmp_path):
    resolver.contents["b.jar"] = b"something else"
    with pytest.raises(jars.JarsError, match=r"b\.jar was resolved but is not the file listed"):
        jars.fetch(tmp_path / "jars")
    assert list((tmp_path / "jars").iterdir()) == []


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("noise\n[unresolved dependency: org.x#y;1: not found]\nmore", "unresolved dependency"),
        ("java.net.UnknownHostException: nowhere\n", "Exception: nowhere"),
        ("", "no reason given"),
    ],
)
def test_a_failure_is_one_line(listed, resolver, tmp_path, capsys, stderr, said):  # noqa: PLR0917 - fixtures
    resolver.code, resolver.stderr = 1, stderr
    assert command.main(["jars", "--dir", str(tmp_path / "jars")]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_missing_jar_names_the_command_that_brings_it(listed, tmp_path):
    with pytest.raises(jars.JarsError, match="python -m spark_analytics jars --dir"):
        jars.jar_paths(tmp_path)


def test_no_cache_of_the_user_is_used(listed, resolver, tmp_path, monkeypatch):
    monkeypatch.delenv("PENSTOCK_SPARK_IVY_SETTINGS", raising=False)
    jars.fetch(tmp_path / "jars")
    (ivy,) = [a for a in resolver.arguments if a.startswith("spark.jars.ivy=")]
    assert str(tmp_path) in ivy


def test_a_relative_directory_is_resolved_from_an_absolute_one(
    listed, resolver, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert jars.fetch(jars.Path("build/jars"))
    (ivy,) = [a.split("=", 1)[1] for a in resolver.arguments if a.startswith("spark.jars.ivy=")]
    assert jars.Path(ivy).is_absolute()
