"""Lists over REST: what an operation made is there when it has succeeded, pages, search, misses."""

import pytest

from controlplane.gateway.types import TP
from controlplane.operations.states import SUCCEEDED
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, observed

RULE = {"operation": "READ", "resource_type": "TOPIC", "resource_name": "orders"}


@pytest.fixture
def ask(world):
    client = client_for(world.tenant)
    client.raise_request_exception = False

    def get(path, **query):
        return client.get(f"/api/v1/clusters/{world.cluster.id}/{path}", query)

    return get


def names(answer, key):
    return [row[key] for row in answer.json()["data"]]


def done(operation):
    assert operation.state == SUCCEEDED


def test_a_topics_operations_show_at_once(world, ask):
    observed(world)
    done(world.run("topic.create", name="orders", partitions=2))
    assert names(ask("topics"), "name") == ["orders"]
    done(world.run("topic.partitions", name="orders", partitions=4))
    done(world.run("topic.update", name="orders", configs={"retention.ms": "1000"}))
    (row,) = ask("topics").json()["data"]
    assert (row["partitions"], row["retention_ms"]) == (4, 1000)
    found = ask("topics/orders").json()
    assert len(found["partitions"]) == 4
    values = {entry["name"]: entry["value"] for entry in found["configs"]}
    assert (values["retention.ms"], values["cleanup.policy"]) == ("1000", "delete")
    done(world.run("topic.delete", name="orders"))
    assert names(ask("topics"), "name") == []


def test_users_and_their_rules_show_at_once(world, ask):
    observed(world)
    rule = {**RULE, "principal": "User:app"}
    done(world.run("user.create", username="app", acls=[rule]))
    assert names(ask("users"), "username") == ["app"]
    assert names(ask("acls"), "principal") == ["User:app"]
    binding = {k: v for k, v in ask("acls").json()["data"][0].items() if k not in AGE}
    done(world.run("acl.delete", bindings=[binding]))
    assert names(ask("acls"), "principal") == []
    done(world.run("user.delete", username="app"))
    assert names(ask("users"), "username") == []


AGE = {"as_of", "stale_reason"}


def test_a_groups_operations_show_at_once(world, ask):
    world.gateway.add_topic("orders", partitions=1, records=10)
    world.gateway.add_group("readers", {TP("orders", 0): 4})
    observed(world)
    assert [row["lag"] for row in ask("groups").json()["data"]] == [6]
    done(world.run("offset.reset", group="readers", topics=["orders"], strategy="latest"))
    assert [row["lag"] for row in ask("groups").json()["data"]] == [0]
    done(world.run("group.delete", group="readers"))
    assert names(ask("groups"), "group") == []


def test_an_operation_succeeds_also_when_it_cannot_be_read_back_for_the_lists(
    world, ask, monkeypatch
):
    observed(world)

    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("controlplane.clusters.operations_base.observe_touched", broken)
    done(world.run("topic.create", name="orders"))
    assert names(ask("topics"), "name") == []
    observed(world)
    assert names(ask("topics"), "name") == ["orders"]


def test_what_somebody_else_makes_is_there_with_the_next_pass_and_on_its_own_page_at_once(
    world, ask
):
    observed(world)
    world.gateway.add_topic("clicks")
    world.gateway.add_group("readers", {TP("clicks", 0): 0})
    assert names(ask("topics"), "name") == []
    assert ask("topics/clicks").status_code == 200
    assert ask("groups/readers").status_code == 200
    observed(world)
    assert names(ask("topics"), "name") == ["clicks"]


def test_what_is_not_there_leaves_no_row(world, ask):
    observed(world)
    for path in ("topics/none", "groups/none", "topics/" + "x" * 600):
        problem(ask(path), 404)
    world.gateway.offline = True
    problem(ask("topics/none"), 503)


def test_pages_follow_each_other_in_one_order_and_a_search_narrows_them(world, ask):
    for name in ("b.2", "a", "B.3", "b.1", "c"):
        world.gateway.add_topic(name)
    observed(world)
    whole = names(ask("topics"), "name")
    assert sorted(whole) == sorted(["a", "b.1", "b.2", "B.3", "c"])
    paged, cursor = [], {}
    while cursor is not None:
        answer = ask("topics", page_size=2, **cursor).json()
        paged += [row["name"] for row in answer["data"]]
        following = answer["page"]["next"]
        cursor = {"cursor": following} if following else None
    assert paged == whole
    assert sorted(names(ask("topics", q="b."), "name")) == ["B.3", "b.1", "b.2"]
    assert names(ask("topics", q="%"), "name") == []


def test_a_list_says_how_old_it_is(world, ask):
    observed(world)
    found = ask("topics").json()["observed"]
    assert found["as_of"].endswith("Z")
    assert found["stale_reason"] is None


def test_a_clusters_health_is_in_the_list_and_on_its_page(world):
    client = client_for(world.tenant)
    (row,) = client.get("/api/v1/clusters").json()["data"]
    assert row["health"]["status"] == "unknown"
    found = client.get(f"/api/v1/clusters/{world.cluster.id}").json()
    assert (found["health"]["status"], found["controller_id"]) == ("healthy", 1)
    world.gateway.offline = True
    observed(world)
    (row,) = client.get("/api/v1/clusters").json()["data"]
    assert row["health"]["status"] == "unreachable"
    assert [reason["code"] for reason in row["health"]["reasons"]] == ["unreachable"]
