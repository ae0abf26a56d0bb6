"""Who reads a topic, and whom rules let: each part of what the viewer may see."""

import pytest

from controlplane.common.grants import LIMITED, Grant, Match, Over, Pattern
from controlplane.gateway.types import TP, AclBinding
from controlplane.tenants.models import Membership
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

pytestmark = pytest.mark.django_db


def acl(principal, name, pattern="LITERAL", **fields):
    values = {
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
        "resource_type": "TOPIC",
        **fields,
    }
    return AclBinding(principal=principal, resource_name=name, pattern_type=pattern, **values)


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=2, rf=3, records=50)
    world.gateway.add_topic("other", records=5)
    world.gateway.add_group("behind", {TP("orders", 0): 10, TP("other", 0): 0})
    world.gateway.add_group("done", {TP("orders", 0): 50, TP("orders", 1): 50})
    world.gateway.add_group("new", {}, members=1)
    world.gateway.assign("new", [TP("orders", 0), TP("orders", 1)])
    world.gateway.add_group("elsewhere", {TP("other", 0): 1})
    world.gateway.acls = {
        acl("User:app", "orders"),
        acl("User:all", "*", operation="ALL"),
        acl("User:pre", "ord", "PREFIXED", operation="WRITE"),
        acl("User:no", "other"),
        acl("User:group", "orders", resource_type="GROUP"),
    }
    observed(world)
    return world


def page(client, world, topic="orders"):
    return client.get(f"/console/api/pages/clients/{world.cluster.id}/{topic}")


def test_groups_are_listed_by_their_lag_on_this_topic_alone(orders):
    found = page(client_for(orders.tenant), orders).json()["parts"]["readers"]
    assert found["status"] == "ok"
    assert found["data"]["complete"] is True
    rows = [
        (row["group"], row["lag"], row["committed"], row["uncommitted"], row["members"])
        for row in found["data"]["groups"]
    ]
    assert rows == [("behind", 40, 1, 1, 0), ("done", 0, 2, 0, 0), ("new", None, 0, 2, 1)]


def test_more_groups_than_are_looked_at_are_said(orders, monkeypatch):
    monkeypatch.setattr("controlplane.groups.readers.READERS_MAX", 1)
    data = page(client_for(orders.tenant), orders).json()["parts"]["readers"]["data"]
    assert (len(data["groups"]), data["complete"]) == (1, False)


def test_rules_by_name_prefix_and_about_every_topic_are_listed(orders):
    rules = page(client_for(orders.tenant), orders).json()["parts"]["rules"]["data"]
    assert {row["principal"] for row in rules} == {"User:app", "User:all", "User:pre"}


def test_another_tenants_cluster_is_not_there(orders):
    other = tenant_make("rival")
    cluster_make(other)
    assert page(client_for(other), orders).status_code == 404


def test_with_grants_on_topics_and_groups_the_rest_is_not_there(orders):
    client = client_for(orders.tenant, role="viewer", name="anna")
    member = Membership.objects.get(user__username="anna")
    member.role = LIMITED
    member.grants = [
        Grant(
            role="viewer",
            clusters=Pattern(Match.ANY, ""),
            over=over,
            names=Pattern(Match.LITERAL, name),
        ).as_row()
        for over, name in ((Over.TOPIC, "orders"), (Over.GROUP, "done"))
    ]
    member.save()
    parts = page(client, orders).json()["parts"]
    assert [row["group"] for row in parts["readers"]["data"]["groups"]] == ["done"]
    assert parts["rules"]["status"] == "unavailable"
    assert parts["rules"]["reason"] == "Access rules are seen with a role on the whole cluster."
    assert page(client, orders, "other").status_code == 404
