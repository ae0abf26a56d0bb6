"""Masks over REST: who sets them, and that pages, files and streams heed them."""

import json

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.messages import services
from controlplane.messages.models import MaskRule
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
MASKS = "/api/v1/message-masks"


def mask(**changed):
    return {
        "topics": {"match": "literal", "name": "orders"},
        "part": "value",
        "path": "who.email",
        "act": "replace",
        "see_through": ["owner"],
        **changed,
    }


def made(client, **changed):
    answer = client.post(MASKS, mask(**changed), "json")
    assert answer.status_code == 201, answer.content
    return answer.json()


@pytest.fixture
def owner(world):
    return client_for(world.tenant)


@pytest.fixture
def operator(world):
    return client_for(world.tenant, "operator")


def test_what_a_mask_hides_is_shown_to_nobody_but_who_sees_through(owner, operator, orders):
    row = made(owner)
    for path in (orders, f"{orders}/export"):
        assert "u7@example.org" in owner.get(path).content.decode()
        hidden = operator.get(path).content.decode()
        assert "example.org" not in hidden
        assert "who" in hidden
    assert operator.get(orders, {"value": "u7@"}).json()["data"] == []
    assert operator.get(orders, {"filter": 'value.who.email contains "u7"'}).json()["data"] == []
    for wanted in ("string", "hex", "json", "integer"):
        assert "example.org" not in operator.get(orders, {"value_format": wanted}).content.decode()
    assert owner.delete(f"{MASKS}/{row['id']}").status_code == 204
    assert "u7@example.org" in operator.get(orders).content.decode()


def test_nothing_counts_what_a_mask_hides(world, owner, operator):
    """A span of one record, asked of its length: the sum of the bytes read would say it."""
    rows = [(0, b"k", json.dumps({"who": {"email": "x" * n}}).encode()) for n in (1, 500)]
    fill(world.gateway, "orders", rows)
    made(owner)
    path = f"/api/v1/clusters/{world.cluster.id}/topics/orders/messages"

    def told(client, offset):
        found = client.get(path, {"from": "offset", "offset": offset, "limit": 1}).json()
        return [
            {**found["reading"], "elapsed_ms": 0, "cursor": ""},
            [{**row, "offset": 0, "timestamp": "", "timestamp_ms": 0} for row in found["data"]],
        ]

    assert told(operator, 0) == told(operator, 1)
    assert told(operator, 0)[0]["bytes"] is None
    assert told(owner, 1)[0]["bytes"] > 500


def test_a_mask_of_another_topic_hides_nothing_here(owner, operator, orders):
    made(owner, topics={"match": "prefix", "name": "orders-"})
    assert "u7@example.org" in operator.get(orders).content.decode()
    made(owner, topics={"match": "any", "name": ""}, act="hash", see_through=[])
    assert "example.org" not in operator.get(orders).content.decode()
    assert "hash:" in owner.get(orders).content.decode()


def test_owners_alone_set_masks(world, owner, operator):
    row = made(owner)
    for client in (operator, client_for(world.tenant, "viewer"), key_client(world.tenant, "write")):
        problem(client.post(MASKS, mask(), "json"), 403)
        problem(client.put(f"{MASKS}/{row['id']}", mask(), "json"), 403)
        problem(client.delete(f"{MASKS}/{row['id']}"), 403)
        assert [found["id"] for found in client.get(MASKS).json()["data"]] == [row["id"]]
    rival = client_for(tenant_make("rival"))
    problem(rival.get(f"{MASKS}/{row['id']}"), 404)
    problem(rival.put(f"{MASKS}/{row['id']}", mask(), "json"), 404)
    problem(rival.delete(f"{MASKS}/{row['id']}"), 404)
    assert rival.get(MASKS).json()["data"] == []
    assert MaskRule.objects.count() == 1


def test_a_mask_is_changed_whole_and_recorded(owner):
    row = made(owner)
    changed = mask(part="header", path="a.dotted.name", act="remove", see_through=[])
    answer = owner.put(f"{MASKS}/{row['id']}", changed, "json", headers={"If-Match": row["etag"]})
    assert answer.status_code == 200, answer.content
    found = owner.get(f"{MASKS}/{row['id']}").json()
    assert (found["path"], found["act"], found["note"]) == ("a.dotted.name", "remove", "")
    actions = [row.action for row in AuditEvent.objects.order_by("pk")]
    assert actions == ["message_mask.create", "message_mask.update"]
    assert AuditEvent.objects.last().data["path"] == "a.dotted.name"


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"topics": {"match": "prefix", "name": "a"}}, "/topics"),
        ({"topics": {"match": "any", "name": "a"}}, "/topics"),
        ({"topics": {"match": "regex", "name": ".*"}}, "/topics/match"),
        ({"part": "body"}, "/part"),
        ({"path": "a..b"}, "/path"),
        ({"act": "encrypt"}, "/act"),
        ({"see_through": ["everybody"]}, "/see_through/0"),
        ({"more": 1}, "/more"),
    ],
)
def test_bad_masks_name_their_field(owner, changed, pointer):
    found = problem(owner.post(MASKS, mask(**changed), "json"), 422)
    assert [row["pointer"] for row in found["errors"]] == [pointer]


def test_a_tenant_has_so_many(owner, monkeypatch):
    monkeypatch.setattr(services, "MASKS_MAX", 2)
    made(owner)
    made(owner)
    assert problem(owner.post(MASKS, mask(), "json"), 409)["code"] == "too-many-masks"


def test_the_hash_of_one_tenant_is_no_other_s(world, owner, orders):
    from controlplane.messages.selectors import hash_secret

    assert hash_secret(world.tenant) != hash_secret(tenant_make("rival"))
    made(owner, act="hash", see_through=[])
    first, second = (json.dumps(owner.get(orders).json()["data"]) for _ in range(2))
    assert first == second
