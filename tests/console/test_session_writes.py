"""What the session says that may be changed: as the service would decide it."""

import pytest

from controlplane.common.grants import LIMITED, grant_of
from controlplane.tenants.models import Membership, Tenant
from controlplane.tenants.services import membership_ensure
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
ANY = {"match": "any", "name": ""}
EVERYTHING = {"clusters": ANY, "over": "cluster", "names": ANY}


def writes(client):
    return client.get("/console/api/session").json()["writes"]


def test_where_messages_are_read_is_said_apart():
    def browses(client):
        return client.get("/console/api/session").json()["browses"]

    tenant = tenant_make()
    client = client_for(tenant, "viewer", name="anna")
    assert browses(client) == []
    assert browses(client_for(tenant, "operator")) == [EVERYTHING]
    user = Membership.objects.get(user__username="anna").user
    own = {"clusters": ANY, "over": "topic", "names": {"match": "prefix", "name": "team-a-"}}
    groups = {"clusters": ANY, "over": "group", "names": ANY}
    grants = [
        grant_of({"role": role, **row})
        for role, row in (("message-reader", own), ("message-writer", own), ("viewer", groups))
    ]
    membership_ensure(tenant=tenant, user=user, role=LIMITED, grants=grants)
    assert browses(client) == [own]
    assert writes(client) == []


@pytest.mark.parametrize(
    ("role", "found"), [("owner", [EVERYTHING]), ("operator", [EVERYTHING]), ("viewer", [])]
)
def test_a_role_changes_everything_or_nothing(role, found):
    assert writes(client_for(tenant_make(), role)) == found


def test_grants_are_said_as_they_are_kept_and_only_those_that_change_something():
    tenant = tenant_make()
    client = client_for(tenant, "viewer", name="anna")
    user = Membership.objects.get(user__username="anna").user
    own = {"clusters": ANY, "over": "topic", "names": {"match": "prefix", "name": "team-a-"}}
    seen = {"clusters": ANY, "over": "group", "names": {"match": "literal", "name": "readers"}}
    grants = [
        grant_of({"role": role, **row}) for role, row in (("operator", own), ("viewer", seen))
    ]
    membership_ensure(tenant=tenant, user=user, role=LIMITED, grants=grants)
    assert writes(client) == [own]


def test_nobody_of_a_suspended_tenant_changes_anything():
    client = client_for(tenant_make())
    Tenant.objects.update(state="suspended")
    assert writes(client) == []


def test_who_is_not_signed_in_or_in_no_tenant_changes_nothing(client):
    assert writes(client) == []
    assert writes(client_for(tenant_make(), None, name="stranger")) == []
