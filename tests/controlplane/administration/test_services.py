"""The rules of administration, each at the one place where it is kept."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from console.streams import Ticket, allowed
from controlplane.administration import selectors
from controlplane.administration.services import hosts, invitations, keys, members, tenants, users
from controlplane.audit.models import AuditEvent
from controlplane.clusters.hosts import Observed
from controlplane.clusters.models import Broker, DrainedHost
from controlplane.clusters.sealing import hosts_with_key
from controlplane.common.grants import scope_of
from controlplane.common.problems import Conflict, Gone, Invalid, NotFound, Unavailable
from controlplane.tenants.authentication import find_key
from controlplane.tenants.models import ApiKey, Invitation, Membership, ServiceAccount
from controlplane.tenants.services import api_key_create, membership_ensure, service_account_create
from tests.controlplane.support import ACTOR, client_for, tenant_make

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
WEEK = timedelta(days=7)


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def rights_read_in_place(monkeypatch):
    """Streams close the connection of the thread in which they look; here it is the test's own."""
    monkeypatch.setattr("console.streams.connection.close", lambda: None)


@pytest.fixture
def acme():
    return tenant_make()


def member(tenant, name, role):
    user = User.objects.create_user(name, password=PASSWORD)
    return membership_ensure(tenant=tenant, user=user, role=role)


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def token_of(link):
    return link.path.removeprefix(invitations.PATH)


def new_key(tenant, **more):
    return api_key_create(tenant=tenant, actor=ACTOR, **{"name": "ci", "scope": "write", **more})


# -- tenants ------------------------------------------------------------------------------------
def move(tenant, state):
    return tenants.tenant_update(tenant=tenant, name=tenant.name, state=state, actor=ACTOR)


def test_a_tenant_is_made_once(acme):
    made = tenants.tenant_create(slug="other", name="Other", actor=ACTOR)
    assert (made.state, actions()) == ("active", ["tenant.create"])
    with pytest.raises(Conflict, match="There is a tenant acme already"):
        tenants.tenant_create(slug="acme", name="Again", actor=ACTOR)


@pytest.mark.parametrize(
    ("before", "after", "is_legal"),
    [
        ("active", "suspended", True),
        ("active", "closed", False),
        ("suspended", "active", True),
        ("suspended", "closed", True),
        ("closed", "suspended", True),
        ("closed", "active", False),
    ],
)
def test_states_follow_each_other(acme, before, after, is_legal):
    acme.state = before
    acme.save()
    if is_legal:
        assert move(acme, after).state == after
        assert AuditEvent.objects.get().data["before"] == before
        return
    with pytest.raises(Invalid) as refused:
        move(acme, after)
    assert refused.value.errors[0]["pointer"] == "/state"
    assert not AuditEvent.objects.exists()


def test_what_remains_keeps_a_tenant_open(world):
    move(world.tenant, "suspended")
    with pytest.raises(Conflict) as refused:
        move(world.tenant, "closed")
    assert refused.value.code == "tenant-not-empty"
    assert refused.value.extra["remains"] == [
        {"kind": "cluster", "id": world.cluster.id, "name": "main"}
    ]
    world.tenant.refresh_from_db()
    assert world.tenant.state == "suspended"


def test_an_operation_under_way_keeps_a_tenant_open(world):
    operation = world.start(world.plan("topic.create", name="t"))
    type(world.cluster).objects.update(deleted_at=timezone.now())
    move(world.tenant, "suspended")
    with pytest.raises(Conflict) as refused:
        move(world.tenant, "closed")
    assert refused.value.extra["remains"] == [
        {"kind": "operation", "id": operation.id, "name": "topic.create"}
    ]


def test_closing_ends_keys_invitations_and_streams(acme):
    _, text = new_key(acme)
    link = invitations.invite(tenant=acme, role="viewer", note="", actor=ACTOR, lifetime=WEEK)
    ticket = ticket_of(client_for(acme, "viewer"), acme)
    assert find_key(text)
    assert allowed({ticket}) == {ticket}
    move(acme, "suspended")
    assert find_key(text), "a suspended tenant can be read"
    move(acme, "closed")
    assert find_key(text) is None
    assert allowed({ticket}) == set()
    assert Invitation.objects.get().revoked_at
    move(acme, "suspended")
    assert find_key(text) is None, "what was handed out stays ended"
    with pytest.raises(Gone):
        invitations.find_invitation(token_of(link))


def ticket_of(client, tenant):
    key = client.cookies["penstock_session"].value
    user_id = int(Session.objects.get(pk=key).get_decoded()["_auth_user_id"])
    member = Membership.objects.get(tenant=tenant, user_id=user_id)
    return Ticket(key, user_id, tenant.id, scope_of(member.role, member.grants).mark)


# -- members ------------------------------------------------------------------------------------
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


# -- invitations --------------------------------------------------------------------------------
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


# -- users --------------------------------------------------------------------------------------
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


# -- machines -----------------------------------------------------------------------------------
def test_a_key_is_of_an_account(acme):
    key, _ = new_key(acme)
    again, _ = new_key(acme)
    assert key.service_account == again.service_account == ServiceAccount.objects.get(name="ci")
    rival = service_account_create(tenant=tenant_make("rival"), name="ci", actor=ACTOR)
    with pytest.raises(NotFound):
        new_key(acme, service_account_id=rival.id)


def test_the_keys_of_a_disabled_account_open_nothing(acme):
    key, text = new_key(acme)

    def disable(is_disabled):
        keys.service_account_update(
            tenant=acme,
            account_id=key.service_account_id,
            description="",
            is_disabled=is_disabled,
            actor=ACTOR,
        )

    disable(True)
    assert find_key(text) is None
    with pytest.raises(Conflict, match="disabled"):
        new_key(acme)
    with pytest.raises(Conflict, match="disabled"):
        rotate(acme, key)
    disable(False)
    assert find_key(text) == key


def rotate(tenant, key, overlap_s=3600, expires_at=None):
    return keys.api_key_rotate(
        tenant=tenant, key_id=key.id, overlap_s=overlap_s, expires_at=expires_at, actor=ACTOR
    )


def test_a_key_is_exchanged_with_overlap(acme):
    old, old_text = new_key(acme, expires_at=timezone.now() + timedelta(days=90))
    new, new_text, ends_at = rotate(acme, old)
    assert (new.scope, new.name, new.service_account) == ("write", "ci", old.service_account)
    assert timedelta(days=89) < new.expires_at - timezone.now() <= timedelta(days=90)
    assert find_key(old_text) == old
    assert find_key(new_text) == new
    assert new.last_used_at is None
    assert ends_at == ApiKey.objects.get(pk=old.pk).expires_at
    ApiKey.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    assert find_key(old_text) is None
    assert find_key(new_text) == new


def test_a_key_is_exchanged_at_once_and_only_once(acme):
    old, old_text = new_key(acme)
    waiting, _ = new_key(acme, name="other")
    new, new_text, _ = rotate(acme, old, overlap_s=0)
    assert find_key(old_text) is None
    assert (find_key(new_text), new.expires_at) == (new, None)
    with pytest.raises(NotFound):
        rotate(acme, old)
    rotate(acme, waiting)
    with pytest.raises(Conflict) as refused:
        rotate(acme, waiting)
    assert refused.value.code == "rotated"


def test_overlap_does_not_prolong_a_key(acme):
    soon = timezone.now() + timedelta(minutes=1)
    old, _ = new_key(acme, expires_at=soon)
    _, _, ends_at = rotate(acme, old)
    assert ends_at == soon == ApiKey.objects.get(pk=old.pk).expires_at


def test_a_rival_rotates_nothing(acme):
    key, text = new_key(acme)
    with pytest.raises(NotFound):
        rotate(tenant_make("rival"), key, overlap_s=0)
    assert find_key(text)


def test_accounts_and_their_keys_are_bounded(acme, monkeypatch):
    monkeypatch.setattr("controlplane.tenants.services.SERVICE_ACCOUNTS_MAX", 1)
    monkeypatch.setattr("controlplane.tenants.services.KEYS_LIVE_MAX", 1)
    new_key(acme)
    with pytest.raises(Conflict, match="has 1 keys"):
        new_key(acme)
    with pytest.raises(Conflict, match="at most 1 service accounts"):
        new_key(acme, name="other")


# -- hosts --------------------------------------------------------------------------------------
def test_a_drained_host_gets_no_brokers(world):
    hosts.host_update(host_id="host-1", drained=True, actor=ACTOR)
    hosts.host_update(host_id="host-1", drained=True, actor=ACTOR)
    assert actions().count("host.drain") == 1
    plan = world.plan("cluster.create", None, name="fresh", broker_count=3)
    used = {row["host_id"] for row in plan.diff["after"]["brokers"]}
    assert used == {"host-2", "host-3"}
    with pytest.raises(Invalid, match="Drained"):
        world.plan("cluster.create", None, name="fresh", broker_count=3, host_ids=["host-1"])
    hosts.host_update(host_id="host-1", drained=False, actor=ACTOR)
    assert not DrainedHost.objects.exists()


def test_a_host_is_let_go_when_nothing_is_on_it_and_its_agent_is_stopped(world):
    place(world, "host-1")
    with pytest.raises(Conflict) as refused:
        hosts.host_remove(host_id="host-1", actor=ACTOR)
    assert (refused.value.code, refused.value.extra["brokers"][0]["cluster"]) == (
        "host-in-use", "main",
    )  # fmt: skip
    with pytest.raises(Conflict) as refused:
        hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert refused.value.code == "host-alive"
    stop(world, "host-2")
    hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert [host.host_id for host in world.hosts.known] == ["host-1", "host-3"]
    # Its key goes with it: another host of that name gets one that the old one does not have.
    assert hosts_with_key() == {"host-1", "host-3"}
    with pytest.raises(NotFound):
        hosts.host_remove(host_id="host-2", actor=ACTOR)
    world.hosts.is_away = True
    with pytest.raises(Unavailable):
        hosts.host_remove(host_id="host-3", actor=ACTOR)


def place(world, host_id):
    return Broker.objects.create(
        cluster=world.cluster, broker_id=1, host_id=host_id, address="127.0.0.1",
        client_port=20_100, internal_port=20_101,
    )  # fmt: skip


def stop(world, host_id):
    world.hosts.known = [
        replace(host, alive=host.alive and host.host_id != host_id) for host in world.hosts.known
    ]


def test_what_runs_on_a_host_is_shown_with_its_age_or_as_unknown(world):
    broker = place(world, "host-1")
    world.hosts.reports[("host-1", broker.key)] = Observed(state="running", reported_at_ms=5_000)
    row = selectors.host_detail("host-1")
    assert row["broker_list"] == [
        {
            "broker_id": 1, "cluster": "main", "cluster_id": world.cluster.id, "tenant": "acme",
            "observed_state": "running", "observed_at": "1970-01-01T00:00:05Z",
        }
    ]  # fmt: skip
    world.hosts.reports.clear()
    row = selectors.host_detail("host-1")
    assert row["broker_list"][0]["observed_state"] is None
