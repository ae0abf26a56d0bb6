"""Settings of the local service: what is refused, and how it is said."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.config import REPOSITORY, LocalConfig, SetupError


@pytest.mark.parametrize("text", ["0", "65536", "web", "-1", "8400.5"])
def test_a_port_out_of_range_is_named(text: str) -> None:
    with pytest.raises(SetupError, match="PENSTOCK_HTTP_PORT="):
        LocalConfig.from_environment({"PENSTOCK_HTTP_PORT": text})


@pytest.mark.parametrize("text", ["8410", "8449-8410", "a-b", "0-10", "1-70000"])
def test_a_broken_port_range_is_named(text: str) -> None:
    with pytest.raises(SetupError, match="PENSTOCK_BROKER_PORTS="):
        LocalConfig.from_environment({"PENSTOCK_BROKER_PORTS": text})


def test_defaults_are_below_the_checkout() -> None:
    config = LocalConfig.from_environment({})
    assert config.data_dir == REPOSITORY / ".penstock"
    assert config.url == "http://127.0.0.1:8400"


def test_a_taken_port_is_one_line_and_starts_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_local(tmp_path, "up", PENSTOCK_HTTP_PORT=str(port))
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"penstock: port {port} is taken; free it or choose another with PENSTOCK_HTTP_PORT=PORT"
    )
    assert not list(tmp_path.glob("data/run/*"))


def test_status_of_nothing_says_so(tmp_path: Path) -> None:
    done = run_local(tmp_path, "status")
    assert (done.returncode, done.stdout) == (3, "not running\n")


def test_reset_refuses_a_directory_that_is_not_ours(tmp_path: Path) -> None:
    keep = tmp_path / "data" / "thesis.txt"
    keep.parent.mkdir()
    keep.write_text("years of work")
    done = run_local(tmp_path, "reset", "--force")
    assert done.returncode == 1
    assert keep.exists()


def run_local(
    tmp_path: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deploy.local", *arguments],
        cwd=REPOSITORY,
        env={"PATH": "/usr/bin:/bin", "PENSTOCK_DATA_DIR": str(tmp_path / "data"), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
