"""Users and ACLs by the page: the same rows as of the whole, searched and ordered by the server."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.access.lists import RULES_SHOWN
from controlplane.access.models import PasswordOverlap
from controlplane.clusters.specs import ADMIN_USER
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import AclBinding
from controlplane.observed.models import ObservedAcl, ObservedUser
from controlplane.operations.models import Operation, Plan
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

pytestmark = pytest.mark.django_db
USERS, SIZE = 60, 50


def rule(user, topic="orders", **more):
    values = {
        "principal": f"User:{user}", "host": "*", "operation": "READ", "permission": "ALLOW",
        "resource_type": "TOPIC", "resource_name": topic, "pattern_type": "LITERAL",
    }  # fmt: skip
    return AclBinding(**values | more)


def name(index):
    return f"app-{index:02}"


@pytest.fixture
def full(world):
    """Sixty users with a rule each; one has many, one none, one is the service's own."""
    for index in range(USERS):
        world.gateway.upsert_user(name(index), "SCRAM-SHA-512", "secret")
        world.gateway.acls |= {rule(name(index))}
    world.gateway.upsert_user("admin", "SCRAM-SHA-512", "secret")
    many = {rule(name(7), f"topic-{index:03}") for index in range(RULES_SHOWN + 5)}
    world.gateway.acls |= {*many, rule(name(7), "secret", permission="DENY", operation="WRITE")}
    world.gateway.acls |= {rule("app-07 or so", "x", host="10.0.0.9", resource_type="GROUP")}
    observed(world)
    return world


def read(world, client=None, **query):
    client = client or client_for(world.tenant)
    answer = client.get(f"/console/api/pages/access/{world.cluster.id}", query)
    assert answer.status_code == 200, answer.content
    return {part: shown["data"] for part, shown in answer.json()["parts"].items()}


def test_users_are_paged_by_name_and_counted(full):
    pages = [read(full, users_page=page) for page in (1, 2, 9)]
    names = [[row["username"] for row in page["users"]] for page in pages]
    assert names[0] + names[1] == ["admin", *map(name, range(USERS))]
    assert names[2] == names[1]
    counts = pages[2]["users_counts"]
    assert (counts["page"], counts["size"], counts["matched"]) == (2, SIZE, USERS + 1)
    assert read(full, users_sort="-username")["users"][0]["username"] == name(USERS - 1)


def test_users_are_searched_in_any_case_and_how_many_there_are_is_still_said(full):
    found = read(full, users_q="APP-0")
    assert [row["username"] for row in found["users"]] == [name(index) for index in range(10)]
    assert (found["users_counts"]["matched"], found["users_counts"]["total"]) == (10, USERS + 1)
    # The other list is not searched for it.
    assert found["acls_counts"]["matched"] == found["acls_counts"]["total"]


def test_each_user_on_the_page_has_its_own_rules_the_first_of_many_and_their_number(full):
    rows = {row["username"]: row for row in read(full)["users"]}
    assert rows[name(3)]["rules"]["count"] == 1
    assert rows[name(3)]["rules"]["first"][0]["resource_name"] == "orders"
    of_many = rows[name(7)]["rules"]
    assert (of_many["count"], of_many["denies"]) == (RULES_SHOWN + 7, 1)
    assert len(of_many["first"]) == RULES_SHOWN
    assert {each["principal"] for each in of_many["first"]} == {f"User:{name(7)}"}
    assert rows["admin"]["rules"] == {"count": 0, "denies": 0, "first": []}


def test_what_users_may_is_unknown_while_rules_were_never_read(world, monkeypatch):
    def refuses(*_args, **_more):
        raise GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no")

    world.gateway.upsert_user("app", "SCRAM-SHA-512", "secret")
    monkeypatch.setattr(world.gateway, "list_acls", refuses)
    observed(world)
    (row,) = read(world)["users"]
    assert row["rules"] is None


@pytest.mark.parametrize(
    ("order", "column"),
    [("principal", "principal"), ("permission", "permission"), ("operation", "operation"),
     ("resource", "resource_type"), ("host", "host")],
)  # fmt: skip
@pytest.mark.parametrize("sign", ["", "-"])
def test_rules_are_in_any_order_and_paged(full, order, column, sign):
    sort = f"{sign}{order}"
    rows = [row for page in (1, 2) for row in read(full, sort=sort, page=page)["acls"]]
    assert len(rows) == len({str(row) for row in rows}) == len(full.gateway.acls)
    values = [row[column] for row in rows]
    assert values == sorted(values, reverse=bool(sign))


def test_rules_are_searched_in_all_that_they_say(full):
    assert [row["resource_name"] for row in read(full, q="deny")["acls"]] == ["secret"]
    assert [row["host"] for row in read(full, q="10.0.0.9")["acls"]] == ["10.0.0.9"]
    found = read(full, q="app-07")
    assert found["acls_counts"]["matched"] == RULES_SHOWN + 8
    assert len(found["users"]) == SIZE


def test_the_service_s_own_users_are_named_on_every_page(full):
    assert read(full, users_page=2)["users_counts"]["managed"] == []
    full.gateway.upsert_user(ADMIN_USER, "SCRAM-SHA-512", "secret")
    observed(full)
    for query in ({"users_page": 1}, {"users_q": "app-01"}):
        assert read(full, **query)["users_counts"]["managed"] == [ADMIN_USER]


def rotation(world):
    about = {"tenant": world.tenant, "kind": "user.rotate", "cluster_id": world.cluster.id}
    about |= {"resource": "user/app"}
    plan = Plan.objects.create(
        **about, inputs={}, diff={}, impact={}, preconditions={}, expires_at=timezone.now()
    )
    return Operation.objects.create(**about, plan=plan)


def test_passwords_that_overlap_are_those_of_the_page(full):
    for index in (0, USERS - 1):
        PasswordOverlap.objects.create(
            tenant=full.tenant, cluster=full.cluster, username=name(index), rotation=rotation(full),
            old_mechanism="SCRAM-SHA-256", new_mechanism="SCRAM-SHA-512",
            ends_at="2999-01-01T00:00:00Z", next_try_at="2999-01-01T00:00:00Z",
        )  # fmt: skip
    assert [row["username"] for row in read(full)["overlaps"]] == [name(0)]
    assert [row["username"] for row in read(full, users_page=2)["overlaps"]] == [name(USERS - 1)]


def test_it_takes_as_many_statements_however_many_there_are(full):
    client = client_for(full.tenant)
    read(full, client)

    def statements():
        with CaptureQueriesContext(connection) as asked:
            read(full, client)
        models = ObservedUser, ObservedAcl
        return sum(any(each._meta.db_table in one["sql"] for each in models) for one in asked)

    many = statements()
    for index in range(10, USERS):
        full.gateway.delete_user(name(index), "SCRAM-SHA-512")
    full.gateway.acls = {rule(name(1))}
    observed(full)
    assert many == statements()


def test_only_who_sees_the_whole_cluster_sees_any_of_it(full):
    narrow = member_of(full.tenant)
    narrow.raise_request_exception = False
    assert narrow.get(f"/console/api/pages/access/{full.cluster.id}").status_code == 403
    theirs = cluster_make(tenant_make("other"), "theirs")
    client = client_for(full.tenant)
    client.raise_request_exception = False
    assert client.get(f"/console/api/pages/access/{theirs.id}").status_code == 404
