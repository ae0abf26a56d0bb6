"""The demo tenant and cluster, made idempotently by the ordinary services."""

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from controlplane.audit.services import SYSTEM
from controlplane.clusters.models import FAILED, RUNNING, Cluster
from controlplane.common.grants import EVERYTHING, OWNER
from controlplane.common.problems import Conflict, Problem
from controlplane.operations.models import Operation
from controlplane.operations.plans import plan_create
from controlplane.operations.selectors import operation_get
from controlplane.operations.services import operation_start
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED
from controlplane.tenants.authentication import find_key
from controlplane.tenants.models import WRITE, Tenant
from controlplane.tenants.services import api_key_create, membership_ensure, tenant_ensure

TENANT, CLUSTER, OPERATOR = "demo", "demo", "operator"
# Its brokers and its clients are on this machine, and never meet a network.
LISTENER_SECURITY = "SASL_PLAINTEXT"
CLUSTER_CONFIG = {"offsets.topic.num.partitions": "8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAccess:
    """The account and key of the demo, kept in a file that only its owner reads."""

    username: str
    password: str
    tenant: str
    api_key: str


def bootstrap() -> DemoAccess:
    """The operator, the tenant, the membership and a key; the same ones on every run."""
    kept = _read_kept()
    tenant = tenant_ensure(slug=TENANT, name="Demo")
    user, made = User.objects.get_or_create(username=OPERATOR, defaults={"is_staff": True})
    password = kept.get("password") or secrets.token_urlsafe(12)
    if made or not kept.get("password"):
        # A lost file means a lost password: set the one that we are about to write down.
        user.set_password(password)
        user.save()
    membership_ensure(tenant=tenant, user=user, role=OWNER)
    api_key = kept.get("api_key", "")
    if find_key(api_key) is None:
        _, api_key = api_key_create(tenant=tenant, name="demo", scope=WRITE, actor=SYSTEM)
    access = DemoAccess(username=OPERATOR, password=password, tenant=TENANT, api_key=api_key)
    write_private(_kept_path(), asdict(access))
    return access


def provision(
    *, brokers: int, progress: Callable[[str], None], wait: Callable[[Operation], bool]
) -> Cluster:
    """The cluster `demo`, RUNNING. An operation under way is waited for, not doubled.

    `wait` pauses; it answers False to give up.
    """
    tenant = Tenant.objects.get(slug=TENANT)
    cluster = Cluster.objects.filter(tenant=tenant, name=CLUSTER, deleted_at=None).first()
    if cluster is not None and cluster.phase == RUNNING:
        return cluster
    operation = _operation_for(tenant, cluster, brokers)
    finished = follow(tenant, operation, progress=progress, wait=wait)
    if finished["state"] != SUCCEEDED:
        raise Conflict(failure_text(finished), code="demo-failed")
    return Cluster.objects.get(pk=finished["cluster_id"])


def follow(
    tenant: Tenant,
    operation: Operation,
    *,
    progress: Callable[[str], None],
    wait: Callable[[Operation], bool],
) -> dict[str, Any]:
    """Report each change until the operation ends."""
    last = ""
    while True:
        shown = operation_get(tenant, EVERYTHING, operation.id)
        line = _line(shown)
        if line != last:
            progress(line)
            last = line
        if shown["state"] not in ACTIVE_STATES:
            return shown
        if not wait(operation):
            raise Problem(f"gave up waiting: {line}", code="demo-timeout", status=504)


def failure_text(shown: dict[str, Any]) -> str:
    error = shown["error"] or {}
    tail = "\n".join(error.get("log_tail", []))
    return f"{shown['kind']} ended as {shown['state']}: {error.get('detail', '')}\n{tail}".strip()


def write_private(path: Path, values: dict[str, Any]) -> None:
    """JSON that only the owner can read, replaced in one move."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(values, indent=1))
    draft.replace(path)


def _operation_for(tenant: Tenant, cluster: Cluster | None, brokers: int) -> Operation:
    running = Operation.objects.filter(
        tenant=tenant, kind="cluster.create", state__in=ACTIVE_STATES
    )
    under_way = running.filter(cluster_id=cluster.id).first() if cluster else None
    if under_way is not None:
        return under_way
    if cluster is not None:
        raise Conflict(
            f"The cluster {CLUSTER} is {cluster.phase}; delete it first"
            if cluster.phase == FAILED
            else f"The cluster {CLUSTER} is {cluster.phase}.",
            code="demo-failed",
        )
    plan = plan_create(
        tenant=tenant,
        actor=SYSTEM,
        kind_name="cluster.create",
        cluster_id=None,
        inputs={
            "name": CLUSTER,
            "broker_count": brokers,
            "config": CLUSTER_CONFIG,
            "listener_security": LISTENER_SECURITY,
        },
    )
    return operation_start(
        tenant=tenant, actor=SYSTEM, plan_id=plan.id, plan_hash=plan.plan_hash, reason="demo"
    )


def _line(shown: dict[str, Any]) -> str:
    for step in shown["steps"]:
        if step["state"] == "running":
            return f"{step['title']}: {step['detail']}" if step["detail"] else step["title"]
    return str(shown["state"])


def _kept_path() -> Path:
    return Path(settings.DATA_DIR) / "demo-access.json"


def _read_kept() -> dict[str, str]:
    try:
        kept: dict[str, str] = json.loads(_kept_path().read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return kept
