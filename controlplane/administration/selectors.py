"""Reads: tenants and what remains of them, members, users, accounts, invitations, hosts."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from controlplane.administration.zookeeper_shown import host_zookeeper, own_tree, started_with
from controlplane.audit.models import AuditEvent
from controlplane.clusters.candidates import candidates, host_states
from controlplane.clusters.described import Host
from controlplane.clusters.host_states import ACTIVE
from controlplane.clusters.models import Broker, Cluster, HostState, JoinToken, LostBroker
from controlplane.clusters.placing import (
    STALE_S,
    Candidate,
    NoCapacityError,
    place,
    refusal,
)
from controlplane.clusters.selectors import host_rows, observed_brokers
from controlplane.common.etags import FIELD, tag_of, with_tag
from controlplane.common.grants import OWNER
from controlplane.common.problems import NotFound
from controlplane.common.said import Said, named_by
from controlplane.common.times import iso, iso_of_ms
from controlplane.healing.selectors import address_changes, drains, zookeeper_changes
from controlplane.operations.models import Operation, Plan
from controlplane.operations.states import ACTIVE_STATES
from controlplane.tenants.models import (
    ApiKey,
    Invitation,
    Membership,
    ServiceAccount,
    Tenant,
)

REMAINS_SHOWN = 100
PLACING_KINDS = ("cluster.create", "cluster.add_brokers", "cluster.replace_broker")
"""Kinds whose plans say why brokers go where they go."""


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
def host_row(host_id: str) -> Host:
    """As its agent describes it. Raises NotFound, or Unavailable while ZooKeeper is away."""
    for host in host_rows():
        if host.host_id == host_id:
            return host
    raise NotFound("Host not found.")


def host_details() -> list[dict[str, Any]]:
    """Every host with what runs on it, as the agents report and as it should be.

    A part that ZooKeeper did not answer is null, not none.
    """
    return _shown_hosts(host_rows())


def host_detail(host_id: str) -> dict[str, Any]:
    (row,) = _shown_hosts([host_row(host_id)])
    return row


def _shown_hosts(found: list[Host]) -> list[dict[str, Any]]:
    places = {each.host_id: each for each in candidates(found)}
    states = host_states()
    brokers = brokers_on([host.host_id for host in found])
    lost = lost_on([host.host_id for host in found])
    drained = drains([host.host_id for host in found])
    followed = address_changes([host.host_id for host in found])
    moved = zookeeper_changes([host.host_id for host in found])
    reports = observed_brokers(
        (host_id, row["key"]) for host_id, rows in brokers.items() for row in rows
    )
    tree = own_tree() if found else None
    return [
        {
            **_described(host, places[host.host_id]),
            "zookeeper": host_zookeeper(host, brokers[host.host_id], tree),
            **_decided(states.get(host.host_id)),
            "brokers": len(brokers[host.host_id]),
            "broker_list": [_broker(row, reports, host.host_id) for row in brokers[host.host_id]],
            "lost_brokers": lost[host.host_id],
            "drain": drained.get(host.host_id),
            "address_change": followed.get(host.host_id),
            "zookeeper_change": moved.get(host.host_id),
            FIELD: host_tag(host.host_id, states.get(host.host_id)),
        }
        for host in found
    ]


def _described(host: Host, place: Candidate) -> dict[str, Any]:
    why = refusal(place, disk_min_bytes=settings.BROKER_DISK_MIN_BYTES)
    return {
        "host_id": host.host_id,
        "rack": host.rack,
        "address": host.address,
        "port_range": [host.port_first, host.port_last],
        "agent_version": host.agent_version,
        "directory_id": host.directory_id,
        "labels": [{"key": key, "value": value} for key, value in host.labels],
        "alive": host.alive,
        "alive_since": iso_of_ms(host.alive_since_ms),
        "described_at": iso_of_ms(host.described_at_ms),
        "capacity": _capacity(place),
        "takes_brokers": why is None,
        **named_by("takes_none_because", None if why is None else why.said),
    }


def _capacity(place: Candidate) -> dict[str, Any]:
    found, age_s = place.capacity, place.capacity_age_s
    return {
        "disk_total_bytes": found.disk_total_bytes,
        "disk_free_bytes": found.disk_free_bytes,
        "memory_total_bytes": found.memory_total_bytes,
        "memory_free_bytes": found.memory_free_bytes,
        "cores": found.cores,
        "load": found.load,
        "ports": place.port_last - place.port_first + 1,
        "ports_free": len(place.free_ports) if found.ports_busy is not None else None,
        "directories": [
            {
                "name": each.name,
                "path": each.path,
                "total_bytes": each.total_bytes,
                "free_bytes": each.free_bytes,
                "volume": each.volume or None,
                "problem": each.problem or None,
            }
            for each in found.directories
        ],
        "reported_at": iso_of_ms(found.reported_at_ms),
        "age_s": None if age_s is None else round(age_s, 1),
        "is_stale": age_s is not None and age_s > STALE_S,
        "problem": found.problem or None,
    }


def _decided(row: HostState | None) -> dict[str, Any]:
    return {
        "state": ACTIVE if row is None else row.state,
        "state_since": None if row is None else iso(row.since),
        "state_by": None if row is None else row.by,
        "state_reason": None if row is None else row.reason or None,
    }


def host_tag(host_id: str, decided: HostState | None) -> str:
    """Of what operators decide about a host; the rest is its agent's word."""
    row = None if decided is None else [decided.state, iso(decided.since)]
    return tag_of({"host_id": host_id, "decided": row})


def lost_on(host_ids: Iterable[str]) -> defaultdict[str, list[dict[str, Any]]]:
    """Brokers that counted as lost with each host, and whether ZooKeeper has been told."""
    rows = LostBroker.objects.filter(host_id__in=list(host_ids)).select_related("cluster__tenant")
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.order_by("cluster_id", "broker_id"):
        found[row.host_id].append(
            {
                "broker_id": row.broker_id,
                "cluster": row.cluster.name,
                "cluster_id": row.cluster_id,
                "tenant": row.cluster.tenant.slug,
                "declared_at": iso(row.declared_at),
                "declared_by": row.declared_by,
                "fenced_at": iso(row.fenced_at),
                "directory_ids": row.directory_ids,
            }
        )
    return found


def host_events(host_id: str) -> QuerySet[AuditEvent]:
    """What was done about the host, under this name, also of one that is gone.

    Raises NotFound for a name that nobody ever had, Unavailable when only ZooKeeper could say so.
    """
    found = AuditEvent.objects.filter(tenant_id="", resource=f"host/{host_id}")
    if not found.exists():
        host_row(host_id)
    return found


def plan_placement(plan_id: str) -> dict[str, Any]:
    """Why the brokers of a plan of any tenant went where they went. Raises NotFound."""
    plan = Plan.objects.filter(pk=plan_id, kind__in=PLACING_KINDS).first()
    if plan is None or "explained" not in plan.preconditions:
        raise NotFound("There is no plan that places brokers with this id.")
    why = plan.preconditions["explained"]
    placed = plan.preconditions["placement"]
    return {
        "fits": len(placed),
        "wanted": len(placed),
        "placed": [
            {name: row[name] for name in ("broker_id", "host_id", "rack")}
            | _kept_reason(why, str(row["broker_id"]))
            for row in placed
        ],
        "refused": [{"text_code": None, "params": {}, **row} for row in why["refused"]],
    }


def _kept_reason(explained: dict[str, Any], broker_id: str) -> dict[str, Any]:
    """Of a plan that is kept; one of an earlier version has its English alone."""
    said = explained.get("said", {}).get(broker_id)
    reason = explained["reasons"][broker_id]
    return named_by("reason", Said(**said) if said else None) | {"reason": reason}


def host_tokens() -> QuerySet[JoinToken]:
    return JoinToken.objects.all()


def host_token_dict(row: JoinToken) -> dict[str, Any]:
    shown = {
        "id": row.pk,
        "host_id": row.host_id,
        "note": row.note,
        "state": _token_state(row),
        "created_by": row.created_by,
        "created_at": iso(row.created_at),
        "expires_at": iso(row.expires_at),
        "used_at": iso(row.used_at),
        "used_from": row.used_from or None,
    }
    return with_tag(shown)


def _token_state(row: JoinToken) -> str:
    if row.used_at is not None:
        return "used"
    if row.revoked_at is not None:
        return "revoked"
    return "open" if row.expires_at > timezone.now() else "expired"


def placement_preview(broker_count: int) -> dict[str, Any]:
    """Where the brokers of a new cluster would go now, why, and which hosts get none.

    Raises Unavailable while ZooKeeper is away.
    """
    try:
        decision = place(
            candidates(host_rows()),
            broker_ids=range(1, broker_count + 1),
            disk_min_bytes=settings.BROKER_DISK_MIN_BYTES,
        )
    except NoCapacityError as error:
        refused = [asdict(row) for row in error.refused]
        return {"fits": error.found, "wanted": error.wanted, "placed": [], "refused": refused}
    return {
        "fits": broker_count,
        "wanted": broker_count,
        "placed": [
            {"broker_id": row.broker_id, "host_id": row.host_id, "rack": row.rack}
            | named_by("reason", decision.reasons[row.broker_id])
            for row in decision.placed
        ],
        "refused": [asdict(row) for row in decision.refused],
    }


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
                "address": row.address,
                "zookeeper": row.zookeeper,
            }
        )
    return found


def _broker(row: dict[str, Any], reports: Any, host_id: str) -> dict[str, Any]:
    shown = {name: value for name, value in row.items() if name != "key"}
    report = reports.get((host_id, row["key"])) if reports is not None else None
    return {
        **shown,
        "runs_zookeeper": started_with(report, row["cluster_id"]),
        "observed_state": report.state if report is not None else None,
        "observed_at": iso_of_ms(report.reported_at_ms) if report is not None else None,
    }
