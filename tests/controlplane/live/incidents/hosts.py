"""Incidents that operators are told of: an agent that is killed, a disk that fills up, ports that
somebody else takes. Each has a host of its own.
"""

import contextlib
import socket
from typing import Any

from tests.controlplane.live.incidents.host import SHOWN_S, Host
from tests.controlplane.live.incidents.incident import HostIncident, until
from tests.controlplane.live.incidents.world import HOST_PORTS, World
from tests.processes import is_running

SESSION_S = 18.0
BUSY_S = 240.0
USED = 0.85
"""Of the small disk: more than 80 %, at which it warns, and less than 90 %."""
LOAD = 2.0
"""A core: from there the alert is about load as well."""
QUIET_S = 600.0
"""Until the load of all other incidents, and of what else the machine does, is below that."""


def silent(world: World) -> None:
    """Its agent is killed; the broker there goes on and is the same when the agent is back."""
    place = world.apart
    host = place.host
    (broker,) = place.brokers()
    one = HostIncident(world, "host-silent", "SIGKILL of a host's agent", host.id)
    host.kill_agent()
    alert = one.fires(SESSION_S + 120 + BUSY_S)
    assert (alert["severity"], alert["values"]) == ("warning", {"brokers": 1})
    run = one.follow()
    # Its page says which brokers are to run there.
    shown = host.shown()
    assert (shown["alive"], [row["cluster_id"] for row in shown["broker_list"]]) == (
        False,
        [place.id],
    )
    assert run.check("zookeeper-answers")["outcome"] == "ok"
    assert is_running(broker["pid"])
    # The host answers and the agent does not run: start it.
    world.kept(host.start_agent)
    one.mended()
    host.wait_until(lambda shown: shown["alive"])
    one.resolves(60 + BUSY_S)
    until(lambda: place.brokers()[0]["pid"] == broker["pid"], place.brokers, SHOWN_S)


def disk_filling(world: World) -> None:
    """Something that is no broker's takes the space."""
    host, disk = world.small, world.host_disk
    cause = f"a file that is no broker's fills {100 * USED:.0f} % of a host's small disk"
    one = HostIncident(world, "host-disk-filling", cause, host.id)
    disk.fill(but_bytes=round((1 - USED) * disk.size_bytes()))
    alert = one.fires(SHOWN_S + 60 + BUSY_S)
    assert alert["severity"] == "warning"
    assert 0.8 <= alert["values"]["used_share"] < 0.9
    run = one.follow()
    assert run.check("zookeeper-answers")["outcome"] == "ok"
    # Its page lists its directories, with what is free, and the brokers there: none.
    shown = host.shown()
    assert shown["broker_list"] == []
    assert free_share(shown) < 0.2
    # Something else takes the space: remove that.
    disk.free()
    one.mended()
    host.wait_until(lambda shown: free_share(shown) > 0.8)
    one.resolves(300 + SHOWN_S + BUSY_S)


def free_share(shown: dict[str, Any]) -> float:
    """Of the file system of its data directory, as its agent has reported it."""
    (directory,) = shown["capacity"]["directories"]
    return float(directory["free_bytes"] / directory["total_bytes"])


def resources_low(world: World) -> None:
    """A server that is no broker listens on one of the two ports that a host has for a broker.

    Load is in the same alert: it is staged when no other incident makes any.
    """
    host = world.narrow
    until(lambda: load_per_core(host) < LOAD, host.shown, QUIET_S)
    cause = "another server listens on one of the two ports of a host's range"
    one = HostIncident(world, "host-resources-low", cause, host.id)
    first, _ = host.ports
    with contextlib.closing(socket.create_server(("127.0.0.1", first))):
        alert = one.fires(SHOWN_S + 300 + BUSY_S)
        assert (alert["severity"], alert["values"]["ports"]) == ("warning", 1)
        run = one.follow()
        assert run.check("zookeeper-answers")["outcome"] == "ok"
        assert host.shown()["capacity"]["ports_free"] == 1
        # Ports: widen the agent's port range and restart it.
        host.stop_agent()
        host.ports = first, first + HOST_PORTS - 1
        world.kept(host.start_agent)
        one.mended()
        host.wait_until(lambda shown: (shown["capacity"]["ports_free"] or 0) >= 2)
        one.resolves(300 + SHOWN_S + QUIET_S)


def load_per_core(host: Host) -> float:
    found = host.shown()["capacity"]
    return float(found["load"] / found["cores"])
