"""Tenants: their states, and what ending one ends."""

import pytest
from django.utils import timezone

from console.streams import allowed
from controlplane.administration.services import invitations, tenants
from controlplane.audit.models import AuditEvent
from controlplane.common.problems import Conflict, Gone, Invalid
from controlplane.tenants.authentication import find_key
from controlplane.tenants.models import Invitation
from tests.controlplane.administration.helpers import WEEK, actions, new_key, ticket_of, token_of
from tests.controlplane.support import ACTOR, client_for

pytestmark = pytest.mark.django_db


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
