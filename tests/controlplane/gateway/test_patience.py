"""Whoever waits for a page waits for a moment, whatever the page asks; the background does not."""

import pytest

from controlplane.common.redis_link import RedisLink
from controlplane.common.slots import Slots
from controlplane.gateway.breaker import Policy
from controlplane.gateway.breakers import Breakers
from controlplane.gateway.errors import NOT_ANSWERING, NOT_ASKED, GatewayError, timed_out
from controlplane.gateway.passage import Passage
from controlplane.gateway.patience import LEAST_S, bounded, deadline, is_over, is_past, patience
from controlplane.gateway.readings import ClusterReader, Gap

LONG_S = 3_600.0


def test_every_wait_takes_the_least_of_its_own_bound_and_of_what_is_left():
    assert bounded(LONG_S) == LONG_S
    with patience(LONG_S):
        assert bounded(1.0) == 1.0
        assert LONG_S - 60 < bounded(LONG_S * 2) <= LONG_S
        with patience(None):
            assert bounded(LONG_S * 2) == LONG_S * 2
        with patience(0):
            assert bounded(LONG_S) == LEAST_S
            assert bounded(0.0) == 0.0
        assert not is_over()
    assert bounded(LONG_S * 2) == LONG_S * 2


def silent():
    raise timed_out("describe cluster: no answer in 2 s", write=False)


def codes(seconds):
    """What a page is told, each time that it asks a cluster that says nothing."""
    made = Breakers(RedisLink("redis://127.0.0.1:1/0"), policy=lambda: Policy(slow_s=0))
    way = Passage("kc_one", "1", breakers=made, slots=Slots())
    found = []
    for _ in range(4):
        with patience(seconds), pytest.raises(GatewayError) as caught:
            way.run(silent, what="describe cluster")
        found.append(caught.value.code)
    return found


def test_a_cluster_is_not_away_because_a_page_cannot_wait():
    """Its breaker would refuse operations too, which have the time that a slow cluster takes."""
    assert NOT_ANSWERING in codes(None)
    assert codes(0) == ["timed-out"] * 4


def test_past_a_deadline_nobody_is_asked_and_what_was_not_is_a_gap():
    made = Breakers(RedisLink("redis://127.0.0.1:1/0"), policy=lambda: Policy(slow_s=0))
    way, reader = Passage("kc_one", "1", breakers=made, slots=Slots()), ClusterReader(None)
    asked = []
    with deadline(LONG_S):
        assert not is_past()
        assert bounded(LONG_S * 2) <= LONG_S
        assert way.run(lambda: "said", what="log dirs") == "said"
    with deadline(0):
        assert is_past()
        for _ in range(4):
            with pytest.raises(GatewayError) as caught:
                way.run(lambda: asked.append(1), what="log dirs")
            assert (caught.value.code, caught.value.retriable) == (NOT_ASKED, True)
        found = reader.ask(7, lambda: asked.append(1))
        assert found == Gap("broker 7 was not asked, others took too long", (7,))
    assert asked == []
    assert not is_past()
    assert way.run(lambda: "said", what="log dirs") == "said", "it says nothing of the cluster"


@pytest.mark.django_db
def test_reads_have_it_and_searches_and_writes_have_not(world, settings, monkeypatch):
    from tests.controlplane.support import client_for

    settings.READ_PATIENCE_S = 7.0
    cluster = world.run("cluster.create", None, name="fresh", broker_count=3).cluster_id
    seen = []
    for name in ("list_reassignments", "describe_topics", "list_topics", "describe_cluster"):
        monkeypatch.setattr(
            world.gateway, name, noting(getattr(world.gateway, name), name, seen), raising=True
        )
    client = client_for(world.tenant)
    assert client.get(f"/api/v1/clusters/{cluster}/reassignments").status_code == 200
    assert seen
    assert all(left_s <= 7.0 for _, left_s in seen)
    seen.clear()
    body = {"kind": "broker.restart", "cluster_id": cluster, "inputs": {"broker": 1}}
    client.post("/api/v1/plans", body, content_type="application/json")
    assert seen
    assert all(left_s == LONG_S for _, left_s in seen)


def noting(method, name, seen):
    def noted(*arguments, **options):
        seen.append((name, bounded(LONG_S)))
        return method(*arguments, **options)

    return noted
