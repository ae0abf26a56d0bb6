"""Users: logins, links to a password, operators."""

import pytest
from django.contrib.auth.models import User

from console.streams import allowed
from controlplane.administration.services import invitations, users
from controlplane.common.problems import Conflict, Gone, Invalid, NotFound
from controlplane.tenants.services import membership_ensure
from tests.controlplane.administration.helpers import (
    PASSWORD,
    WEEK,
    actions,
    member,
    ticket_of,
    token_of,
)
from tests.controlplane.support import ACTOR, client_for, tenant_make

pytestmark = pytest.mark.django_db


def change(name, **fields):
    values = {"email": "", "is_active": True, "is_operator": False, **fields}
    return users.user_update(username=name, actor=ACTOR, **values)


def test_a_login_begins_with_a_link_and_ends_with_everything(acme):
    user, link = users.user_create(username="ada", email="", is_operator=False, actor=ACTOR)
    membership_ensure(tenant=acme, user=user, role="viewer")
    assert not user.has_usable_password()
    invitations.accept_password(token=token_of(link), password=PASSWORD, actor=ACTOR)
    client = client_for(acme, role=None, name="ada")
    ticket = ticket_of(client, acme)
    assert client.get("/api/v1/me").status_code == 200
    assert allowed({ticket}) == {ticket}
    assert change("ada", is_active=False).link is None
    assert client.get("/api/v1/me").status_code == 401
    assert allowed({ticket}) == set()
    again = change("ada", is_active=True).link
    assert client.get("/api/v1/me").status_code == 401, "sessions of before stay closed"
    assert allowed({ticket}) == set()
    invitations.accept_password(token=token_of(again), password=PASSWORD, actor=ACTOR)
    assert "user.change" in actions()


def test_ending_a_login_names_the_tenants_that_nobody_owns_any_more(acme):
    user = member(acme, "ada", "owner").user
    shared = tenant_make("shared")
    membership_ensure(tenant=shared, user=user, role="owner")
    member(shared, "bob", "owner")
    assert change("ada", is_active=False).tenants_without_owner == ["acme"]


def test_links_of_an_ended_login_open_nothing(acme):
    _, link = users.user_create(username="ada", email="", is_operator=False, actor=ACTOR)
    change("ada", is_active=False)
    with pytest.raises(NotFound):
        invitations.accept_password(token=token_of(link), password=PASSWORD, actor=ACTOR)
    with pytest.raises(Conflict):
        users.user_link(username="ada", actor=ACTOR)


def test_another_link_ends_the_one_before():
    _, first = users.user_create(username="ada", email="", is_operator=False, actor=ACTOR)
    second = users.user_link(username="ada", actor=ACTOR)
    with pytest.raises(Gone):
        invitations.find_invitation(token_of(first))
    invitations.accept_password(token=token_of(second), password=PASSWORD, actor=ACTOR)


def test_the_last_operator_stays_one():
    User.objects.create_user("root", is_staff=True)
    for fields in ({"is_operator": False}, {"is_operator": True, "is_active": False}):
        with pytest.raises(Conflict) as refused:
            change("root", **fields)
        assert refused.value.code == "last-operator"
    other, _ = users.user_create(username="second", email="", is_operator=True, actor=ACTOR)
    change("root", is_operator=False)
    assert not User.objects.get(username="root").is_staff
    with pytest.raises(Conflict):
        change("second", is_operator=True, is_active=False)
    assert other.is_staff


def test_a_link_into_a_tenant_sets_no_password_and_the_other_way_round(acme):
    _, link = users.user_create(username="ada", email="", is_operator=True, actor=ACTOR)
    into = invitations.invite(tenant=acme, role="owner", note="", actor=ACTOR, lifetime=WEEK)
    with pytest.raises(NotFound):
        invitations.accept_password(token=token_of(into), password=PASSWORD, actor=ACTOR)
    eve = User.objects.create_user("eve")
    with pytest.raises(NotFound):
        invitations.accept_as_member(token=token_of(link), user=eve, actor=ACTOR)
    with pytest.raises(NotFound):
        invitations.accept_as_new_user(
            token=token_of(link), username="new", password=PASSWORD, actor=ACTOR
        )


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [
        ("wrong", "another good one", "/old_password"),
        (PASSWORD, "short", "/new_password"),
        (PASSWORD, PASSWORD, "/new_password"),
    ],
)
def test_a_password_is_changed_with_the_old_one(acme, old, new, pointer):
    user = member(acme, "ada", "viewer").user
    with pytest.raises(Invalid) as refused:
        users.password_change(user=user, old=old, new=new, actor=ACTOR)
    assert refused.value.errors[0]["pointer"] == pointer
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
