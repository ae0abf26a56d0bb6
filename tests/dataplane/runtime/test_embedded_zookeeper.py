"""The real server from PySpark's jars: quick to start, gone when stopped, honest when it cannot."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from dataplane.agent.processes import start_ticks_of
from dataplane.runtime.embedded_zookeeper import (
    EmbeddedZooKeeper,
    ZooKeeperStartError,
    class_path,
    free_port,
    jars_dir,
    serves,
)
from dataplane.runtime.zookeeper import ZooKeeperCoordinator

pytestmark = pytest.mark.cluster


def test_few_jars_are_on_the_class_path_and_pyspark_is_not_imported():
    code = (
        "import sys; from dataplane.runtime import embedded_zookeeper as e;"
        "print(len(e.class_path(e.jars_dir()).split(':'))); assert 'pyspark' not in sys.modules"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(out.stdout) <= 12


async def test_data_outlives_a_restart(tmp_path):
    first = EmbeddedZooKeeper(tmp_path)
    first.start()
    session = await ZooKeeperCoordinator.connect(first.connect_string)
    await session.create("/kept", b"x")
    await session.close()
    pid = first.pid
    first.stop()
    assert start_ticks_of(pid) is None
    second = EmbeddedZooKeeper(tmp_path, port=first.port)
    second.start()
    session = await ZooKeeperCoordinator.connect(second.connect_string)
    assert (await session.get("/kept"))[0] == b"x"
    await session.close()
    second.stop()


def test_a_data_directory_may_have_any_name(tmp_path):
    """In the server's file a backslash is an escape."""
    home = tmp_path / "a \\new = 1"
    server = EmbeddedZooKeeper(home)
    server.start()
    server.stop()
    assert (home / "version-2").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == [home.name]


def test_a_taken_port_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ZooKeeperStartError, match=f"port {port} is taken"):
            EmbeddedZooKeeper(tmp_path, port=port).start()


def test_a_failed_start_shows_the_servers_last_words_and_leaves_nothing(tmp_path):
    (tmp_path / "version-2").write_text("not a directory")
    server = EmbeddedZooKeeper(tmp_path)
    with pytest.raises(ZooKeeperStartError) as failed:
        server.start()
    assert "exited with" in str(failed.value)
    assert "version-2" in str(failed.value)
    assert server.pid is None


def test_missing_jars_are_named(tmp_path):
    with pytest.raises(ZooKeeperStartError, match="zookeeper-3"):
        class_path(tmp_path)
    assert jars_dir().is_dir()


def test_the_command_becomes_the_server_and_dies_by_sigterm(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "dataplane.runtime.embedded_zookeeper"),
            *("--port", str(port), "--data-dir", str(tmp_path)),
        ],
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while not serves("127.0.0.1", port):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    process.terminate()
    assert process.wait(10) in (143, -15)


def test_the_server_dies_with_its_starter(tmp_path):
    code = (
        "import sys, time; from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper as E;"
        "z = E(sys.argv[1]); z.start(); print(z.pid, flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    pid = int(starter.stdout.readline())
    assert start_ticks_of(pid) is not None
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    deadline = time.monotonic() + 10
    while start_ticks_of(pid) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
