"""Reads: users and ACLs from the observed tables, where they drift; passwords that overlap."""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet

from controlplane.access.decisions import templates
from controlplane.access.decisions.authorizer import (
    AuthorizerSettings,
    Question,
    hosts_with_another_verdict,
    judge,
)
from controlplane.access.decisions.matrix import Wanted
from controlplane.access.decisions.quotas import QUOTA_KEYS, Whom
from controlplane.access.decisions.words import sentence
from controlplane.access.drift import (
    ACCESS_KINDS,
    USER,
    Verified,
    desired_access,
    rule_drift,
    user_drift,
)
from controlplane.access.inputs import bindings_of
from controlplane.access.models import OPEN_STATES, PasswordOverlap
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import client_config
from controlplane.clusters.specs import ADMIN_USER, BROKER_USER
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import Forbidden, NotFound
from controlplane.common.times import iso
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import QUOTA_IP, QUOTA_USER, AclBinding, ClientQuota
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.rows import acl_key
from controlplane.observed.sections import ACLS, QUOTAS, USERS
from controlplane.observed.selectors import (
    Section,
    asked_now,
    reason_alone,
    rows_of,
    rows_to_cut,
    section,
    shown,
)
from controlplane.observed.services import observed_row, observed_section
from controlplane.observed.sightings import Drifted, told
from controlplane.operations.selectors import verified

SERVICE_USERS = frozenset({ADMIN_USER, BROKER_USER})
KEYS_A_STATEMENT = 500
HIDDEN = "The brokers do not show what they are."


def user_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; `managed` marks those that the service itself needs."""
    found = shown(row, at)
    return {**found, "managed": found["username"] in SERVICE_USERS}


def access_drift(reader: Reader) -> dict[str, Any]:
    """{data, users, acls, under_way}: what drifts since when and by whom, and how each section was
    last read.

    Of a section that was never read nothing is claimed: its age is null then, with the reason; nor
    of what the operations `under_way` may be about to change.

    Raises:
        Forbidden: the reader does not see users and rules.
    """
    found = access_compared(reader)
    drifted = [
        Drifted(
            area=row["area"],
            name=row["name"],
            field="",
            row=row,
            as_of=found["users" if row["area"] == USER else "acls"]["as_of"],
        )
        for row in found["data"]
    ]
    said = told(reader, drifted)
    rows = zip(found["data"], said.rows, strict=True)
    data = [{**row, **since} for row, since in rows if since is not None]
    return {**found, "data": data, "under_way": list(said.under_way)}


def access_compared(reader: Reader) -> dict[str, Any]:
    """{data, users, acls} as it is worked out from operations alone.

    Raises:
        Forbidden: the reader does not see users and rules.
    """
    at_users, at_rules = section(reader, USERS), section(reader, ACLS)
    columns = ("pk", "kind", "plan__inputs", "plan__diff", "plan__preconditions")
    rows = verified(reader.cluster_id, ACCESS_KINDS).values_list(*columns)
    desired = desired_access(
        Verified(id=pk, kind=kind, inputs=inputs, diff=diff, preconditions=preconditions)
        for pk, kind, inputs, diff, preconditions in rows.iterator(chunk_size=1_000)
    )
    found = []
    if at_users.as_of is not None:
        users = _rows_at(reader, USERS, desired.users)
        seen = {user["username"]: user["mechanisms"] for user in users}
        found += user_drift(desired.users, seen)
    if at_rules.as_of is not None:
        rules = bindings_of(_rows_at(reader, ACLS, [acl_key(rule) for rule in desired.rules]))
        found += rule_drift(desired.rules, set(rules))
    return {"data": found, "users": at_users.as_row(), "acls": at_rules.as_row()}


def _rows_at(reader: Reader, name: str, keys: Collection[str]) -> list[dict[str, Any]]:
    """What is observed of these alone, in a number of statements that grows by 500 keys."""
    rows, every = rows_to_cut(reader, name), sorted(keys)
    return [
        row
        for start in range(0, len(every), KEYS_A_STATEMENT)
        for row in rows.filter(key__in=every[start : start + KEYS_A_STATEMENT]).values_list(
            "row", flat=True
        )
    ]


def acl_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    return shown(row, at)


def observed_rules(reader: Reader) -> tuple[list[AclBinding], Section]:
    """Every rule as it was last observed, and when that was; never read, they are read now.

    Raises:
        Forbidden: the reader does not see rules.
        Problem: they were never read, and cannot be.
    """
    at = observed_section(reader, ACLS)
    return bindings_of([row.row for row in rows_of(reader, ACLS)]), at


def wanted_rules(rules: list[AclBinding], wanted: Wanted) -> list[AclBinding]:
    return [rule for rule in rules if wanted.fits(rule)]


def access_decision(
    reader: Reader,
    question: Question,
    settings: dict[int, AuthorizerSettings],
    settings_unknown: str,
) -> dict[str, Any]:
    """The verdict on the rules as observed and the brokers' settings as just read, with its reason.

    Without an authorizer anywhere no rule is needed, nor there to be read.

    Raises:
        Forbidden, Problem: as `observed_rules`.
    """
    reader.require(ACLS)
    at = section(reader, ACLS)
    rules: list[AclBinding] = []
    if not settings or any(each.is_enabled is not False for each in settings.values()):
        rules, at = observed_rules(reader)
    found = judge(question, rules, settings)
    return {
        **asdict(question),
        "verdict": found.verdict.value,
        "reason": found.reason.value,
        "text": sentence(question, found),
        "deciding": [asdict(rule) for rule in found.deciding],
        "missing": [asdict(rule) for rule in found.missing],
        "templates": templates.granting(question.resource_type, question.operation),
        "unknown": list(found.unknown),
        "unknown_reason": settings_unknown or (HIDDEN if found.unknown else None),
        "by_broker": [
            {"broker": broker, "verdict": verdict.value} for broker, verdict in found.by_broker
        ],
        "other_hosts": hosts_with_another_verdict(question, rules, settings, found.verdict),
        "acls": at.as_row(),
    }


def rules_about_topic(reader: Reader, at: Section, topic: str) -> list[dict[str, Any]]:
    """Rows of the ACLs that cover the topic: by its name, by a prefix, by every name.

    Raises:
        Forbidden: rules are seen with a role on the whole cluster.
    """
    return [
        acl_row(row, at)
        for row in rows_of(reader, ACLS)
        if bindings_of([row.row])[0].covers("TOPIC", topic)
    ]


def user_client_config(reader: Reader, cluster: Cluster, username: str) -> dict[str, Any]:
    """What a client of this user sets, with the mechanism of its newest password.

    It needs no broker's answer: of the user it is as of when users were last read (`observed`).

    Raises:
        Forbidden: the reader sees a part of the cluster.
        NotFound: the cluster has no such user.
        Problem: nothing is known of the user, and the cluster cannot be asked.
    """
    reader.require(USERS)
    found = observed_row(reader, USERS, username)
    if found is None:
        raise NotFound(f"There is no user {username}.")
    user = user_row(*found)
    mechanisms = sorted(user["mechanisms"])
    standing = open_overlap(cluster.pk, username)
    newest = standing.new_mechanism if standing else mechanisms[-1]
    first = newest if newest in mechanisms else mechanisms[-1]
    ordered = sorted(mechanisms, key=lambda mechanism: mechanism != first)
    config = client_config(cluster, username=username, mechanisms=ordered)
    at = {"as_of": user["as_of"], "stale_reason": reason_alone(*found)}
    return {**config, "observed": at}


def quota_list(reader: Reader, gateway: ClusterGateway) -> dict[str, Any]:
    """{data, observed}: as brokers say it now, or while they do not, as they were last read.

    Raises:
        Forbidden: the reader sees a part of the cluster.
        GatewayError: the brokers refuse, or do not answer and never have.
    """
    try:
        return {"data": quota_rows(gateway), "observed": asked_now()}
    except GatewayError as error:
        at = section(reader, QUOTAS).aside_from(error, sees_whole=reader.sees_whole)
        return {"data": kept_quotas(reader), "observed": at.as_row()}


def quota_rows(gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Every entity with a quota, as brokers say it now: users first.

    Raises:
        Forbidden: the gateway is that of a reader of a part.
        GatewayError: the brokers do not say.
    """
    return [_quota_row(quota) for quota in gateway.list_quotas()]


def kept_quotas(reader: Reader) -> list[dict[str, Any]]:
    """The same as they were last read, in the order in which brokers have them.

    Raises:
        Forbidden: the reader sees a part of the cluster.
    """
    found = [
        ClientQuota(
            entity=tuple((kind, name) for kind, name in row.row["entity"]), values=row.row["values"]
        )
        for row in rows_of(reader, QUOTAS)
    ]
    in_order = sorted(
        found, key=lambda each: [(kind, name is not None, name or "") for kind, name in each.entity]
    )
    return [_quota_row(quota) for quota in in_order]


def _quota_row(quota: ClientQuota) -> dict[str, Any]:
    return {
        "entity": [{"type": kind, "name": name} for kind, name in quota.entity],
        "words": _quota_words(quota),
        "quotas": {key: quota.values.get(key) for key in QUOTA_KEYS},
        "managed": any(
            kind == QUOTA_IP or (kind == QUOTA_USER and name in SERVICE_USERS)
            for kind, name in quota.entity
        ),
    }


def _quota_words(quota: ClientQuota) -> str:
    names = dict(quota.entity)
    if QUOTA_IP in names:
        return f"address {names[QUOTA_IP]}" if names[QUOTA_IP] else "every address"
    return Whom(quota.entity).words


def open_overlaps(cluster_id: str | None) -> QuerySet[PasswordOverlap]:
    return PasswordOverlap.objects.filter(cluster_id=cluster_id, state__in=OPEN_STATES)


def open_overlap(cluster_id: str | None, username: str) -> PasswordOverlap | None:
    return open_overlaps(cluster_id).filter(username=username).first()


def overlap_list(
    cluster: Cluster, scope: Scope, users: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Those that are open, of all users or of these, for whoever may see the cluster's users.

    Raises:
        Forbidden: the scope covers a part of the cluster only.
    """
    if not scope.sees(Area.ACCESS, cluster.name):
        raise Forbidden("Users are seen with a role on the whole cluster.")
    rows = open_overlaps(cluster.pk).order_by("username")
    if users is not None:
        rows = rows.filter(username__in=users)
    return [overlap_dict(row) for row in rows]


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
