"""A broker that cannot start says why in one line, by exit code, and leaves nothing behind."""

from __future__ import annotations

import fcntl
import pathlib
import re
import socket
import subprocess
import sys

import pytest

from dataplane import local_cluster
from dataplane.__main__ import main
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper

ROOT = pathlib.Path(__file__).resolve().parents[3]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dataplane", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def settings(**values: str) -> list[str]:
    return [
        part
        for key, value in values.items()
        for part in ("--set", f"{key.replace('_', '.')}={value}")
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"num_partitions": "0"}, ["num.partitions", "0", "at least 1"]),
        ({"min_insync_replicas": "many"}, ["min.insync.replicas", "many", "INT"]),
        ({"listeners": "PLAINTEXT:9092"}, ["listeners", "PLAINTEXT:9092", "NAME://host:port"]),
        ({"listeners": "X://:1"}, ["listeners", "X", "listener.security.protocol.map"]),
        ({"log_retention_ms": "soon"}, ["log.retention.ms", "soon"]),
        (
            {"penstock_bootstrap_scram": "admin=hunter2"},
            ["penstock.bootstrap.scram", "[hidden]", "user 'admin'", "iterations:salt"],
        ),
        (
            {"penstock_bootstrap_scram": "admin=SCRAM-SHA-256:many:YQ==:YQ==:YQ=="},
            ["penstock.bootstrap.scram", "user 'admin'", "iterations", "from 1 to"],
        ),
        (
            {"penstock_bootstrap_scram": "admin=SCRAM-SHA-256:4096:YQ==:?:YQ=="},
            ["penstock.bootstrap.scram", "user 'admin'", "base64"],
        ),
        ({"penstock_bootstrap_scram": "hunter2"}, ["penstock.bootstrap.scram", "item 1"]),
        ({"super_users": "User:admin;root"}, ["super.users", "User:alice", "'root'"]),
        (
            {"listeners": "SASL_SSL://127.0.0.1:0"},
            ["sasl.enabled.mechanisms", "GSSAPI", "SASL_SSL", "SCRAM-SHA-512"],
        ),
    ],
)
def test_a_bad_value_is_named_with_its_key_and_range(
    values: dict[str, str], words: list[str]
) -> None:
    result = run("broker", "--check", *settings(**values))
    assert result.returncode == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert all(word in lines[0] for word in words), lines[0]
    assert "hunter2" not in lines[0]


def test_a_missing_file_is_named(tmp_path: pathlib.Path) -> None:
    result = run("broker", "--config", str(tmp_path / "none.properties"))
    assert result.returncode == 2
    assert "none.properties" in result.stderr
    assert "Traceback" not in result.stderr


def test_good_configuration_passes(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "broker.properties"
    file.write_text("broker.id=3\nlisteners=PLAINTEXT://127.0.0.1:0\n")
    assert run("broker", "--check", "--config", str(file)).returncode == 0


def test_a_taken_port_is_named_before_anything_starts(tmp_path: pathlib.Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        values = {
            "broker_id": "0",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "log_dirs": str(tmp_path / "data"),
            "zookeeper_connect": "127.0.0.1:1",
        }
        result = run("broker", *settings(**values))
    assert result.returncode == 1
    said = [line for line in result.stderr.splitlines() if line.startswith("penstock broker:")]
    assert len(said) == 1
    assert f"127.0.0.1:{port}" in said[0]
    assert "PLAINTEXT" in said[0]
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"broker.id=abc\n", ["broker.id", "abc", "INT"]),
        (b"zookeeper.connect=127.0.0.1:1\n", ["broker.id", "at least 0"]),
        (b"broker.id=1\n", ["zookeeper.connect", "must be set"]),
        (b"broker.id=1\nzookeeper.connect=a:x\n", ["zookeeper.connect", "a:x", "host:port"]),
        (b"broker.id=1\nzookeeper.connect=:2181\n", ["zookeeper.connect", "host:port"]),
        (b"broker.id=1\nzookeeper.connect=a:1,\n", ["zookeeper.connect", "host:port"]),
        (b"\xff\xfe", ["broker.properties", "UTF-8"]),
        (b"broker.id=1\nlog.dirs=\\u00\n", ["broker.properties", "line 2", "hexadecimal"]),
        (b"broker.id=1\nlog.dirs=\\ud800\n", ["broker.properties", "line 2", "surrogate"]),
        (b"broker.id=1\nlog.dirs=/proc/none\nzookeeper.connect=a:0\n", ["zookeeper.connect"]),
    ],
)
def test_a_bad_file_is_refused_in_one_line(
    tmp_path: pathlib.Path, content: bytes, words: list[str]
) -> None:
    file = tmp_path / "broker.properties"
    file.write_bytes(content)
    result = run("broker", "--config", str(file))
    assert result.returncode == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert all(word in lines[0] for word in words), lines[0]


def test_an_unknown_key_is_reported_with_the_nearest_known_one() -> None:
    result = run("broker", "--check", "--set", "log.retention.milis=5")
    assert result.returncode == 0
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert "log.retention.milis" in lines[0]
    assert "log.retention.ms" in lines[0]


@pytest.mark.cluster
def test_what_only_shows_once_zookeeper_is_there(tmp_path: pathlib.Path) -> None:
    """A locked log directory, one that cannot be made, one that is another broker's."""
    data = tmp_path / "data"
    data.mkdir()
    file = tmp_path / "file"
    file.touch()
    zookeeper = EmbeddedZooKeeper(tmp_path / "zookeeper")
    zookeeper.start()

    def start(log_dirs: pathlib.Path) -> tuple[int, str]:
        values = {
            "broker_id": "0",
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log_dirs": str(log_dirs),
            "zookeeper_connect": zookeeper.connect_string,
        }
        result = run("broker", *settings(**values))
        assert "Traceback" not in result.stderr
        said = [line for line in result.stderr.splitlines() if line.startswith("penstock broker:")]
        assert len(said) == 1, result.stderr
        return result.returncode, said[0]

    try:
        with (data / ".lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            code, said = start(data)
        assert code == 1
        assert str(data) in said
        assert "in use" in said
        code, said = start(file / "data")
        assert code == 2
        assert "log.dirs" in said
        assert str(file) in said
        (data / "meta.properties").write_text("version=0\nbroker.id=7\n")
        code, said = start(data)
        assert code == 1
        assert "broker.id=7" in said
        assert str(data) in said
    finally:
        zookeeper.stop()


def test_an_unreachable_zookeeper_is_named(tmp_path: pathlib.Path) -> None:
    values = {
        "broker_id": "0",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log_dirs": str(tmp_path / "data"),
        "zookeeper_connect": "127.0.0.1:1",
        "zookeeper_connection_timeout_ms": "500",
    }
    result = run("broker", *settings(**values))
    assert result.returncode == 1
    assert "127.0.0.1:1" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "num.partitions=0"], ["num.partitions", "at least 1"]),
        (["--broker-ids", "1,1"], ["--broker-ids", "distinct"]),
        (["--listener", "nonsense"], ["--listener", "NAME://HOST:PORT"]),
        (["--set", "novalue"], ["--set", "KEY=VALUE"]),
        (["--broker-ids", "1,x"], ["--broker-ids", "1,x", "distinct"]),
        (["--brokers", "3", "--broker-ids", "1,2"], ["--brokers 3", "--broker-ids 1,2", "2 ids"]),
        (["--listener", "SSL://127.0.0.1:65535", "--brokers", "2"], ["SSL", "broker 1", "65536"]),
        (["--data-dir", "/dev/null/x"], ["--data-dir", "/dev/null/x", "Not a directory"]),
    ],
)
def test_local_cluster_refuses_bad_arguments(
    tmp_path: pathlib.Path, arguments: list[str], words: list[str]
) -> None:
    result = run("local-cluster", "--port", "0", "--data-dir", str(tmp_path), *arguments)
    assert result.returncode == 2
    assert all(word in result.stderr for word in words), result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["broker", "agent", "local-cluster"])
def test_every_option_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    options = capsys.readouterr().out.partition("\noptions:\n")[2]
    for entry in re.split(r"\n(?=  -)", options):
        words = re.sub(r"^ *(-h, )?--[a-z-]+( [A-Z]\S*)?", "", entry).strip()
        assert words, entry


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--brokers", "abc"], ["--brokers", "'abc'", "a number of at least 1"]),
        (["--brokers", "0"], ["--brokers", "'0'", "a number of at least 1"]),
        (["--port", "70000"], ["--port", "'70000'", "from 0 to 65535"]),
        (["--zookeeper-port", "x"], ["--zookeeper-port", "'x'", "from 0 to 65535"]),
    ],
)
def test_a_number_that_is_none(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["local-cluster", *arguments])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert all(word in said for word in words), said


def test_local_cluster_shows_what_a_broker_says_now_and_not_what_it_said_before(
    tmp_path: pathlib.Path,
) -> None:
    common = ["local-cluster", "--port", "0", "--data-dir", str(tmp_path)]
    common += ["--listener", "SASL_SSL://127.0.0.1:0"]
    first = run(*common)
    assert (first.returncode, "GSSAPI" in first.stderr) == (1, True)
    second = run(*common, *settings(sasl_enabled_mechanisms="SCRAM-SHA-256"))
    assert (second.returncode, "ssl.keystore.type" in second.stderr) == (1, True)
    assert "GSSAPI" not in second.stderr, "that was mended"


def test_brokers_that_may_not_talk_to_each_other_say_who_has_to_be_allowed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local_cluster, "READY_TIMEOUT_S", 4.0)
    values = {
        "authorizer_class_name": "kafka.security.authorizer.AclAuthorizer",
        "super_users": "User:admin",
    }
    common = ["local-cluster", "--port", "0", "--data-dir", str(tmp_path)]
    assert main([*common, *settings(**values)]) == 1
    said = capsys.readouterr().err
    words = ("not every broker serves", "refused UpdateMetadataRequest", "super.users", "ANONYMOUS")
    assert all(word in said for word in words), said


def test_local_cluster_names_a_taken_port_before_it_starts_anything(
    tmp_path: pathlib.Path,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        first = port - 1
        result = run(
            *("local-cluster", "--port", str(first), "--brokers", "2"),
            *("--data-dir", str(tmp_path), "--broker-ids", "7,8"),
        )
    assert result.returncode == 1
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert "listener PLAINTEXT" in lines[0]
    assert "cannot bind 127.0.0.1:" in lines[0]
    assert "Address already in use" in lines[0]
    assert not list(tmp_path.glob("*/broker.log"))
    assert not (tmp_path / "zookeeper").exists()
