"""Tokens by which a host joins, once: made by operators, exchanged by the host for its keys.

A token opens one thing: the name that it was made for, in the ensemble that it was made for. Only a
hash is kept. Who of two comes second is refused, by compare-and-set of the row; what a host was
given is shown to nobody else.
"""

import hmac
import logging
import re
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.admission import admit_by_token
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import JoinToken
from controlplane.clusters.sealing import host_keys
from controlplane.common.holds import hold
from controlplane.common.problems import Conflict, Gone, NotFound, Unavailable
from controlplane.common.times import iso
from controlplane.tenants.authentication import secret_hash
from controlplane.tenants.services import new_secret
from zookeeper_access.settings import AccessError

log = logging.getLogger(__name__)

PREFIX = "psj_"
TOKENS_OPEN_MAX = 100
_TOKEN = re.compile(r"psj_[0-9a-f]{8}_[A-Za-z0-9_-]{20,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """`text` is shown this once."""

    row: JoinToken
    text: str


def ensemble_now() -> str:
    """Which ensemble hosts join: eight digits that its connect string comes to."""
    return sha256(settings.ZOOKEEPER.encode()).hexdigest()[:8]


@transaction.atomic
def token_make(*, host_id: str, actor: Actor, lifetime_s: int, note: str = "") -> MadeToken:
    """A token for one host; those given for the same name before end. Raises Conflict."""
    hold("host-tokens")
    open_rows = JoinToken.objects.filter(
        used_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )
    open_rows.filter(host_id=host_id).update(revoked_at=timezone.now())
    if open_rows.count() >= TOKENS_OPEN_MAX:
        raise Conflict(f"There are {TOKENS_OPEN_MAX} open tokens.", code="too-many")
    _, secret = new_secret()
    ensemble = ensemble_now()
    text = f"{PREFIX}{ensemble}_{secret}"
    row = JoinToken.objects.create(
        host_id=host_id,
        token_hash=secret_hash(text),
        ensemble=ensemble,
        note=note,
        created_by=actor.name,
        expires_at=timezone.now() + timedelta(seconds=lifetime_s),
    )
    _record(row, actor, "host.token", expires_at=iso(row.expires_at))
    return MadeToken(row=row, text=text)


def token_row(token_id: str, *, locked: bool = False) -> JoinToken:
    """Raises NotFound."""
    rows = JoinToken.objects.select_for_update() if locked else JoinToken.objects.all()
    row = rows.filter(pk=token_id).first()
    if row is None:
        raise NotFound("Token not found.")
    return row


@transaction.atomic
def token_revoke(*, token_id: str, actor: Actor) -> None:
    """Raises NotFound also for one that was used or revoked already."""
    row = token_row(token_id, locked=True)
    if row.used_at or row.revoked_at:
        raise NotFound("Token not found.")
    JoinToken.objects.filter(pk=token_id).update(revoked_at=timezone.now())
    _record(row, actor, "host.token_revoke")


@transaction.atomic
def host_join(*, token: str, actor: Actor) -> dict[str, Any]:
    """What the host needs to start its agent, for a token that is good, and the token's end.

    Nothing is spent when it fails: the row changes together with what the host is given. A web
    process that is killed after ZooKeeper has admitted the host leaves a login that nobody has;
    the token is still good and makes another one.

    Raises:
        NotFound: no such token.
        Gone: it was used or revoked, or its time is over.
        Conflict: it is of another ensemble, or an agent of that name lives.
        Unavailable: ZooKeeper is away, or this service cannot admit hosts.
    """
    row = _found(token)
    hold(f"host/{row.host_id}")
    taken = JoinToken.objects.filter(
        pk=row.pk, used_at=None, revoked_at=None, expires_at__gt=timezone.now()
    ).update(used_at=timezone.now(), used_from=actor.remote_address[:64])
    if not taken:
        raise Gone("The token was used or revoked, or its time is over: ask for another one.")
    if row.ensemble != ensemble_now():
        raise Conflict("The token is of another ensemble than this one.", code="other-ensemble")
    try:
        if any(host.host_id == row.host_id and host.alive for host in hosts().hosts()):
            raise Conflict(f"An agent of {row.host_id} lives already.", code="host-alive")
        login = admit_by_token(row.host_id)
    except HostsUnavailableError as error:
        raise Unavailable(f"ZooKeeper: {error}", code="zookeeper-away") from error
    except AccessError as error:
        log.warning("%s cannot be admitted: %s", row.host_id, error)
        raise Unavailable(
            "Hosts cannot join here: PENSTOCK_ZOOKEEPER_CONFIG or PENSTOCK_ZOOKEEPER_AGENT_CONFIG"
            " of the control plane cannot be used. Its log says why.",
            code="cannot-admit",
        ) from error
    found = {
        "host_id": row.host_id,
        "ensemble": row.ensemble,
        "zookeeper": settings.ZOOKEEPER,
        "zookeeper_settings": login,
        "keys": list(host_keys(row.host_id)),
    }
    _record(row, actor, "host.join")
    return found


def _found(token: str) -> JoinToken:
    if not _TOKEN.fullmatch(token):
        raise NotFound("No such token.")
    row = JoinToken.objects.filter(token_hash=secret_hash(token)).first()
    if row is None or not hmac.compare_digest(row.token_hash, secret_hash(token)):
        raise NotFound("No such token.")
    return row


def _record(row: JoinToken, actor: Actor, action: str, **data: Any) -> None:
    audit_record(
        tenant_id="",
        actor=actor,
        action=action,
        resource=f"host/{row.host_id}",
        data={"id": row.pk, "note": row.note, **data},
    )
