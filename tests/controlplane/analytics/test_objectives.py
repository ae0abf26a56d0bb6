"""Lag objectives that tenants set: which holds where, the burn by it, and who may touch it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics.insights import objective_services, objectives
from controlplane.analytics.insights.targets import DEFAULT, Target, by_target
from controlplane.analytics.models import GoldGroupLag, LagObjective
from controlplane.audit.models import AuditEvent
from tests.controlplane.analytics import rows as gold
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
NAMES = ["a", "ab", "abc", "b"]
TARGETS = st.builds(
    Target,
    objective_id=st.uuids().map(str),
    cluster_id=st.sampled_from([None, "kc_1", "kc_2"]),
    is_prefix=st.booleans(),
    group=st.sampled_from(["", *NAMES]),
    topic=st.sampled_from(["", "t", "u"]),
)


@given(st.lists(TARGETS, max_size=12))
def test_every_pair_has_the_narrowest_that_covers_it(targets):
    pairs = [(group, topic) for group in NAMES for topic in ("t", "u")]
    found = by_target(pairs, "kc_1", targets)
    assert sorted(pair for mine in found.values() for pair in mine) == sorted(pairs)
    for target, mine in found.items():
        for group, topic in mine:
            covering = [each for each in targets if each.covers("kc_1", group, topic)]
            if not covering:
                assert target == DEFAULT
                continue
            assert target in covering
            assert not any(each.narrowness > target.narrowness for each in covering)
            named = [each for each in covering if each.group == group and not each.is_prefix]
            assert not named or target in named, "a name comes before every beginning"


def test_a_prefix_is_no_wildcard_and_case_counts():
    prefix = Target(group="a%_", is_prefix=True)
    assert prefix.covers("kc", "a%_x", "t")
    assert not prefix.covers("kc", "abcx", "t")
    assert not Target(group="Readers").covers("kc", "readers", "t")


def windows(cluster_id, group, late, topic="t", count=800):
    for at in range(count):
        row = gold.lag_row(
            cluster_id,
            gold.T0_MS + at * gold.WINDOW_MS,
            group=group,
            topic=topic,
            lag_seconds=late,
        )
        GoldGroupLag.objects.create(**row, run_id="r")


def put(world, **more):
    given = {"group": None, "topic": None, "seconds": 60, "share": 0.99, **more}
    answer = client_for(world.tenant).post("/api/v1/lag-objectives", given, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


def burns(world, **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/lag-objectives"
    body = client_for(world.tenant, "viewer").get(where, query).json()
    return {(row["group"], row["topic"]): row for row in body["data"]}


def test_groups_burn_by_their_own_objectives(world):
    for group in ("billing-a", "billing-b", "audit"):
        windows(world.cluster.id, group, 90.0)
    assert {row["verdict"] for row in burns(world).values()} == {"fast_burn"}
    assert {row["objective_id"] for row in burns(world).values()} == {None}
    wide = put(world, group="billing-", match="prefix", seconds=120)
    own = put(world, group="billing-b", seconds=80, share=0.9)
    elsewhere = cluster_make(world.tenant, "elsewhere", kind="registered")
    put(world, cluster_id=elsewhere.id, group="audit", seconds=1000)
    found = burns(world)
    a, b, audit = (found[name, "t"] for name in ("billing-a", "billing-b", "audit"))
    assert (a["objective_id"], a["verdict"], a["budget_left"]) == (wide["id"], "within", 1.0)
    assert (b["objective_id"], b["seconds"], b["share"]) == (own["id"], 80, 0.9)
    assert b["burn_1h"] == pytest.approx(10)
    assert b["verdict"] == "slow_burn"
    assert (audit["objective_id"], audit["verdict"]) == (None, "fast_burn")
    assert {row["verdict"] for row in burns(world, seconds=100).values()} == {"within"}


def test_an_objective_of_one_topic_leaves_the_group_s_others_alone(world):
    for topic in ("t", "u"):
        windows(world.cluster.id, "g", 90.0, topic=topic)
    put(world, group="g", topic="t", seconds=100)
    found = burns(world)
    assert found["g", "t"]["verdict"] == "within"
    assert found["g", "u"]["verdict"] == "fast_burn"


def test_groups_beyond_one_question_s_bound_are_all_there(world, monkeypatch):
    monkeypatch.setattr(objectives, "GROUPS_AT_ONCE", 2)
    for name in ("a", "b", "c", "d", "e"):
        windows(world.cluster.id, name, 1.0, count=3)
    assert [group for group, _ in burns(world)] == ["a", "b", "c", "d", "e"]


def test_an_objective_lives_from_its_making_to_its_end(world):
    client = client_for(world.tenant)
    made = put(world, group="g", note="billing's")
    where = f"/api/v1/lag-objectives/{made['id']}"
    assert client.get(where).json() == made
    change = {"seconds": 5, "share": 0.5}
    changed = client.put(where, change, format="json", headers={"If-Match": f"{made['etag']}"})
    assert changed.status_code == 200, changed.content
    assert (changed.json()["seconds"], changed.json()["note"]) == (5, "")
    late = client.put(where, change, format="json", headers={"If-Match": f"{made['etag']}"})
    assert late.status_code == 412
    twice = client.post(
        "/api/v1/lag-objectives", {"group": "g", "seconds": 1, "share": 0.9}, format="json"
    )
    assert (twice.status_code, twice.json()["code"]) == (409, "objective-exists")
    assert client.delete(where).status_code == 204
    assert client.get(where).status_code == 404
    events = AuditEvent.objects.filter(action__startswith="lag-objective.").order_by("pk")
    assert [row.action.rpartition(".")[2] for row in events] == ["create", "change", "delete"]
    assert events[1].data["before"]["seconds"] == 60


@pytest.mark.parametrize(
    "body",
    [
        {"seconds": -1, "share": 0.9},
        {"seconds": 1, "share": 1},
        {"seconds": 1, "share": 0.1},
        {"seconds": 1e300, "share": 0.9},
        {"seconds": 1},
        {"seconds": 1, "share": 0.9, "match": "prefix"},
        {"seconds": 1, "share": 0.9, "group": "g" * 256},
        {"seconds": 1, "share": 0.9, "note": "n" * 301},
    ],
)
def test_what_cannot_be_an_objective_is_refused(world, body):
    answer = client_for(world.tenant).post("/api/v1/lag-objectives", body, format="json")
    assert answer.status_code == 422
    assert not LagObjective.objects.exists()


def test_another_tenant_has_no_part_in_it(world):
    made = put(world, group="g")
    rival = tenant_make("rival")
    secret = cluster_make(rival, name="secret")
    client = client_for(rival)
    where = f"/api/v1/lag-objectives/{made['id']}"
    change = {"seconds": 5, "share": 0.5}
    assert client.get(where).status_code == 404
    assert client.put(where, change, format="json").status_code == 404
    assert client.delete(where).status_code == 404
    assert client.get("/api/v1/lag-objectives").json()["data"] == []
    theirs = {**change, "cluster_id": world.cluster.id}
    assert client.post("/api/v1/lag-objectives", theirs, format="json").status_code == 404
    # A rival's objective, even one that names this cluster, judges nobody else's groups.
    windows(world.cluster.id, "g", 90.0, count=3)
    LagObjective.objects.create(
        tenant=rival, cluster_id=world.cluster.id, group="g", seconds=9000, share=0.9
    )
    assert burns(world)["g", "t"]["objective_id"] == made["id"]
    assert LagObjective.objects.filter(tenant=world.tenant).get().seconds == 60
    assert secret.id


def test_who_may_only_read_sets_none(world):
    made = put(world, group="g")
    viewer = client_for(world.tenant, "viewer")
    change = {"seconds": 5, "share": 0.5}
    assert viewer.get("/api/v1/lag-objectives").status_code == 200
    assert viewer.post("/api/v1/lag-objectives", change, format="json").status_code == 403
    where = f"/api/v1/lag-objectives/{made['id']}"
    assert viewer.put(where, change, format="json").status_code == 403
    assert viewer.delete(where).status_code == 403


def test_there_is_a_bound(world, monkeypatch):
    monkeypatch.setattr(objective_services, "OBJECTIVES_MAX", 1)
    put(world, group="g")
    more = {"group": "h", "seconds": 1, "share": 0.9}
    answer = client_for(world.tenant).post("/api/v1/lag-objectives", more, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too-many-objectives")
