"""A member and a key with grants over one team's topics and groups try everything of the others'.

The URL table is walked as in `test_rival`: what no grant covers looks like what is not there, and
no answer, list or total holds anything of it.
"""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from rest_framework.test import APIClient

from console.streams import Ticket, allowed
from controlplane.common.grants import LIMITED, OPERATOR, Grant, Match, Over, Pattern, scope_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import kind_names, required_kind
from controlplane.operations.permissions import row_of
from controlplane.operations.scopes import needs_of
from controlplane.operations.services import operation_cancel
from controlplane.tenants.models import Membership
from controlplane.tenants.services import api_key_create, membership_ensure
from tests.controlplane.permission_table import FILE, render, views
from tests.controlplane.rest.surface import INPUTS, OWN_SESSION, filled, problem
from tests.controlplane.rest.teams import MAIN, ROWS, TEAM, key_of, member_of, unseen
from tests.controlplane.rest.test_hostile import routes, with_ids
from tests.controlplane.rest.test_rival import METHODS, STREAMS, made_up, said, send
from tests.controlplane.support import ACTOR, drive

pytestmark = pytest.mark.django_db
MESSAGES = "/console/events/messages/<str:cluster_id>/<path:topic>"
"""A stream, whose content `tests/console/test_message_events` reads."""
WALKED = [
    route for route in routes() if route.startswith(("/api", "/console")) and route not in STREAMS
]


def test_the_table_of_permissions_is_the_file():
    assert FILE.read_text(encoding="utf-8") == render()


def test_every_kind_has_a_row_that_writes_something():
    for kind in kind_names():
        assert "write" in row_of(kind).values(), kind


def test_every_address_with_a_caller_has_a_row():
    assert {path for _, path, _, _ in views()} == {
        re.sub(r"<\w+:(\w+)>", r"{\1}", route)
        for route in WALKED
        if route not in OPEN_ADDRESSES and not route.endswith(("<str:rest>", "<str:path>"))
    }


OPEN_ADDRESSES = {
    "/api",
    "/api/v1",
    "/api/v1/openapi.json",
    "/console/events/operations/<str:operation_id>",
    MESSAGES,
    "/console/oidc/callback",
    "/console/oidc/login",
    *OWN_SESSION,
}


@pytest.mark.parametrize("route", [route for route in WALKED if route != MESSAGES])
def test_no_answer_holds_anything_that_no_grant_covers(world, ids, teams, narrow, route):
    own = {**ids, "cluster": world.cluster.id, "topic": "team-a-x", "group": "team-a-g"}
    mixed = [own, teams, {**teams, "cluster": world.cluster.id}]
    for who, client in narrow.items():
        for given in mixed:
            path = with_ids(route, given)
            answer = send(client, "get", path, {})
            text = answer.content.decode().replace(json.dumps(path)[1:-1], "")
            if answer.status_code == 200:
                assert unseen(text) == [], (who, path, text[:500])
            for name in ("topic", "group"):
                text = text.replace(given[name], "")  # a refusal repeats what was asked for
            assert unseen(text) == [], (who, path, text[:500])


@pytest.mark.parametrize("route", [route for route in WALKED if "<" in route])
def test_what_no_grant_covers_looks_like_what_is_not_there(world, teams, narrow, state, route):
    before = state()
    for cluster in (teams["cluster"], world.cluster.id):
        if "<str:broker_id>" in route and cluster == world.cluster.id:
            continue  # brokers are there for everybody who sees something on their cluster
        real = {**teams, "cluster": cluster}
        unreal = {**made_up(teams), "cluster": cluster, "topic": "no-such", "group": "no-such"}
        if (
            "_id>" in route
            and "<str:cluster_id>" in route
            and "/<" not in route[route.index("_id>") :]
        ):
            continue  # nothing but the cluster is named
        for who, client in narrow.items():
            for method in METHODS:
                one, other = (
                    said(send(client, method, with_ids(route, given), {}), given)
                    for given in (real, unreal)
                )
                assert one == other, (who, method, route)
    assert state() == before


def kinds_about(topic, group):
    """Inputs of every kind, about this topic and group; with how they come before a plan."""
    for kind, inputs in INPUTS.items():
        text = json.dumps(inputs).replace('"orders"', json.dumps(topic))
        yield kind, json.loads(text.replace('"readers"', json.dumps(group)))


def test_no_kind_is_planned_about_what_no_grant_covers(world, ids, teams, narrow, state):
    before = state()
    seen = set()
    for who, client in narrow.items():
        for cluster_id in (world.cluster.id, teams["cluster"]):
            for kind, inputs in kinds_about("secret-orders", "secret-readers"):
                on = None if kind in {"cluster.create", "cluster.register"} else cluster_id
                body = {"kind": kind, "cluster_id": on, "inputs": filled(inputs, ids)}
                if kind == "topic.create":
                    body["inputs"]["name"] = "team-ab-new"
                answer = send(client, "post", "/api/v1/plans", body)
                assert answer.status_code in {403, 404}, (who, kind, answer.content)
                found = unseen(answer.content.decode())
                assert found == [], (who, kind, answer.content)
                seen.add(kind)
    assert seen == set(kind_names())
    assert state() == before


def test_a_refusal_is_the_same_whether_it_is_there_or_not(world, narrow):
    for kind, key in (
        ("topic.delete", "name"),
        ("topic.empty", "name"),
        ("topic.partitions", "name"),
        ("group.delete", "group"),
    ):
        for client in narrow.values():
            answers = []
            for name in ("secret-orders", "secret-nothing"):
                inputs = {key: name, **({"partitions": 9} if kind == "topic.partitions" else {})}
                body = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
                answer = send(client, "post", "/api/v1/plans", body)
                answers.append(said(answer, {"name": name}))
            assert answers[0] == answers[1]
            assert answers[0][0] == 403


@pytest.mark.parametrize(
    "name", ["team-ab", "team-a", "Team-a-x", "team-b-x", "team_a_x", "xteam-a-x", "TEAM-A-X"]
)
def test_no_topic_is_made_beside_the_prefix(world, narrow, name):
    for client in narrow.values():
        body = {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": name}}
        problem(send(client, "post", "/api/v1/plans", body), 403)


def plan_of(client, world, kind, **inputs):
    body = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    answer = send(client, "post", "/api/v1/plans", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


def confirm(client, plan):
    body = {
        "plan_id": plan["id"],
        "plan_hash": plan["plan_hash"],
        "confirm": plan["confirm_phrase"],
    }
    return send(client, "post", "/api/v1/operations", body)


def test_what_the_grants_cover_is_planned_confirmed_seen_and_undone(world, narrow):
    for who, client in narrow.items():
        started = confirm(client, plan_of(client, world, "topic.create", name=f"team-a-{who}"))
        assert started.status_code == 202, started.content
        found = started.json()["id"]
        assert client.get(f"/api/v1/operations/{found}").status_code == 200
        listed = client.get("/api/v1/operations").json()["data"]
        assert [row["id"] for row in listed if row["id"] == found] == [found]
        topics = client.get(f"/api/v1/clusters/{world.cluster.id}/topics").json()["data"]
        assert {row["name"] for row in topics} <= {"team-a-x", "team-a-member", "team-a-key"}


def test_the_history_of_a_topic_is_for_who_sees_the_topic(world, narrow):
    base = f"/api/v1/clusters/{world.cluster.id}/topics"
    for client in narrow.values():
        assert client.get(f"{base}/team-a-x/config-history").status_code == 200
        refused = problem(client.get(f"{base}/secret-orders/config-history"), 404)
        none = problem(client.get(f"{base}/no-such-orders/config-history"), 404)
        assert refused["detail"] == none["detail"].replace("no-such", "secret")


def test_totals_are_of_what_the_grants_cover(world, narrow):
    for client in narrow.values():
        page = client.get(f"/console/api/pages/cluster/{world.cluster.id}").json()["parts"]
        if page["summary"]["status"] != "ok":
            raise AssertionError(page["summary"])
        assert page["summary"]["data"]["topics"] == 1
        assert page["summary"]["data"]["partitions"] == 2
        assert sum(row["leaders"] for row in page["loads"]["data"]) == 2


def test_a_group_shows_the_topics_that_the_grants_cover(world, narrow):
    for client in narrow.values():
        row = client.get(f"/api/v1/clusters/{world.cluster.id}/groups/team-a-g").json()
        assert row["topics"] == ["team-a-x"]
        assert {offset["topic"] for offset in row["offsets"]} == {"team-a-x"}
        assert row["lag"] == 999


def test_a_reset_needs_every_topic_that_it_turns_out_to_be_about(world, narrow, state):
    before = state()
    inputs = {"group": "team-a-g", "strategy": "earliest"}
    body = {"kind": "offset.reset", "cluster_id": world.cluster.id, "inputs": inputs}
    for client in narrow.values():
        refused = problem(send(client, "post", "/api/v1/plans", body), 403)
        assert unseen(json.dumps(refused)) == []
        problem(
            send(
                client,
                "post",
                "/api/v1/plans",
                {**body, "inputs": {**inputs, "topics": ["secret-orders"]}},
            ),
            403,
        )
    assert state() == before
    own = {**body, "inputs": {**inputs, "topics": ["team-a-x"]}}
    for client in narrow.values():
        assert send(client, "post", "/api/v1/plans", own).status_code == 201


def test_moving_replicas_needs_the_cluster(world, narrow):
    inputs = {"moves": [{"topic": "team-a-x", "partition": 0, "replicas": [4, 3, 2]}]}
    body = {"kind": "reassignment", "cluster_id": world.cluster.id, "inputs": inputs}
    for client in narrow.values():
        problem(send(client, "post", "/api/v1/plans", body), 403)


def test_a_grant_withdrawn_between_plan_and_confirmation_counts(world, narrow, state):
    client = narrow["member"]
    plan = plan_of(client, world, "topic.create", name="team-a-late")
    member = Membership.objects.get(user__username="anna")
    member.grants = [Grant(role="viewer", clusters=MAIN, over=Over.TOPIC, names=TEAM).as_row()]
    member.save()
    before = state()
    problem(confirm(client, plan), 403)
    member.grants = [
        Grant(role=OPERATOR, over=Over.TOPIC, names=Pattern(Match.PREFIX, "b-")).as_row()
    ]
    member.save()
    problem(confirm(client, plan), 404)
    assert state() == before


def test_another_ones_plan_is_confirmed_by_no_narrower_hand(world, narrow, state):
    plan = world.plan("topic.delete", name="secret-orders")
    token = {"id": plan.id, "plan_hash": plan.plan_hash, "confirm_phrase": plan.confirm_phrase}
    before = state()
    for client in narrow.values():
        problem(confirm(client, token), 404)
    assert state() == before


def test_operations_of_others_are_neither_cancelled_nor_undone_nor_read(world, narrow, state):
    done = world.run("topic.create", name="secret-done")
    waiting = world.start(world.plan("topic.create", name="secret-waiting"))
    moving = world.start(
        world.plan(
            "reassignment", moves=[{"topic": "team-a-x", "partition": 0, "replicas": [4, 3]}]
        )
    )
    before = state()
    for client in narrow.values():
        for operation in (done, waiting, moving):
            for verb in ("cancellation", "pause", "resumption", "undo-plan", "secret"):
                path = f"/api/v1/operations/{operation.id}/{verb}"
                problem(send(client, "post", path, {}), 404)
    assert state() == before
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=moving.id)


def test_who_may_only_read_a_topic_cancels_nothing(world, teams):
    viewer = [Grant(role="viewer", over=Over.TOPIC, names=TEAM)]
    writes = [Grant(role=OPERATOR, over=Over.TOPIC, names=Pattern(Match.PREFIX, "b-"))]
    client = member_of(world.tenant, [*viewer, *writes], "both")
    done = world.run("topic.create", name="team-a-done")
    assert client.get(f"/api/v1/operations/{done.id}").status_code == 200
    for verb in ("cancellation", "pause", "resumption", "undo-plan"):
        problem(send(client, "post", f"/api/v1/operations/{done.id}/{verb}", {}), 403)


def test_an_undo_asks_for_what_it_would_do(world):
    """The operation may be read, its undo is another kind."""
    client = member_of(world.tenant)
    started = confirm(client, plan_of(client, world, "topic.create", name="team-a-undone"))
    found = started.json()["id"]
    drive(Operation.objects.get(pk=found))
    answer = send(client, "post", f"/api/v1/operations/{found}/undo-plan", {})
    assert answer.status_code == 201, answer.content
    assert answer.json()["kind"] == "topic.delete"


def test_every_kind_says_what_it_needs_of_a_plan_that_only_has_inputs(world, ids):
    """What is asked before anything is read must not need what is found later."""
    for kind, inputs in INPUTS.items():
        plan = Plan(tenant=world.tenant, kind=kind, inputs=filled(inputs, ids), diff={})
        assert needs_of(required_kind(kind), plan, required_kind(kind).asked_names), kind


def test_a_key_is_never_more_than_its_maker_is_now(world, teams):
    maker, _ = User.objects.get_or_create(username="maker")
    member = membership_ensure(tenant=world.tenant, user=maker, role="owner")
    _, text = api_key_create(
        tenant=world.tenant, name="all", scope="write", actor=ACTOR, maker_id=maker.pk
    )
    client = APIClient(headers={"Authorization": f"Bearer {text}"})
    topics = f"/api/v1/clusters/{world.cluster.id}/topics"
    body = {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": "x"}}
    assert send(client, "post", "/api/v1/plans", body).status_code == 201
    member.role = "viewer"
    member.save()
    problem(send(client, "post", "/api/v1/plans", body), 403)
    assert client.get(topics).status_code == 200
    member.role, member.grants = LIMITED, ROWS
    member.save()
    assert [row["name"] for row in client.get(topics).json()["data"]] == ["team-a-x"]
    maker.is_active = False
    maker.save()
    problem(client.get(topics), 403)
    member.delete()
    problem(client.get(topics), 403)


def test_nobody_makes_a_key_that_may_more(world, teams):
    owner = User.objects.create(username="boss")
    membership_ensure(tenant=world.tenant, user=owner, role="owner")
    client = APIClient()
    client.force_login(owner)
    made = send(client, "post", "/api/v1/api-keys", {"name": "n", "scope": LIMITED, "grants": ROWS})
    assert made.status_code == 201, made.content
    assert made.json()["grants"] == ROWS
    for clients in (member_of(world.tenant), key_of(world.tenant)):
        problem(send(clients, "post", "/api/v1/api-keys", {"name": "n", "scope": "read"}), 403)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"scope": "limited"}, "/grants"),
        ({"scope": "read", "grants": ROWS}, "/grants"),
        ({"scope": "limited", "grants": [{"role": "owner"}]}, "/grants/0/role"),
        (
            {
                "scope": "limited",
                "grants": [
                    {"role": "viewer", "over": "topic", "names": {"match": "prefix", "name": "a"}}
                ],
            },
            "/grants/0/names",
        ),
        (
            {
                "scope": "limited",
                "grants": [
                    {"role": "viewer", "over": "topic", "names": {"match": "prefix", "name": ""}}
                ],
            },
            "/grants/0/names",
        ),
        (
            {
                "scope": "limited",
                "grants": [{"role": "viewer", "names": {"match": "any", "name": "x"}}],
            },
            "/grants/0/names",
        ),
        ({"scope": "limited", "grants": [{"role": "viewer"}] * 51}, "/grants"),
    ],
)
def test_a_key_that_cannot_be_names_its_field(world, teams, body, pointer):
    owner = User.objects.create(username="boss")
    membership_ensure(tenant=world.tenant, user=owner, role="owner")
    client = APIClient()
    client.force_login(owner)
    found = problem(send(client, "post", "/api/v1/api-keys", {"name": "n", **body}), 422)
    assert found["errors"][0]["pointer"].startswith(pointer)


def test_a_stream_ends_with_the_grants_that_it_was_opened_with(world, monkeypatch):
    monkeypatch.setattr(connection, "close", lambda: None)  # it is this test's own
    client = member_of(world.tenant)
    user = User.objects.get(username="anna")
    ticket = Ticket(
        client.session.session_key, user.pk, world.tenant.id, scope_of(LIMITED, ROWS).mark
    )
    assert allowed([ticket]) == {ticket}
    Membership.objects.filter(user=user).update(grants=ROWS[:1])
    assert allowed([ticket]) == set()


def test_pages_are_kept_for_equal_grants_only(world, teams):
    """The first answer is of a second ago; who sees less gets their own."""
    wide = member_of(world.tenant, [Grant(role="viewer", clusters=MAIN)], "wide")
    address = f"/console/api/pages/topics/{world.cluster.id}"
    all_of = wide.get(address).json()["parts"]["topics"]["data"]
    assert {row["name"] for row in all_of} >= {"secret-orders", "team-a-x"}
    narrow = member_of(world.tenant)
    few = narrow.get(address).json()["parts"]["topics"]["data"]
    assert [row["name"] for row in few] == ["team-a-x"]


def test_a_grant_over_one_cluster_is_all_of_it_and_nothing_else(world, teams):
    client = member_of(world.tenant, [Grant(role=OPERATOR, clusters=MAIN)], "one-cluster")
    assert [row["name"] for row in client.get("/api/v1/clusters").json()["data"]] == ["main"]
    base = f"/api/v1/clusters/{world.cluster.id}"
    assert client.get(f"{base}/users").status_code == 200
    problem(client.get(f"/api/v1/clusters/{teams['cluster']}/users"), 404)
    problem(send(client, "post", "/api/v1/clusters", {"name": "another"}), 403)
    assert send(client, "delete", base, {}).status_code == 201
    problem(send(client, "delete", f"/api/v1/clusters/{teams['cluster']}", {}), 404)
    problem(client.get("/api/v1/hosts"), 404)
