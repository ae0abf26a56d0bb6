"""Where the local service lives: its data directory and its ports."""

from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LOOPBACK = "127.0.0.1"


class SetupError(Exception):
    """Something that the person at the terminal can mend; shown as one line."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LocalConfig:
    """Settings of one local service, read from `PENSTOCK_*` variables."""

    data_dir: Path
    jars_dir: Path
    http_port: int
    zookeeper_port: int
    redis_port: int
    broker_port_first: int
    broker_port_last: int
    demo: bool

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> LocalConfig:
        """Read the settings.

        Raises:
            SetupError: a port is not a number between 1 and 65535, or the range is empty.
        """
        first, last = _port_range(environment.get("PENSTOCK_BROKER_PORTS", "8410-8449"))
        data_dir = Path(environment.get("PENSTOCK_DATA_DIR") or REPOSITORY / ".penstock")
        jars_dir = Path(environment.get("PENSTOCK_SPARK_JARS_DIR") or REPOSITORY / "build/jars")
        return cls(
            data_dir=data_dir.expanduser().absolute(),
            jars_dir=jars_dir.expanduser().absolute(),
            http_port=_port(environment, "PENSTOCK_HTTP_PORT", 8400),
            zookeeper_port=_port(environment, "PENSTOCK_ZOOKEEPER_PORT", 8401),
            redis_port=_port(environment, "PENSTOCK_REDIS_PORT", 8402),
            broker_port_first=first,
            broker_port_last=last,
            demo=environment.get("PENSTOCK_DEMO", "1") not in {"0", "no", "false"},
        )

    @property
    def logs_dir(self) -> Path:
        return self.data_dir / "logs"

    @property
    def brokers_dir(self) -> Path:
        """The host agent's directory: one folder a broker."""
        return self.data_dir / "brokers"

    @property
    def run_dir(self) -> Path:
        return self.data_dir / "run"

    @property
    def pid_file(self) -> Path:
        return self.run_dir / "launcher.pid"

    @property
    def state_file(self) -> Path:
        return self.run_dir / "state.json"

    @property
    def fernet_key_file(self) -> Path:
        return self.data_dir / "fernet.key"

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.http_port}"

    def child_environment(self) -> dict[str, str]:
        """The environment of every part of the service."""
        return {
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "PENSTOCK_DATA_DIR": str(self.data_dir),
            "PENSTOCK_REDIS_URL": f"redis://{LOOPBACK}:{self.redis_port}/0",
            "PENSTOCK_ZOOKEEPER": f"{LOOPBACK}:{self.zookeeper_port}",
            "PENSTOCK_SPARK_JARS_DIR": str(self.jars_dir),
            "PENSTOCK_PUBLIC_URL": self.url,
        }

    def check_ports_free(self) -> None:
        """Raise `SetupError` naming the first port that is wanted twice, or listened on."""
        wanted = {
            "PENSTOCK_HTTP_PORT": self.http_port,
            "PENSTOCK_ZOOKEEPER_PORT": self.zookeeper_port,
            "PENSTOCK_REDIS_PORT": self.redis_port,
        }
        owners: dict[int, str] = {}
        for name, port in wanted.items():
            if self.broker_port_first <= port <= self.broker_port_last:
                raise SetupError(f"{name}={port} lies within PENSTOCK_BROKER_PORTS")
            if port in owners:
                raise SetupError(f"{name} and {owners[port]} are both {port}")
            owners[port] = name
        for name, port in wanted.items():
            if not port_is_free(port):
                raise SetupError(
                    f"port {port} is taken; free it or choose another with {name}=PORT"
                )


def port_is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise SetupError(f"{name}={text!r} is not a port between 1 and 65535")
    return int(text)


def _port_range(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not (
        dash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= 65535
    ):
        raise SetupError(f"PENSTOCK_BROKER_PORTS={text!r} is not a range FIRST-LAST of ports")
    return int(first), int(last)
