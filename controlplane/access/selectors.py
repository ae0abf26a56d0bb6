"""Reads: users and ACLs from the observed tables; passwords that overlap, of the database."""

from typing import Any

from django.db.models import QuerySet

from controlplane.access.models import OPEN_STATES, PasswordOverlap
from controlplane.clusters.models import Cluster
from controlplane.clusters.specs import ADMIN_USER, BROKER_USER
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import Forbidden
from controlplane.common.times import iso
from controlplane.observed.models import ObservedRow
from controlplane.observed.selectors import Section, shown

SERVICE_USERS = frozenset({ADMIN_USER, BROKER_USER})


def user_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; `managed` marks those that the service itself needs."""
    found = shown(row, at)
    return {**found, "managed": found["username"] in SERVICE_USERS}


def acl_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    return shown(row, at)


def open_overlaps(cluster_id: str | None) -> QuerySet[PasswordOverlap]:
    return PasswordOverlap.objects.filter(cluster_id=cluster_id, state__in=OPEN_STATES)


def open_overlap(cluster_id: str | None, username: str) -> PasswordOverlap | None:
    return open_overlaps(cluster_id).filter(username=username).first()


def overlap_list(cluster: Cluster, scope: Scope) -> list[dict[str, Any]]:
    """Those that are open, for whoever may see the cluster's users.

    Raises:
        Forbidden: the scope covers a part of the cluster only.
    """
    if not scope.sees(Area.ACCESS, cluster.name):
        raise Forbidden("Users are seen with a role on the whole cluster.")
    return [overlap_dict(row) for row in open_overlaps(cluster.pk).order_by("username")]


def overlap_dict(row: PasswordOverlap) -> dict[str, Any]:
    return {
        "username": row.username,
        "old_mechanism": row.old_mechanism,
        "new_mechanism": row.new_mechanism,
        "state": row.state,
        "rotation": row.rotation_id,
        "created_at": iso(row.created_at),
        "ends_at": iso(row.ends_at),
        "problem": row.problem,
    }
