"""A person's favourites: their own, in one tenant, of what they see, a bounded number."""

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from controlplane.gateway.types import TP
from controlplane.tenants import favourites
from controlplane.tenants.models import Favourite, Membership
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import key_of, member_of
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

DOOR = "/console/api/favourites"


@pytest.fixture
def shop(world):
    for name in ("alpha", "beta", "team-a-orders"):
        world.gateway.add_topic(name, partitions=1, records=5)
    world.gateway.add_group("readers", {TP("alpha", 0): 1})
    world.gateway.add_group("others", {TP("alpha", 0): 5})
    observed(world)
    return world


def mark(client, world, name, kind="topic", *, is_favourite=True, cluster_id=None):
    client.raise_request_exception = False
    body = {
        "kind": kind,
        "cluster_id": cluster_id or world.cluster.id,
        "name": name,
        "is_favourite": is_favourite,
    }
    return client.post(DOOR, body, format="json")


def names(client):
    return [row["name"] for row in client.get(DOOR).json()["data"]]


def test_one_marks_and_takes_the_mark_away(shop):
    client = client_for(shop.tenant, "viewer")
    assert mark(client, shop, "beta").json()["data"] == [
        {"kind": "topic", "cluster_id": shop.cluster.id, "name": "beta"}
    ]
    mark(client, shop, "beta")
    mark(client, shop, "readers", "group")
    assert names(client) == ["beta", "readers"]
    assert names(client_for(shop.tenant, "owner")) == [], "they are a person's own"
    mark(client, shop, "beta", is_favourite=False)
    mark(client, shop, "beta", is_favourite=False)
    assert names(client) == ["readers"]


def test_favourites_come_first_or_alone_on_pages_and_in_files(shop):
    client = client_for(shop.tenant)
    mark(client, shop, "beta")
    mark(client, shop, "others", "group")
    base = f"/console/api/pages/topics/{shop.cluster.id}"

    def topics(**query):
        parts = client.get(base, query).json()["parts"]
        return [row["name"] for row in parts["topics"]["data"]], parts["counts"]["data"]

    assert topics(sort="name")[0] == ["alpha", "beta", "team-a-orders"]
    assert topics(sort="-name", favourites="first")[0] == ["beta", "team-a-orders", "alpha"]
    found, counts = topics(favourites="only")
    assert (found, counts["matched"], counts["total"]) == (["beta"], 1, 3)
    parts = client.get(f"/console/api/pages/groups/{shop.cluster.id}", {"favourites": "first"})
    rows = parts.json()["parts"]["groups"]["data"]
    assert [row["group"] for row in rows] == ["others", "readers"]
    text = client.get(
        f"/console/api/exports/topics/{shop.cluster.id}", {"favourites": "only"}
    ).content.decode()
    assert text.splitlines()[1].startswith('"beta"')
    assert len(text.splitlines()) == 2
    nobodys = client_for(shop.tenant, "viewer")
    parts = nobodys.get(base, {"favourites": "only"}).json()["parts"]
    counts = parts["counts"]["data"]
    assert (parts["topics"]["data"], counts["matched"], counts["total"]) == ([], 0, 3)


def test_what_one_does_not_see_cannot_be_marked_and_is_not_shown(shop):
    narrow = member_of(shop.tenant)
    problem(mark(narrow, shop, "alpha"), 404)
    assert mark(narrow, shop, "team-a-orders").status_code == 200
    Membership.objects.filter(user__username="anna").update(grants=[], role="limited")
    assert narrow.get(DOOR).status_code == 200
    assert names(narrow) == []
    other = tenant_make("other")
    theirs = cluster_make(other)
    problem(mark(client_for(shop.tenant), shop, "alpha", cluster_id=theirs.id), 404)


def test_they_are_of_one_tenant(shop):
    client = client_for(shop.tenant, name="both")
    mark(client, shop, "alpha")
    other = tenant_make("other")
    Membership.objects.create(tenant=other, user=User.objects.get(username="both"), role="owner")
    client.credentials(HTTP_X_PENSTOCK_TENANT="other")
    assert names(client) == []


def test_there_are_so_many_and_what_is_gone_makes_room(shop, monkeypatch):
    monkeypatch.setattr(favourites, "FAVOURITES_MAX", 2)
    client = client_for(shop.tenant)
    mark(client, shop, "alpha")
    mark(client, shop, "beta")
    assert problem(mark(client, shop, "team-a-orders"), 409)["code"] == "too-many-favourites"
    assert mark(client, shop, "beta").status_code == 200, "it is one already"
    Favourite.objects.filter(name="alpha").update(cluster_id="kc_gone")
    assert mark(client, shop, "team-a-orders").status_code == 200
    assert names(client) == ["beta", "team-a-orders"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"kind": "user"}, "/kind"),
        ({"name": ""}, "/name"),
        ({"name": "x" * 501}, "/name"),
        ({"name": "\0"}, "/name"),
        ({"cluster_id": "x" * 41}, "/cluster_id"),
        ({"is_favourite": "perhaps"}, "/is_favourite"),
        ({"tenant": "other"}, "/tenant"),
    ],
)
def test_what_makes_no_sense_is_named(shop, change, pointer):
    client = client_for(shop.tenant)
    body = {"kind": "topic", "cluster_id": shop.cluster.id, "name": "a", "is_favourite": True}
    found = problem(client.post(DOOR, {**body, **change}, format="json"), 422)
    assert found["errors"][0]["pointer"] == pointer


def test_they_are_for_people_and_writes_are_checked_against_forgery(shop):
    assert APIClient().get(DOOR).status_code == 401
    assert key_of(shop.tenant).get(DOOR).status_code == 401
    client = APIClient(enforce_csrf_checks=True, raise_request_exception=False)
    user = User.objects.create(username="ada")
    Membership.objects.create(tenant=shop.tenant, user=user, role="owner")
    client.force_login(user)
    assert mark(client, shop, "alpha").status_code == 403
    assert Favourite.objects.count() == 0
