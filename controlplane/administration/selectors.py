"""Reads: tenants and what remains of them, members, users, accounts, invitations, hosts."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from controlplane.clusters.models import Broker, Cluster, DrainedHost
from controlplane.clusters.selectors import host_dict, host_rows, observed_brokers
from controlplane.common.etags import FIELD, tag_of, with_tag
from controlplane.common.grants import OWNER
from controlplane.common.problems import NotFound
from controlplane.common.times import iso, iso_of_ms
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES
from controlplane.tenants.models import (
    ApiKey,
    Invitation,
    Membership,
    ServiceAccount,
    Tenant,
)

REMAINS_SHOWN = 100


# -- tenants ------------------------------------------------------------------------------------
def tenant_row(tenant_id: str, *, locked: bool = False) -> Tenant:
    rows = Tenant.objects.select_for_update() if locked else Tenant.objects.all()
    found = rows.filter(pk=tenant_id).first()
    if found is None:
        raise NotFound("Tenant not found.")
    return found


def tenants() -> QuerySet[Tenant]:
    return Tenant.objects.annotate(
        member_count=Count("memberships", distinct=True),
        owner_count=Count(
            "memberships",
            filter=Q(memberships__role=OWNER, memberships__user__is_active=True),
            distinct=True,
        ),
        cluster_count=Count("clusters", filter=Q(clusters__deleted_at=None), distinct=True),
    )


def tenant_summary(tenant: Any) -> dict[str, Any]:
    """Of a row of `tenants()`."""
    shown = {
        "id": tenant.id,
        "slug": tenant.slug,
        "name": tenant.name,
        "state": tenant.state,
        "members": tenant.member_count,
        "owners": tenant.owner_count,
        "clusters": tenant.cluster_count,
        "created_at": iso(tenant.created_at),
    }
    return with_tag(shown, observed=("members", "owners", "clusters"))


def tenant_detail(tenant_id: str) -> dict[str, Any]:
    found = tenants().filter(pk=tenant_id).first()
    if found is None:
        raise NotFound("Tenant not found.")
    return {
        **tenant_summary(found),
        "remains": remains(found),
        "member_list": [member_dict(row) for row in members(found).order_by("user__username")],
    }


def remains(tenant: Tenant) -> list[dict[str, str]]:
    """What would go on without the tenant: its clusters and operations under way."""
    clusters = Cluster.objects.filter(tenant=tenant, deleted_at=None).order_by("name")
    active = Operation.objects.filter(tenant=tenant, state__in=ACTIVE_STATES).order_by("pk")
    return [
        {"kind": "cluster", "id": row.id, "name": row.name} for row in clusters[:REMAINS_SHOWN]
    ] + [{"kind": "operation", "id": row.id, "name": row.kind} for row in active[:REMAINS_SHOWN]]


# -- people -------------------------------------------------------------------------------------
def members(tenant: Tenant) -> QuerySet[Membership]:
    return Membership.objects.filter(tenant=tenant).select_related("user")


def member_row(tenant: Tenant, username: str, *, locked: bool = False) -> Membership:
    """Locked as every change of members does it: by the tenant. Raises NotFound."""
    if locked:
        tenant_row(tenant.pk, locked=True)
    found = members(tenant).filter(user__username=username).first()
    if found is None:
        raise NotFound("Member not found.")
    return found


def member_dict(member: Membership) -> dict[str, Any]:
    shown = {
        "username": member.user.get_username(),
        "role": member.role,
        "grants": member.grants,
        "is_active": member.user.is_active,
        "last_login_at": iso(member.user.last_login),
    }
    return with_tag(shown, observed=("last_login_at",))


def memberships_of(user: User) -> QuerySet[Membership]:
    return Membership.objects.filter(user=user).select_related("tenant")


def tenants_owned_by_nobody_else(user: User) -> list[str]:
    """Slugs of the tenants whose only owner who can sign in is `user`."""
    owned = Membership.objects.filter(user=user, role=OWNER)
    others = Membership.objects.filter(role=OWNER, user__is_active=True).exclude(user=user)
    alone = owned.exclude(tenant__in=others.values("tenant"))
    return list(alone.order_by("tenant__slug").values_list("tenant__slug", flat=True))


def users() -> QuerySet[User]:
    return User.objects.prefetch_related("memberships__tenant")


def user_dict(user: User) -> dict[str, Any]:
    """Of a row of `users()`."""
    shown = {
        "username": user.get_username(),
        "email": user.email,
        "is_active": user.is_active,
        "is_operator": user.is_staff,
        "has_password": user.has_usable_password(),
        "tenants": [
            {"slug": row.tenant.slug, "name": row.tenant.name, "role": row.role}
            for row in user.memberships.all()
        ],
        "created_at": iso(user.date_joined),
        "last_login_at": iso(user.last_login),
    }
    return with_tag(shown, observed=("has_password", "tenants", "last_login_at"))


def invitations(tenant: Tenant) -> QuerySet[Invitation]:
    return Invitation.objects.filter(tenant=tenant)


def invitation_row(tenant: Tenant, invitation_id: str, *, locked: bool = False) -> Invitation:
    """Those that are over too. Raises NotFound."""
    rows = invitations(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=invitation_id).first()
    if found is None:
        raise NotFound("Invitation not found.")
    return found


def invitation_dict(invitation: Invitation) -> dict[str, Any]:
    shown = {
        "id": invitation.id,
        "role": invitation.role,
        "note": invitation.note,
        "state": invitation_state(invitation),
        "created_by": invitation.created_by,
        "created_at": iso(invitation.created_at),
        "expires_at": iso(invitation.expires_at),
        "accepted_at": iso(invitation.accepted_at),
        "accepted_by": invitation.accepted_by or None,
    }
    return with_tag(shown)


def invitation_state(invitation: Invitation) -> str:
    if invitation.accepted_at is not None:
        return "accepted"
    if invitation.revoked_at is not None:
        return "revoked"
    return "open" if invitation.expires_at > timezone.now() else "expired"


# -- machines -----------------------------------------------------------------------------------
def service_accounts(tenant: Tenant) -> QuerySet[ServiceAccount]:
    now = timezone.now()
    live = Q(keys__revoked_at=None) & (Q(keys__expires_at=None) | Q(keys__expires_at__gt=now))
    return ServiceAccount.objects.filter(tenant=tenant).annotate(
        live_keys=Count("keys", filter=live)
    )


def service_account_detail(
    tenant: Tenant, account_id: str, *, locked: bool = False
) -> dict[str, Any]:
    """Raises NotFound."""
    if locked:  # the statement that counts keys cannot lock
        ServiceAccount.objects.select_for_update().filter(tenant=tenant, pk=account_id).first()
    found = service_accounts(tenant).filter(pk=account_id).first()
    if found is None:
        raise NotFound("Service account not found.")
    return service_account_dict(found)


def service_account_dict(account: Any) -> dict[str, Any]:
    """Of a row of `service_accounts()`."""
    shown = {
        "id": account.id,
        "name": account.name,
        "description": account.description,
        "disabled": account.disabled_at is not None,
        "disabled_at": iso(account.disabled_at),
        "live_keys": account.live_keys,
        "created_by": account.created_by,
        "created_at": iso(account.created_at),
    }
    return with_tag(shown, observed=("live_keys",))


def live_keys_made_by(tenant: Tenant, username: str) -> list[str]:
    """Names of the tenant's keys that a user made, neither revoked nor over."""
    now = timezone.now()
    makers = User.objects.filter(username=username).values("pk")
    # Rows of before makers were kept hold the name alone.
    made = Q(maker_id__in=makers) | Q(maker_id=None, created_by=f"user:{username}")
    kept = ApiKey.objects.filter(made, tenant=tenant, revoked_at=None)
    live = kept.filter(Q(expires_at=None) | Q(expires_at__gt=now))
    return list(live.order_by("pk").values_list("name", flat=True))


# -- hosts --------------------------------------------------------------------------------------
def host_details() -> list[dict[str, Any]]:
    """Every host with what runs on it, as the agents report and as it should be.

    A part that ZooKeeper did not answer is null, not none.
    """
    found = host_rows()
    drained = {row.host_id: row for row in DrainedHost.objects.all()}
    brokers = brokers_on([host.host_id for host in found])
    reports = observed_brokers(
        (host_id, row["key"]) for host_id, rows in brokers.items() for row in rows
    )
    return [
        {
            **host_dict(host, drained=host.host_id in drained),
            "alive_since": iso_of_ms(host.alive_since_ms),
            "described_at": iso_of_ms(host.described_at_ms),
            "drained_by": drained[host.host_id].by if host.host_id in drained else None,
            "broker_list": [_broker(row, reports, host.host_id) for row in brokers[host.host_id]],
            FIELD: host_tag(host.host_id, drained.get(host.host_id)),
        }
        for host in found
    ]


def host_tag(host_id: str, drained: DrainedHost | None) -> str:
    """Of what operators decide about a host; the rest is its agent's word."""
    since = None if drained is None else iso(drained.since)
    return tag_of({"host_id": host_id, "drained_since": since})


def host_detail(host_id: str) -> dict[str, Any]:
    for row in host_details():
        if row["host_id"] == host_id:
            return row
    raise NotFound("Host not found.")


def brokers_on(host_ids: Iterable[str]) -> defaultdict[str, list[dict[str, Any]]]:
    """What should run on each host: broker, cluster, tenant."""
    rows = Broker.objects.filter(host_id__in=list(host_ids)).select_related("cluster__tenant")
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.order_by("cluster_id", "broker_id"):
        found[row.host_id].append(
            {
                "key": row.key,
                "broker_id": row.broker_id,
                "cluster": row.cluster.name,
                "cluster_id": row.cluster_id,
                "tenant": row.cluster.tenant.slug,
            }
        )
    return found


def _broker(row: dict[str, Any], reports: Any, host_id: str) -> dict[str, Any]:
    shown = {name: value for name, value in row.items() if name != "key"}
    report = reports.get((host_id, row["key"])) if reports is not None else None
    return {
        **shown,
        "observed_state": report.state if report is not None else None,
        "observed_at": iso_of_ms(report.reported_at_ms) if report is not None else None,
    }
