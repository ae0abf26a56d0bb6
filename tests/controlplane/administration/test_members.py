"""Members: roles, and the last owner."""

import pytest
from django.utils import timezone

from controlplane.administration.services import invitations, members
from controlplane.common.problems import Conflict, Gone, NotFound
from controlplane.tenants.models import ApiKey, Membership
from controlplane.tenants.services import api_key_create
from tests.controlplane.administration.helpers import WEEK, member, token_of
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db


def test_the_last_owner_stays_an_owner(acme):
    member(acme, "ada", "owner")
    for attempt in (
        lambda: members.member_change(tenant=acme, username="ada", role="viewer", actor=ACTOR),
        lambda: members.member_remove(tenant=acme, username="ada", actor=ACTOR),
    ):
        with pytest.raises(Conflict) as refused:
            attempt()
        assert refused.value.code == "last-owner"
    member(acme, "bob", "owner")
    members.member_change(tenant=acme, username="ada", role="viewer", actor=ACTOR)
    assert Membership.objects.get(user__username="ada").role == "viewer"
    with pytest.raises(Conflict):
        members.member_remove(tenant=acme, username="bob", actor=ACTOR)


def test_an_owner_who_cannot_sign_in_does_not_count(acme):
    member(acme, "ada", "owner")
    gone = member(acme, "bob", "owner").user
    gone.is_active = False
    gone.save()
    with pytest.raises(Conflict):
        members.member_remove(tenant=acme, username="ada", actor=ACTOR)


def test_a_member_of_another_tenant_is_none(acme):
    member(tenant_make("rival"), "eve", "owner")
    with pytest.raises(NotFound):
        members.member_remove(tenant=acme, username="eve", actor=ACTOR)
    with pytest.raises(NotFound):
        members.member_change(tenant=acme, username="eve", role="viewer", actor=ACTOR)


def test_who_is_removed_leaves_no_way_back_and_their_keys_are_named(acme):
    member(acme, "ada", "owner")
    member(acme, "bob", "owner")
    bob = type(ACTOR)(name="user:bob")
    link = invitations.invite(tenant=acme, role="owner", note="", actor=bob, lifetime=WEEK)
    api_key_create(tenant=acme, name="bob's", scope="write", actor=bob)
    revoked, _ = api_key_create(tenant=acme, name="old", scope="write", actor=bob)
    ApiKey.objects.filter(pk=revoked.pk).update(revoked_at=timezone.now())
    left = members.member_remove(tenant=acme, username="bob", actor=ACTOR)
    assert (left.invitations_revoked, left.keys_made) == (1, ["bob's"])
    with pytest.raises(Gone):
        invitations.find_invitation(token_of(link))


def test_an_owner_who_becomes_less_invites_nobody_any_more(acme):
    member(acme, "ada", "owner")
    member(acme, "bob", "owner")
    bob = type(ACTOR)(name="user:bob")
    link = invitations.invite(tenant=acme, role="owner", note="", actor=bob, lifetime=WEEK)
    members.member_change(tenant=acme, username="bob", role="operator", actor=ACTOR)
    with pytest.raises(Gone):
        invitations.find_invitation(token_of(link))


def test_a_member_is_not_made_twice(acme):
    user = member(acme, "ada", "owner").user
    with pytest.raises(Conflict) as refused:
        members.member_add(tenant=acme, user=user, role="viewer", actor=ACTOR)
    assert refused.value.code == "already-member"
    assert Membership.objects.get().role == "owner"
