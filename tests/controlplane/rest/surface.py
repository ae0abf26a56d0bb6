"""The REST surface as its OpenAPI document describes it, and what the tests put into its blanks.

A new operation is in every table of this directory by itself. A new path parameter or a new
body asks for one line here: `IDS` and `BODIES` are checked against the document.
"""

import functools
import json
from dataclasses import dataclass
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from tests.controlplane.kind_plans import give_hosts_a_disk, moved_ensemble, moved_hosts, use_disk

METHODS = ("get", "post", "put", "patch", "delete")
# A person's own session: signing in and out, choosing among one's tenants, the password, one-time
# links. Nobody has to be signed in for it, so it is not in these tables; tests/console has its own.
OWN_SESSION = {
    f"/console/api/{name}"
    for name in (
        *("session", "login", "logout", "tenant", "password"),
        *("invitation", "invitation/acceptance", "favourites"),
    )
}
OPERATOR_PREFIX = "/api/v1/operator/"


@dataclass(frozen=True)
class ApiOperation:
    method: str
    path: str
    parameters: tuple[str, ...]
    query: tuple[str, ...]
    has_body: bool

    def __str__(self) -> str:
        return f"{self.method} {self.path.removeprefix('/api/v1')}"

    @property
    def is_write(self) -> bool:
        return self.method != "get"

    @property
    def is_operators(self) -> bool:
        """Above tenants: to all but operators of the platform it is not there."""
        return self.path.startswith(OPERATOR_PREFIX)


@functools.cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


@functools.cache
def operations() -> tuple[ApiOperation, ...]:
    return tuple(
        ApiOperation(
            method=method,
            path=path,
            parameters=_names(spec, "path"),
            query=_names(spec, "query"),
            has_body="requestBody" in spec,
        )
        for path, methods in document()["paths"].items()
        if path not in OWN_SESSION
        for method, spec in methods.items()
        if method in METHODS
    )


def _names(spec: dict[str, Any], place: str) -> tuple[str, ...]:
    return tuple(row["name"] for row in spec.get("parameters", ()) if row["in"] == place)


# Path parameter → key of the `ids` fixture.
IDS = {
    "account_id": "account",
    "host_id": "host",
    "invitation_id": "invitation",
    "tenant_id": "tenant",
    "username": "member",
    "kafka_user": "kafka_user",
    "cluster_id": "cluster",
    "broker_id": "broker",
    "key_id": "key",
    "name": "topic",
    "partition": "partition",
    "topic": "topic",
    "group": "group",
    "operation_id": "operation",
    "reassignment_id": "move",
    "plan_id": "plan",
    "run_id": "run",
    "runbook_id": "runbook",
    "runbook_run_id": "runbook_run",
    "check_number": "check_number",
    "act_number": "act_number",
    "destination_id": "destination",
    "delivery_id": "delivery",
    "alert_id": "alert",
    "host_alert_id": "host_alert",
    "platform_destination_id": "platform_destination",
    "platform_delivery_id": "platform_delivery",
    "override_id": "override",
    "silence_id": "silence",
    "event_id": "deployment",
    "objective_id": "objective",
    "mask_id": "mask",
    "case_id": "healing_case",
    "act": "host_act",
    "token_id": "host_token",
}

# What every tenant has alike: that it is there gives nothing of anybody away.
OF_NOBODY = {"runbook_id", "act"}

# A body that is served, with ids of the `ids` fixture in braces.
BODIES: dict[str, dict[str, Any]] = {
    "post /operator/analytics/backfills": {
        "job": "hourly",
        "from": "2026-01-01T00:00:00Z",
        "to": "2026-01-01T02:00:00Z",
    },
    "post /api-keys": {
        "name": "ci",
        "scope": "read",
        "expires_at": None,
        "service_account_id": "{account}",
    },
    "post /api-keys/{key_id}/rotation": {"overlap_s": 60, "expires_at": None},
    "put /members/{username}": {"role": "viewer"},
    "post /invitations": {"role": "viewer", "note": "for Ada", "lifetime_s": 3600},
    "post /service-accounts": {"name": "new", "description": "a pipeline"},
    "put /service-accounts/{account_id}": {"description": "a pipeline", "disabled": False},
    "post /operator/tenants": {"slug": "fresh", "name": "Fresh"},
    "put /operator/tenants/{tenant_id}": {"name": "Other name", "state": "active"},
    "post /operator/tenants/{tenant_id}/members": {"username": "{nobody}", "role": "viewer"},
    "post /operator/users": {"username": "new", "email": "", "is_operator": False},
    "put /operator/users/{username}": {"email": "", "is_active": True, "is_operator": False},
    "post /operator/host-tokens": {"host_id": "host-9", "lifetime_s": 600, "note": ""},
    "put /operator/hosts/{host_id}": {"state": "cordoned"},
    "post /operator/hosts/{host_id}/drain": {"paused": True},
    "put /clusters/{cluster_id}/healing": {
        "mode": "ask",
        "replace_after_s": 600,
        "per_day_max": 1,
        "windows": [{"day": "sunday", "begins": "02:00", "minutes": 60}],
        "time_zone": "Europe/Berlin",
    },
    "put /clusters/{cluster_id}/rebalance-schedule": {
        "enabled": True,
        "threshold_percent": 30,
        "throttle_bytes_per_s": 1_000_000,
        "windows": [{"day": "sunday", "begins": "02:00", "minutes": 60}],
        "time_zone": "Europe/Berlin",
    },
    "post /operator/hosts/{host_id}/address": {"address": None},
    "post /operator/hosts/{host_id}/zookeeper": {"connect": None},
    "post /operator/hosts/{host_id}/loss": {
        "plan_hash": "{host_loss}",
        "confirm": "{host}",
    },
    "post /clusters": {
        "name": "fresh",
        "broker_count": 3,
        "config": {"num.partitions": "3"},
        "confirm": False,
    },
    "post /plans": {
        "kind": "topic.create",
        "cluster_id": "{cluster}",
        "inputs": {"name": "new"},
    },
    "post /operations": {
        "plan_id": "{plan}",
        "plan_hash": "{hash}",
        "confirm": None,
        "reason": "because",
    },
    "post /runbooks/{runbook_id}/runs": {
        "cluster_id": "{cluster}",
        "group": "readers",
        "topic": "orders",
        "broker": 1,
        "operation_id": "{operation}",
        "user": "known",
        "alert_id": "al_1",
    },
    "post /runbook-runs/{runbook_run_id}/acts/{act_number}": {"inputs": {"for_s": 600}},
    "post /runbook-runs/{runbook_run_id}/end": {"outcome": "resolved", "note": "it reads again"},
    "post /alerts/{alert_id}/acknowledgement": {"note": "on it"},
    "post /operator/alerts/{host_alert_id}/acknowledgement": {"note": "on it"},
    "post /alert-overrides": {
        "rule": "group-falling-behind",
        "cluster_id": "{cluster}",
        "thresholds": {"lag_s": 120},
    },
    "put /alert-overrides/{override_id}": {"thresholds": {}, "enabled": False},
    "post /lag-objectives": {"group": "readers", "seconds": 60.5, "share": 0.99},
    "put /lag-objectives/{objective_id}": {"seconds": 30.5, "share": 0.9},
    "post /message-masks": {
        "topics": {"match": "literal", "name": "orders"},
        "part": "value",
        "path": "customer.email",
        "act": "hash",
        "see_through": ["owner"],
        "note": "personal data",
    },
    "put /message-masks/{mask_id}": {
        "topics": {"match": "any", "name": ""},
        "part": "header",
        "path": "trace",
        "act": "remove",
        "see_through": [],
        "note": "",
    },
    "put /clusters/{cluster_id}/schema-registry": {
        "url": "https://schemas.example.org/base",
    },
    "post /clusters/{cluster_id}/schema-registry/check": {
        "url": "https://schemas.example.invalid/base",
    },
    "post /clusters/{cluster_id}/topics/{name}/messages": {
        "partition": 0,
        "key": {"format": "string", "text": "k"},
        "value": {"format": "json", "text": "{}"},
        "headers": [{"name": "h", "value": {"format": "hex", "text": "00ff"}}],
    },
    "post /silences": {
        "cluster_id": "{cluster}",
        "ends_at": "{silence_end}",
        "reason": "an upgrade",
    },
    "put /silences/{silence_id}": {"ends_at": "{silence_end}", "reason": "an upgrade"},
    "post /deployments": {"text": "shop 2.0", "cluster_id": "{cluster}", "topic": "orders"},
    "post /operations/{reassignment_id}/throttle": {"throttle_bytes_per_s": 5_000},
    "post /destinations": {
        "name": "on call",
        "kind": "webhook",
        "enabled": True,
        "min_severity": "critical",
        "rules": ["broker-down"],
        "clusters": ["{cluster}"],
        "send_resolved": False,
        "config": {"url": "https://hooks.example.org/penstock?a=b"},
        "secrets": {"signing_secret": "0123456789abcdefghijklmnop"},
    },
    "post /operator/destinations": {
        "name": "hosts on call",
        "kind": "webhook",
        "config": {"url": "https://hooks.example.org/hosts"},
        "secrets": {"signing_secret": "0123456789abcdefghijklmnop"},
    },
    "put /operator/destinations/{platform_destination_id}": {
        "name": "other",
        "enabled": False,
        "min_severity": "info",
        "rules": ["host-silent"],
        "clusters": [],
        "send_resolved": True,
    },
    "put /destinations/{destination_id}": {
        "name": "other",
        "enabled": False,
        "min_severity": "info",
        "rules": [],
        "clusters": [],
        "send_resolved": True,
    },
}

_BINDING = {
    "principal": "User:app",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "LITERAL",
}
# Kind of operation → every input it knows, such that a plan is made of it.
INPUTS: dict[str, dict[str, Any]] = {
    "cluster.create": {
        "name": "fresh",
        "broker_count": 3,
        "config": {"num.partitions": "3"},
        "listener_security": "SASL_SSL",
    },
    "cluster.register": {
        "name": "outside",
        "bootstrap_servers": "127.0.0.1:9092,127.0.0.1:9093",
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "username": "admin",
        "password": "secret",
    },
    "cluster.credentials": {
        "bootstrap_servers": "127.0.0.1:9094",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-256",
        "username": "admin",
        "password": "other",
    },
    "cluster.delete": {},
    "broker.restart": {"broker": 1},
    "cluster.configure": {"config": {"log.retention.ms": "3600000"}, "canary_s": 0},
    "cluster.replace_broker": {"broker": 1, "throttle_bytes_per_s": 50_000_000},
    "cluster.restart": {"brokers": [1], "canary_s": 0},
    "cluster.add_brokers": {"count": 2},
    "cluster.remove_brokers": {"brokers": [1]},
    "cluster.add_log_directory": {"directory": "fast", "brokers": [1], "canary_s": 0},
    "cluster.empty_log_directory": {
        "directory": "bulk",
        "brokers": [1],
        "remove": True,
        "bytes_per_s": 50_000_000,
        "canary_s": 0,
    },
    "cluster.upgrade": {"version": "0.2.0", "canary_s": 0},
    "cluster.finalize_version": {"canary_s": 0},
    "cluster.change_addresses": {"canary_s": 0},
    "cluster.change_zookeeper": {"canary_s": 0},
    "leaders.elect": {"topics": ["orders"], "broker": 1},
    "topic.create": {
        "name": "new",
        "partitions": 2,
        "replication_factor": 3,
        "configs": {"retention.ms": "1000"},
    },
    "topic.update": {"name": "orders", "configs": {"retention.ms": "1000"}, "adopt": False},
    "topic.partitions": {"name": "orders", "partitions": 9, "adopt": False},
    "topic.delete": {"name": "orders"},
    "topic.empty": {"name": "orders"},
    "topic.retention_lease": {
        "name": "orders",
        "retention_ms": 1_209_600_000,
        "for_s": 3600,
        "disk_bound_bytes": 1_000_000_000,
        "reason": "billing is behind",
    },
    "topic.retention_restore": {"name": "leased"},
    "user.create": {"username": "app", "mechanism": "SCRAM-SHA-512", "acls": [_BINDING]},
    "user.delete": {"username": "known"},
    "user.rotate": {"username": "known", "overlap_s": 0},
    "user.retire": {"username": "both", "mechanism": "SCRAM-SHA-256"},
    "acl.create": {"bindings": [_BINDING], "adopt": False},
    "acl.delete": {"bindings": [{**_BINDING, "principal": "User:known"}], "adopt": False},
    "quota.set": {
        "user": "known",
        "client_id": "etl",
        "quotas": {"producer_byte_rate": 1_048_576, "request_percentage": 50.5},
    },
    "reassignment": {
        "moves": [{"topic": "orders", "partition": 0, "replicas": [4, 3, 2]}],
        "throttle_bytes_per_s": 1_000_000,
        "batch_size": 5,
    },
    "group.delete": {"group": "readers"},
    "offset.reset": {
        "group": "readers",
        "partitions": [{"topic": "orders", "partition": 0}],
        "strategy": "offset",
        "value": 3,
    },
    "offset.restore": {
        "group": "readers",
        "partitions": [{"topic": "orders", "partition": 0, "offset": 3}],
    },
}


def address(operation: ApiOperation, ids: dict[str, str]) -> str:
    return operation.path.format(**{name: ids[IDS[name]] for name in operation.parameters})


def body(operation: ApiOperation, ids: dict[str, str]) -> Any:
    """The body that is served, blanks filled in; None for an operation without one."""
    if not operation.has_body:
        return None
    return filled(BODIES[str(operation)], ids)


def filled(value: Any, ids: dict[str, str]) -> Any:
    text = json.dumps(value)
    for name, found in ids.items():
        text = text.replace("{" + name + "}", found)
    return json.loads(text)


def send(client: Any, operation: ApiOperation, ids: dict[str, str], **more: Any) -> Any:
    """The request as it should be, or changed by `body`, `path`, `query`, `headers`."""
    content = more.get("body", body(operation, ids))
    path = more.get("path", address(operation, ids)) + more.get("query", "")
    data = None if content is None else json.dumps(content)
    return client.generic(
        operation.method.upper(),
        path,
        data or "",
        content_type="application/json",
        headers=more.get("headers", {}),
    )


def problem(answer: Any, *statuses: int) -> dict[str, Any]:
    """The answer as an RFC 9457 problem of one of `statuses` (none given: any 4xx)."""
    text = answer.content.decode(errors="replace")
    expected = statuses or range(400, 500)
    assert answer.status_code in expected, f"{answer.status_code}: {text[:600]}"
    assert answer["Content-Type"] == "application/problem+json", text[:300]
    found: dict[str, Any] = json.loads(text)
    assert found["status"] == answer.status_code
    assert found["type"].endswith("/" + found["code"])
    assert found["title"]
    assert found["request_id"] == answer["X-Request-Id"]
    assert len(found["detail"]) > 5
    assert "Traceback" not in text
    return found


def make_way(world: Any, kind: str) -> None:
    """What a plan of the kind's inputs asks of the world that nothing else in the tables does."""
    if kind == "cluster.remove_brokers":  # one that holds something is not removed
        for topic in world.gateway.topics.values():
            for part in topic.partitions:
                part.replicas = (2, 3, 4)[: len(part.replicas)]
                part.target = None
    if kind == "cluster.change_addresses":
        moved_hosts(world, "127.0.0.9")
    if kind == "cluster.change_zookeeper":
        moved_ensemble(world, "zk-9.example:2181")
    if kind == "cluster.add_log_directory":
        give_hosts_a_disk(world)
    if kind == "cluster.empty_log_directory":
        give_hosts_a_disk(world, "bulk")
        use_disk(world, 1, "orders", name="bulk")


# A kind that is not of the cluster that the service runs.
ON = {"cluster.credentials": "registered"}
