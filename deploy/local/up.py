"""`make up`: start every part in order, provision the demo, then watch over them."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any

from deploy.local import demo, stack, zookeeper_logins
from deploy.local.api import Api
from deploy.local.child import Child, ChildSpec, wait_until
from deploy.local.config import HOST_ID, REPOSITORY, LocalConfig, SetupError
from deploy.local.console import Progress, banner
from deploy.local.running import refuse_second_launcher

ZOOKEEPER_READY_S = 30.0
REDIS_READY_S = 10.0
WEB_READY_S = 40.0
COMMAND_TIMEOUT_S = 120.0
WATCH_INTERVAL_S = 0.25


class Stopped(Exception):  # noqa: N818 - a signal, not an error
    """SIGINT or SIGTERM arrived."""


class Service:
    """The running parts of one data directory."""

    def __init__(self, config: LocalConfig) -> None:
        self._config = config
        self._children: list[Child] = []
        self._progress = Progress()
        self._environment = config.child_environment()

    def run(self) -> int:
        """Start, serve until a signal, stop. Whatever happens, no part is left behind."""
        self._claim()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _raise_stopped)
        try:
            self._start()
            self._watch()
        except Stopped:
            return 0
        finally:
            self._stop()
        return 0

    def _claim(self) -> None:
        """One launcher for one data directory; a taken port is named before anything runs."""
        refuse_second_launcher(self._config)
        self._config.check_usable()
        try:
            self._config.run_dir.mkdir(parents=True, exist_ok=True)
            self._config.data_dir.chmod(0o700)
            self._config.pid_file.write_text(str(os.getpid()))
        except OSError as error:
            reason = error.strerror or str(error)
            raise SetupError(f"cannot use data directory {self._config.data_dir}: {reason}") from (
                error
            )

    def _start(self) -> None:
        config, progress = self._config, self._progress
        progress.begin("ZooKeeper, Redis and the database")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            migrated = pool.submit(self._manage, "migrate", "--verbosity", "0")
            zookeeper = self._spawn(stack.zookeeper(config))
            redis = self._spawn(stack.redis(config))
            self._await(zookeeper, lambda: stack.zookeeper_serves(config), ZOOKEEPER_READY_S)
            self._await(redis, lambda: stack.redis_serves(config), REDIS_READY_S)
            # Which tree is the service's own is kept there, and compared at every session.
            migrated.result()
            was_admitted = self._admit_host()
            if not config.host_key_file.exists():
                # Also what was sealed before there were keys of hosts is sealed with this one.
                self._manage("secrets", "host-key", HOST_ID, "--file", str(config.host_key_file))
            if was_admitted and config.brokers_dir.exists():
                # Data of before there were logins; none of its brokers runs yet.
                self._manage("zookeeper", "protect", "--stopped")
        progress.begin("the console, the workers and the host agent")
        web = self._spawn(stack.web(config))
        for part in (stack.worker, stack.slow_worker, stack.beat, stack.agent):
            self._spawn(part(config))
        access = json.loads(self._manage("bootstrap_demo", "--json"))
        self._await(web, lambda: stack.web_serves(config), WEB_READY_S)
        progress.note(f"console at {config.url}")
        client = self._start_demo(access) if config.demo else None
        progress.end()
        banner(config, access, client)

    def _admit_host(self) -> bool:
        """Once: close ZooKeeper's nodes, and make the host agent's login. Whether it was now."""
        config = self._config
        if config.host_login_file.exists():
            return False
        self._manage("zookeeper", "prepare", "--whole-server")
        member = config.zookeeper_login_file(zookeeper_logins.MEMBER)
        self._manage(
            "zookeeper",
            "host",
            HOST_ID,
            *("--connection", str(member)),
            *("--file", str(config.host_login_file)),
        )
        return True

    def _start_demo(self, access: dict[str, Any]) -> dict[str, str]:
        progress = self._progress
        progress.begin("cluster demo: three brokers")
        self._manage("provision_demo")
        api = Api(self._config.url, access["api_key"])
        cluster = next(c for c in api.get("/clusters")["data"] if c["name"] == "demo")
        progress.note("cluster demo is RUNNING")
        progress.begin("topics, a client user, a workload")
        client_file = self._config.data_dir / "demo-client.json"
        demo.ensure_topics(api, cluster["id"])
        client = demo.ensure_client(api, cluster, client_file)
        self._spawn(stack.workload(self._config, client_file))
        return client

    def _spawn(self, spec: ChildSpec) -> Child:
        child = Child(spec, logs_dir=self._config.logs_dir, environment=self._environment)
        self._children.append(child)
        child.start()
        self._write_state()
        return child

    def _await(self, child: Child, ready: Any, timeout_s: float) -> None:
        if wait_until(ready, child=child, timeout_s=timeout_s):
            return
        ended = f"ended with {child.exit_code}" if not child.is_running else "does not serve"
        raise SetupError(
            f"{child.spec.name} {ended}; the end of {child.log_path}:\n{child.log_tail()}"
        )

    def _manage(self, *arguments: str) -> str:
        log_path = self._config.logs_dir / f"{arguments[0]}.log"
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("w+") as log:
            done = subprocess.run(
                stack.manage(*arguments),
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
                cwd=REPOSITORY,
                timeout=COMMAND_TIMEOUT_S,
            )
            if done.returncode:
                log.seek(0)
                tail = "\n".join((done.stdout + log.read()).splitlines()[-15:])
                raise SetupError(f"manage.py {arguments[0]} failed; the end of {log_path}:\n{tail}")
        return done.stdout

    def _watch(self) -> None:
        while True:
            time.sleep(WATCH_INTERVAL_S)
            for child in self._children:
                # A full disk is no reason to stop serving: the next round tries again.
                with contextlib.suppress(OSError):
                    child.log.copy()
                exit_code = child.restart_if_exited()
                if exit_code is not None:
                    name = child.spec.name
                    self._progress.note(f"{name} ended with {exit_code}; starting it again")
                self._write_state()

    def _write_state(self) -> None:
        parts = [
            {"name": c.spec.name, "pid": c.pid, "running": c.is_running, "restarts": c.restarts}
            for c in self._children
        ]
        text = json.dumps({"pid": os.getpid(), "url": self._config.url, "parts": parts})
        if self._config.state_file.exists() and self._config.state_file.read_text() == text:
            return
        temporary = self._config.state_file.with_suffix(".tmp")
        temporary.write_text(text)
        temporary.replace(self._config.state_file)

    def _stop(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if self._children:
            self._progress.begin("stopping")
        # Last started, first stopped: ZooKeeper outlives the brokers that need it to leave well.
        for child in reversed(self._children):
            child.stop()
        self._config.state_file.unlink(missing_ok=True)
        self._config.pid_file.unlink(missing_ok=True)
        self._progress.end()


def _raise_stopped(_number: int, _frame: FrameType | None) -> None:
    raise Stopped


def up(config: LocalConfig) -> int:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # stdout is a TextIOWrapper
    return Service(config).run()
