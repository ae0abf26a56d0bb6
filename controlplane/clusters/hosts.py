"""Hosts as their agents describe them in ZooKeeper, and what we want of each.

/penstock/hosts/<host>                   written by the agent: rack, address, ports
/penstock/hosts/<host>/alive             ephemeral while the agent lives
/penstock/hosts/<host>/desired/<broker>  written here
/penstock/hosts/<host>/observed/<broker> written by the agent
"""

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from django.conf import settings
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

if TYPE_CHECKING:
    from kazoo.client import KazooClient

ROOT = "/penstock/hosts"
ANSWER_TIMEOUT_S = 4.0
R = TypeVar("R")


class HostsUnavailableError(Exception):
    """ZooKeeper does not answer: nothing is known about hosts right now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    host_id: str
    rack: str
    address: str
    port_first: int
    port_last: int
    agent_version: str
    alive: bool
    brokers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """An agent's word about one broker; `state` is running, backoff, deleted, …"""

    state: str
    generation: int = 0
    pid: int | None = None
    restarts: int = 0
    since_ms: int | None = None
    exit_code: int | None = None
    message: str = ""
    log_tail: tuple[str, ...] = ()


BrokerKey = tuple[str, str]
"""(host_id, broker_key)"""


class Hosts(Protocol):
    def hosts(self) -> list[Host]: ...
    def observed(self, keys: Iterable[BrokerKey]) -> dict[BrokerKey, Observed]: ...
    def write_desired(self, key: BrokerKey, spec: dict[str, Any]) -> None: ...
    def forget_broker(self, key: BrokerKey) -> None:
        """Remove the desired and observed nodes of a deleted broker."""
        ...

    def make_chroot(self, path: str) -> None: ...
    def remove_chroot(self, path: str) -> None: ...


class ZooKeeperHosts:
    """By kazoo; one session per process, opened on first use."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._client: KazooClient | None = None
        self._lock = threading.Lock()

    def hosts(self) -> list[Host]:
        return self._bounded(self._read_hosts)

    def observed(self, keys: Iterable[BrokerKey]) -> dict[BrokerKey, Observed]:
        wanted = list(keys)

        def read(client: "KazooClient") -> dict[BrokerKey, Observed]:
            pending = [
                (key, client.get_async(f"{ROOT}/{key[0]}/observed/{key[1]}")) for key in wanted
            ]
            found = {}
            for key, answer in pending:
                try:
                    data, _ = answer.get(timeout=ANSWER_TIMEOUT_S)
                except NoNodeError:
                    continue
                found[key] = parse_observed(data)
            return found

        return self._bounded(read)

    def write_desired(self, key: BrokerKey, spec: dict[str, Any]) -> None:
        path = f"{ROOT}/{key[0]}/desired/{key[1]}"
        data = json.dumps(spec, sort_keys=True).encode()

        def write(client: "KazooClient") -> None:
            try:
                client.create_async(path, data, makepath=True).get(timeout=ANSWER_TIMEOUT_S)
            except NodeExistsError:
                client.set_async(path, data).get(timeout=ANSWER_TIMEOUT_S)

        self._bounded(write)

    def forget_broker(self, key: BrokerKey) -> None:
        def remove(client: "KazooClient") -> None:
            for kind in ("desired", "observed"):
                try:
                    client.delete_async(f"{ROOT}/{key[0]}/{kind}/{key[1]}").get(
                        timeout=ANSWER_TIMEOUT_S
                    )
                except NoNodeError:
                    continue

        self._bounded(remove)

    def make_chroot(self, path: str) -> None:
        self._bounded(lambda client: client.ensure_path(path))

    def remove_chroot(self, path: str) -> None:
        def remove(client: "KazooClient") -> None:
            if client.exists_async(path).get(timeout=ANSWER_TIMEOUT_S):
                client.delete(path, recursive=True)

        self._bounded(remove)

    def _read_hosts(self, client: "KazooClient") -> list[Host]:
        try:
            names = client.get_children_async(ROOT).get(timeout=ANSWER_TIMEOUT_S)
        except NoNodeError:
            return []
        pending = [
            (
                client.get_async(f"{ROOT}/{name}"),
                client.exists_async(f"{ROOT}/{name}/alive"),
                client.get_children_async(f"{ROOT}/{name}/desired"),
            )
            for name in sorted(names)
        ]
        found = []
        for described, alive, brokers in pending:
            try:
                data, _ = described.get(timeout=ANSWER_TIMEOUT_S)
            except NoNodeError:
                continue
            try:
                keys = tuple(sorted(brokers.get(timeout=ANSWER_TIMEOUT_S)))
            except NoNodeError:
                keys = ()
            is_alive = alive.get(timeout=ANSWER_TIMEOUT_S) is not None
            host = parse_host(data, alive=is_alive, brokers=keys)
            if host is not None:
                found.append(host)
        return found

    def _bounded(self, work: Callable[["KazooClient"], R]) -> R:
        try:
            return work(self._connected())
        except (KazooTimeoutError, KazooException) as error:
            raise HostsUnavailableError(f"{type(error).__name__}: {error}") from error

    def _connected(self) -> "KazooClient":
        with self._lock:
            if self._client is None:
                from kazoo.client import KazooClient  # only processes that ask hosts pay for it

                client = KazooClient(hosts=self._servers, timeout=10.0)
                try:
                    client.start(timeout=ANSWER_TIMEOUT_S)
                except KazooTimeoutError:
                    client.stop()
                    client.close()
                    raise
                self._client = client
            return self._client


def parse_host(data: bytes, *, alive: bool, brokers: tuple[str, ...]) -> Host | None:
    """A host's own description; None when it is not one (an agent half-way through)."""
    try:
        row = json.loads(data)
        first, last = row["port_range"]
        return Host(
            host_id=row["host_id"],
            rack=row.get("rack") or row["host_id"],
            address=row["address"],
            port_first=int(first),
            port_last=int(last),
            agent_version=str(row.get("agent_version", "")),
            alive=alive,
            brokers=brokers,
        )
    except (ValueError, KeyError, TypeError):
        return None


def parse_observed(data: bytes) -> Observed:
    try:
        row = json.loads(data)
    except ValueError:
        return Observed(state="unknown", message="the agent's report cannot be read")
    return Observed(
        state=row.get("state", "unknown"),
        generation=row.get("generation") or 0,
        pid=row.get("pid"),
        restarts=row.get("restarts") or 0,
        since_ms=row.get("since_ms"),
        exit_code=row.get("exit_code"),
        message=row.get("message") or "",
        log_tail=tuple(row.get("log_tail") or ()),
    )


_hosts: Hosts | None = None


def hosts() -> Hosts:
    """This process's access to the hosts."""
    global _hosts  # noqa: PLW0603 - one ZooKeeper session per process
    if _hosts is None:
        _hosts = ZooKeeperHosts(settings.ZOOKEEPER)
    return _hosts


def use_hosts(replacement: Hosts | None) -> None:
    """Tests bring their own."""
    global _hosts  # noqa: PLW0603 - see hosts()
    _hosts = replacement
