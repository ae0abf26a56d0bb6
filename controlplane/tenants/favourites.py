"""What a person has marked as theirs in a tenant. Whether they may still see it, a reader asks."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from controlplane.common.problems import Conflict
from controlplane.tenants.models import Favourite, Tenant

FAVOURITES_MAX = 200
"""A person has in a tenant."""


def favourites(tenant: Tenant, user: User) -> list[Favourite]:
    """Oldest first."""
    return list(Favourite.objects.filter(tenant=tenant, user=user).order_by("pk"))


def favourite_names(tenant: Tenant, user: User, kind: str, cluster_id: str) -> frozenset[str]:
    rows = Favourite.objects.filter(tenant=tenant, user=user, kind=kind, cluster_id=cluster_id)
    return frozenset(rows.values_list("name", flat=True))


def favourite_set(
    tenant: Tenant,
    user: User,
    *,
    kind: str,
    cluster_id: str,
    name: str,
    is_favourite: bool,
    clusters: Collection[str],
) -> None:
    """Mark it, or take the mark away; either may be so already.

    `clusters` are the tenant's: what was marked of others that are gone makes room.

    Raises:
        Conflict: there are too many.
    """
    rows = Favourite.objects.filter(tenant=tenant, user=user)
    about: dict[str, Any] = {"kind": kind, "cluster_id": cluster_id, "name": name}
    if not is_favourite:
        rows.filter(**about).delete()
        return
    with transaction.atomic():
        # One at a time for a person, so that the bound holds.
        User.objects.select_for_update().get(pk=user.pk)
        rows.exclude(cluster_id__in=clusters).delete()
        if not rows.filter(**about).exists() and rows.count() >= FAVOURITES_MAX:
            raise Conflict(
                f"There are {FAVOURITES_MAX} favourites already, which is the most.",
                code="too-many-favourites",
            )
        Favourite.objects.get_or_create(tenant=tenant, user=user, **about)
