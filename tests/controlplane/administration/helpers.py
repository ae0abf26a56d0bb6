"""What the tests of administration share."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from console.streams import Ticket
from controlplane.administration.services import invitations
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import scope_of
from controlplane.tenants.models import Membership
from controlplane.tenants.services import api_key_create, membership_ensure
from tests.controlplane.support import ACTOR

PASSWORD = "correct horse battery"
WEEK = timedelta(days=7)


def member(tenant, name, role):
    user = User.objects.create_user(name, password=PASSWORD)
    return membership_ensure(tenant=tenant, user=user, role=role)


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def token_of(link):
    return link.path.removeprefix(invitations.PATH)


def new_key(tenant, **more):
    return api_key_create(tenant=tenant, actor=ACTOR, **{"name": "ci", "scope": "write", **more})


def ticket_of(client, tenant):
    key = client.cookies["penstock_session"].value
    user_id = int(Session.objects.get(pk=key).get_decoded()["_auth_user_id"])
    member = Membership.objects.get(tenant=tenant, user_id=user_id)
    return Ticket(key, user_id, tenant.id, scope_of(member.role, member.grants).mark)
