"""One-time links into a tenant."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from controlplane.administration.services import invitations
from controlplane.common.problems import Conflict, Gone, Invalid, NotFound
from controlplane.tenants.models import Invitation, Membership
from tests.controlplane.administration.helpers import PASSWORD, WEEK, member, token_of
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db


def test_an_invitation_makes_one_member_once(acme):
    link = invitations.invite(tenant=acme, role="operator", note="Ada", actor=ACTOR, lifetime=WEEK)
    token = token_of(link)
    assert token not in str(Invitation.objects.values().get()), "only a hash is kept"
    _, user = invitations.accept_as_new_user(
        token=token, username="ada", password=PASSWORD, actor=ACTOR
    )
    assert user.check_password(PASSWORD)
    assert not user.is_staff
    assert Membership.objects.get(user=user).role == "operator"
    eve = User.objects.create_user("eve")
    with pytest.raises(Gone):
        invitations.accept_as_member(token=token, user=eve, actor=ACTOR)
    assert not Membership.objects.filter(user=eve).exists()


def test_a_member_keeps_the_role_when_opening_a_link(acme):
    user = member(acme, "ada", "owner").user
    link = invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    with pytest.raises(Conflict):
        invitations.accept_as_member(token=token_of(link), user=user, actor=ACTOR)
    assert Invitation.objects.get().accepted_at is None, "somebody else may still use it"


@pytest.mark.parametrize("spoil", ["expires_at", "revoked_at"])
def test_links_end(acme, spoil):
    link = invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    Invitation.objects.update(**{spoil: timezone.now()})
    with pytest.raises(Gone):
        invitations.accept_as_new_user(
            token=token_of(link), username="ada", password=PASSWORD, actor=ACTOR
        )
    assert not User.objects.exists()


@pytest.mark.parametrize("token", ["", "psi_", "psi_x_y", "psi_é_y", "psi_a\0b_c", "psk_x_y"])
def test_links_that_are_none(acme, token):
    with pytest.raises(NotFound):
        invitations.find_invitation(token)


def test_a_wrong_secret_opens_nothing(acme):
    link = invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    with pytest.raises(NotFound):
        invitations.find_invitation(token_of(link)[:-1] + "!")


@pytest.mark.parametrize(
    ("username", "password", "pointer"),
    [
        ("ada", PASSWORD, "/username"),
        ("ADA", PASSWORD, "/username"),
        ("a b", PASSWORD, "/username"),
        ("-ada", PASSWORD, "/username"),
        ("x" * 151, PASSWORD, "/username"),
        ("bob", "short", "/password"),
        ("bob", "password123", "/password"),
        ("bob", "8473920174", "/password"),
        ("bobthebuilder", "bobthebuilder1", "/password"),
        ("bob", "x" * 1_001, "/password"),
    ],
)
def test_a_login_needs_a_free_name_and_a_good_password(acme, username, password, pointer):
    User.objects.create_user("ada")
    link = invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    with pytest.raises(Invalid) as refused:
        invitations.accept_as_new_user(
            token=token_of(link), username=username, password=password, actor=ACTOR
        )
    assert refused.value.errors[0]["pointer"] == pointer
    assert Invitation.objects.get().accepted_at is None


def test_open_invitations_are_bounded(acme, monkeypatch):
    monkeypatch.setattr(invitations, "INVITATIONS_OPEN_MAX", 1)
    made = invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    with pytest.raises(Conflict, match="at most 1"):
        invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    invitations.invitation_revoke(tenant=acme, invitation_id=made.invitation.id, actor=ACTOR)
    invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    with pytest.raises(NotFound):
        invitations.invitation_revoke(
            tenant=tenant_make("rival"), invitation_id=made.invitation.id, actor=ACTOR
        )
