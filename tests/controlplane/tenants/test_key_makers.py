"""A key is never more than whoever made it, or rotated it last, may at the time."""

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from controlplane.administration.services.members import member_remove
from controlplane.administration.services.users import user_update
from controlplane.tenants.models import Membership
from controlplane.tenants.services import membership_ensure
from tests.controlplane.support import ACTOR, client_for, operator_client, tenant_make

pytestmark = pytest.mark.django_db
TOPICS = "/api/v1/clusters"


@pytest.fixture
def acme():
    tenant = tenant_make()
    client_for(tenant, name="other-owner")  # somebody who stays
    User.objects.create(username="other-operator", is_staff=True)
    return tenant


def made_by(client, **body):
    """A key that `client` makes, and a client that uses it."""
    answer = client.post("/api/v1/api-keys", {"name": "ci", "scope": "write", **body}, "json")
    assert answer.status_code == 201, answer.content
    return answer.json()["id"], keyed(answer.json()["key"])


def keyed(text):
    return APIClient(headers={"Authorization": f"Bearer {text}"})


def may(client):
    """What a key may do: write, read or nothing."""
    me = client.get("/api/v1/me")
    if me.status_code == 403:
        assert me.json()["code"] == "key-maker-left", me.content
        assert client.get(TOPICS).status_code == 403
        assert client.post(TOPICS, {"name": "x"}, "json").status_code == 403
        return "nothing"
    return "write" if me.json()["may_write"] else "read"


def ended(username, **values):
    given = {"email": "", "is_active": True, "is_operator": False, **values}
    user_update(username=username, actor=ACTOR, **given)


@pytest.mark.parametrize("values", [{"is_operator": False}, {"is_active": False}])
def test_a_key_of_an_operator_ends_with_the_right_to_operate(acme, values):
    _, key = made_by(operator_client(acme))
    assert may(key) == "write"
    ended("platform-operator", **{"is_operator": True, **values})
    assert may(key) == "nothing"
    ended("platform-operator", is_operator=True)
    assert may(key) == "write"


def test_an_operator_who_becomes_a_member_bounds_the_key_by_the_membership(acme):
    _, key = made_by(operator_client(acme))
    user = User.objects.get(username="platform-operator")
    membership_ensure(tenant=acme, user=user, role="viewer")
    ended("platform-operator")
    assert may(key) == "read"


def test_a_membership_elsewhere_is_none_here(acme):
    _, key = made_by(operator_client(acme))
    user = User.objects.get(username="platform-operator")
    membership_ensure(tenant=tenant_make("rival"), user=user, role="owner")
    ended("platform-operator")
    assert may(key) == "nothing"


def test_a_removed_member_leaves_no_key_behind(acme):
    _, key = made_by(client_for(acme, name="ada"))
    membership = Membership.objects.get(tenant=acme, user__username="ada")
    membership.role = "viewer"
    membership.save()
    assert may(key) == "read"
    left = member_remove(tenant=acme, username="ada", actor=ACTOR)
    assert left.keys_made == ["ci"]
    assert may(key) == "nothing"


def test_a_deleted_user_leaves_no_key_behind(acme):
    _, key = made_by(client_for(acme, name="ada"))
    User.objects.get(username="ada").delete()
    assert may(key) == "nothing"


def test_an_owner_who_rotates_a_key_is_its_maker(acme):
    """The one way on for a key whose maker has left; the old text opens nothing by it."""
    key_id, old = made_by(client_for(acme, name="ada"))
    member_remove(tenant=acme, username="ada", actor=ACTOR)
    boss = client_for(acme, name="boss")
    answer = boss.post(f"/api/v1/api-keys/{key_id}/rotation", {"overlap_s": 600}, "json")
    assert answer.status_code == 201, answer.content
    new = keyed(answer.json()["key"])
    assert (may(old), may(new)) == ("nothing", "write")
    left = member_remove(tenant=acme, username="boss", actor=ACTOR)
    assert left.keys_made == ["ci"]
    assert may(new) == "nothing"
