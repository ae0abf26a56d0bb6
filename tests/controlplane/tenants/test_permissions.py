"""Every address × who asks: nobody 401, a stranger 404, a viewer's write 403, an owner served.

A new address without a row here fails `test_every_address_has_a_row`.
"""

import pytest
from django.urls import get_resolver
from rest_framework.test import APIClient

from tests.controlplane.kind_plans import rolling
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.support import client_for, operator_client, tenant_make

MASK = {"topics": {"match": "any", "name": ""}, "part": "value", "path": "a.b", "act": "hash"}
# method, address, body, an owner's answer, tenant-wide (no foreign id in the address)
HOST_LOSS = {"plan_hash": "of another day", "confirm": "host-gone"}
TABLE = [
    ("get", "/me", None, 200, True),
    ("get", "/tenants", None, 200, True),
    ("get", "/api-keys", None, 200, True),
    ("post", "/api-keys", {"name": "ci"}, 201, True),
    ("delete", "/api-keys/{key}", None, 204, False),
    ("get", "/audit-events", None, 200, True),
    ("post", "/api-keys/{key}/rotation", {"overlap_s": 60}, 201, False),
    ("get", "/members", None, 200, True),
    ("put", "/members/{member}", {"role": "viewer"}, 200, False),
    ("delete", "/members/{member}", None, 200, False),
    ("get", "/invitations", None, 200, True),
    ("post", "/invitations", {"role": "viewer"}, 201, True),
    ("delete", "/invitations/{invitation}", None, 204, False),
    ("get", "/service-accounts", None, 200, True),
    ("post", "/service-accounts", {"name": "new"}, 201, True),
    (
        "put",
        "/service-accounts/{account}",
        {"description": "", "disabled": True},
        200,
        False,
    ),
    ("get", "/audit-events/export", None, 200, True),
    ("get", "/clusters", None, 200, True),
    ("post", "/clusters", {"name": "fresh"}, 201, True),
    ("get", "/clusters/{cluster}", None, 200, False),
    ("delete", "/clusters/{cluster}", None, 201, False),
    ("get", "/clusters/{cluster}/client-config", None, 200, False),
    ("get", "/clusters/{cluster}/versions", None, 200, False),
    ("get", "/clusters/{cluster}/topics", None, 200, False),
    ("get", "/clusters/{cluster}/topics/orders", None, 200, False),
    ("get", "/clusters/{cluster}/topics/orders/messages", None, 200, False),
    ("get", "/clusters/{cluster}/topics/orders/config-history", None, 200, False),
    ("get", "/clusters/{cluster}/topics/orders/messages/export", None, 200, False),
    ("post", "/clusters/{cluster}/topics/orders/messages", {"value": {"text": "v"}}, 201, False),
    ("get", "/clusters/{cluster}/schema-registry", None, 200, False),
    ("put", "/clusters/{cluster}/schema-registry", {"url": "http://r.example.org"}, 200, False),
    ("delete", "/clusters/{cluster}/schema-registry", None, 204, False),
    (
        "post",
        "/clusters/{cluster}/schema-registry/check",
        {"url": "http://r.example.invalid"},
        200,
        False,
    ),
    ("get", "/message-masks", None, 200, True),
    ("post", "/message-masks", MASK, 201, True),
    ("get", "/message-masks/{mask}", None, 200, False),
    ("put", "/message-masks/{mask}", MASK, 200, False),
    ("delete", "/message-masks/{mask}", None, 204, False),
    ("get", "/clusters/{cluster}/users", None, 200, False),
    ("get", "/clusters/{cluster}/users/{kafka_user}/client-config", None, 200, False),
    ("get", "/clusters/{cluster}/overlaps", None, 200, False),
    ("get", "/clusters/{cluster}/acls", None, 200, False),
    ("get", "/clusters/{cluster}/quotas", None, 200, False),
    ("get", "/clusters/{cluster}/healing", None, 200, False),
    ("put", "/clusters/{cluster}/healing", {"mode": "ask"}, 200, False),
    ("post", "/clusters/{cluster}/healing/cases/{healing_case}/dismissal", None, 200, False),
    ("get", "/clusters/{cluster}/rebalance-schedule", None, 200, False),
    ("put", "/clusters/{cluster}/rebalance-schedule", {"enabled": True}, 200, False),
    ("get", "/clusters/{cluster}/access/drift", None, 200, False),
    ("get", "/clusters/{cluster}/drift", None, 200, False),
    ("get", "/clusters/{cluster}/brokers/1/log", None, 200, False),
    ("get", "/clusters/{cluster}/topics/orders/partitions/0/segments", None, 200, False),
    ("get", "/clusters/{cluster}/groups", None, 200, False),
    ("get", "/clusters/{cluster}/groups/readers", None, 200, False),
    ("get", "/clusters/{cluster}/reassignments", None, 200, False),
    (
        "post",
        "/plans",
        {"kind": "topic.create", "cluster_id": "{cluster}", "inputs": {"name": "new"}},
        201,
        False,
    ),
    ("get", "/plans/{plan}", None, 200, False),
    ("get", "/operations", None, 200, True),
    ("post", "/operations", {"plan_id": "{plan}", "plan_hash": "{hash}"}, 202, False),
    ("get", "/operations/{operation}", None, 200, False),
    ("post", "/operations/{pending}/cancellation", None, 202, False),
    ("post", "/operations/{roll}/pause", None, 202, False),
    ("post", "/operations/{roll}/resumption", None, 202, False),
    ("get", "/operations/{move}/moves", None, 200, False),
    ("get", "/operations/{move}/throttle", None, 200, False),
    ("post", "/operations/{move}/throttle", {"throttle_bytes_per_s": 5_000}, 200, False),
    ("post", "/operations/{operation}/undo-plan", None, 201, False),
    ("post", "/operations/{secret}/secret", None, 200, False),
    ("get", "/destinations", None, 200, True),
    (
        "post",
        "/destinations",
        {"name": "pd", "kind": "pagerduty", "secrets": {"routing_key": "k"}},
        201,
        True,
    ),
    ("get", "/destinations/{destination}", None, 200, False),
    (
        "put",
        "/destinations/{destination}",
        {
            "name": "known",
            "enabled": False,
            "min_severity": "info",
            "rules": [],
            "clusters": [],
            "send_resolved": True,
        },
        200,
        False,
    ),
    ("delete", "/destinations/{destination}", None, 204, False),
    ("post", "/destinations/{destination}/test", None, 200, False),
    ("get", "/deliveries", None, 200, True),
    ("get", "/deliveries/{delivery}", None, 200, False),
    ("post", "/deliveries/{delivery}/resend", None, 200, False),
    ("get", "/clusters/{cluster}/retention-leases", None, 200, False),
    ("get", "/runbooks", None, 200, True),
    ("get", "/runbooks/{runbook}", None, 200, True),
    (
        "post",
        "/runbooks/{runbook}/runs",
        {"cluster_id": "{cluster}", "group": "readers", "topic": "orders"},
        201,
        False,
    ),
    ("get", "/runbook-runs", None, 200, True),
    ("get", "/runbook-runs/{runbook_run}", None, 200, False),
    ("post", "/runbook-runs/{runbook_run}/checks/{check_number}", None, 201, False),
    (
        "post",
        "/runbook-runs/{runbook_run}/acts/{act_number}",
        {"inputs": {"for_s": 600}},
        201,
        False,
    ),
    ("post", "/runbook-runs/{runbook_run}/end", {"outcome": "resolved", "note": ""}, 200, False),
    ("get", "/alerts", None, 200, True),
    ("get", "/alerts/{alert}", None, 200, False),
    ("post", "/alerts/{alert}/acknowledgement", {"note": "on it"}, 200, False),
    ("get", "/alert-rules", None, 200, True),
    ("get", "/alert-overrides", None, 200, True),
    (
        "post",
        "/alert-overrides",
        {"rule": "group-falling-behind", "thresholds": {"lag_s": 120}},
        201,
        True,
    ),
    ("get", "/alert-overrides/{override}", None, 200, False),
    ("put", "/alert-overrides/{override}", {"thresholds": {}, "enabled": False}, 200, False),
    ("delete", "/alert-overrides/{override}", None, 204, False),
    ("get", "/silences", None, 200, True),
    ("post", "/silences", {"ends_at": "{silence_end}", "reason": "an upgrade"}, 201, True),
    ("get", "/silences/{silence}", None, 200, False),
    (
        "put",
        "/silences/{silence}",
        {"ends_at": "{silence_end}", "reason": "an upgrade"},
        200,
        False,
    ),
    ("delete", "/silences/{silence}", None, 204, False),
    ("get", "/timeline", None, 200, True),
    ("post", "/deployments", {"text": "shop 2.0", "cluster_id": "{cluster}"}, 201, False),
    ("get", "/deployments/{deployment}", None, 200, False),
    ("delete", "/deployments/{deployment}", None, 204, False),
    ("get", "/lag-objectives", None, 200, True),
    (
        "post",
        "/lag-objectives",
        {"group": "others", "seconds": 60, "share": 0.99},
        201,
        True,
    ),
    ("get", "/lag-objectives/{objective}", None, 200, False),
    ("put", "/lag-objectives/{objective}", {"seconds": 30, "share": 0.9}, 200, False),
    ("delete", "/lag-objectives/{objective}", None, 204, False),
]

# What only operators of the platform are served; to everybody in a tenant it is not there.
OPERATOR_TABLE = [
    ("get", "/operator/tenants", None, 200, False),
    ("post", "/operator/tenants", {"slug": "fresh", "name": "Fresh"}, 201, False),
    ("get", "/operator/tenants/{tenant}", None, 200, False),
    ("put", "/operator/tenants/{tenant}", {"name": "Acme", "state": "suspended"}, 200, False),
    (
        "post",
        "/operator/tenants/{tenant}/members",
        {"username": "nobody-yet", "role": "viewer"},
        201,
        False,
    ),
    ("get", "/operator/users", None, 200, False),
    ("post", "/operator/users", {"username": "new"}, 201, False),
    (
        "put",
        "/operator/users/{member}",
        {"email": "", "is_active": False, "is_operator": False},
        200,
        False,
    ),
    ("post", "/operator/users/{member}/link", None, 201, False),
    ("get", "/operator/hosts", None, 200, False),
    ("put", "/operator/hosts/host-1", {"state": "cordoned"}, 200, False),
    ("get", "/operator/hosts/host-1/events", None, 200, False),
    ("get", "/operator/hosts/host-1/plans/drain", None, 200, False),
    ("post", "/operator/hosts/host-gone/drain", {"paused": True}, 200, False),
    ("post", "/operator/hosts/host-gone/address", {"address": None}, 200, False),
    ("post", "/operator/hosts/host-gone/zookeeper", {"connect": None}, 200, False),
    ("post", "/operator/hosts/host-gone/loss", HOST_LOSS, 409, False),
    ("get", "/operator/placement", None, 200, False),
    ("get", "/operator/host-tokens", None, 200, False),
    ("post", "/operator/host-tokens", {"host_id": "host-9"}, 201, False),
    ("delete", "/operator/host-tokens/{host_token}", None, 204, False),
    ("delete", "/operator/hosts/host-gone", None, 204, False),
    ("get", "/operator/alerts", None, 200, False),
    ("get", "/operator/alerts/{host_alert}", None, 200, False),
    ("post", "/operator/alerts/{host_alert}/acknowledgement", {"note": "on it"}, 200, False),
    ("get", "/operator/destinations", None, 200, False),
    (
        "post",
        "/operator/destinations",
        {
            "name": "hosts",
            "kind": "webhook",
            "config": {"url": "https://hooks.example.org/hosts"},
            "secrets": {"signing_secret": "s" * 24},
        },
        201,
        False,
    ),
    ("get", "/operator/destinations/{platform_destination}", None, 200, False),
    (
        "put",
        "/operator/destinations/{platform_destination}",
        {
            "name": "other",
            "enabled": False,
            "min_severity": "info",
            "rules": [],
            "clusters": [],
            "send_resolved": True,
        },
        200,
        False,
    ),
    ("delete", "/operator/destinations/{platform_destination}", None, 204, False),
    ("post", "/operator/destinations/{platform_destination}/test", None, 200, False),
    ("get", "/operator/deliveries", None, 200, False),
    ("get", "/operator/deliveries/{platform_delivery}", None, 200, False),
    ("post", "/operator/deliveries/{platform_delivery}/resend", None, 200, False),
]


@pytest.fixture
def ids(world):
    """One of everything, and what is under way and holds a secret."""
    return {
        **world.named["ids"],
        "pending": world.start(world.plan("topic.create", name="soon")).id,
        "roll": rolling(world).id,
        "secret": world.run("user.create", username="app").id,
        "move": world.start(
            world.plan("reassignment", moves=[{"topic": "orders", "partition": 0, "replicas": [4]}])
        ).id,
    }


def call(client, row, ids):
    method, address, body, _, _ = row
    filled = None if body is None else fill(body, ids)
    return getattr(client, method)("/api/v1" + address.format(**ids), filled, format="json")


def fill(body, ids):
    return {
        key: value.format(**ids) if isinstance(value, str) else value for key, value in body.items()
    }


def name(row):
    return f"{row[0]} {row[1]}"


@pytest.mark.parametrize("row", TABLE + OPERATOR_TABLE, ids=name)
def test_nobody_is_asked_who_they_are(ids, row):
    answer = call(APIClient(), row, ids)
    assert answer.status_code == 401, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("row", [row for row in TABLE if not row[4]], ids=name)
def test_a_stranger_learns_nothing(ids, row):
    answer = call(client_for(tenant_make("rival")), row, ids)
    assert answer.status_code == 404, answer.content
    assert answer.json()["code"] == "not-found"


@pytest.mark.parametrize("row", [row for row in TABLE if row[4]], ids=name)
def test_a_non_member_has_no_tenant(ids, row):
    answer = call(client_for(tenant_make(), role=None, name="nobody"), row, ids)
    assert answer.status_code == 404, answer.content


@pytest.mark.parametrize("row", [row for row in TABLE if row[0] != "get"], ids=name)
def test_a_viewer_writes_nothing(world, ids, row):
    answer = call(client_for(world.tenant, "viewer"), row, ids)
    assert answer.status_code == 403, answer.content


@pytest.mark.parametrize("row", TABLE, ids=name)
def test_an_owner_is_served(world, ids, row):
    answer = call(client_for(world.tenant), row, ids)
    assert answer.status_code == row[3], answer.content


@pytest.mark.parametrize("row", OPERATOR_TABLE, ids=name)
def test_only_an_operator_of_the_platform_is_served_above_tenants(world, ids, row):
    clients = [
        *(client_for(world.tenant, role) for role in ("owner", "operator", "viewer")),
        key_client(world.tenant, "write"),
    ]
    for client in clients:
        answer = call(client, row, ids)
        assert answer.status_code == 404, answer.content
    answer = call(operator_client(world.tenant), row, ids)
    assert answer.status_code == row[3], answer.content


def test_operators_do_not_mint_keys(world, ids):
    client = client_for(world.tenant, "operator")
    assert client.post("/api/v1/api-keys", {"name": "x"}).status_code == 403


def test_secrets_are_not_for_viewers(world, ids):
    client = client_for(world.tenant, "viewer")
    assert client.post(f"/api/v1/operations/{ids['secret']}/secret").status_code == 403


def test_looking_takes_no_secret(world, ids):
    client = client_for(world.tenant)
    path = f"/api/v1/operations/{ids['secret']}/secret"
    for method in (client.get, client.head, client.options):
        assert method(path).status_code == 405
    assert client.post(path).json()["password"]
    assert client.post(path).status_code == 410


def test_the_tenant_header_cannot_reach_a_foreign_tenant(world, ids):
    client = client_for(tenant_make("rival"))
    answer = client.get("/api/v1/me", headers={"X-Penstock-Tenant": world.tenant.slug})
    assert answer.status_code == 404


def test_every_address_has_a_row():
    covered = {row[1].strip("/").split("?")[0] for row in TABLE + OPERATOR_TABLE}
    shapes = {pattern_of(address) for address in covered}
    missing = [
        route
        for route in api_routes()
        if route and "analytics" not in route and pattern_of(route) not in shapes
    ]
    assert missing == []


def pattern_of(address):
    parts = address.strip("/").split("/")
    fixed = {
        *("me", "tenants", "api-keys", "audit-events", "hosts", "clusters", "client-config"),
        *("topics", "users", "overlaps", "acls", "groups", "reassignments", "plans", "operations"),
        *(
            "cancellation",
            "pause",
            "resumption",
            "undo-plan",
            "secret",
            "operator",
            "members",
            "invitations",
        ),
        *("service-accounts", "rotation", "link", "retention-leases", "runbooks", "runs"),
        *("events", "loss", "placement", "host-tokens"),
        *("runbook-runs", "checks", "acts", "end", "alerts", "acknowledgement", "alert-rules"),
        *("alert-overrides", "silences", "destinations", "deliveries", "test", "resend"),
        *("lag-objectives", "timeline", "deployments", "messages", "export", "message-masks"),
        *("schema-registry", "check", "quotas"),
    }
    return tuple(part if part in fixed else "*" for part in parts)


def api_routes():
    found = []

    def walk(patterns, prefix):
        for entry in patterns:
            route = prefix + str(entry.pattern)
            if hasattr(entry, "url_patterns"):
                walk(entry.url_patterns, route)
            elif route.startswith("api/v1/") and "^" not in route:
                found.append(route.removeprefix("api/v1/"))

    walk(get_resolver().url_patterns, "")
    return [route for route in found if route != "openapi.json"]
