"""Settings of the local service: what is refused, and how it is said."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.config import (
    NUMBERS,
    REPOSITORY,
    WHOLE_NUMBERS,
    LocalConfig,
    SetupError,
)


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
    assert done.returncode == 2
    assert done.stderr.strip() == (
        f"penstock: port {port} is taken; free it or choose another with PENSTOCK_HTTP_PORT=PORT"
    )
    assert not list(tmp_path.glob("data/run/*"))


BAD_SETTINGS = [
    ("PENSTOCK_HTTP_PORT", "abc", "is not a port between 1 and 65535"),
    ("PENSTOCK_HTTP_PORT", "²", "is not a port between 1 and 65535"),
    ("PENSTOCK_HTTP_PORT", "9" * 5_000, "is not a port between 1 and 65535"),
    ("PENSTOCK_BROKER_PORTS", "8410-8414", "has 5 ports; the demo's brokers need 6"),
    ("PENSTOCK_DEMO", "maybe", "is neither 1 nor 0"),
    ("PENSTOCK_WORKER_CONCURRENCY", "2.5", "is not a whole number above 0"),
    ("PENSTOCK_ANALYTICS_INTERVAL_S", "soon", "is not a number above 0"),
    ("PENSTOCK_OPERATION_LEASE_S", "-1", "is not a number above 0"),
    ("PENSTOCK_GATEWAY_TIMEOUT_S", "nan", "is not a number above 0"),
    ("DATABASE_URL", "mysql://root:hidden@db/penstock", "is neither postgres://… nor sqlite:///…"),
    ("DATABASE_URL", "penstock", "is neither postgres://… nor sqlite:///…"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_SETTINGS)
def test_a_bad_setting_is_one_line_and_exit_code_2(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    for command in ("check", "up"):
        done = run_local(tmp_path, command, **{**free_ports(), name: value})
        assert done.returncode == 2, done.stderr
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"penstock: {name}")
        assert message in line
        assert "hidden" not in line
    assert not (tmp_path / "data").exists()


def test_settings_that_are_good_pass_the_check(tmp_path: Path) -> None:
    good = {
        "PENSTOCK_DEMO": "0",
        "PENSTOCK_WORKER_CONCURRENCY": "2",
        "PENSTOCK_ANALYTICS_INTERVAL_S": "0.5",
        "DATABASE_URL": "postgres://penstock@127.0.0.1:5432/postgres",
    }
    done = run_local(tmp_path, "check", **free_ports(), **good)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "data").exists()


def test_every_number_that_the_parts_read_is_judged() -> None:
    readers = {
        "controlplane/beat_schedule.py": r'env\.float\(\s*"(PENSTOCK_\w+)"',
        "controlplane/settings.py": r'env\.(?:int|float)\(\s*"(PENSTOCK_\w+)"',
        "controlplane/analytics/conf.py": r'_number\("(PENSTOCK_\w+)"',
    }
    read = {
        name
        for path, pattern in readers.items()
        for name in re.findall(pattern, (REPOSITORY / path).read_text())
    }
    assert read == {*NUMBERS, *WHOLE_NUMBERS}


def test_settings_are_judged_before_any_set_up_work(tmp_path: Path) -> None:
    """A checkout without anything installed: no environment, no package, no build of it."""
    checkout = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "deploy" / "local", checkout / "deploy" / "local")
    (checkout / "deploy" / "__init__.py").touch()
    began = subprocess.run(
        [str(checkout / "deploy" / "local" / "setup.sh"), "up"],
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "PENSTOCK_HTTP_PORT": "abc"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    message = "penstock: PENSTOCK_HTTP_PORT='abc' is not a port between 1 and 65535\n"
    assert (began.returncode, began.stdout, began.stderr) == (2, "", message)
    assert not (checkout / ".venv").exists()
    assert [path.name for path in (checkout / "build").rglob("*")] == ["stamps"]


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


def test_ports_that_meet_are_named(tmp_path: Path) -> None:
    done = run_local(tmp_path, "up", PENSTOCK_HTTP_PORT="18001", PENSTOCK_REDIS_PORT="18001")
    assert (done.returncode, done.stderr) == (
        2,
        "penstock: PENSTOCK_REDIS_PORT and PENSTOCK_HTTP_PORT are both 18001\n",
    )
    done = run_local(
        tmp_path, "up", PENSTOCK_HTTP_PORT="18010", PENSTOCK_BROKER_PORTS="18000-18040"
    )
    assert done.stderr == "penstock: PENSTOCK_HTTP_PORT=18010 lies within PENSTOCK_BROKER_PORTS\n"


def test_a_data_directory_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    done = run_local(tmp_path, "check", **free_ports())
    assert done.returncode == 2
    assert done.stderr == f"penstock: cannot use data directory {tmp_path}/data: Not a directory\n"


def test_reset_with_nobody_to_ask_deletes_nothing(tmp_path: Path) -> None:
    keep = tmp_path / "data" / "run" / "state.json"
    keep.parent.mkdir(parents=True)
    keep.write_text("{}")
    done = run_local(tmp_path, "reset")
    assert (done.returncode, done.stderr) == (
        1,
        "penstock: nobody to ask; FORCE=1 deletes without asking\n",
    )
    assert keep.exists()


def test_logs_of_an_unknown_part_name_those_there_are(tmp_path: Path) -> None:
    for path in ("logs/web.log", "brokers/kc_1-2/broker.log"):
        (tmp_path / "data" / path).parent.mkdir(parents=True)
        (tmp_path / "data" / path).write_text("")
    done = run_local(tmp_path, "logs", "wbe")
    assert done.stderr == "penstock: no logs of a part 'wbe'; there are: kc_1-2, web\n"


def free_ports() -> dict[str, str]:
    names = ("PENSTOCK_HTTP_PORT", "PENSTOCK_ZOOKEEPER_PORT", "PENSTOCK_REDIS_PORT")
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in names]
        for held_socket in sockets:
            held_socket.bind(("127.0.0.1", 0))
        ports = [str(held_socket.getsockname()[1]) for held_socket in sockets]
    return dict(zip(names, ports, strict=True))


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
