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


QUOTAS = 60
MIB = 1024 * 1024


@pytest.fixture
def bounded(world):
    """Sixty client ids, the higher the more they may send; two have no bound of it, a user has one."""
    for index in range(QUOTAS):
        values = {"request_percentage": 50.0} if index < 2 else {"producer_byte_rate": index * MIB}
        world.gateway.alter_quotas((("client-id", f"job-{index:02}"),), values)
    world.gateway.alter_quotas((("user", "Load"),), {"producer_byte_rate": MIB / 2})
    observed(world)
    return world


def test_quotas_are_paged_searched_and_counted(bounded):
    pages = [read(bounded, quotas_page=page)["quotas"] for page in (1, 2, 9)]
    names = [[row["words"] for row in page["data"]] for page in pages]
    assert names[1] == names[2]
    assert len(names[0]) == SIZE
    assert names[0] + names[1] == sorted(names[0] + names[1])
    assert [pages[2][key] for key in ("page", "size", "matched", "total")] == [2, SIZE, 61, 61]
    found = read(bounded, quotas_q="JOB-1")["quotas"]
    assert [row["words"][-6:] for row in found["data"]] == [f"job-{n}" for n in range(10, 20)]
    assert (found["matched"], found["total"]) == (10, QUOTAS + 1)
    assert read(bounded, quotas_q="nobody")["quotas"]["data"] == []


def test_quotas_without_a_value_come_last_either_way(bounded):
    for sort in ("producer_byte_rate", "-producer_byte_rate"):
        rows = [
            row["quotas"]["producer_byte_rate"]
            for page in (1, 2)
            for row in read(bounded, quotas_sort=sort, quotas_page=page)["quotas"]["data"]
        ]
        assert rows[-2:] == [None, None]
        assert rows[:-2] == sorted(rows[:-2], reverse=sort.startswith("-"))


def test_quotas_are_searched_as_they_were_last_read_while_brokers_are_away(bounded, monkeypatch):
    def away(*_args, **_more):
        raise GatewayError("BROKER_NOT_AVAILABLE", "no")

    monkeypatch.setattr(bounded.gateway, "list_quotas", away)
    part = client_for(bounded.tenant).get(
        f"/console/api/pages/access/{bounded.cluster.id}", {"quotas_q": "job-1", "quotas_page": 1}
    )
    quotas = part.json()["parts"]["quotas"]
    assert quotas["status"] == "stale"
    assert (quotas["data"]["matched"], quotas["data"]["total"]) == (10, QUOTAS + 1)


def test_quotas_of_the_rest_api_are_searched_by_whom_they_are_of(bounded):
    client = client_for(bounded.tenant)
    rows = client.get(f"/api/v1/clusters/{bounded.cluster.id}/quotas", {"q": "load"}).json()["data"]
    assert [row["words"] for row in rows] == ["user Load"]


def changed(world, count):
    """Users that operations left with a login, and that are gone."""
    for index in range(count):
        about = {"tenant": world.tenant, "kind": "user.create", "cluster_id": world.cluster.id}
        about |= {"resource": f"user/{name(index)}"}
        plan = Plan.objects.create(
            **about, inputs={"username": name(index), "mechanism": "SCRAM-SHA-256", "acls": []},
            diff={}, impact={}, preconditions={}, expires_at=timezone.now(),
        )  # fmt: skip
        Operation.objects.create(**about, plan=plan, state="succeeded")


def test_what_was_changed_outside_is_paged_searched_and_counted(full):
    changed(full, USERS)
    pages = [read(full, drift_page=page)["drift"] for page in (1, 2)]
    names = [row["name"] for page in pages for row in page["data"]]
    assert names == [name(index) for index in range(USERS)]
    counts = [pages[1][key] for key in ("page", "size", "matched", "total")]
    assert counts == [2, SIZE, USERS, USERS]
    assert pages[0]["users"]["as_of"] is not None
    found = read(full, drift_q="APP-1", drift_sort="-name")["drift"]
    assert [row["name"] for row in found["data"]] == [name(index) for index in range(19, 9, -1)]
    for sort in ("observed", "-desired", "seen"):
        assert len(read(full, drift_sort=sort)["drift"]["data"]) == SIZE


def test_users_on_the_page_are_marked_as_changed_whatever_page_of_changes_is_shown(full):
    changed(full, USERS)
    shown = read(full, users_page=2, drift_q="nobody")
    assert shown["drift"]["data"] == []
    marked = [row["username"] for row in shown["drift"]["changed_users"]]
    assert marked == [row["username"] for row in shown["users"]]


def test_what_was_changed_takes_as_many_statements_on_each_of_its_pages(full):
    changed(full, USERS)
    client = client_for(full.tenant)
    read(full, client)

    def statements(**query):
        with CaptureQueriesContext(connection) as asked:
            read(full, client, **query)
        return len(asked)

    assert statements(drift_page=2, drift_sort="-observed") == statements()


def test_a_page_of_quotas_is_not_sent_again_while_they_are_the_same(bounded, monkeypatch):
    monkeypatch.setattr("console.parts.FRESH_S", 0.0)
    client = client_for(bounded.tenant)
    address = f"/console/api/pages/access/{bounded.cluster.id}"
    tag = client.get(address, {"quotas_page": 2})["ETag"]
    assert client.get(address, {"quotas_page": 2}, HTTP_IF_NONE_MATCH=tag).status_code == 304
    assert client.get(address, {"quotas_page": 1}, HTTP_IF_NONE_MATCH=tag).status_code == 200
    bounded.gateway.alter_quotas((("client-id", "job-59"),), {"request_percentage": 10.0})
    assert client.get(address, {"quotas_page": 2}, HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_only_who_sees_the_whole_cluster_sees_any_of_it(full):
    narrow = member_of(full.tenant)
    narrow.raise_request_exception = False
    assert narrow.get(f"/console/api/pages/access/{full.cluster.id}").status_code == 403
    theirs = cluster_make(tenant_make("other"), "theirs")
    client = client_for(full.tenant)
    client.raise_request_exception = False
    assert client.get(f"/console/api/pages/access/{theirs.id}").status_code == 404
