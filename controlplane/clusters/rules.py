"""Which host gets which broker and which ports. Pure.

Brokers go to racks in turn, inside a rack to the host that has the fewest, so that replicas
on different racks are possible as soon as there are two racks.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class HostView(Protocol):
    @property
    def host_id(self) -> str: ...
    @property
    def rack(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def port_first(self) -> int: ...
    @property
    def port_last(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    broker_id: int
    host_id: str
    rack: str
    address: str
    client_port: int
    internal_port: int


class NoCapacityError(Exception):
    """There are no hosts, or too few ports on them."""


def place(
    hosts: Sequence[HostView],
    *,
    broker_count: int,
    load: Mapping[str, int],
    ports_taken: Mapping[str, Collection[int]],
) -> list[Placement]:
    """Place brokers 1..n.

    `load` is the number of brokers that each host has already, `ports_taken` the ports that
    they use.
    """
    if not hosts:
        raise NoCapacityError("no live host offers capacity for brokers")
    count = {host.host_id: load.get(host.host_id, 0) for host in hosts}
    free = {
        host.host_id: [
            port
            for port in range(host.port_first, host.port_last + 1)
            if port not in ports_taken.get(host.host_id, ())
        ]
        for host in hosts
    }
    rack_count = dict.fromkeys((host.rack for host in hosts), 0)
    placed = []
    for broker_id in range(1, broker_count + 1):
        candidates = [host for host in hosts if len(free[host.host_id]) >= 2]
        if not candidates:
            raise NoCapacityError(
                f"the hosts have ports for {broker_id - 1} of {broker_count} brokers;"
                " each needs two"
            )
        host = min(candidates, key=lambda h: (rack_count[h.rack], count[h.host_id], h.host_id))
        client_port, internal_port = free[host.host_id].pop(0), free[host.host_id].pop(0)
        rack_count[host.rack] += 1
        count[host.host_id] += 1
        placed.append(
            Placement(
                broker_id=broker_id,
                host_id=host.host_id,
                rack=host.rack,
                address=host.address,
                client_port=client_port,
                internal_port=internal_port,
            )
        )
    return placed
