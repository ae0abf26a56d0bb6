"""Reads: a cluster's policy with its cases, and a host's drain."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from controlplane.clusters.models import Broker, Cluster
from controlplane.common.etags import with_tag
from controlplane.common.said import parts_of
from controlplane.common.times import iso
from controlplane.healing.models import (
    HealingCase,
    HealingPolicy,
    HostAddressChange,
    HostDrain,
    HostZooKeeperChange,
)
from controlplane.healing.states import PROPOSED
from controlplane.healing.waiting import kept
from controlplane.healing.windows import Window, is_open, opens_at, window_of

CASES_SHOWN = 20
PROPOSALS_SHOWN = 50
OBSERVED = ("cases", "decision", "window_open", "window_opens_at")


def healing_dict(cluster: Cluster, *, locked: bool = False) -> dict[str, Any]:
    """The policy of the cluster, off where none was set, and its cases."""
    rows = HealingPolicy.objects.all()
    rows = rows.select_for_update() if locked else rows
    row = rows.filter(pk=cluster.pk).first() or HealingPolicy(cluster=cluster)
    now = timezone.now()
    windows: list[Window] = [window_of(each) for each in row.windows]
    shown = {
        "mode": row.mode,
        "replace_after_s": row.replace_after_s,
        "per_day_max": row.per_day_max,
        "windows": row.windows,
        "time_zone": row.time_zone,
        "changed_at": iso(row.changed_at),
        "changed_by": row.changed_by or None,
        "window_open": is_open(windows, row.time_zone, now),
        "window_opens_at": iso(opens_at(windows, row.time_zone, now)),
        "decision": _decision(row),
        "cases": [
            case_dict(case) for case in HealingCase.objects.filter(cluster=cluster)[:CASES_SHOWN]
        ],
    }
    return with_tag(shown, observed=OBSERVED)


def _decision(row: HealingPolicy) -> dict[str, Any] | None:
    if row.decided_at is None:
        return None
    return {
        "code": row.decided_code,
        "text": row.decided_text,
        "parts": parts_of(row.decided_text, row.decided_parts),
        "at": iso(row.decided_at),
    }


def case_dict(case: HealingCase) -> dict[str, Any]:
    return {
        "id": case.id,
        "broker": case.broker_id,
        "silent_since": iso(case.silent_since),
        "state": case.state,
        "code": case.code,
        "text": case.text,
        "parts": parts_of(case.text, case.parts),
        "operation_id": case.operation_id or None,
        "by": case.by or None,
        "created_at": iso(case.created_at),
        "moved_at": iso(case.moved_at),
    }


def proposals(cluster_ids: Iterable[str]) -> list[dict[str, Any]]:
    """What waits for a person's word on these clusters."""
    rows = HealingCase.objects.filter(cluster_id__in=list(cluster_ids), state=PROPOSED)
    return [
        {"cluster_id": row.cluster_id, "cluster_name": row.cluster.name, **case_dict(row)}
        for row in rows.select_related("cluster")[:PROPOSALS_SHOWN]
    ]


def drains(host_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """By host: how far its brokers have left, of those that are being drained."""
    rows = list(HostDrain.objects.filter(host_id__in=list(host_ids)))
    if not rows:
        return {}
    here = list(
        Broker.objects.filter(host_id__in=[row.host_id for row in rows]).values_list(
            "host_id", flat=True
        )
    )
    return {
        row.host_id: {
            "began_at": iso(row.began_at),
            "by": row.by,
            "moved": row.moved,
            "left": here.count(row.host_id),
            "operation_id": row.operation_id or None,
            "about": row.operation_about or None,
            **kept(row),
            "paused_at": iso(row.paused_at),
            "paused_by": row.paused_by or None,
            "ended_at": iso(row.ended_at),
        }
        for row in rows
    }


def address_changes(host_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """By host: how far its brokers have followed to its new address, where they do or did last."""
    rows = list(HostAddressChange.objects.filter(host_id__in=list(host_ids)))
    left = _left(rows, "address", "address")
    return {row.host_id: {"address": row.address, **_followed(row, left)} for row in rows}


def zookeeper_changes(host_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """By host: how far its brokers have followed to its agent's connect string, likewise."""
    rows = list(HostZooKeeperChange.objects.filter(host_id__in=list(host_ids)))
    left = _left(rows, "connect", "zookeeper")
    return {row.host_id: {"connect": row.connect, **_followed(row, left)} for row in rows}


def _left(
    rows: Sequence[HostAddressChange | HostZooKeeperChange], wanted: str, has: str
) -> Counter[str]:
    """Brokers that have not followed, by host."""
    if not rows:
        return Counter()
    to = {row.host_id: getattr(row, wanted) for row in rows}
    here = Broker.objects.filter(host_id__in=list(to)).values_list("host_id", has)
    return Counter(host for host, value in here if value != to[host])


def _followed(row: HostAddressChange | HostZooKeeperChange, left: Counter[str]) -> dict[str, Any]:
    return {
        "by": row.by,
        "began_at": iso(row.began_at),
        "clusters_moved": row.moved,
        "brokers_left": left[row.host_id],
        "operation_id": row.operation_id or None,
        "about": row.operation_about or None,
        **kept(row),
        "ended_at": iso(row.ended_at),
    }
