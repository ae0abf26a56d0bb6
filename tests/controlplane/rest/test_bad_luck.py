"""The cluster, ZooKeeper or our own code fail under a request: a problem, nothing half done."""

import pytest

from controlplane.gateway.errors import GatewayError, timed_out, unreachable
from tests.controlplane.rest.surface import operations, problem, send
from tests.controlplane.support import forget_observed, observed

pytestmark = pytest.mark.django_db
READS = [row for row in operations() if not row.is_write]
ASK_THE_CLUSTER = {
    f"get /clusters/{{cluster_id}}/{rest}"
    for rest in (
        "acls",
        "analytics/offsets",
        "analytics/retention/{topic}/history",
        "analytics/retention/{topic}/what-if",
        "analytics/retention/{topic}/what-if/groups",
        "groups",
        "groups/{group}",
        "analytics/pace/{group}",
        "offset-samples/{topic}",
        "quotas",
        "reassignments",
        "topics",
        "topics/{name}",
        "topics/{name}/messages",
        "topics/{name}/messages/export",
        "topics/{name}/producers",
        "topics/{name}/replicas",
        "topics/{name}/partitions/{partition}/segments",
        "users",
        "users/{kafka_user}/client-config",
    )
}
ASK_THE_HOSTS = {
    "get /clusters/{cluster_id}/access/denials",
    "get /clusters/{cluster_id}/brokers/{broker_id}/log",
    "get /clusters/{cluster_id}/versions",
    "get /operator/hosts",
    "get /operator/hosts/{host_id}",
    "get /operator/hosts/{host_id}/events",
    "get /operator/hosts/{host_id}/plans/{act}",
    "get /operator/placement",
}
ALWAYS_ASK = {
    f"get /clusters/{{cluster_id}}/{rest}"
    for rest in (
        "analytics/offsets",
        "analytics/retention/{topic}/history",
        "analytics/retention/{topic}/what-if",
        "analytics/retention/{topic}/what-if/groups",
        "analytics/pace/{group}",
        "offset-samples/{topic}",
        "quotas",
        "reassignments",
        "topics/{name}/messages",
        "topics/{name}/messages/export",
        "topics/{name}/producers",
        "topics/{name}/replicas",
        "users/{kafka_user}/client-config",
    )
}
# They show what was observed in a shape of their own.
ANOTHER_SHAPE = {
    *(
        f"get /clusters/{{cluster_id}}/{rest}"
        for rest in (
            "access/decision",
            "access/matrix",
            "topics/{name}/config-history",
            "topics/{name}/partitions/{partition}/segments",
        )
    ),
    "get /console/api/exports/groups/{cluster_id}",
    "get /console/api/exports/topics/{cluster_id}",
}
ASK_THE_CLUSTER |= ANOTHER_SHAPE
QUERIES = {
    "get /clusters/{cluster_id}/analytics/consumption": "?on=orders/0",
    "get /clusters/{cluster_id}/analytics/offsets": "?topic=orders",
    "get /clusters/{cluster_id}/analytics/sparklines": "?of=topic&name=orders",
}
LISTS = {f"get /clusters/{{cluster_id}}/{rest}" for rest in ("acls", "groups", "topics", "users")}


@pytest.mark.parametrize("row", READS, ids=str)
def test_a_cluster_that_is_away_and_was_never_observed(world, owner, ids, row):
    forget_observed(world)
    world.gateway.offline = True
    world.hosts.is_away = True
    answer = send(owner, row, ids, query=QUERIES.get(str(row), ""))
    if str(row) not in ASK_THE_CLUSTER | ASK_THE_HOSTS:
        assert answer.status_code == 200
        return
    found = problem(answer, 503)
    assert found["retryable"] is True
    assert answer["Retry-After"]


@pytest.mark.parametrize(
    "row", [row for row in READS if str(row) in ASK_THE_CLUSTER - ALWAYS_ASK], ids=str
)
def test_a_cluster_that_is_away_is_shown_as_it_was_last_seen(world, owner, ids, row):
    observed(world)
    before = send(owner, row, ids)
    world.gateway.offline = True
    observed(world)
    answer = send(owner, row, ids)
    assert answer.status_code == 200
    if str(row) in ANOTHER_SHAPE:
        return
    before, found = before.json(), answer.json()
    if str(row) in LISTS:
        assert found["data"] == before["data"] != []
        assert found["observed"]["as_of"] == before["observed"]["as_of"]
        assert (before["observed"]["stale_reason"], found["observed"]["stale_reason"]) == (
            None,
            "the fake cluster is off",
        )
    else:
        assert found["as_of"] == before["as_of"]
        assert (before["stale_reason"], found["stale_reason"]) == (None, "the fake cluster is off")


def test_a_cluster_that_does_not_answer_is_not_asked_by_every_question(world, owner, ids):
    forget_observed(world)
    world.gateway.offline = True
    topics = next(row for row in READS if row.path.endswith("{cluster_id}/topics"))
    send(owner, topics, ids)
    calls = len(world.gateway.calls)
    problem(send(owner, topics, ids), 503)
    assert len(world.gateway.calls) == calls


REFUSALS = [
    (unreachable("broker 1 is gone"), 503),
    (timed_out("broker 1 is slow", write=False), 503),
    (GatewayError("CLUSTER_AUTHORIZATION_FAILED", "not for you"), 409),
    (GatewayError("UNKNOWN_SERVER_ERROR", ""), 409),
]
READING = ("describe", "list", "topic", "group", "log")


@pytest.mark.parametrize("row", [row for row in READS if "cluster_id" in row.parameters], ids=str)
def test_a_cluster_that_refuses(world, owner, ids, row):
    methods = [name for name in dir(world.gateway) if name.startswith(READING)]
    for error, status in REFUSALS:
        forget_observed(world)
        world.gateway.failures = {method: [error] for method in methods}
        answer = send(owner, row, ids, query=QUERIES.get(str(row), ""))
        if str(row) in ASK_THE_CLUSTER:
            problem(answer, status)
        else:
            assert answer.status_code == 200


def test_a_plan_that_the_cluster_cannot_check_is_no_plan(world, owner, ids, state):
    world.gateway.offline = True
    before = state()
    row = next(row for row in operations() if str(row) == "post /plans")
    problem(send(owner, row, ids), 503)
    row = next(row for row in operations() if str(row) == "post /operations")
    problem(send(owner, row, ids), 503)
    assert state() == before
    world.gateway.offline = False
    assert send(owner, row, ids).status_code == 202, "the plan is still open"


def test_our_own_fault_is_reported_as_one_without_its_insides(world, owner, ids):
    forget_observed(world)
    world.gateway.fail_next("list_topics", ZeroDivisionError("secret insides"))
    row = next(row for row in operations() if row.path.endswith("{cluster_id}/topics"))
    answer = send(owner, row, ids)
    found = problem(answer, 500)
    assert found["code"] == "internal"
    assert "secret insides" not in answer.content.decode()
