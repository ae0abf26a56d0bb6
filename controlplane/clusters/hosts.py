"""Hosts as their agents describe them in ZooKeeper, and what we want of each.

/penstock/ensemble                       whose identity the tree has (`zookeeper_access.identity`)
/penstock/hosts/<host>                   written by the agent: rack, address, ports
/penstock/hosts/<host>/alive             ephemeral while the agent lives
/penstock/hosts/<host>/capacity          written by the agent: what is free (`capacity`)
/penstock/hosts/<host>/versions          written by the agent: which releases are there (`versions`)
/penstock/hosts/<host>/desired/<broker>  written here
/penstock/hosts/<host>/observed/<broker> written by the agent
/penstock/hosts/<host>/asked/<id>        a question, written here (`asking`)
/penstock/hosts/<host>/answered/<id>     its answer, written by the agent
/penstock/clusters/<cluster>             a cluster's chroot

With `zookeeper.set.acl` every node names who may use it (`zookeeper_tree`): an agent writes under
its own host alone, and what is desired of it is only read there.
"""

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from django.conf import settings
from kazoo.exceptions import (
    BadVersionError,
    KazooException,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
)
from kazoo.handlers.threading import KazooTimeoutError

from controlplane.clusters import asking, home_tree
from controlplane.clusters import zookeeper_tree as tree
from controlplane.clusters.described import Host, parse_directories, parse_host
from controlplane.clusters.host_nodes import capacity, installed, read_short
from controlplane.clusters.questions import HostAnswer, HostQuestion
from controlplane.clusters.reports import Observed, object_of, parse_observed
from controlplane.clusters.versions import Installed
from controlplane.clusters.zookeeper_tree import ANSWER_TIMEOUT_S, Patience
from controlplane.clusters.zookeeper_tree import HOSTS as ROOT
from controlplane.common.fence import fenced
from controlplane.common.once_a_minute import OnceAMinute
from zookeeper_access import files
from zookeeper_access.settings import AccessError, ZooKeeperAccess

if TYPE_CHECKING:
    from kazoo.client import KazooClient

    from zookeeper_access.prompt_client import PromptClient

R = TypeVar("R")
log = logging.getLogger(__name__)
SAID = OnceAMinute(None)
FENCED = "fenced_directories"
"""Below `/brokers` of a cluster: a child for each log directory that was declared lost."""


class HostsUnavailableError(Exception):
    """ZooKeeper does not answer: nothing is known about hosts right now."""


BrokerKey = tuple[str, str]
"""(host_id, broker_key)"""
READ_WAIT_S = 1.5
"""How long a page waits for ZooKeeper, whatever it asks there: an answer within 2 s says "unknown"
rather than nothing. Steps of operations have `ANSWER_TIMEOUT_S` for each request."""
READS = frozenset(
    {"hosts", "observed", "versions", "ensemble", "sealed_for", "ask", "directories_of", "close"}
)
"""The methods of `Hosts` that change nothing; every other one is a write (`common.fence`)."""


class Hosts(Protocol):
    def hosts(self, *, within_s: float | None = None) -> list[Host]:
        """`within_s` bounds the whole of it; without, each request has `ANSWER_TIMEOUT_S`."""
        ...

    def observed(
        self, keys: Iterable[BrokerKey], *, within_s: float | None = None
    ) -> dict[BrokerKey, Observed]:
        """What agents reported last, and whether they live; bounded as `hosts` is."""
        ...

    def versions(
        self, host_ids: Sequence[str], *, within_s: float | None = None
    ) -> dict[str, Installed]:
        """Which releases agents say are there, for each of these hosts; bounded as `hosts` is."""
        ...

    def ensemble(self, *, within_s: float | None = None) -> str:
        """The tree's identity (`zookeeper_access.identity`), "" for none; bounded as `hosts`."""
        ...

    def ask(self, questions: Sequence[HostQuestion]) -> list[HostAnswer]:
        """The agents' answers, each at the place of its question; waits `asking.WAIT_S` at most."""
        ...

    def write_desired(self, key: BrokerKey, spec: dict[str, Any]) -> None: ...
    def forget_broker(self, key: BrokerKey) -> None:
        """Remove the desired and observed nodes of a deleted broker."""
        ...

    def sealed_for(self, key: BrokerKey) -> str:
        """The sealed part of what is desired of a broker; empty when nothing is."""
        ...

    def reseal(self, key: BrokerKey, old: str, new: str) -> bool:
        """Replace the sealed part and nothing else, unless somebody has written meanwhile."""
        ...

    def make_chroot(self, path: str, *owners: str) -> None:
        """`owners` are the cluster's `scheme:id` in ACLs; none leaves the chroot open."""
        ...

    def remove_chroot(self, path: str) -> None: ...

    def directories_of(self, path: str, broker_id: int) -> list[str]:
        """The `directory.id`s of a broker of the cluster of this chroot, as it last said them."""
        ...

    def fence_directories(self, path: str, directory_ids: Iterable[str]) -> None:
        """Keep brokers with these log directories out of the cluster of this chroot, for good.

        May run twice; where the chroot is gone there is nothing to keep them out of.
        """
        ...

    def prepare(self, *, whole_server: bool) -> None:
        """Make the nodes above hosts and clusters, and close them to everybody else."""
        ...

    def admit_host(self, host_id: str, owner: str) -> None:
        """Let `owner` be the host from now on, and nobody who was it before."""
        ...

    def forget_host(self, host_id: str) -> None:
        """Remove the host's nodes, so that its login opens nothing.

        Raises HostsUnavailableError also while its agent lives.
        """
        ...

    def protect_chroot(self, path: str, *owners: str) -> int:
        """Set the ACL of every node of a cluster; how many there were."""
        ...

    def close(self) -> None:
        """End the session, if there is one; the next call opens another."""
        ...


class ZooKeeperHosts:
    """By kazoo; one session per process, opened on first use."""

    def __init__(
        self,
        servers: str,
        access: ZooKeeperAccess | None = None,
        *,
        refusal: Callable[[str], str] = lambda _identity: "",
    ) -> None:
        """`refusal` says why a tree with that identity, "" for none, is not used; empty: it is."""
        self._servers = servers
        self._access = access or ZooKeeperAccess()
        self._refusal = refusal
        self._client: PromptClient | None = None
        self._lock = threading.Lock()

    def hosts(self, *, within_s: float | None = None) -> list[Host]:
        wait = Patience(within_s)
        return self._bounded(partial(self._read_hosts, wait=wait), wait)

    def observed(
        self, keys: Iterable[BrokerKey], *, within_s: float | None = None
    ) -> dict[BrokerKey, Observed]:
        wanted = list(keys)
        wait = Patience(within_s)

        def read(client: "KazooClient") -> dict[BrokerKey, Observed]:
            pending = [
                (key, client.get_async(f"{ROOT}/{key[0]}/observed/{key[1]}")) for key in wanted
            ]
            lives = {
                host: client.exists_async(f"{ROOT}/{host}/alive")
                for host in dict.fromkeys(host for host, _ in wanted)
            }
            found = {}
            for key, answer in pending:
                try:
                    data, stat = answer.get(timeout=wait.left_s())
                except NoNodeError:
                    continue
                found[key] = replace(parse_observed(data), reported_at_ms=stat.mtime)
            watched = {
                host: life.get(timeout=wait.left_s()) is not None for host, life in lives.items()
            }
            return {key: replace(each, is_watched=watched[key[0]]) for key, each in found.items()}

        return self._bounded(read, wait)

    def versions(
        self, host_ids: Sequence[str], *, within_s: float | None = None
    ) -> dict[str, Installed]:
        wait = Patience(within_s)
        paths = {host: f"{ROOT}/{host}/versions" for host in host_ids}

        def read(client: "KazooClient") -> dict[str, Installed]:
            found = read_short(client, [*paths.values()], wait)
            return {host: installed(*found[path]) for host, path in paths.items()}

        return self._bounded(read, wait)

    def ensemble(self, *, within_s: float | None = None) -> str:
        wait = Patience(within_s)
        return self._bounded(lambda client: tree.identity(client, wait), wait)

    def ask(self, questions: Sequence[HostQuestion]) -> list[HostAnswer]:
        return self._bounded(lambda client: asking.ask(client, self._access, questions))

    def write_desired(self, key: BrokerKey, spec: dict[str, Any]) -> None:
        path = _desired_path(key)
        data = json.dumps(spec, sort_keys=True).encode()

        def write(client: "KazooClient") -> None:
            acl = tree.acl_of(client, f"{ROOT}/{key[0]}/desired") if self._access.set_acl else None
            version = _desired_of(client, key)[1]
            try:
                # Of the version that was read: what is on its way to a server that hangs must not
                # replace what others have written by the time it gets there.
                if version < 0:
                    client.create_async(path, data, acl=acl, makepath=acl is None).get(
                        timeout=ANSWER_TIMEOUT_S
                    )
                else:
                    client.set_async(path, data, version=version).get(timeout=ANSWER_TIMEOUT_S)
            except (BadVersionError, NodeExistsError, NoNodeError) as error:
                raise HostsUnavailableError(
                    f"what is desired of {key[1]} was written by somebody else meanwhile"
                ) from error

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

    def sealed_for(self, key: BrokerKey) -> str:
        def read(client: "KazooClient") -> str:
            return _sealed_part(_desired_of(client, key)[0])

        return self._bounded(read)

    def reseal(self, key: BrokerKey, old: str, new: str) -> bool:
        def write(client: "KazooClient") -> bool:
            spec, version = _desired_of(client, key)
            if version < 0 or _sealed_part(spec) != old:
                return False
            data = json.dumps({**spec, "secret": new}, sort_keys=True).encode()
            try:
                client.set_async(_desired_path(key), data, version=version).get(
                    timeout=ANSWER_TIMEOUT_S
                )
            except (BadVersionError, NoNodeError):
                return False
            return True

        return self._bounded(write)

    def make_chroot(self, path: str, *owners: str) -> None:
        def make(client: "KazooClient") -> None:
            client.ensure_path_async(path).get(timeout=ANSWER_TIMEOUT_S)
            if owners:
                tree.set_acl(client, path, tree.chroot_acl(self._access, *owners))

        self._bounded(make)

    def remove_chroot(self, path: str) -> None:
        self._bounded(lambda client: tree.remove(client, path))

    def directories_of(self, path: str, broker_id: int) -> list[str]:
        def read(client: "KazooClient") -> list[str]:
            node = f"{path}/brokers/directories/{broker_id}"
            data, _ = read_short(client, [node], Patience(None))[node]
            return parse_directories(data or b"")

        return self._bounded(read)

    def fence_directories(self, path: str, directory_ids: Iterable[str]) -> None:
        def write(client: "KazooClient") -> None:
            above = f"{path}/brokers"
            try:
                acl = tree.acl_of(client, above)
                for node in (FENCED, *(f"{FENCED}/{each}" for each in directory_ids)):
                    tree.ensure(client, f"{above}/{node}", acl)
            except NoNodeError:
                return

        self._bounded(write)

    def prepare(self, *, whole_server: bool) -> None:
        self._bounded(lambda client: tree.prepare(client, self._access, whole_server=whole_server))

    def admit_host(self, host_id: str, owner: str) -> None:
        self._bounded(lambda client: tree.admit_host(client, self._access, host_id, owner))

    def forget_host(self, host_id: str) -> None:
        path = f"{ROOT}/{host_id}"

        def forget(client: "KazooClient") -> None:
            if client.exists_async(f"{path}/alive").get(timeout=ANSWER_TIMEOUT_S):
                raise HostsUnavailableError(f"the agent of {host_id} lives")
            tree.remove(client, path)

        self._bounded(forget)

    def protect_chroot(self, path: str, *owners: str) -> int:
        return self._bounded(lambda client: tree.protect(client, self._access, path, *owners))

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.stop()
            client.close()

    def _read_hosts(self, client: "KazooClient", *, wait: Patience) -> list[Host]:
        try:
            names = client.get_children_async(ROOT).get(timeout=wait.left_s())
        except NoNodeError:
            return []
        described = read_short(client, [f"{ROOT}/{name}" for name in names], wait)
        capacities = read_short(client, [f"{ROOT}/{name}/capacity" for name in names], wait)
        pending = [
            (
                name,
                client.exists_async(f"{ROOT}/{name}/alive"),
                client.get_children_async(f"{ROOT}/{name}/desired"),
            )
            for name in sorted(names)
        ]
        found = []
        for name, alive, brokers in pending:
            data, stat = described[f"{ROOT}/{name}"]
            if data is None or stat is None:
                continue
            try:
                keys = tuple(sorted(brokers.get(timeout=wait.left_s())))
            except NoNodeError:
                keys = ()
            life = alive.get(timeout=wait.left_s())
            host = parse_host(name, data, alive=life is not None, brokers=keys)
            if host is not None:
                since_ms = life.ctime if life is not None else None
                found.append(
                    replace(
                        host,
                        described_at_ms=stat.mtime,
                        alive_since_ms=since_ms,
                        capacity=capacity(*capacities[f"{ROOT}/{name}/capacity"]),
                    )
                )
        return found

    def _bounded(self, work: Callable[["KazooClient"], R], wait: Patience | None = None) -> R:
        """Raises HostsUnavailableError; a log that kazoo's own lines do not fill says so, too."""
        try:
            return self._asked(work, wait or Patience(None))
        except HostsUnavailableError as error:
            if SAID.may(self._servers):
                log.warning("ZooKeeper at %s does not answer: %s", self._servers, error)
            raise

    def _asked(self, work: Callable[["KazooClient"], R], wait: Patience) -> R:
        try:
            return work(self._connected(wait))
        except NoAuthError as error:
            raise HostsUnavailableError("its ACLs do not let the control plane do that") from error
        except (KazooTimeoutError, KazooException) as error:
            raise HostsUnavailableError(f"{type(error).__name__}: {error}") from error

    def _connected(self, wait: Patience) -> "KazooClient":
        # Whoever has little time does not wait behind others who open the first connection.
        if not self._lock.acquire(timeout=wait.left_s()):
            raise HostsUnavailableError("no connection to it")
        try:
            if self._client is not None and self._client.is_over():
                self._client.stop()
                self._client.close()
                self._client = None
            if self._client is None:
                self._client = self._open(wait)
            client = self._client
        finally:
            self._lock.release()
        if not client.await_connection(wait.left_s()):
            raise HostsUnavailableError(client.refusal or "no connection to it")
        return client

    def _open(self, wait: Patience) -> "PromptClient":
        # Only processes that ask hosts pay for it.
        from zookeeper_access.prompt_client import PromptClient

        client = PromptClient(
            self._servers, self._access, logger=logging.getLogger("kazoo.client"), timeout=10.0
        )
        try:
            client.start(timeout=wait.left_s())
            # kazoo calls itself connected before it logs in.
            with contextlib.suppress(NoAuthError):
                client.exists_async("/").get(timeout=wait.left_s())
            self._prove(client, wait)
        except (KazooTimeoutError, KazooException) as error:
            client.stop()
            client.close()
            if client.refusal:
                raise HostsUnavailableError(client.refusal) from error
            raise
        except BaseException:
            client.stop()
            client.close()
            raise
        return client

    def _prove(self, client: "PromptClient", wait: Patience) -> None:
        """The tree is this service's own; one without an identity gets one.

        Raises HostsUnavailableError: nothing is read or written in another one.
        """
        with contextlib.suppress(NoAuthError):
            found = tree.identity(client, wait)
            if not found and not self._refusal(""):
                tree.name_tree(client, self._access, wait)
                found = tree.identity(client, wait)
            if why := self._refusal(found):
                raise HostsUnavailableError(why)


def _desired_path(key: BrokerKey) -> str:
    return f"{ROOT}/{key[0]}/desired/{key[1]}"


def _desired_of(client: "KazooClient", key: BrokerKey) -> tuple[dict[str, Any], int]:
    """What is desired of a broker, and the node's version; nothing, -1 where nothing is."""
    try:
        data, stat = client.get_async(_desired_path(key)).get(timeout=ANSWER_TIMEOUT_S)
    except NoNodeError:
        return {}, -1
    return object_of(data) or {}, stat.version


def _sealed_part(spec: dict[str, Any]) -> str:
    sealed = spec.get("secret")
    return sealed if isinstance(sealed, str) else ""


_hosts: Hosts | None = None


def hosts() -> Hosts:
    """This process's access to the hosts. A step of an operation gets it fenced."""
    return fenced(_own_hosts(), READS)


def _own_hosts() -> Hosts:
    global _hosts  # noqa: PLW0603 - one ZooKeeper session per process
    if _hosts is None:
        try:
            access = zookeeper_access()
            _hosts = ZooKeeperHosts(settings.ZOOKEEPER, access, refusal=home_tree.refusal)
        except AccessError as error:
            raise HostsUnavailableError(f"PENSTOCK_ZOOKEEPER_CONFIG: {error}") from error
    return _hosts


def zookeeper_access() -> ZooKeeperAccess:
    """How the control plane logs in to ZooKeeper. Raises AccessError."""
    file = settings.ZOOKEEPER_CONFIG
    return ZooKeeperAccess.parse(files.read_login(Path(file)) if file else {})


def use_hosts(replacement: Hosts | None) -> None:
    """Tests bring their own."""
    global _hosts  # noqa: PLW0603 - see hosts()
    _hosts = replacement
