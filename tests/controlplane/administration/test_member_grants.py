"""A member's grants end with the role that they stood beside."""

import pytest
from django.contrib.auth.models import User

from controlplane.administration.services import members
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import LIMITED, OPERATOR, VIEWER, scope_of, whole
from controlplane.tenants.models import Membership
from controlplane.tenants.services import membership_ensure
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db


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
    assert event.data["grants_ended"] == 1
