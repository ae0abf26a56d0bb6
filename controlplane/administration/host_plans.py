"""What an act on a host would do: refused or not, what it hits, where its brokers could go."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from controlplane.administration.selectors import brokers_on, host_row
from controlplane.clusters.candidates import candidates, host_states
from controlplane.clusters.described import Host
from controlplane.clusters.host_states import (
    ACTIVE,
    ACTS,
    CORDON,
    DECLARE_LOST,
    DRAIN,
    LOST,
    REMOVE,
    UNCORDON,
    why_not,
)
from controlplane.clusters.models import Broker, Cluster, LostBroker, OwedDeletion
from controlplane.clusters.placing import NoCapacityError, Refusal, place
from controlplane.clusters.release_wanted import wanted_by
from controlplane.clusters.selectors import host_rows, release_rows
from controlplane.common.hashing import content_hash
from controlplane.common.problems import NotFound
from controlplane.common.words import counted, lasting
from controlplane.observed.selectors import held_only_by
from controlplane.operations.models import Operation
from controlplane.operations.operations import warning
from controlplane.operations.states import ACTIVE_STATES

BROKERS_NAMED = 5
RECENT_S = 60.0
"""An agent that wrote less than this ago may only be restarting."""
PLACING_KINDS = ("cluster.", "broker.")
"""Operations whose steps say what hosts shall run: they have counted the brokers already."""


def host_plan(host_id: str, act: str) -> dict[str, Any]:
    """What doing `act` to the host would mean now; nothing changes.

    Raises NotFound (no such host, no such act), Unavailable while ZooKeeper is away.
    """
    if act not in ACTS:
        raise NotFound("A host has no such act.")
    host = host_row(host_id)
    kept = host_states().get(host_id)
    state = kept.state if kept is not None else ACTIVE
    brokers = brokers_on([host_id])[host_id]
    refused = _refusals(host, act, state, brokers)
    return {
        "act": act,
        "host_id": host_id,
        "state_before": state,
        "state_after": ACTS[act],
        "summary": _summary(act, host_id, brokers),
        "refused": refused,
        "warnings": _warnings(host, act, brokers),
        "brokers": _moves(host_id, brokers) if act in {DRAIN, DECLARE_LOST} else [],
        "confirm_phrase": host_id if act in {DECLARE_LOST, REMOVE} else None,
        "plan_hash": content_hash(
            [act, host_id, state, host.alive, host.directory_id, [row["key"] for row in brokers]]
            + [row["code"] for row in refused]
        ),
    }


def _refusals(
    host: Host, act: str, state: str, brokers: list[dict[str, Any]]
) -> list[dict[str, str]]:
    found = []
    if why := why_not(act, state):
        found.append(_row("host-state", why))
    if act == REMOVE and brokers:
        found.append(_row("host-in-use", f"Brokers belong on it: {named(brokers)}."))
    if act == REMOVE and host.alive:
        found.append(_row("host-alive", f"The agent of {host.host_id} lives: stop it first."))
    if act == DECLARE_LOST and host.alive:
        text = f"The agent of {host.host_id} lives: a host that is there is not lost."
        found.append(_row("host-alive", text))
    if act == DECLARE_LOST and (busy := _under_way(brokers)):
        found.append(_row("operation-under-way", f"{busy}: it has to end first, or be cancelled."))
    if act == CORDON and state == LOST:
        found += _not_back(host)
    return found


def _not_back(host: Host) -> list[dict[str, str]]:
    """Why a host that was declared lost cannot be taken back yet."""
    owed = OwedDeletion.objects.filter(host_id=host.host_id).count()
    if not host.alive:
        return [_row("host-away", "Its agent is away.")]
    if owed:
        text = f"It still has to wipe what it had of {counted(owed, 'broker')}."
        return [_row("deletion-owed", text)]
    return []


def _under_way(brokers: Iterable[dict[str, Any]]) -> str:
    clusters = {row["cluster_id"]: row["cluster"] for row in brokers}
    for operation in Operation.objects.filter(
        cluster_id__in=clusters, state__in=ACTIVE_STATES
    ).order_by("pk"):
        if operation.kind.startswith(PLACING_KINDS):
            return f"{operation.kind} of {clusters[operation.cluster_id or '']} is under way"
    return ""


def _row(code: str, text: str) -> dict[str, str]:
    return {"code": code, "text": text}


def named(brokers: list[dict[str, Any]]) -> str:
    names = ", ".join(f"{row['cluster']}/{row['broker_id']}" for row in brokers[:BROKERS_NAMED])
    left = len(brokers) - BROKERS_NAMED
    return f"{names} and {left} more" if left > 0 else names


def _summary(act: str, host_id: str, brokers: list[dict[str, Any]]) -> str:
    there = counted(len(brokers), "broker")
    return {
        CORDON: f"{host_id} gets no new brokers; its {there} go on.",
        UNCORDON: f"{host_id} gets new brokers again.",
        DRAIN: f"{host_id} gets no new brokers, and its {there} are to leave it.",
        DECLARE_LOST: f"{there} on {host_id} count as gone. What it has of them is wiped should"
        " it come back.",
        REMOVE: f"The nodes of {host_id} in ZooKeeper go, and with them its login and its key.",
    }[act]


# -- warnings -----------------------------------------------------------------------------------
def _warnings(host: Host, act: str, brokers: list[dict[str, Any]]) -> list[dict[str, str]]:
    if act == DRAIN and brokers:
        text = (
            "They leave one after another, each by an operation of its own, while nothing else of"
            " its cluster is out of sync; the drain can be paused between two."
        )
        found = [warning("moved-one-by-one", text, "info")]
        if not host.alive:
            away = "Its agent is away, so nobody can stop them there: they wait for it."
            found.append(warning("host-away", away))
        return found
    if act == REMOVE and (owed := OwedDeletion.objects.filter(host_id=host.host_id).count()):
        text = f"Its disk still holds what it had of {counted(owed, 'broker')}."
        return [warning("deletion-owed", f"{text} It is told to wipe that when it joins again.")]
    if act != DECLARE_LOST:
        return []
    return [*_recent(host), *_losses(host, brokers)]


def _recent(host: Host) -> list[dict[str, str]]:
    age_s = host.capacity.age_s(int(timezone.now().timestamp() * 1000))
    if age_s is None or age_s > RECENT_S:
        return []
    text = f"Its agent wrote {lasting(int(age_s) * 1000)} ago: it may only be restarting."
    return [warning("recent", text, "danger")]


def _losses(host: Host, brokers: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What goes with the host for good, by cluster, with what its earlier losses took already."""
    found = []
    clusters = Cluster.objects.in_bulk({row["cluster_id"] for row in brokers})
    for cluster_id, cluster in sorted(clusters.items()):
        gone = {row["broker_id"] for row in brokers if row["cluster_id"] == cluster_id}
        earlier = LostBroker.objects.filter(cluster=cluster).values_list("broker_id", flat=True)
        alone = held_only_by(cluster_id, gone.union(earlier))
        if alone is None:
            text = f"What only {host.host_id} has of {cluster.name} is not known."
            found.append(warning("loss-unknown", text, "danger"))
        elif alone:
            text = (
                f"{cluster.name}: {counted(alone, 'partition')} with all replicas there or on"
                " brokers lost before; what is in them is lost."
            )
            found.append(warning("data-loss", text, "danger"))
    return found


# -- where its brokers could go -----------------------------------------------------------------
def _moves(host_id: str, brokers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each broker of the host where it would go now, or why nowhere."""
    found_hosts = host_rows()
    clusters = Cluster.objects.in_bulk({row["cluster_id"] for row in brokers})
    installed = release_rows(found_hosts, None).installed
    others = [
        each for each in candidates(found_hosts, installed=installed) if each.host_id != host_id
    ]
    found = []
    for row in brokers:
        rest = Broker.objects.filter(cluster_id=row["cluster_id"]).exclude(host_id=host_id)
        present = list(rest.values_list("host_id", "rack"))
        target, why, text = None, None, None
        try:
            decision = place(
                others,
                broker_ids=[row["broker_id"]],
                disk_min_bytes=settings.BROKER_DISK_MIN_BYTES,
                present=present,
                wants=wanted_by(clusters[row["cluster_id"]], installed, row["broker_id"]),
            )
        except NoCapacityError as error:
            text = _nowhere(error.refused)
        else:
            (placed,) = decision.placed
            target, why = placed.host_id, decision.reasons[placed.broker_id]
            others = [
                replace(
                    each,
                    brokers=each.brokers + 1,
                    ports_taken=each.ports_taken | {placed.client_port, placed.internal_port},
                )
                if each.host_id == target
                else each
                for each in others
            ]
        shown = {name: row[name] for name in ("broker_id", "cluster", "cluster_id", "tenant")}
        found.append({**shown, "target_host_id": target, "reason": why, "why_nowhere": text})
    return found


def _nowhere(refused: list[Refusal]) -> str:
    if not refused:
        return "There is no other host."
    return " ".join(f"{row.host_id}: {row.text}" for row in refused[:BROKERS_NAMED])
