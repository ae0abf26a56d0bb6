"""Where the local service lives: its data directory and its ports."""

from __future__ import annotations

import dataclasses
import math
import os
import socket
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LOOPBACK = "127.0.0.1"
HOST_ID = "host-1"
# Three brokers with a listener for clients and one for each other.
DEMO_PORTS = 6
# Numbers that the parts read by themselves; a bad one would end them one by one, far from here.
WHOLE_NUMBERS = (
    "PENSTOCK_BROKER_DISK_MIN_BYTES",
    "PENSTOCK_TIMELINE_DAYS",
    "PENSTOCK_WORKER_CONCURRENCY",
    "PENSTOCK_HSTS_S",
    "PENSTOCK_PLANS_OPEN_MAX",
    "PENSTOCK_PASSWORD_HASHES",
    "PENSTOCK_CLUSTERS_PER_TENANT",
    "PENSTOCK_BROKERS_PER_TENANT",
    "PENSTOCK_GATEWAY_CALLS_PER_CLUSTER",
    "PENSTOCK_GATEWAY_CALLS_PER_TENANT",
    "PENSTOCK_GATEWAY_DOUBTFUL_CALLS",
    "PENSTOCK_TASKS_PER_TENANT",
    "PENSTOCK_PAGE_PARTS_PER_TENANT",
    "PENSTOCK_STREAMS_PER_TENANT",
    "PENSTOCK_STREAMS_PER_USER",
    "PENSTOCK_MESSAGE_READERS_PER_TENANT",
    "PENSTOCK_TASKS_PER_CLUSTER",
    "PENSTOCK_SLOW_WORKER_CONCURRENCY",
    "PENSTOCK_SLOW_TASKS_PER_TENANT",
    "PENSTOCK_SLOW_TASKS_PER_CLUSTER",
    "PENSTOCK_METRICS_CLUSTERS_MAX",
    "PENSTOCK_OBSERVERS_MAX",
    "PENSTOCK_SMTP_PORT",
)
NUMBERS = (
    "PENSTOCK_OPERATION_SWEEP_S",
    "PENSTOCK_OPERATION_LEASE_S",
    "PENSTOCK_CERTIFICATES_S",
    "PENSTOCK_GATEWAY_TIMEOUT_S",
    "PENSTOCK_READ_PATIENCE_S",
    "PENSTOCK_GATEWAY_WAIT_S",
    "PENSTOCK_GATEWAY_IDLE_S",
    "PENSTOCK_BREAKER_OPEN_MAX_S",
    "PENSTOCK_OBSERVE_INTERVAL_S",
    "PENSTOCK_OVERLAPS_S",
    "PENSTOCK_RETENTION_LEASES_S",
    "PENSTOCK_DRAINS_S",
    "PENSTOCK_HEALING_S",
    "PENSTOCK_REBALANCES_S",
    "PENSTOCK_DRIFT_S",
    "PENSTOCK_NOTIFICATIONS_S",
    "PENSTOCK_ALERTS_INTERVAL_S",
    "PENSTOCK_DATABASE_ANSWER_S",
    "PENSTOCK_WORKER_DATABASE_ANSWER_S",
    "PENSTOCK_ANALYTICS_INTERVAL_S",
    "PENSTOCK_ANALYTICS_FIRST_AFTER_S",
    "PENSTOCK_ANALYTICS_DEADLINE_S",
    "PENSTOCK_ANALYTICS_RANGE_MAX_S",
    "PENSTOCK_ANALYTICS_GOLD_KEEP_S",
    "PENSTOCK_ANALYTICS_SILVER_KEEP_S",
)
DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql", "psql", "pgsql")


class SetupError(Exception):
    """Something that the person at the terminal can mend; shown as one line."""

    exit_code = 1


class SettingsError(SetupError):
    """A setting cannot be used; nothing was tried."""

    exit_code = 2


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
            SettingsError: a setting of ours, or one that the parts read, has no usable value.
        """
        check_numbers(environment)
        check_database_url(environment)
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
            demo=_switch(environment, "PENSTOCK_DEMO", default=True),
        )

    @property
    def logs_dir(self) -> Path:
        return self.data_dir / "logs"

    @property
    def brokers_dir(self) -> Path:
        """The host agent's directory: one folder a broker."""
        return self.data_dir / "brokers"

    @property
    def zookeeper_dir(self) -> Path:
        return self.data_dir / "zookeeper"

    @property
    def host_login_file(self) -> Path:
        """How the host agent logs in to ZooKeeper; it is there once the host was admitted."""
        return self.zookeeper_login_file(HOST_ID)

    def zookeeper_login_file(self, name: str) -> Path:
        """Within ZooKeeper's directory: who deletes that begins again, logins and nodes alike."""
        return self.zookeeper_dir / "logins" / f"{name}.properties"

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
    def host_key_file(self) -> Path:
        """Opens what is sealed for the host agent, and nothing else."""
        return self.data_dir / f"{HOST_ID}.key"

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.http_port}"

    def child_environment(self) -> dict[str, str]:
        """The environment of every part of the service."""
        return {
            # Few small clusters, and somebody watching: looked at more often than by default.
            "PENSTOCK_OBSERVE_INTERVAL_S": "3",
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "PENSTOCK_DATA_DIR": str(self.data_dir),
            "PENSTOCK_REDIS_URL": f"redis://{LOOPBACK}:{self.redis_port}/0",
            "PENSTOCK_ZOOKEEPER": f"{LOOPBACK}:{self.zookeeper_port}",
            "PENSTOCK_ZOOKEEPER_CONFIG": str(self.zookeeper_login_file("controlplane")),
            "PENSTOCK_SPARK_JARS_DIR": str(self.jars_dir),
            "PENSTOCK_PUBLIC_URL": self.url,
            # Everything of one machine is on its loopback interface, a Kafka to register too.
            "PENSTOCK_EGRESS_ALLOWED": os.environ.get(
                "PENSTOCK_EGRESS_ALLOWED", "127.0.0.0/8,::1/128"
            ),
        }

    def check_usable(self) -> None:
        """Ports that do not meet, are enough and are free; a data directory that can be written.

        Raises:
            SettingsError: naming the first that is not.
        """
        self._check_ports()
        there = self.data_dir
        while not there.exists():
            there = there.parent
        reason = "Permission denied" if there.is_dir() else "Not a directory"
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise SettingsError(f"cannot use data directory {self.data_dir}: {reason}")

    def _check_ports(self) -> None:
        wanted = {
            "PENSTOCK_HTTP_PORT": self.http_port,
            "PENSTOCK_ZOOKEEPER_PORT": self.zookeeper_port,
            "PENSTOCK_REDIS_PORT": self.redis_port,
        }
        owners: dict[int, str] = {}
        for name, port in wanted.items():
            if self.broker_port_first <= port <= self.broker_port_last:
                raise SettingsError(f"{name}={port} lies within PENSTOCK_BROKER_PORTS")
            if port in owners:
                raise SettingsError(f"{name} and {owners[port]} are both {port}")
            owners[port] = name
        offered = self.broker_port_last - self.broker_port_first + 1
        if self.demo and offered < DEMO_PORTS:
            raise SettingsError(
                f"PENSTOCK_BROKER_PORTS has {offered} ports; the demo's brokers need {DEMO_PORTS}"
            )
        for name, port in wanted.items():
            if not port_is_free(port):
                raise SettingsError(
                    f"port {port} is taken; free it or choose another with {name}=PORT"
                )


def check_numbers(environment: Mapping[str, str]) -> None:
    """Raise `SettingsError` for the first number that is none, or not above 0."""
    for name in (*WHOLE_NUMBERS, *NUMBERS):
        text = environment.get(name, "")
        whole = name in WHOLE_NUMBERS
        if text and not _is_above_zero(text, whole=whole):
            kind = "whole number" if whole else "number"
            raise SettingsError(f"{name}={text!r} is not a {kind} above 0")


def check_database_url(environment: Mapping[str, str]) -> None:
    """Raise `SettingsError` for an address that is of no database that we run on."""
    url = environment.get("DATABASE_URL", "")
    scheme, separator, _ = url.partition("://")
    if url and (not separator or scheme not in DATABASE_SCHEMES):
        # The address may hold a password: it is not shown.
        raise SettingsError("DATABASE_URL is neither postgres://… nor sqlite:///…")


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
    if not _is_port(text):
        raise SettingsError(f"{name}={text!r} is not a port between 1 and 65535")
    return int(text)


def _port_range(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not (dash and _is_port(first) and _is_port(last) and int(first) <= int(last)):
        raise SettingsError(f"PENSTOCK_BROKER_PORTS={text!r} is not a range FIRST-LAST of ports")
    return int(first), int(last)


def _is_port(text: str) -> bool:
    # Unicode's other digits are decimal too, and thousands of them are no port.
    return text.isascii() and text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= 65535


def _is_above_zero(text: str, *, whole: bool) -> bool:
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        return False
    return 0 < value < math.inf


def _switch(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environment.get(name, "").strip().lower()
    if text in {"1", "yes", "true", "on"}:
        return True
    if text in {"0", "no", "false", "off"}:
        return False
    if text:
        raise SettingsError(f"{name}={text!r} is neither 1 nor 0")
    return default
