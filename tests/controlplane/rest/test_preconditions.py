"""Every resource that can change has an `ETag`, and every write of it heeds `If-Match`.

The table of URLs is walked: a new address is in these tests by being served.
"""

import json
import re
import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from prometheus_client import REGISTRY

from controlplane.alerts.models import Alert, new_alert_id
from controlplane.clusters.host_states import CORDONED
from controlplane.clusters.models import HostState
from controlplane.common import etags
from controlplane.common.problems import Problem
from controlplane.tenants.models import ApiKey, Invitation, Membership, ServiceAccount, Tenant
from controlplane.tenants.views import CheckedView
from tests.controlplane.rest.surface import (
    BODIES,
    IDS,
    OPERATOR_PREFIX,
    document,
    filled,
    problem,
)
from tests.controlplane.rest.test_endpoints import served
from tests.controlplane.support import client_for, operator_client

pytestmark = pytest.mark.django_db
API = "/api/v1"
WRITES = ("post", "put", "patch", "delete")
# Lists, streams and what is computed: nothing that somebody could change.
NO_RESOURCE = re.compile(
    r"analytics/(lag|retention|collector|rollups|usage|unused|disk|hot|silent|change|chart|sparklines|offsets|consumption|readiness)|audit-events|timeline|/moves$|openapi\.json"
)
# POSTs that change a resource which has a tag at another address.
CHANGES_ANOTHER = {
    "api/v1/api-keys/<str:key_id>/rotation": "api/v1/api-keys/<str:key_id>",
    "api/v1/alerts/<str:alert_id>/acknowledgement": "api/v1/alerts/<str:alert_id>",
    "api/v1/operator/alerts/<str:host_alert_id>/acknowledgement": (
        "api/v1/operator/alerts/<str:host_alert_id>"
    ),
    "api/v1/operator/users/<str:username>/link": "api/v1/operator/users/<str:username>",
    "api/v1/operator/hosts/<str:host_id>/drain": "api/v1/operator/hosts/<str:host_id>",
    "api/v1/operator/hosts/<str:host_id>/address": "api/v1/operator/hosts/<str:host_id>",
    "api/v1/operator/hosts/<str:host_id>/zookeeper": "api/v1/operator/hosts/<str:host_id>",
    "api/v1/operator/hosts/<str:host_id>/loss": "api/v1/operator/hosts/<str:host_id>",
}


def documented_path(route):
    return "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route)


def address(route, ids):
    return "/" + re.sub(r"<\w+:(\w+)>", lambda found: ids[IDS[found[1]]], route)


def views():
    return {
        route: view.view_class
        for route, view in served()
        if route.startswith("api/v1/")
        and hasattr(view, "view_class")
        and issubclass(view.view_class, CheckedView)
    }


def writes():
    """(method, route) of each write of a resource that has a tag."""
    return [
        (method, route)
        for route, view in views().items()
        for method in WRITES
        if hasattr(view, method) and view.held is not CheckedView.held
    ]


def tagless():
    return [
        (method, route)
        for route, view in views().items()
        for method in WRITES
        if hasattr(view, method) and view.held is CheckedView.held
    ]


SINGLE = [
    route
    for route, view in views().items()
    if hasattr(view, "get")
    and not view.tags_list
    and not NO_RESOURCE.search(route)
    and "200" in (spec := document()["paths"][documented_path(route)]["get"])["responses"]
    and any(row["name"] == "If-None-Match" for row in spec.get("parameters", ()))
]


def test_whatever_is_put_or_deleted_has_a_tag():
    changing = {
        route for route, view in views().items() if {"put", "patch", "delete"} & set(dir(view))
    }
    assert changing == {route for method, route in writes() if method != "post"}
    assert changing <= set(SINGLE)
    assert {route for method, route in writes() if method == "post"} == {
        *CHANGES_ANOTHER,
        "api/v1/operations/<str:reassignment_id>/throttle",
    }
    assert {"api/v1/plans/<str:plan_id>", "api/v1/operations/<str:operation_id>"} <= set(SINGLE)


@pytest.fixture
def client(world, request):
    route = request.node.callspec.params["route"]
    is_operators = f"/{route}".startswith(OPERATOR_PREFIX)
    found = operator_client(world.tenant) if is_operators else client_for(world.tenant)
    found.raise_request_exception = False
    return found


@pytest.mark.parametrize("route", SINGLE)
def test_a_resource_that_is_read_has_a_strong_tag(client, ids, route):
    path = address(route, ids)
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    assert re.fullmatch(r'"[0-9a-f]{32}"', answer["ETag"])
    shown = answer.json()
    assert shown.get("etag", answer["ETag"]) == answer["ETag"]
    head = client.head(path)
    assert head["ETag"] == answer["ETag"]
    known = client.get(path, headers={"If-None-Match": f'"other", W/{answer["ETag"]}'})
    if "etag" in shown:  # it leaves out what is observed, so all is given each time
        assert known.json() == shown
    else:
        assert (known.status_code, known.content) == (304, b"")
        assert known["ETag"] == answer["ETag"]
    assert client.get(path, headers={"If-None-Match": '"other"'}).json() == shown
    assert problem(client.get(path, headers={"If-None-Match": "other"}), 400)


LISTS = {
    "api/v1/members": "username",
    "api/v1/invitations": "id",
    "api/v1/service-accounts": "id",
    "api/v1/api-keys": "id",
    "api/v1/destinations": "id",
    "api/v1/clusters": "id",
    "api/v1/alerts": "id",
    "api/v1/alert-overrides": "id",
    "api/v1/silences": "id",
    "api/v1/lag-objectives": "id",
    "api/v1/operator/tenants": "id",
    "api/v1/operator/users": "username",
    "api/v1/operator/hosts": "host_id",
    "api/v1/operator/host-tokens": "id",
}


@pytest.mark.parametrize("route", LISTS)
def test_rows_of_a_list_have_the_tags_of_what_they_show(client, ids, route):
    rows = client.get(f"/{route}").json()["data"]
    assert rows
    for row in rows:
        assert client.get(f"/{route}/{row[LISTS[route]]}")["ETag"] == row["etag"]


TAGGED_LISTS = sorted(route for route, view in views().items() if view.tags_list)


@pytest.mark.parametrize("route", TAGGED_LISTS)
def test_a_list_that_is_asked_for_again_is_sent_when_it_is_another_one(client, ids, route):
    first = client.get(f"/{route}?page_size=1")
    assert re.fullmatch(r'W/"[0-9a-f]{32}"', first["ETag"])
    known = {"headers": {"If-None-Match": first["ETag"]}}
    again = client.get(f"/{route}?page_size=1", **known)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert client.get(f"/{route}?page_size=1", headers={"If-None-Match": '"-"'}).json()["data"]
    Alert.objects.update(note="seen")
    assert client.get(f"/{route}?page_size=1", **known).json()["data"][0]["note"] == "seen"


def test_a_cursor_of_a_list_that_was_not_sent_again_still_leads_on(world, ids):
    one = Alert.objects.get(pk=ids["alert"])
    other = Alert.objects.get(pk=one.pk)
    other.pk, other.subject = new_alert_id(), "topic/other"
    other.save(force_insert=True)
    reader = client_for(world.tenant)
    first = reader.get("/api/v1/alerts?page_size=1")
    again = reader.get("/api/v1/alerts?page_size=1", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    cursor = first.json()["page"]["next"]
    assert reader.get("/api/v1/alerts", {"cursor": cursor}).json()["data"][0]["id"] == one.pk


def test_lists_are_tagged_by_choice():
    assert TAGGED_LISTS == ["api/v1/alerts"]


def send(client, method, route, ids, **headers):
    about = f"{method} {documented_path(route).removeprefix(API)}"
    body = filled(BODIES.get(about, {}), ids)
    return client.generic(
        method.upper(), address(route, ids), json.dumps(body), "application/json", headers=headers
    )


@pytest.fixture
def usable(world, ids):
    """`ids`, where the reassignment is under way."""
    moves = [{"topic": "orders", "partition": 0, "replicas": [4, 3, 2]}]
    return {**ids, "move": world.start(world.plan("reassignment", moves=moves)).id}


def refused_writes():
    return REGISTRY.get_sample_value("penstock_preconditions_failed_total") or 0


@pytest.mark.parametrize(("method", "route"), writes(), ids="-".join)
def test_a_write_is_refused_unless_it_names_what_is_there(client, usable, state, method, route):
    shown = client.get(address(CHANGES_ANOTHER.get(route, route), usable))
    tag, before, failed = shown["ETag"], state(), refused_writes()
    for stale in ('"0"', f"W/{tag}", f'"x", {tag.upper()}'):
        refused = problem(send(client, method, route, usable, **{"If-Match": stale}), 412)
        assert refused["code"] == "precondition-failed"
        assert "meanwhile" in refused["detail"]
    assert refused_writes() == failed + 3
    for malformed in ("", "x", '"', "*, *", f"{tag} {tag}", ", ".join([tag] * 21), "\xe9"):
        refused = problem(send(client, method, route, usable, **{"If-Match": malformed}), 400)
        assert refused["code"] == "malformed"
    assert state() == before
    served = send(client, method, route, usable, **{"If-Match": f'"other" , {tag}'})
    assert served.status_code in {200, 201, 204}, served.content


@pytest.mark.parametrize(("method", "route"), writes(), ids="-".join)
@pytest.mark.parametrize("headers", [{}, {"If-Match": "*"}], ids=["none", "star"])
def test_without_a_tag_the_last_writer_wins(client, usable, method, route, headers):
    served = send(client, method, route, usable, **headers)
    assert served.status_code in {200, 201, 204}, served.content


@pytest.mark.parametrize(("method", "route"), tagless(), ids="-".join)
def test_a_precondition_that_nothing_could_meet_is_not_ignored(client, ids, state, method, route):
    before = state()
    for given in ('"0"', "*"):
        problem(send(client, method, route, ids, **{"If-Match": given}), 412)
    assert state() == before


@pytest.mark.parametrize(("method", "route"), writes(), ids="-".join)
def test_of_what_is_not_there_no_tag_says_more(client, ids, method, route):
    gone = dict.fromkeys(ids, "no-such-thing")
    answer = send(client, method, route, gone, **{"If-Match": '"0"'})
    assert problem(answer, 404)["code"] == "not-found"


def test_what_is_only_observed_leaves_the_tag(world, ids):
    owner, operator = client_for(world.tenant), operator_client(world.tenant)
    shown = {
        "member": lambda: owner.get(f"{API}/members/known-member")["ETag"],
        "key": lambda: owner.get(f"{API}/api-keys/{ids['key']}")["ETag"],
        "user": lambda: operator.get(f"{API}/operator/users/known-member")["ETag"],
        "tenant": lambda: operator.get(f"{API}/operator/tenants/{ids['tenant']}")["ETag"],
        "account": lambda: owner.get(f"{API}/service-accounts/{ids['account']}")["ETag"],
    }
    before = {name: read() for name, read in shown.items()}
    now = "2026-01-01T00:00:00Z"
    User.objects.filter(username="known-member").update(last_login=now)
    ApiKey.objects.filter(pk=ids["key"]).update(last_used_at=now)
    Membership.objects.create(
        tenant=world.tenant, user=User.objects.get(username="nobody-yet"), role="viewer"
    )
    assert {name: read() for name, read in shown.items()} == before
    Membership.objects.filter(user__username="known-member").update(role="limited", grants=[{}])
    ApiKey.objects.filter(pk=ids["key"]).update(expires_at=now)
    User.objects.filter(username="known-member").update(email="a@example.com")
    Tenant.objects.update(name="Other")
    ServiceAccount.objects.update(description="other")
    after = {name: read() for name, read in shown.items()}
    assert all(after[name] != before[name] for name in shown)


def test_grants_are_part_of_a_member_s_tag(world, ids):
    owner = client_for(world.tenant)
    rows = Membership.objects.filter(user__username="known-member")
    before = owner.get(f"{API}/members/known-member")["ETag"]
    rows.update(grants=[{"role": "viewer", "cluster": "main"}])
    assert owner.get(f"{API}/members/known-member")["ETag"] != before


def test_an_answer_that_made_something_has_its_tag(world):
    owner = client_for(world.tenant)
    made = owner.post(f"{API}/service-accounts", {"name": "ci"}, format="json")
    assert made["ETag"] == made.json()["etag"]
    assert owner.get(f"{API}/service-accounts/{made.json()['id']}")["ETag"] == made["ETag"]


# -- two writers at once, with a database connection each, on SQLite and PostgreSQL --------------
RACES = {
    "put api/v1/members/<str:username>": [{"role": "operator"}, {"role": "owner"}],
    "put api/v1/service-accounts/<str:account_id>": [
        {"description": "mine", "disabled": False},
        {"description": "yours", "disabled": True},
    ],
    "put api/v1/operator/tenants/<str:tenant_id>": [
        {"name": "Mine", "state": "active"},
        {"name": "Yours", "state": "suspended"},
    ],
    "put api/v1/operator/users/<str:username>": [
        {"email": "mine@example.com", "is_active": True, "is_operator": False},
        {"email": "yours@example.com", "is_active": True, "is_operator": False},
    ],
    "put api/v1/operator/hosts/<str:host_id>": [{"state": "cordoned"}, {"state": "cordoned"}],
    "delete api/v1/api-keys/<str:key_id>": [{}, {}],
    "delete api/v1/invitations/<str:invitation_id>": [{}, {}],
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("about", RACES)
def test_of_two_writers_who_read_the_same_one_wins(world, ids, about):
    method, route = about.split(" ")
    make = operator_client if "operator/" in route else client_for
    path = address(route, ids)
    tag = make(world.tenant).get(path)["ETag"]
    barrier, answers = threading.Barrier(2), []

    def write(client, body):
        barrier.wait()
        answers.append(
            client.generic(
                method.upper(),
                path,
                json.dumps(body),
                "application/json",
                headers={"If-Match": tag},
            )
        )
        connection.close()

    threads = [
        threading.Thread(target=write, args=(make(world.tenant), body)) for body in RACES[about]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(answer.status_code for answer in answers)
    # What is deleted for good has gone for the second; a key and an invitation only end.
    assert statuses in ([200, 412], [204, 412]), [answer.content for answer in answers]
    assert HostState.objects.filter(state=CORDONED).count() == ("hosts/" in route)
    assert Invitation.objects.exclude(revoked_at=None).count() == ("invitations/" in route)


# -- the header itself ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "tags"),
    [
        ('"a"', ('"a"',)),
        (' "a,b" ,\t"c" ', ('"a,b"', '"c"')),
        ('W/"a", ""', ('W/"a"', '""')),
        ('"\xe9"', ('"\xe9"',)),
    ],
)
def test_lists_of_tags_are_read_as_rfc_9110_has_them(given, tags):
    assert etags.precondition("If-Match", given).tags == tags


@pytest.mark.parametrize(
    "given", ["", "a", '"a', 'a"', 'w/"a"', '"a""b"', '"a" "b"', ',"a"', '"a b"', "**", '*, "a"']
)
def test_other_text_is_refused(given):
    with pytest.raises(Problem):
        etags.precondition("If-Match", given)


def test_a_weak_tag_is_the_same_only_when_compared_weakly():
    given = etags.precondition("If-None-Match", 'W/"a"')
    assert given.has_weakly('"a"')
    assert not given.has('"a"')
    star = etags.precondition("If-Match", "*")
    assert star.has('"a"')
    assert star.has_weakly('"a"')
