"""Pages of lists by number: order, search, filters, counts, and what they cost; over REST's console door."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.analytics.models import GoldGroupLag, GroupVerdict
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import TP
from controlplane.observed.listings import Wanted, names_in_order
from tests.controlplane.rest.conftest import pages_read_in_place
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, observed

__all__ = ["pages_read_in_place"]


@pytest.fixture
def client(world):
    found = client_for(world.tenant)
    found.raise_request_exception = False
    return found


def page(client, world, name, **query):
    answer = client.get(f"/console/api/pages/{name}/{world.cluster.id}", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["parts"]


def topics(client, world, **query):
    parts = page(client, world, "topics", **query)
    return [row["name"] for row in parts["topics"]["data"]], parts["counts"]["data"]


def groups(client, world, **query):
    parts = page(client, world, "groups", **query)
    return [row["group"] for row in parts["groups"]["data"]], parts["counts"]["data"]


def troubled(list_topics):
    change = {
        "down": lambda part: replace(part, leader=None, isr=()),
        "gamma": lambda part: replace(part, isr=part.isr[:1]),
    }

    def found(self):
        return [
            replace(
                topic,
                partitions=tuple(
                    change.get(topic.name, lambda part: part)(part) for part in topic.partitions
                ),
            )
            for topic in list_topics(self)
        ]

    return found


@pytest.fixture
def shop(world, monkeypatch):
    """Four topics that differ in everything, an internal one, and one that is ours.

    `down` has no leader, `gamma` lacks replicas.
    """
    monkeypatch.setattr(FakeGateway, "list_topics", troubled(FakeGateway.list_topics))
    gateway = world.gateway
    gateway.add_topic("alpha", partitions=3, records=30)
    gateway.add_topic("Beta", partitions=1, records=500)
    gateway.add_topic("gamma", partitions=2, records=1)
    gateway.add_topic("down", partitions=1, records=7)
    gateway.add_topic("__consumer_offsets", partitions=1)
    gateway.add_topic("__penstock_telemetry", partitions=1)
    gateway.topics["alpha"].configs["retention.ms"] = "-1"
    gateway.topics["Beta"].configs["retention.ms"] = "1000"
    observed(world)
    return world


def test_a_list_is_in_the_order_that_is_asked_for(shop, client):
    def first(sort):
        return topics(client, shop, sort=sort)[0][0]

    assert sorted(topics(client, shop)[0]) == ["Beta", "alpha", "down", "gamma"]
    assert topics(client, shop, sort="-health")[0][:2] == ["down", "gamma"]
    assert topics(client, shop, sort="-records")[0] == ["Beta", "alpha", "gamma", "down"]
    assert topics(client, shop, sort="records")[0] == ["gamma", "alpha", "Beta", "down"]
    assert first("-partitions") == "alpha"
    assert first("-retention") == "alpha", "for ever is the longest"
    assert first("retention") == "Beta"
    names = topics(client, shop, sort="-name")[0]
    assert names == topics(client, shop, sort="name")[0][::-1]


def test_what_is_unknown_comes_last_either_way(shop, client):
    rows = page(client, shop, "topics")["topics"]["data"]
    assert [row["name"] for row in rows if row["records"] is None] == ["down"]
    for sort in ("records", "-records"):
        assert topics(client, shop, sort=sort)[0][-1] == "down"


def test_pages_follow_each_other_and_say_how_many_there_are(shop, client):
    first, counts = topics(client, shop, sort="name", size=3)
    assert (counts["page"], counts["size"], counts["matched"], counts["total"]) == (1, 3, 4, 4)
    assert counts["partitions"] == 3 + 1 + 2 + 1
    second, _ = topics(client, shop, sort="name", size=3, page=2)
    assert [*first, *second] == topics(client, shop, sort="name")[0]
    too_far, counts = topics(client, shop, sort="name", size=3, page=99)
    assert (too_far, counts["page"]) == (second, 2)


def test_a_search_and_filters_narrow_what_is_counted(shop, client):
    assert topics(client, shop, q="A")[0] == sorted(topics(client, shop, q="a")[0])
    names, counts = topics(client, shop, q="ALP")
    assert (names, counts["matched"], counts["total"]) == (["alpha"], 1, 4)
    names, counts = topics(client, shop, trouble="true", sort="-health")
    assert (names, counts["matched"], counts["partitions"]) == (["down", "gamma"], 2, 3)
    names, counts = topics(client, shop, internal="true")
    assert {"__consumer_offsets", "__penstock_telemetry"} < set(names)
    assert counts["total"] == 6
    names, counts = topics(client, shop, q="%")
    assert (names, counts["matched"], counts["page"]) == ([], 0, 1)


def test_trouble_is_also_what_was_changed_outside(world, client):
    world.run("topic.create", name="orders", partitions=1, configs={"retention.ms": "5000"})
    world.run("topic.create", name="kept", partitions=1)
    observed(world)
    assert topics(client, world, trouble="true")[0] == []
    world.gateway.topics["orders"].configs["retention.ms"] = "9000"
    observed(world)
    assert topics(client, world, trouble="true")[0] == ["orders"]


@pytest.mark.parametrize(
    ("page_name", "query", "pointer"),
    [
        ("topics", {"page": "0"}, "/page"),
        ("topics", {"page": "1000001"}, "/page"),
        ("topics", {"page": "²"}, "/page"),
        ("topics", {"size": "201"}, "/size"),
        ("topics", {"size": "-1"}, "/size"),
        ("topics", {"sort": "secret"}, "/sort"),
        ("topics", {"sort": "--name"}, "/sort"),
        ("topics", {"q": "x" * 251}, "/q"),
        ("topics", {"q": "\0"}, "/q"),
        ("topics", {"internal": "yes"}, "/internal"),
        ("topics", {"lagging": "true"}, "/lagging"),
        ("groups", {"sort": "size"}, "/sort"),
        ("groups", {"lagging": "1"}, "/lagging"),
        ("cluster", {"q": "x"}, "/q"),
    ],
)
def test_what_makes_no_sense_is_named(world, client, page_name, query, pointer):
    answer = client.get(f"/console/api/pages/{page_name}/{world.cluster.id}", query)
    assert problem(answer, 422)["errors"][0]["pointer"] == pointer


@pytest.fixture
def crowd(world):
    """Groups with different lags; `team-b-orders` is a topic that a reader of `team-a` does not see."""
    gateway = world.gateway
    gateway.add_topic("team-a-orders", partitions=1, records=100)
    gateway.add_topic("team-b-orders", partitions=1, records=1_000)
    gateway.add_group("team-a-late", {TP("team-a-orders", 0): 10})
    gateway.add_group("team-a-done", {TP("team-a-orders", 0): 100})
    gateway.add_group("team-a-mixed", {TP("team-a-orders", 0): 95, TP("team-b-orders", 0): 0})
    gateway.add_group("team-b-late", {TP("team-b-orders", 0): 500})
    observed(world)
    return world


def test_groups_are_ordered_and_narrowed_by_the_lag(crowd, client):
    names, counts = groups(client, crowd, sort="-lag")
    assert names == ["team-a-mixed", "team-b-late", "team-a-late", "team-a-done"]
    assert (counts["matched"], counts["total"], counts["largest_lag"]) == (4, 4, 1_005)
    names, counts = groups(client, crowd, sort="-lag", lagging="true", size=2, page=2)
    assert (names, counts["matched"], counts["page"]) == (["team-a-late"], 3, 2)
    assert groups(client, crowd, sort="group", q="B-")[0] == ["team-b-late"]


def test_the_lag_of_others_topics_orders_nothing(crowd):
    """By it somebody would learn what they do not see."""
    narrow = member_of(crowd.tenant)
    names, counts = groups(narrow, crowd, sort="-lag")
    assert names == ["team-a-late", "team-a-mixed", "team-a-done"]
    assert (counts["matched"], counts["total"], counts["largest_lag"]) == (3, 3, 90)
    assert groups(narrow, crowd, sort="-lag", lagging="true")[0] == ["team-a-late", "team-a-mixed"]
    names, counts = topics(narrow, crowd)
    assert (names, counts["total"], counts["partitions"]) == (["team-a-orders"], 1, 1)


def test_the_worst_harm_comes_first_and_only_the_pages_verdicts_are_sent(crowd, client):
    verdict(crowd, "team-a-done", "team-a-orders", "CAUGHT_UP", 0.0)
    verdict(crowd, "team-a-late", "team-a-orders", "FALLING_BEHIND", 12.0)
    verdict(crowd, "team-a-mixed", "team-a-orders", "CAUGHT_UP", 0.0)
    verdict(crowd, "team-a-mixed", "team-b-orders", "DATA_LOST", 99.0)
    assert groups(client, crowd)[0] == [
        "team-a-mixed",
        "team-a-late",
        "team-a-done",
        "team-b-late",
    ]
    parts = page(client, crowd, "groups", size=1, page=2)
    assert [row["group"] for row in parts["groups"]["data"]] == ["team-a-late"]
    assert {row["group"] for row in parts["lag"]["data"]["data"]} == {"team-a-late"}
    assert groups(client, crowd, trouble="true")[0] == ["team-a-mixed", "team-a-late"]
    assert groups(client, crowd, sort="-seconds")[0][:2] == ["team-a-mixed", "team-a-late"]


def verdict(world, group, topic, status, lag_s):
    now = timezone.now()
    GroupVerdict.objects.create(
        cluster_id=world.cluster.id,
        group=group,
        topic=topic,
        sampled_ms=int(now.timestamp() * 1000),
        judged_at=now,
        partitions=1,
        lag_seconds=lag_s,
        trend="steady",
        status=status,
        risk="SAFE",
        reasons=[],
    )


def test_a_page_costs_the_same_however_long_the_list(world, client):
    for index in range(20):
        world.gateway.add_topic(f"t{index:03d}")
        world.gateway.add_group(f"g{index:03d}", {TP(f"t{index:03d}", 0): 0})
    observed(world)

    def statements(name, **query):
        with CaptureQueriesContext(connection) as found:
            page(client, world, name, **query)
        return len(found)

    few = {name: statements(name, size=1) for name in ("topics", "groups")}
    assert few == {name: statements(name, size=20) for name in few}
    assert few["topics"] <= TOPICS_STATEMENTS
    assert few["groups"] <= GROUPS_STATEMENTS


TOPICS_STATEMENTS, GROUPS_STATEMENTS = 13, 22


def test_names_in_order_put_the_unknown_last_and_favourites_first():
    values = {"a": 1, "b": None, "c": 3, "d": 3}
    assert names_in_order(values, Wanted()) == ["a", "c", "d", "b"]
    assert names_in_order(values, Wanted(is_descending=True)) == ["c", "d", "a", "b"]
    first = Wanted(is_descending=True, first=frozenset({"b"}))
    assert names_in_order(values, first) == ["b", "c", "d", "a"]


def test_gold_that_is_newer_or_knows_more_puts_a_group_in_order(crowd, client):
    verdict(crowd, "team-a-late", "team-a-orders", "UNKNOWN", None)
    verdict(crowd, "team-a-done", "team-a-orders", "LAGGING", 3.0)
    now_ms = int(timezone.now().timestamp() * 1000)
    for group, status, at_ms in [
        ("team-a-late", "STALLED", now_ms - 60_000),
        ("team-a-done", "DATA_LOST", now_ms - 60_000),
        ("team-b-late", "FALLING_BEHIND", now_ms - 60_000),
        ("team-b-late", "CAUGHT_UP", now_ms - 90_000),
    ]:
        GoldGroupLag.objects.create(
            cluster_id=crowd.cluster.id,
            group=group,
            topic="team-a-orders",
            ts_ms=at_ms,
            sampled_ms=at_ms,
            partitions=1,
            trend="steady",
            status=status,
            run_id="r",
        )
    names, _ = groups(client, crowd)
    assert names == ["team-a-late", "team-b-late", "team-a-done", "team-a-mixed"]
    shown = page(client, crowd, "groups")["lag"]["data"]["data"]
    assert {row["group"]: row["status"] for row in shown} == {
        "team-a-late": "STALLED",
        "team-b-late": "FALLING_BEHIND",
        "team-a-done": "LAGGING",
    }
