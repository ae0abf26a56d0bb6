"""`python -m deploy.local manage`: the control plane's commands beside a running `make up`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from deploy.local.config import REPOSITORY


def manage(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "deploy.local", "manage", *arguments),
        check=False,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=120,
        env={
            **os.environ,
            "PENSTOCK_DATA_DIR": str(data_dir),
            "PENSTOCK_HTTP_PORT": "9000",
            "PENSTOCK_ZOOKEEPER_PORT": "9001",
            "PENSTOCK_REDIS_PORT": "9002",
        },
    )


def test_it_runs_with_the_addresses_and_logins_of_the_service(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    question = (
        "from django.conf import settings as s;"
        "print(s.PUBLIC_URL, s.ZOOKEEPER, s.ZOOKEEPER_CONFIG, s.REDIS_URL, s.DATA_DIR)"
    )
    done = manage(tmp_path, "shell", "-v", "0", "-c", question)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "http://127.0.0.1:9000",
        "127.0.0.1:9001",
        str(tmp_path / "zookeeper" / "logins" / "controlplane.properties"),
        "redis://127.0.0.1:9002/0",
        str(tmp_path),
    ]


def test_the_command_s_own_failure_is_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert manage(tmp_path, "no_such_command").returncode != 0


def test_without_a_service_there_it_says_so_and_makes_none(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    done = manage(nowhere, "tenant", "list")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"penstock: {nowhere} holds no service yet; `make up` makes one\n"
    assert not nowhere.exists()
