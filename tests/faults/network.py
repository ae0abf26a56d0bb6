"""Hosts of their own on one machine: network namespaces on a bridge, with links to cut.

The test's own thread moves into the namespace of the bridge, so every client, thread and process
that it starts is there too, and nothing is ever bound outside.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import subprocess
from collections.abc import Iterator, Sequence

from tests.places import Place

PREFIX = "penstock-"
SUBNET = "10.77.0"
HUB_ADDRESS = f"{SUBNET}.1"
NOBODY = "02:00:00:00:00:01"
"""A link address that no interface has: what is sent there is gone, without an error."""
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class NoNamespacesError(Exception):
    """This machine does not let us make them; the message says what was tried."""


def ip(*arguments: str) -> str:
    """Run `ip`; NoNamespacesError with its own words when it fails."""
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NoNamespacesError("`ip` is not installed") from error
    if done.returncode:
        raise NoNamespacesError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """Named hosts. A link is cut by the names of its hosts; `heal` restores all links at once."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._hub = f"{PREFIX}{os.getpid()}-hub"
        self.places = {
            host: Place(f"{SUBNET}.{10 + number}", f"{PREFIX}{os.getpid()}-{host}")
            for number, host in enumerate(hosts)
        }
        self._cuts: set[tuple[str, str]] = set()

    def make(self) -> None:
        _remove_leftovers()
        ip("netns", "add", self._hub)
        for arguments in (
            ("link", "set", "lo", "up"),
            ("link", "add", "bridge", "type", "bridge"),
            ("addr", "add", f"{HUB_ADDRESS}/24", "dev", "bridge"),
            ("link", "set", "bridge", "up"),
        ):
            ip("-n", self._hub, *arguments)
        for host, place in self.places.items():
            ip("netns", "add", place.namespace)
            pair = ("type", "veth", "peer", "name", "eth0", "netns", place.namespace)
            ip("-n", self._hub, "link", "add", host, *pair)
            ip("-n", self._hub, "link", "set", host, "master", "bridge", "up")
            for arguments in (
                ("link", "set", "lo", "up"),
                ("addr", "add", f"{place.address}/24", "dev", "eth0"),
                ("link", "set", "eth0", "up"),
            ):
                ip("-n", place.namespace, *arguments)

    def remove(self) -> None:
        for namespace in [*(place.namespace for place in self.places.values()), self._hub]:
            with contextlib.suppress(NoNamespacesError):
                ip("netns", "del", namespace)

    @contextlib.contextmanager
    def inside(self, host: str | None = None) -> Iterator[None]:
        """The calling thread, and what it starts meanwhile, lives on that host (or the hub)."""
        namespace = self._hub if host is None else self.places[host].namespace
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
        try:
            _enter(there)
            yield
        finally:
            _enter(before)
            os.close(there)
            os.close(before)

    # -- cuts -----------------------------------------------------------------------------------

    def cut_one_way(self, source: str, target: str) -> None:
        """What `source` sends to `target` vanishes; the other way still works."""
        self._cuts.add((source, target))
        self._neighbour(source, target, "replace", "lladdr", NOBODY, "nud", "permanent")

    def cut(self, one: str, other: str) -> None:
        """Neither hears the other; both still reach everybody else."""
        self.cut_one_way(one, other)
        self.cut_one_way(other, one)

    def unplug(self, host: str) -> None:
        """Nobody reaches this host, clients included."""
        ip("-n", self._hub, "link", "set", host, "down")

    def plug(self, host: str) -> None:
        ip("-n", self._hub, "link", "set", host, "up")

    def slow_down(self, host: str, *, rate: str, latency: str) -> None:
        """What the host receives comes at `rate`, queued up to `latency`, then dropped."""
        limits = ("tbf", "rate", rate, "burst", "16kbit", "latency", latency)
        self._tc(host, "add", *limits)

    def speed_up(self, host: str) -> None:
        self._tc(host, "del")

    def _tc(self, host: str, verb: str, *arguments: str) -> None:
        command = ["tc", "-n", self._hub, "qdisc", verb, "dev", host, "root", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoNamespacesError(f"{' '.join(command)}: {done.stderr.strip()}")

    def heal(self) -> None:
        """Every cut ends."""
        for source, target in self._cuts:
            self._neighbour(source, target, "del")
        self._cuts.clear()

    def _neighbour(self, source: str, target: str, verb: str, *arguments: str) -> None:
        address = self.places[target].address
        namespace = self.places[source].namespace
        ip("-n", namespace, "neigh", verb, address, *arguments, "dev", "eth0")


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _remove_leftovers() -> None:
    """Namespaces of a run that was killed: their names hold its pid."""
    for line in ip("netns", "list").splitlines():
        name = line.split()[0]
        if not name.startswith(PREFIX):
            continue
        pid = name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not pathlib.Path(f"/proc/{pid}").exists():
            ip("netns", "del", name)
