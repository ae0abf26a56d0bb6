"""Grants of a member: given and read by REST and `manage.py`, within what the giver has."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from controlplane.administration.services import invitations, members
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import (
    GRANTS_MAX,
    LIMITED,
    OPERATOR,
    VIEWER,
    Area,
    Grant,
    Match,
    Over,
    Pattern,
    Scope,
    Verb,
    scope_of,
    whole,
)
from controlplane.common.problems import Forbidden
from controlplane.tenants.models import Membership
from controlplane.tenants.services import api_key_create, membership_ensure
from tests.controlplane.administration.helpers import WEEK, member
from tests.controlplane.support import ACTOR, client_for, operator_client, tenant_make

pytestmark = pytest.mark.django_db
TEAM = Pattern(Match.PREFIX, "team-a-")
TOPICS = Grant(role=OPERATOR, over=Over.TOPIC, names=TEAM)
ROW = TOPICS.as_row()
GIVEN = {"role": "operator", "over": "topic", "names": {"match": "prefix", "name": "team-a-"}}


def put(client, username="bob", **body):
    return client.put(f"/api/v1/members/{username}", body, format="json")


def refusal(answer, status):
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    return [row["pointer"] for row in answer.json().get("errors", [])]


@pytest.fixture
def owner(acme):
    member(acme, "bob", VIEWER)
    return client_for(acme)


def test_a_limited_operator_who_becomes_a_viewer_writes_nothing_more():
    tenant = tenant_make()
    user = User.objects.create_user("eve")
    grant = whole(OPERATOR)
    membership_ensure(tenant=tenant, user=user, role=LIMITED, grants=[grant])
    members.member_change(tenant=tenant, username="eve", role=VIEWER, actor=ACTOR)
    row = Membership.objects.get(user=user)
    assert (row.role, row.grants) == (VIEWER, [])
    assert scope_of(row.role, row.grants) == scope_of(VIEWER, [])
    event = AuditEvent.objects.get(action="member.change")
    assert event.data["before"] == {"role": LIMITED, "grants": [grant.as_row()]}
    assert event.data["after"] == {"role": VIEWER, "grants": []}


def test_grants_are_set_read_and_recorded(acme, owner):
    answer = put(owner, role="limited", grants=[GIVEN])
    assert answer.status_code == 200, answer.content
    assert answer.json()["grants"] == [ROW]
    listed = {row["username"]: row for row in owner.get("/api/v1/members").json()["data"]}
    assert (listed["bob"]["role"], listed["bob"]["grants"]) == ("limited", [ROW])
    assert listed["acme-owner"]["grants"] == []
    bob = Membership.objects.get(user__username="bob")
    scope = scope_of(bob.role, bob.grants)
    assert scope.allows(Verb.WRITE, Area.TOPIC, "main", "team-a-x")
    assert not scope.allows(Verb.READ, Area.TOPIC, "main", "team-ab")
    (event,) = owner.get("/api/v1/audit-events", {"action": "member."}).json()["data"]
    assert event["data"]["before"] == {"role": "viewer", "grants": []}
    assert event["data"]["after"] == {"role": "limited", "grants": [ROW]}
    assert put(owner, role="limited", grants=[GIVEN]).status_code == 200
    assert AuditEvent.objects.filter(action="member.change").count() == 1, "nothing changed"


def test_grants_stay_while_the_role_does_unless_others_take_their_place(owner):
    put(owner, role="limited", grants=[GIVEN])
    assert put(owner, role="limited").json()["grants"] == [ROW]
    assert put(owner, role="limited", grants=[]).json()["grants"] == []
    put(owner, role="limited", grants=[GIVEN])
    assert put(owner, role="viewer").json()["grants"] == []


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"role": "limited", "grants": [{**GIVEN, "role": "owner"}]}, ["/grants/0/role"]),
        ({"role": "limited", "grants": [GIVEN, GIVEN]}, ["/grants/1"]),
        ({"role": "limited", "grants": [GIVEN, {**GIVEN, "x": 1}]}, ["/grants/1/x"]),
        ({"role": "limited", "grants": [{**GIVEN, "over": "user"}]}, ["/grants/0/over"]),
        (
            {"role": "limited", "grants": [{**GIVEN, "names": {"match": "prefix", "name": "a"}}]},
            ["/grants/0/names"],
        ),
        ({"role": "limited", "grants": [{"role": "viewer", "names": ROW["names"]}]}, ["/grants/0/names"]),
        ({"role": "limited", "grants": None}, ["/grants"]),
        ({"role": "owner", "grants": [GIVEN]}, ["/grants"]),
        ({"role": "operator", "grants": [GIVEN]}, ["/grants"]),
        ({"role": "god", "grants": []}, ["/role"]),
    ],
)  # fmt: skip
def test_what_is_no_grant_is_named(owner, body, pointers):
    assert refusal(put(owner, **body), 422) == pointers
    bob = Membership.objects.get(user__username="bob")
    assert (bob.role, bob.grants) == ("viewer", [])


def test_there_are_only_so_many(owner):
    many = [{"role": "viewer", "clusters": {"match": "literal", "name": f"c{at}"}} for at in range(GRANTS_MAX + 1)]  # fmt: skip
    assert refusal(put(owner, role="limited", grants=many), 422) == ["/grants"]
    assert put(owner, role="limited", grants=many[1:]).status_code == 200


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_only_owners_give(acme, owner, role):
    refusal(put(client_for(acme, role), role="limited", grants=[GIVEN]), 403)
    narrow = User.objects.create_user("narrow")
    membership_ensure(tenant=acme, user=narrow, role=LIMITED, grants=[whole(OPERATOR)])
    client = client_for(acme, role=None, name="narrow")
    refusal(put(client, role="limited", grants=[GIVEN]), 403)
    refusal(put(client, "narrow", role="owner"), 403)
    assert Membership.objects.get(user=narrow).role == LIMITED


def test_nobody_gives_more_than_they_have(acme, owner):
    """Only owners come this far today; the rule does not lean on that."""
    own = Grant(role=OPERATOR, over=Over.TOPIC, names=Pattern(Match.PREFIX, "team-a-x-"))
    actor = replace(ACTOR, scope=Scope(((own,),)))
    give = {"tenant": acme, "username": "bob", "role": LIMITED, "actor": actor}
    within = replace(own, names=Pattern(Match.LITERAL, "team-a-x-1")).as_row()
    assert members.member_change(**give, grants=[within]).grants == [within]
    with pytest.raises(Forbidden) as refused:
        members.member_change(**give, grants=[within, ROW, whole(VIEWER).as_row()])
    assert [row["pointer"] for row in refused.value.errors] == ["/grants/1", "/grants/2"]
    with pytest.raises(Forbidden) as refused:
        members.member_change(**{**give, "role": VIEWER}, grants=[within])
    assert [row["pointer"] for row in refused.value.errors] == ["/role"]
    with pytest.raises(Forbidden):
        invitations.invite(tenant=acme, role="viewer", note="", actor=actor, lifetime=WEEK)
    with pytest.raises(Forbidden) as refused:
        api_key_create(tenant=acme, name="k", scope=LIMITED, grants=[within, ROW], actor=actor)
    assert refused.value.errors[0]["pointer"] == "/grants/1"
    assert Membership.objects.get(user__username="bob").grants == [within]


def test_an_operator_of_the_platform_adds_a_member_with_grants(acme):
    User.objects.create_user("eve")
    client = operator_client(acme)
    path = f"/api/v1/operator/tenants/{acme.id}/members"
    body = {"username": "eve", "role": "limited", "grants": [GIVEN]}
    assert refusal(client.post(path, {**body, "role": "owner"}, format="json"), 422) == ["/grants"]
    answer = client.post(path, body, format="json")
    assert (answer.status_code, answer.json()["grants"]) == (201, [ROW])
    event = AuditEvent.objects.get(action="member.add")
    assert event.data == {"before": None, "after": {"role": "limited", "grants": [ROW]}}
