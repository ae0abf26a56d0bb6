from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.common.times import iso
from controlplane.tenants.models import ApiKey
from tests.controlplane.support import ACTOR, client_for, drive, tenant_make

API = "/api/v1"


def key_client(world, scope):
    from controlplane.tenants.services import api_key_create

    _, text = api_key_create(tenant=world.tenant, name=scope, scope=scope, actor=ACTOR)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def test_a_key_acts_for_its_tenant_within_its_scope(world):
    reader, writer = key_client(world, "read"), key_client(world, "write")
    assert reader.get(f"{API}/me").json()["tenant"]["slug"] == "acme"
    body = {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": "t"}}
    assert reader.post(f"{API}/plans", body, format="json").status_code == 403
    assert writer.post(f"{API}/plans", body, format="json").status_code == 201
    assert writer.post(f"{API}/api-keys", {"name": "more"}).status_code == 403


@pytest.mark.parametrize("token", ["psk_x_y", "psk_", "nonsense", "", "psk_a_b_c"])
def test_wrong_keys_are_401(world, token):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    assert client.get(f"{API}/me").status_code == 401


def test_a_revoked_key_is_401(world):
    owner = client_for(world.tenant)
    made = owner.post(f"{API}/api-keys", {"name": "ci", "scope": "write"}, format="json").json()
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['key']}")
    assert client.get(f"{API}/me").status_code == 200
    assert owner.delete(f"{API}/api-keys/{made['id']}").status_code == 204
    assert client.get(f"{API}/me").status_code == 401
    listed = owner.get(f"{API}/api-keys").json()["data"][0]
    assert listed["revoked_at"]
    assert "key" not in listed
    assert "secret_hash" not in listed


def test_session_writes_need_the_csrf_token(world):
    signed_in = client_for(world.tenant)
    client = APIClient(enforce_csrf_checks=True)
    client.cookies = signed_in.cookies
    assert client.get(f"{API}/me").status_code == 200
    assert client.post(f"{API}/api-keys", {"name": "x"}).status_code == 403


def test_idempotency(world):
    client = key_client(world, "write")
    plan = client.post(
        f"{API}/plans",
        {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": "t"}},
        format="json",
    ).json()
    body = {"plan_id": plan["id"], "plan_hash": plan["plan_hash"]}
    headers = {"Idempotency-Key": "once"}
    first = client.post(f"{API}/operations", body, format="json", headers=headers)
    second = client.post(f"{API}/operations", body, format="json", headers=headers)
    assert first.status_code == second.status_code == 202
    assert first.json()["id"] == second.json()["id"]
    assert second["Idempotency-Replayed"] == "true"
    assert first["Location"] == f"/api/v1/operations/{first.json()['id']}"
    other = client.post(
        f"{API}/operations", {**body, "reason": "x"}, format="json", headers=headers
    )
    assert other.status_code == 422
    without = client.post(f"{API}/operations", body, format="json")
    assert without.status_code == 409
    assert without.json()["code"] == "plan-used"


def test_a_plan_asked_for_twice_with_one_key_is_one_plan(world):
    client = key_client(world, "write")
    body = {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": "t"}}
    undo = f"{API}/operations/{world.run('topic.create', name='done').id}/undo-plan"
    for path, given in ((f"{API}/plans", body), (undo, {})):
        headers = {"Idempotency-Key": f"once for {path}"}
        first, second = (client.post(path, given, format="json", headers=headers) for _ in range(2))
        assert first.status_code == second.status_code == 201
        assert first.json() == second.json()
        assert second["Idempotency-Replayed"] == "true"
        another = client.post(path, given, format="json").json()
        assert another["id"] != first.json()["id"]


def test_a_refused_request_frees_its_key(world):
    client = key_client(world, "write")
    headers = {"Idempotency-Key": "again"}
    body = {"name": "demo", "broker_count": 3, "confirm": True}
    kept, world.hosts.known = world.hosts.known, []
    assert client.post(f"{API}/clusters", body, format="json", headers=headers).status_code == 409
    world.hosts.known = kept
    answer = client.post(f"{API}/clusters", body, format="json", headers=headers)
    assert answer.status_code == 202
    assert answer.json()["operation"]["kind"] == "cluster.create"


def test_operations_page_through_in_order(world):
    for index in range(5):
        world.run("topic.create", name=f"t{index}")
    client = client_for(world.tenant)
    seen, cursor = [], None
    while True:
        query = {"page_size": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get(f"{API}/operations", query).json()
        seen += [row["id"] for row in page["data"]]
        cursor = page["page"]["next"]
        if not page["page"]["has_more"]:
            break
    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, reverse=True)
    assert client.get(f"{API}/operations", {"cursor": "made-up"}).status_code == 422
    assert client.get(f"{API}/operations", {"page_size": "0"}).status_code == 422


def test_topics_page_by_name(world):
    for index in range(5):
        world.gateway.add_topic(f"t{index}")
    client = client_for(world.tenant)
    first = client.get(f"{API}/clusters/{world.cluster.id}/topics", {"page_size": 3}).json()
    second = client.get(
        f"{API}/clusters/{world.cluster.id}/topics",
        {"page_size": 3, "cursor": first["page"]["next"]},
    ).json()
    assert [row["name"] for row in first["data"] + second["data"]] == [f"t{i}" for i in range(5)]


@pytest.mark.parametrize(
    ("address", "bound"),
    # Of clusters: theirs, their brokers, and both as observed, by one statement each.
    [("/operations", 8), ("/clusters", 7), ("/api-keys", 5), ("/audit-events", 5)],
)
def test_lists_ask_the_database_a_fixed_number_of_times(
    world, django_assert_max_num_queries, address, bound
):
    from tests.controlplane.support import cluster_make

    for index in range(12):
        world.run("topic.create", name=f"t{index}")
        cluster_make(world.tenant, f"c{index}")
    client = client_for(world.tenant)
    with django_assert_max_num_queries(bound):
        assert client.get(API + address).status_code == 200


def test_a_cluster_that_is_away_is_503_and_retryable(world):
    world.gateway.offline = True
    answer = client_for(world.tenant).get(f"{API}/clusters/{world.cluster.id}/topics")
    assert answer.status_code == 503
    assert answer.json()["code"] == "cluster-unreachable"
    assert answer["Retry-After"]


def test_malformed_json_is_400_and_unknown_addresses_404(world):
    client = client_for(world.tenant)
    answer = client.post(f"{API}/plans", "{", content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["code"] == "malformed"
    missing = client.get(f"{API}/nothing/here")
    assert missing.status_code == 404
    assert missing["Content-Type"] == "application/problem+json"
    wrong = client.post(f"{API}/plans", {"kind": "topic.create", "inputs": 5}, format="json")
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "/inputs"
    assert wrong.json()["request_id"] == wrong["X-Request-Id"]


def test_a_platform_operator_acts_for_the_tenant_of_the_header(world):
    from django.contrib.auth.models import User

    User.objects.create(username="root", is_staff=True)
    client = client_for(tenant_make("other"), role=None, name="root")
    answer = client.get(f"{API}/me", headers={"X-Penstock-Tenant": "acme"}).json()
    assert answer["tenant"]["slug"] == "acme"
    assert {row["slug"] for row in client.get(f"{API}/tenants").json()["data"]} == {"acme", "other"}


def test_the_whole_way_over_rest(world):
    client = key_client(world, "write")
    plan = client.post(
        f"{API}/plans",
        {
            "kind": "topic.create",
            "cluster_id": world.cluster.id,
            "inputs": {"name": "orders", "partitions": 3},
        },
        format="json",
    ).json()
    assert plan["state"] == "open"
    started = client.post(
        f"{API}/operations",
        {"plan_id": plan["id"], "plan_hash": plan["plan_hash"], "confirm": None},
        format="json",
    ).json()
    from controlplane.operations.models import Operation

    drive(Operation.objects.get(pk=started["id"]))
    ended = client.get(f"{API}/operations/{started['id']}").json()
    assert ended["state"] == "succeeded"
    assert ended["progress"] == {"done": 2, "total": 2, "unit": "steps"}
    assert ended["revertible"] is True
    undo = client.post(f"{API}/operations/{started['id']}/undo-plan").json()
    assert undo["kind"] == "topic.delete"
    assert undo["reverts"] == started["id"]


def test_a_key_ends_when_it_says(world):
    owner = client_for(world.tenant)
    soon = timezone.now() + timedelta(hours=1)
    body = {"name": "ci", "scope": "read", "expires_at": iso(soon)}
    made = owner.post(f"{API}/api-keys", body, format="json").json()
    assert made["expires_at"] == iso(soon)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['key']}")
    assert client.get(f"{API}/me").status_code == 200
    ApiKey.objects.filter(pk=made["id"]).update(expires_at=timezone.now())
    answer = client.get(f"{API}/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert owner.get(f"{API}/api-keys").json()["data"][0]["revoked_at"] is None


@pytest.mark.parametrize("text", ["2001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "soon", 5, ""])
def test_a_key_that_would_end_at_no_good_time_is_not_made(world, text):
    body = {"name": "ci", "scope": "read", "expires_at": text}
    answer = client_for(world.tenant).post(f"{API}/api-keys", body, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/expires_at"
    assert not ApiKey.objects.exists()


def test_the_last_use_is_written_once_a_minute(world, monkeypatch):
    client = key_client(world, "read")
    client.get(f"{API}/me")
    first = ApiKey.objects.get().last_used_at
    assert first is not None
    client.get(f"{API}/me")
    assert ApiKey.objects.get().last_used_at == first
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=1))
    client.get(f"{API}/me")
    assert ApiKey.objects.get().last_used_at > first


def test_a_key_is_kept_as_a_hash(world):
    made = client_for(world.tenant).post(f"{API}/api-keys", {"name": "ci"}, format="json").json()
    kept = ApiKey.objects.filter(pk=made["id"]).values().get()
    secret = made["key"].split("_", 2)[2]
    assert all(secret not in str(value) for value in kept.values())
