"""What agents and brokers say of themselves in ZooKeeper, as far as it can be meant. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.capacity import NEVER, Capacity, parse_labels
from controlplane.clusters.reports import object_of, text_of
from zookeeper_access.identity import is_connect_string, is_identity

# What agents write ends in pages and in brokers' configuration: of bounded size, and plain names.
VERSION_MAX = 50
PORT_MAX = 65_535
DIRECTORIES_MAX = 100
_ADDRESS = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:_-]{0,98}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_DIRECTORY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_RACK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}")


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
    described_at_ms: int | None = None
    alive_since_ms: int | None = None
    labels: tuple[tuple[str, str], ...] = ()
    directory_id: str = ""
    capacity: Capacity = NEVER
    zookeeper: str = ""
    """The connect string of its agent; empty of an agent that does not say it."""
    ensemble: str = ""
    """The identity of the tree that this leads to, as the agent read it; empty: not known."""


def parse_host(name: str, data: bytes, *, alive: bool, brokers: tuple[str, ...]) -> Host | None:
    """What the host called `name` says of itself; None when it is no description of it.

    That is an agent half-way through, or one that gives itself out for another host: whose node
    this is, ZooKeeper has checked, and what stands in it nobody.
    """
    row = object_of(data)
    if row is None:
        return None
    try:
        first, last = row["port_range"]
        rack, address = row.get("rack") or name, row["address"]
    except (ValueError, KeyError, TypeError):
        return None
    is_usable = (
        row.get("host_id") == name
        and isinstance(address, str)
        and _ADDRESS.fullmatch(address)
        and isinstance(rack, str)
        and _RACK.fullmatch(rack)
        and all(type(port) is int for port in (first, last))
        and 0 < first <= last <= PORT_MAX
    )
    if not is_usable:
        return None
    connect, ensemble = _zookeeper(row)
    return Host(
        host_id=name,
        rack=rack,
        address=address,
        port_first=first,
        port_last=last,
        agent_version=text_of(row, "agent_version")[:VERSION_MAX],
        alive=alive,
        brokers=brokers,
        labels=parse_labels(row),
        directory_id=_directory_id(row),
        zookeeper=connect,
        ensemble=ensemble,
    )


def parse_directories(data: bytes) -> list[str]:
    """The ids in what a broker says of its log directories, those that can be ids."""
    given = (object_of(data) or {}).get("directories")
    found = [
        each
        for each in (given if isinstance(given, list) else [])[:DIRECTORIES_MAX]
        if isinstance(each, str) and _DIRECTORY_ID.fullmatch(each)
    ]
    return sorted(set(found))


def _zookeeper(row: dict[str, Any]) -> tuple[str, str]:
    """Connect string and identity, each as far as it can be one."""
    said = row.get("zookeeper")
    given = said if isinstance(said, dict) else {}
    connect, ensemble = text_of(given, "connect"), text_of(given, "ensemble")
    return (
        connect if is_connect_string(connect) else "",
        ensemble if is_identity(ensemble) else "",
    )


def _directory_id(row: dict[str, Any]) -> str:
    found = text_of(row, "directory_id")
    return found if _DIRECTORY_ID.fullmatch(found) else ""
