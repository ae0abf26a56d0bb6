"""The whole service in processes of its own: ZooKeeper, Redis, web, workers, beat, one agent.

Two workers, so that one goes on when the other is killed, and one for clusters that do not answer. Every process is started here, on free ports of the loopback, and stopped here by its pid.
"""

import contextlib
import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controlplane.operations.queues import SLOW
from dataplane.runtime.embedded_zookeeper import command as zookeeper_command
from deploy.local import zookeeper_logins
from tests.controlplane.live.holds import VARIABLE, Holds
from tests.ports import free_row
from tests.processes import hold_still
from zookeeper_access import files, keys

REPOSITORY = Path(__file__).resolve().parents[3]
TERMINAL = {"succeeded", "failed", "cancelled", "reverted"}
START_TIMEOUT_S = 60.0
WORKERS = ("worker-1", "worker-2")
SLOW_WORKER = "worker-slow"
BROKER_PORTS = 12


class ServiceError(Exception):
    """A part did not come up, or REST refused; with the end of the log."""


class Refused(Exception):
    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status} {problem}")
        self.status, self.problem = status, problem


def answer_to(request: urllib.request.Request, opened: Callable[..., Any]) -> Any:
    """What REST says to it; raises Refused."""
    try:
        with opened(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        try:
            problem = json.loads(text)
        except ValueError:
            problem = {"detail": text}
        raise Refused(error.code, problem) from error


class LiveService:
    """`is_protected`: nodes in ZooKeeper belong to their owners, as `make up` has it."""

    app = "tests.controlplane.live.held_worker"
    beat_app = "controlplane"

    def __init__(
        self, directory: Path, *, database_url: str | None = None, is_protected: bool = True
    ) -> None:
        self.directory = directory
        self.is_protected = is_protected
        self.web_port, self.zookeeper_port, self.redis_port = (free_row(1) for _ in range(3))
        first = free_row(BROKER_PORTS)
        self.broker_ports = first, first + BROKER_PORTS - 1
        self.logins = directory / "zookeeper-logins"
        self.environment = {
            **os.environ,
            "PENSTOCK_DATA_DIR": str(directory / "data"),
            "PENSTOCK_ZOOKEEPER": f"127.0.0.1:{self.zookeeper_port}",
            "PENSTOCK_ZOOKEEPER_CONFIG": str(self.logins / "controlplane.properties"),
            "PENSTOCK_VERSIONS_DIR": str(directory / "versions"),
            "PENSTOCK_REDIS_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "PENSTOCK_EGRESS_ALLOWED": "127.0.0.0/8",
            "PENSTOCK_OPERATION_LEASE_S": "3",
            "PENSTOCK_OPERATION_SWEEP_S": "0.5",
            "PENSTOCK_OBSERVE_INTERVAL_S": "1",
            # Of a busy machine: what a read may take is tried on hosts (`tests/hosts`).
            "PENSTOCK_READ_PATIENCE_S": "10",
            # No Spark run takes the processors from what is tried here.
            "PENSTOCK_ANALYTICS_INTERVAL_S": "86400",
            "PENSTOCK_ANALYTICS_FIRST_AFTER_S": "86400",
            "PENSTOCK_METRICS_TOKEN": "metrics-of-the-test",
            VARIABLE: str(directory / "holds"),
            "PYTHONUNBUFFERED": "1",
        }
        if database_url:
            self.environment["DATABASE_URL"] = database_url
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.holds = Holds(directory / "holds")
        self.login: dict[str, str] = {}
        self.api_key = ""
        self.cluster_id: str | None = ""
        self.ca_pem = ""
        self.partitions_on = self.partitions_of_ours

    # -- processes ------------------------------------------------------------------------
    def start(self) -> None:
        (self.directory / "data").mkdir(parents=True, exist_ok=True)
        (self.directory / "versions").mkdir(mode=0o755, exist_ok=True)
        self.start_zookeeper()
        self.start_redis()
        self.manage("migrate", "--verbosity", "0")
        self.admit_hosts()
        self.spawn(
            "web",
            *python("-m", "uvicorn"),
            "controlplane.asgi:application",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.web_port),
            "--no-proxy-headers",
            "--log-level",
            "warning",
        )
        for name in WORKERS:
            self.start_worker(name)
        self.start_worker(SLOW_WORKER, "--queues", SLOW)
        self.start_beat()
        self.start_agents()
        self.login = json.loads(self.manage("bootstrap_demo", "--json"))
        self.api_key = self.login["api_key"]
        self.wait_for("web", lambda: self.get("/me") is not None)

    def admit_hosts(self) -> None:
        self.manage("secrets", "host-key", "host-1", "--file", str(self.logins / "host-1.key"))
        if self.is_protected:
            self.admit_host()
            return
        for name in ("controlplane", "member"):
            file = self.logins / f"{name}.properties"
            files.write(file, {**files.read(file), keys.SET_ACL: "false"})

    def start_agents(self) -> None:
        self.start_agent("host-1" if self.is_protected else "member")

    def admit_host(self) -> None:
        self.manage("zookeeper", "prepare", "--whole-server")
        self.make_login("host-1")

    def make_login(self, host: str) -> None:
        """Of its own, for its agent."""
        self.manage(
            *("zookeeper", "host", host),
            *("--connection", str(self.logins / "member.properties")),
            *("--file", str(self.logins / f"{host}.properties")),
        )

    def start_agent(self, login: str, *options: str) -> None:
        """By the login of that name."""
        command = self.agent_command("host-1", login, self.directory / "brokers", self.broker_ports)
        self.spawn(
            "agent", *command, "--extra-data-dir", f"fast={self.directory / 'fast'}", *options
        )

    def agent_command(
        self, host: str, login: str, data_dir: Path, ports: tuple[int, int]
    ) -> tuple[str, ...]:
        """`ports`: the first and the last that its brokers may have."""
        return (
            *python("-m", "dataplane"),
            *("agent", "--host-id", host),
            *("--zookeeper", f"127.0.0.1:{self.zookeeper_port}"),
            *("--zookeeper-config", str(self.logins / f"{login}.properties")),
            *("--data-dir", str(data_dir)),
            *("--key-file", str(self.logins / f"{host}.key")),
            *("--address", "127.0.0.1", "--port-range", f"{ports[0]}-{ports[1]}"),
        )

    def start_zookeeper(self) -> None:
        """With the data that it had."""
        users = zookeeper_logins.ensure(self.logins)
        self.spawn(
            "zookeeper",
            *zookeeper_command(self.directory / "zookeeper", port=self.zookeeper_port, users=users),
        )

    def kill(self, name: str) -> None:
        """SIGKILL to one of `processes`."""
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def start_redis(self) -> None:
        redis = shutil.which("redis-server") or "redis-server"
        self.spawn(
            "redis",
            redis,
            "--port",
            str(self.redis_port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self.directory),
        )

    def kill_redis(self) -> None:
        """What was queued is lost."""
        self.kill("redis")

    def pause_redis(self) -> None:
        """It hangs: the kernel takes connections and bytes, and nothing is answered."""
        hold_still(self.processes["redis"].pid)

    def resume_redis(self) -> None:
        self.processes["redis"].send_signal(signal.SIGCONT)

    def start_beat(self) -> None:
        self.spawn(
            "beat",
            *python("-m", "celery"),
            "-A",
            self.beat_app,
            "beat",
            "--pidfile",
            "",
            "--loglevel",
            "warning",
        )

    def start_worker(self, name: str, *options: str) -> None:
        self.spawn(
            name,
            *python("-m", "celery"),
            "-A",
            self.app,
            "worker",
            "--hostname",
            f"{name}@%h",
            "--loglevel",
            "info",
            "--without-gossip",
            "--without-mingle",
            *options,
        )

    def kill_held(self, held: dict[str, Any]) -> None:
        """SIGKILL the worker that stands at a hold, as an out-of-memory killer would.

        The other worker goes on; a fresh one is started in the place of the dead.
        """
        names = (*WORKERS, SLOW_WORKER)
        name = next(name for name in names if self.processes[name].pid == held["pid"])
        self.kill(name)
        self.start_worker(name, *(("--queues", SLOW) if name == SLOW_WORKER else ()))

    def spawn(self, name: str, *command: str) -> None:
        log = (self.directory / f"{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=self.environment,
            cwd=REPOSITORY,
        )
        log.close()

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            python("manage.py", *arguments),
            env=self.environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        if done.returncode:
            raise ServiceError(f"manage.py {arguments[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def wait_for(self, name: str, ready: Any) -> None:
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline_s:
            with contextlib.suppress(OSError, Refused):
                if ready():
                    return
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise ServiceError(f"{name} does not serve:\n{self.log_tail(name)}")

    def log_tail(self, name: str, lines: int = 30) -> str:
        path = self.directory / f"{name}.log"
        if not path.exists():  # not every service has every part
            return ""
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        for name in ("beat", *WORKERS, SLOW_WORKER, "web", "agent", "redis", "zookeeper"):
            process = self.processes.pop(name, None)
            if process is None or process.poll() is not None:
                continue
            process.terminate()
            try:
                process.wait(30 if name == "agent" else 10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def partitions_of_ours(self, broker: int) -> set[str]:
        """Names of the directories of partitions that a provisioned broker keeps on its disk."""
        paths = (self.directory / "brokers").rglob("*")
        return {path.name for path in paths if path.is_dir() and f"-{broker}/" in str(path)}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    def tenant(self, slug: str) -> "LiveService":
        """This service as another tenant sees it, by a key of its own."""
        made = copy.copy(self)
        script = (
            "from controlplane.audit.services import SYSTEM\n"
            "from controlplane.tenants.services import api_key_create, tenant_ensure\n"
            f"tenant = tenant_ensure(slug={slug!r}, name={slug!r})\n"
            "print(api_key_create(tenant=tenant, name='test', scope='write', actor=SYSTEM)[1])\n"
        )
        made.api_key = self.manage("shell", "--verbosity", "0", "-c", script).split()[-1]
        made.cluster_id = ""
        return made

    def plan_registration(self, name: str, address: str, login: dict[str, str]) -> Any:
        """Of the Kafka at this address, as a user of it."""
        inputs = {
            "name": name,
            "bootstrap_servers": address,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": login["mechanism"],
            "username": login["username"],
            "password": login["password"],
        }
        body = {"kind": "cluster.register", "cluster_id": None, "inputs": inputs}
        return self.post("/plans", body)

    def new_user(self, name: str) -> dict[str, str]:
        """A user of the cluster, with its password."""
        secret: dict[str, str] = self.post(
            f"/operations/{self.run('user.create', username=name)['id']}/secret"
        )
        return secret

    # -- REST -----------------------------------------------------------------------------
    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.call("POST", path, {} if body is None else body)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.address}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.api_key}",
                "Content-Type": "application/json",
                "Idempotency-Key": str(uuid.uuid4()),
            },
        )
        return answer_to(request, urllib.request.urlopen)

    def plan(self, kind: str, **inputs: Any) -> Any:
        body = {"kind": kind, "cluster_id": self.cluster_id, "inputs": inputs}
        return self.post("/plans", body)

    def confirm(self, plan: Any) -> Any:
        return self.post("/operations", self.confirmation(plan))

    def confirmation(self, plan: Any) -> dict[str, Any]:
        return {
            "plan_id": plan["id"],
            "plan_hash": plan["plan_hash"],
            "confirm": plan["confirm_phrase"],
        }

    def run(self, kind: str, **inputs: Any) -> Any:
        return self.finish(self.confirm(self.plan(kind, **inputs)))

    def operation(self, operation: Any) -> Any:
        return self.get(f"/operations/{operation['id']}")

    def cancel(self, operation: Any) -> Any:
        """The operation, or the problem that says why it cannot be cancelled."""
        try:
            return self.post(f"/operations/{operation['id']}/cancellation")
        except Refused as refused:
            return refused.problem

    def finish(self, operation: Any, *, timeout_s: float = 120.0) -> Any:
        """Until it ends; fails the test with the steps and the worker's log when it does not."""
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            operation = self.operation(operation)
            if operation["state"] in TERMINAL:
                return operation
            time.sleep(0.05)
        logs = "\n".join(self.log_tail(name) for name in (*WORKERS, SLOW_WORKER))
        raise ServiceError(f"{json.dumps(operation, indent=1)}\n{logs}")

    def run_through_kills(self, plan: Any, *points: tuple[str, str]) -> Any:
        """Confirm a plan; at each (step, before or after) SIGKILL the worker that is there.

        Asserts what makes the kills count: each hit this operation while it was under way, and
        another worker took over every time.
        """
        self.holds.place(plan["kind"], *points[0])
        operation = self.confirm(plan)
        for (step, when), following in zip(points, [*points[1:], None], strict=True):
            held = self.holds.await_held()
            assert held["operation_id"] == operation["id"]
            now = self.operation(operation)
            assert now["state"] not in TERMINAL, (step, when, now)
            assert next(row for row in now["steps"] if row["name"] == step)["state"] == "running"
            if following:
                self.holds.place(plan["kind"], *following)
            self.kill_held(held)
        ended = self.finish(operation)
        assert len(set(self.holds.workers_of(operation["id"]))) > 1
        return ended


def python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)
