"""Who may do what with the nodes under /penstock, and setting that.

/, /zookeeper (of a server that is ours alone)  administrators
/penstock, …/hosts, …/clusters                  administrators
/penstock/ensemble                              administrators; whoever is let in reads
/penstock/hosts/H                               administrators; H all but to change the ACL
/penstock/hosts/H/desired and below             administrators; H reads
/penstock/hosts/H/observed                      administrators; H all but to change the ACL
/penstock/hosts/H/asked and below               administrators; H reads
/penstock/hosts/H/answered                      administrators; H reads
/penstock/hosts/H/answered/Q                    administrators, who make them; H reads and writes
/penstock/hosts/H/alive, …/capacity, …/versions, …/observed/B  administrators; H, who makes them
/penstock/clusters/C                            administrators; C all but to change the ACL
/penstock/clusters/C and below                  administrators; C, whose brokers make them

The administrators are the control plane's own login and those that its settings name.
"""

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kazoo.exceptions import NodeExistsError, NoNodeError
from kazoo.security import ACL, Id, Permissions

from controlplane.gateway.patience import bounded
from zookeeper_access.identity import NODE, identity_of, new_identity
from zookeeper_access.settings import READ_WRITE, ZooKeeperAccess, node_acl

if TYPE_CHECKING:
    from kazoo.client import KazooClient

ANSWER_TIMEOUT_S = 4.0
TOP = "/penstock"
HOSTS = f"{TOP}/hosts"
CLUSTERS = f"{TOP}/clusters"
SERVERS_OWN = ("/", "/zookeeper", "/zookeeper/quota")
"""Open to everybody in a fresh server; closed only where no other service uses it."""


class Patience:
    """How long each of several waits may be: `ANSWER_TIMEOUT_S`, or what is left of `whole_s`.

    A read's patience bounds all of them together, whatever else does.
    """

    def __init__(self, whole_s: float | None) -> None:
        self._ends_s = None if whole_s is None else time.monotonic() + whole_s

    def left_s(self) -> float:
        if self._ends_s is None:
            return bounded(ANSWER_TIMEOUT_S)
        return bounded(max(0.0, self._ends_s - time.monotonic()))


def administrators(access: ZooKeeperAccess) -> tuple[str, ...]:
    own = access.owner()
    return tuple(dict.fromkeys((*((own,) if own else ()), *access.administrators)))


def chroot_acl(access: ZooKeeperAccess, *owners: str) -> list[ACL]:
    return node_acl(*owners, owner_permissions=READ_WRITE, administrators=administrators(access))


def prepare(client: "KazooClient", access: ZooKeeperAccess, *, whole_server: bool) -> None:
    """Make the nodes above hosts and clusters, and close them to everybody else.

    Where the servers are named with a chroot that is made first; its parents are another's to make.
    """
    closed = node_acl(administrators=administrators(access))
    if client.chroot:
        ensure(client, "/", closed)
    for path in (TOP, HOSTS, CLUSTERS):
        _make(client, path, closed)
    name_tree(client, access, Patience(None))
    for path in SERVERS_OWN if whole_server else ():
        set_acl(client, path, closed)


def name_tree(client: "KazooClient", access: ZooKeeperAccess, wait: Patience) -> None:
    """Give the tree an identity, unless it has one. Again, and by two at once, it stays the first.

    Where ZooKeeper has ACLs and nobody has made the nodes above yet, `prepare` does it.
    """
    acl = None
    if access.set_acl:
        anyone = ACL(Permissions.READ, Id("world", "anyone"))
        acl = [*node_acl(administrators=administrators(access)), anyone]
    if client.exists_async(NODE).get(timeout=wait.left_s()) is not None:
        return
    with contextlib.suppress(NodeExistsError, NoNodeError):
        made = client.create_async(NODE, new_identity(), acl=acl, makepath=acl is None)
        made.get(timeout=wait.left_s())


def identity(client: "KazooClient", wait: Patience) -> str:
    """Of the tree; empty while it has none."""
    try:
        data, stat = client.get_async(NODE).get(timeout=wait.left_s())
    except NoNodeError:
        return ""
    return identity_of(data, stat.czxid)


def admit_host(client: "KazooClient", access: ZooKeeperAccess, host_id: str, owner: str) -> None:
    """Make a host's nodes, or give those that there are to a new owner. May run twice."""
    admins = administrators(access)
    written = node_acl(owner, owner_permissions=READ_WRITE, administrators=admins)
    read = node_acl(owner, owner_permissions=Permissions.READ, administrators=admins)
    made = node_acl(owner, administrators=admins)
    host = f"{HOSTS}/{host_id}"
    _make(client, host, written)
    _make(client, f"{host}/desired", read)
    _make(client, f"{host}/observed", written)
    _make(client, f"{host}/asked", read)
    _make(client, f"{host}/answered", read)
    for path in (*_children(client, f"{host}/desired"), *_children(client, f"{host}/asked")):
        set_acl(client, path, read)
    for path in _children(client, f"{host}/answered"):
        set_acl(client, path, answer_acl(read))
    own = (f"{host}/alive", f"{host}/capacity", f"{host}/versions")
    for path in (*own, *_children(client, f"{host}/observed")):
        set_acl(client, path, made)


def answer_acl(read: list[ACL]) -> list[ACL]:
    """As `read`, the ACL of what a host only reads, but that the host writes it too."""
    both = Permissions.READ | Permissions.WRITE
    return [ACL(both, each.id) if each.perms == Permissions.READ else each for each in read]


def protect(client: "KazooClient", access: ZooKeeperAccess, path: str, *owners: str) -> int:
    """Set the ACLs of a chroot and of all below it; how many nodes there were. May run twice."""
    below = node_acl(*owners, administrators=administrators(access))
    set_acl(client, path, chroot_acl(access, *owners))
    count = 1
    for node in _all_below(client, path):
        set_acl(client, node, below)
        count += 1
    return count


def remove(client: "KazooClient", path: str) -> None:
    """A node with all below it, each request bounded. May run twice."""
    for node in reversed((path, *_all_below(client, path))):
        with contextlib.suppress(NoNodeError):
            client.delete_async(node).get(timeout=ANSWER_TIMEOUT_S)


def ensure(client: "KazooClient", path: str, acl: list[ACL] | None) -> None:
    """Make a node with this ACL, or leave the one that there is as it is."""
    with contextlib.suppress(NodeExistsError):
        client.create_async(path, b"", acl=acl).get(timeout=ANSWER_TIMEOUT_S)


def set_acl(client: "KazooClient", path: str, acl: list[ACL]) -> None:
    """Of a node that may have gone meanwhile."""
    try:
        client.set_acls_async(path, acl).get(timeout=ANSWER_TIMEOUT_S)
    except NoNodeError:
        return


def acl_of(client: "KazooClient", path: str) -> list[ACL]:
    """Raises NoNodeError."""
    acl, _ = client.get_acls_async(path).get(timeout=ANSWER_TIMEOUT_S)
    return list(acl)


def _make(client: "KazooClient", path: str, acl: list[ACL]) -> None:
    try:
        client.create_async(path, b"", acl=acl).get(timeout=ANSWER_TIMEOUT_S)
    except NodeExistsError:
        set_acl(client, path, acl)


def _children(client: "KazooClient", path: str) -> list[str]:
    try:
        names = client.get_children_async(path).get(timeout=ANSWER_TIMEOUT_S)
    except NoNodeError:
        return []
    return [f"{path.rstrip('/')}/{name}" for name in names]


def _all_below(client: "KazooClient", path: str) -> Iterator[str]:
    """Parents before their children."""
    waiting = _children(client, path)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _children(client, node)
