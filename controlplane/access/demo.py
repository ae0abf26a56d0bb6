"""The demo client's user and ACLs, made idempotently by an ordinary operation."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings

from controlplane.audit.services import SYSTEM
from controlplane.clusters.connections import gateway_for
from controlplane.clusters.demo import CLUSTER, TENANT, failure_text, follow, write_private
from controlplane.clusters.logins import OF_NEW_USERS
from controlplane.clusters.models import RUNNING, Cluster
from controlplane.common.problems import Conflict, NotFound
from controlplane.operations.models import Operation
from controlplane.operations.plans import plan_create
from controlplane.operations.services import operation_start, secret_take
from controlplane.operations.states import SUCCEEDED
from controlplane.tenants.models import Tenant

USERNAME, MECHANISM = "demo-app", OF_NEW_USERS
Wait = Callable[[Operation], bool]


def credentials(*, wait: Wait) -> dict[str, str]:
    """A client's whole configuration; the password is kept in a private file after its one
    showing. A user whose file is lost gets a new password.
    """
    tenant = Tenant.objects.get(slug=TENANT)
    cluster = Cluster.objects.filter(
        tenant=tenant, name=CLUSTER, deleted_at=None, phase=RUNNING
    ).first()
    if cluster is None:
        raise NotFound("The demo cluster is not running; provision it first.")
    path = Path(settings.DATA_DIR) / "demo-client.json"
    kept = _kept(path)
    exists = any(user.username == USERNAME for user in gateway_for(cluster).list_users())
    if exists and kept.get("cluster_id") == cluster.id:
        return kept
    kind, inputs = (
        ("user.rotate", {"username": USERNAME})
        if exists
        else (
            "user.create",
            {"username": USERNAME, "mechanism": MECHANISM, "acls": acls()},
        )
    )
    secret = _run(tenant, cluster, kind, inputs, wait)
    client = {
        "cluster_id": cluster.id,
        "bootstrap.servers": cluster.bootstrap_servers,
        "security.protocol": cluster.security_protocol,
        "sasl.mechanism": MECHANISM,
        "sasl.username": USERNAME,
        "sasl.password": secret["password"],
    }
    write_private(path, client)
    return client


def acls() -> list[dict[str, str]]:
    """Read, write and describe `demo.*`; read as any group `demo-*`."""
    common = {"principal": f"User:{USERNAME}", "host": "*", "permission": "ALLOW"}
    topic = {"resource_type": "TOPIC", "resource_name": "demo.", "pattern_type": "PREFIXED"}
    group = {"resource_type": "GROUP", "resource_name": "demo-", "pattern_type": "PREFIXED"}
    return [
        *({**common, **topic, "operation": name} for name in ("READ", "WRITE", "DESCRIBE")),
        {**common, **group, "operation": "READ"},
    ]


def _run(
    tenant: Tenant, cluster: Cluster, kind: str, inputs: dict[str, Any], wait: Wait
) -> dict[str, str]:
    plan = plan_create(
        tenant=tenant, actor=SYSTEM, kind_name=kind, cluster_id=cluster.id, inputs=inputs
    )
    operation = operation_start(
        tenant=tenant,
        actor=SYSTEM,
        plan_id=plan.id,
        plan_hash=plan.plan_hash,
        confirm=plan.confirm_phrase or "",
        reason="demo",
    )
    shown = follow(tenant, operation, progress=lambda _line: None, wait=wait)
    if shown["state"] != SUCCEEDED:
        raise Conflict(failure_text(shown), code="demo-failed")
    return secret_take(tenant=tenant, actor=SYSTEM, operation_id=operation.id)


def _kept(path: Path) -> dict[str, str]:
    try:
        kept: dict[str, str] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return kept
