"""What an operator does in the years between: grow and shrink, restart all, another release.

Everything is an operation by REST. Each scenario is played as it is, and with somebody killed in
the middle of its operations (`middle`); it leaves brokers 1 to 3 and nothing of what it added.
"""

from __future__ import annotations

import functools
import os
import shutil
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from tests import releases
from tests.controlplane.live.holds import AFTER, BEFORE
from tests.controlplane.live.service import Refused
from tests.faults.traffic import QUIET
from tests.hosts.middle import IN_A_ROLL, Moment, Victim, operate, succeeded
from tests.hosts.stage import BROKERS, PLANNED_BOUND_S, PLANNED_GAP_S, Run, Scenario
from tests.hosts.traffic import PARTITIONS
from tests.local_cluster import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

WIDE = 5
THROTTLE_BYTES_PER_S = 2 * 2**20
BALLAST_RECORDS, BALLAST_BYTES = 240, 100_000
"""Some seconds of copying under the limit, so that somebody dies in the middle of it."""
OFFERED_S = 60.0
"""Agents look every 10 s which releases are there."""
AGENT = "agent"
RELEASES = {"next": ("0.2.0", "4.0-IV0"), "later": ("0.3.0", "4.0-IV1")}
"""By name: how it calls itself, and the newest protocol that it speaks. This one's is 3.9-IV0."""


# -- more and fewer brokers -----------------------------------------------------------------------


def scale(victim: Victim, run: Run) -> str:
    """3 → 5, a rebalance under a limit, a drain under a limit, 5 → 3."""
    empty = run.site.empty_hosts()
    ballast = weigh_down(run)
    plan = run.service.plan("cluster.add_brokers", count=WIDE - len(BROKERS))
    added = {row["broker_id"]: row for row in plan["diff"]["brokers"]}
    homes = sorted(run.service.host_at(row["address"]) for row in added.values())
    assert homes == sorted(empty), (homes, empty)
    told = Moment("desired", BEFORE if victim is Victim.AGENT else AFTER)
    ended = operate(run, plan, victim, told, host=homes[0])
    offered = ended["outcome"]["next_plan"]
    moved = spread(run, offered, victim)
    assert any(set(brokers) & set(added) for brokers in moved.values()), moved
    if not held_by(run, added):
        # Balanced are brokers, over all topics: one of a few MB may stay where it is as a whole.
        moves = [put_on(run, number, broker) for number, broker in enumerate(sorted(added))]
        moved |= spread(run, {**offered, "inputs": {"moves": moves}}, Victim.NOBODY)
    assert held_by(run, added), f"nothing was moved onto the new brokers: {moved}"
    refused = refusal(run, "cluster.remove_brokers", brokers=sorted(added))
    assert refused["code"] == "broker-not-empty", refused
    spread(run, refused["next_plan"], victim)
    assert not held_by(run, added)
    plan = run.service.plan("cluster.remove_brokers", brokers=sorted(added))
    stop = Moment("stop", BEFORE if victim is Victim.AGENT else AFTER)
    operate(run, plan, victim, stop, host=homes[0])
    run.whole()
    for host in homes:
        left = list(run.service.data_dir(host).glob(f"{run.service.cluster_id}-*"))
        assert not left, left
    run.site.part_from_spares()
    succeeded(run.service.run("topic.delete", name=ballast))
    limit = f"{THROTTLE_BYTES_PER_S / 2**20:g} MiB/s"
    return f"brokers {sorted(added)} on {homes}, filled and emptied at {limit}"


def spread(run: Run, offered: dict[str, Any], victim: Victim) -> dict[str, list[int]]:
    """A plan that the service offers next, under a limit at which it takes a while.

    Returns the replicas of each partition that it moved.
    """
    inputs = {**offered["inputs"], "throttle_bytes_per_s": THROTTLE_BYTES_PER_S}
    plan = run.service.plan(offered["kind"], **inputs)
    host = run.service.host_of(BROKERS[0])
    operate(run, plan, victim, Moment("move", AFTER), host=host)
    return {
        f"{row['topic']}-{row['partition']}": row["after"] for row in plan["diff"]["partitions"]
    }


def put_on(run: Run, partition: int, broker: int) -> dict[str, Any]:
    """A move of a partition of the traffic's topic: the broker in the place of its last replica."""
    at = f"/clusters/{run.service.cluster_id}/topics/{run.traffic.topic}"
    (row,) = (one for one in run.service.get(at)["partitions"] if one["partition"] == partition)
    replicas = [*row["replicas"][:-1], broker]
    return {"topic": run.traffic.topic, "partition": partition, "replicas": replicas}


def refusal(run: Run, kind: str, **inputs: Any) -> dict[str, Any]:
    """The problem with which a plan is refused."""
    try:
        run.service.plan(kind, **inputs)
    except Refused as refused:
        return refused.problem
    raise AssertionError(f"{kind} of {inputs} is not refused")


def weigh_down(run: Run) -> str:
    """Data that takes time to move: the name of its topic."""
    name = f"{run.traffic.topic}.ballast"
    made = run.service.run(
        "topic.create", name=name, partitions=PARTITIONS, replication_factor=len(BROKERS)
    )
    succeeded(made)
    producer = Producer(
        {"bootstrap.servers": run.traffic.bootstrap, "acks": "all", **QUIET, **run.traffic.login}
    )
    for number in range(BALLAST_RECORDS):
        producer.produce(name, os.urandom(BALLAST_BYTES), partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(120) == 0
    return name


def held_by(run: Run, brokers: Collection[int]) -> list[int]:
    """Partitions of the traffic's topic that are assigned to one of these, as the brokers say now.

    Its page, which shows what was observed last, has been brought up to date by the operation.
    """
    at = f"/clusters/{run.service.cluster_id}/topics/{run.traffic.topic}"
    page, now = run.service.get(at), run.service.get(f"{at}/replicas")
    shown = {row["partition"]: set(row["replicas"]) for row in page["partitions"]}
    said = {
        row["partition"]: {each["broker"] for each in row["replicas"] if each["is_assigned"]}
        for row in now["data"]
    }
    assert shown == said, f"as of {page['as_of']} shown as {shown}; brokers say {said}"
    return sorted(number for number, held in said.items() if held & set(brokers))


# -- all of them ----------------------------------------------------------------------------------


def restart_all(victim: Victim, run: Run) -> str:
    ended = operate(run, run.service.plan("cluster.restart", canary_s=0), victim)
    run.whole()
    return what_the_service_saw(ended)


def what_the_service_saw(ended: dict[str, Any]) -> str:
    """Its own probe of each broker's restart, as it stands in the operation's outcome."""
    rows = ended["outcome"]["roll"]["brokers"]
    assert {row["state"] for row in rows} == {"done"}, rows
    seen = [
        f"{row['id']}: {row['seen']['gap_s']:.2f} s"
        if row["seen"]
        else f"{row['id']}: not measured"
        for row in rows
    ]
    return "by the service's own probe " + ", ".join(seen)


# -- another release ------------------------------------------------------------------------------


def change_version(victim: Victim, run: Run) -> str:
    """To the next release, or back to the agents' own from there."""
    install(run, "next")
    version = AGENT if running(run) == "next" else "next"
    said = upgrade(run, version, victim)
    return f"to {version}; {said}"


def raise_protocol(name: str, victim: Victim, run: Run) -> str:
    """To a release that knows a later protocol, and then that; from there is no way back."""
    install(run, name)
    if running(run) != name:
        upgrade(run, name, victim)
    before = running(run, "protocol")
    plan = run.service.plan("cluster.finalize_version", canary_s=0)
    newest = RELEASES[name][1]
    assert plan["diff"]["protocol"]["after"] == newest, plan["diff"]
    gone = plan["diff"]["no_way_back_to"]
    assert gone, plan["diff"]
    said = what_the_service_saw(operate(run, plan, victim))
    assert running(run, "protocol") == newest
    offers = {row["name"]: row["why_not"] for row in versions(run)["offers"]}
    assert all(offers[each] for each in gone), "one that does not know the protocol is offered"
    run.whole()
    return f"from {before} to {newest}, no way back to {', '.join(gone)}; {said}"


def upgrade(run: Run, version: str, victim: Victim) -> str:
    plan = run.service.plan("cluster.upgrade", version=version, canary_s=0)
    assert plan["diff"]["way_back"]["is_open"], plan["diff"]
    ended = operate(run, plan, victim, IN_A_ROLL)
    assert running(run) == version
    run.whole()
    return what_the_service_saw(ended)


def versions(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.service.get(f"/clusters/{run.service.cluster_id}/versions")
    return found


def running(run: Run, what: str = "running") -> str:
    """What every broker says that it is of; `protocol`: that it speaks."""
    (found,) = {row[what] for row in versions(run)["brokers"]}
    return str(found)


def install(run: Run, name: str) -> None:
    """Into the directory of each host, by the command that an operator has; once."""
    service = run.service
    first, *others = service.places
    if (service.versions_dir(first) / name).exists():
        return
    software, protocol = RELEASES[name]
    source = service.directory / f"source-{name}"
    releases.stamp(source, VERSION=software, NEWEST_PROTOCOL=protocol)
    service.install_version(first, name, source)
    for host in others:
        # As the archive that it is: with hidden names until it is whole.
        unfinished = service.versions_dir(host) / f".{name}"
        shutil.copytree(service.versions_dir(first) / name, unfinished)
        unfinished.rename(service.versions_dir(host) / name)
    shutil.rmtree(source)
    for _ in eventually(OFFERED_S, f"version {name} is offered"):
        offers = {row["name"]: row["why_not"] for row in versions(run)["offers"]}
        if name in offers and offers[name] is None:
            return


# -- the table ------------------------------------------------------------------------------------

KILLS = {
    Victim.WORKER: "its worker killed",
    Victim.AGENT: "an agent killed",
    Victim.CONTROLLER: "the controller killed",
}


def with_kills(what: str, act: Callable[[Victim, Run], str]) -> list[Scenario]:
    """As it is, and with each of those that may die in the middle of it.

    Two of three replicas are away when the controller dies while another broker restarts: writes
    with acks=all wait until one is back, and no goal says how long a process takes to start.
    """
    return [
        Scenario(
            f"{what}, {KILLS[victim]}" if victim in KILLS else what,
            functools.partial(act, victim),
            None if victim is Victim.CONTROLLER else PLANNED_GAP_S,
            **({} if victim in KILLS else {"bound_s": PLANNED_BOUND_S}),
        )
        for victim in Victim
    ]


PLANNED = (
    *with_kills("scaled 3 to 5 to 3", scale),
    *with_kills("all brokers restarted", restart_all),
    *with_kills("another version", change_version),
    # The last ones: there is no way back.
    Scenario(
        "the protocol raised",
        functools.partial(raise_protocol, "next", Victim.NOBODY),
        PLANNED_GAP_S,
        PLANNED_BOUND_S,
    ),
    Scenario(
        "the protocol raised, its worker killed",
        functools.partial(raise_protocol, "later", Victim.WORKER),
        PLANNED_GAP_S,
    ),
)
