"""What an act on a host would do: refused or not, what it hits, where its brokers could go."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from controlplane.administration.host_sentences import NOWHERE, REFUSALS, SUMMARIES
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
    why_not,
)
from controlplane.clusters.models import Broker, Cluster, LostBroker, OwedDeletion
from controlplane.clusters.placing import NoCapacityError, Refusal, place
from controlplane.clusters.release_wanted import wanted_by
from controlplane.clusters.selectors import host_rows, release_rows
from controlplane.common.hashing import content_hash
from controlplane.common.problems import NotFound
from controlplane.common.said import Said, named_by, said_of
from controlplane.common.sentences import Param
from controlplane.observed.selectors import held_only_by
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES
from controlplane.operations.warnings import warning_of

BROKERS_NAMED = 5
RECENT_S = 60.0
"""An agent that wrote less than this ago may only be restarting."""
COUNTING = (CORDON, DRAIN, DECLARE_LOST)
"""Acts whose summary says how many brokers are there."""
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
        **named_by("summary", _summary(act, host_id, brokers)),
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
) -> list[dict[str, Any]]:
    found = []
    if why := why_not(act, state):
        found.append(why.beside())
    if act == REMOVE and brokers:
        found.append(_refusal("host-in-use", **_named(brokers)))
    if act == REMOVE and host.alive:
        found.append(_refusal("host-alive/remove", host=host.host_id))
    if act == DECLARE_LOST and host.alive:
        found.append(_refusal("host-alive/lost", host=host.host_id))
    if act == DECLARE_LOST and (busy := _under_way(brokers)):
        found.append(_refusal("operation-under-way", **busy))
    if act == CORDON and state == LOST:
        found += _not_back(host)
    return found


def _refusal(sentence: str, **params: Param) -> dict[str, Any]:
    return said_of(REFUSALS, sentence, **params).beside()


def _not_back(host: Host) -> list[dict[str, Any]]:
    """Why a host that was declared lost cannot be taken back yet."""
    if not host.alive:
        return [_refusal("host-away")]
    owed = OwedDeletion.objects.filter(host_id=host.host_id).count()
    return [_refusal("deletion-owed", brokers=owed)] if owed else []


def _under_way(brokers: Iterable[dict[str, Any]]) -> dict[str, Param]:
    """An operation that is in the way, and its cluster; empty: there is none."""
    clusters = {row["cluster_id"]: row["cluster"] for row in brokers}
    for operation in Operation.objects.filter(
        cluster_id__in=clusters, state__in=ACTIVE_STATES
    ).order_by("pk"):
        if operation.kind.startswith(PLACING_KINDS):
            return {"kind": operation.kind, "cluster": clusters[operation.cluster_id or ""]}
    return {}


def named(brokers: list[dict[str, Any]]) -> str:
    said = _named(brokers)
    return f"{said['names']} and {said['more']} more" if said["more"] else str(said["names"])


def _named(brokers: list[dict[str, Any]]) -> dict[str, Param]:
    names = ", ".join(f"{row['cluster']}/{row['broker_id']}" for row in brokers[:BROKERS_NAMED])
    return {"names": names, "more": max(0, len(brokers) - BROKERS_NAMED)}


def _summary(act: str, host_id: str, brokers: list[dict[str, Any]]) -> Said:
    counted: dict[str, Param] = {"brokers": len(brokers)} if act in COUNTING else {}
    return said_of(SUMMARIES, act, host=host_id, **counted)


# -- warnings -----------------------------------------------------------------------------------
def _warnings(host: Host, act: str, brokers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if act == DRAIN and brokers:
        found = [warning_of("moved-one-by-one", "info")]
        return found if host.alive else [*found, warning_of("host-away")]
    if act == REMOVE and (owed := OwedDeletion.objects.filter(host_id=host.host_id).count()):
        return [warning_of("deletion-owed", brokers=owed)]
    if act != DECLARE_LOST:
        return []
    return [*_recent(host), *_losses(host, brokers)]


def _recent(host: Host) -> list[dict[str, Any]]:
    age_s = host.capacity.age_s(int(timezone.now().timestamp() * 1000))
    if age_s is None or age_s > RECENT_S:
        return []
    return [warning_of("recent", "danger", age_s=int(age_s))]


def _losses(host: Host, brokers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What goes with the host for good, by cluster, with what its earlier losses took already."""
    found = []
    clusters = Cluster.objects.in_bulk({row["cluster_id"] for row in brokers})
    for cluster_id, cluster in sorted(clusters.items()):
        gone = {row["broker_id"] for row in brokers if row["cluster_id"] == cluster_id}
        earlier = LostBroker.objects.filter(cluster=cluster).values_list("broker_id", flat=True)
        alone = held_only_by(cluster_id, gone.union(earlier))
        name = cluster.name
        if alone is None:
            found.append(warning_of("loss-unknown", "danger", host=host.host_id, cluster=name))
        elif alone:
            found.append(warning_of("data-loss/host", "danger", cluster=name, partitions=alone))
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
        target, why, nowhere = None, None, list[Said]()
        try:
            decision = place(
                others,
                broker_ids=[row["broker_id"]],
                disk_min_bytes=settings.BROKER_DISK_MIN_BYTES,
                present=present,
                wants=wanted_by(clusters[row["cluster_id"]], installed, row["broker_id"]),
            )
        except NoCapacityError as error:
            nowhere = _nowhere(error.refused)
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
        found.append(
            {
                **shown,
                "target_host_id": target,
                **named_by("reason", why),
                "why_nowhere": " ".join(part.text for part in nowhere) or None,
                "why_nowhere_parts": [part.as_row() for part in nowhere],
            }
        )
    return found


def _nowhere(refused: list[Refusal]) -> list[Said]:
    if not refused:
        return [said_of(NOWHERE, "no-other-host")]
    return [
        part
        for row in refused[:BROKERS_NAMED]
        for part in (said_of(NOWHERE, "lead/host", host=row.host_id), row.said)
    ]
