"""The palette's search: what is found, in which order, for whom, and at what price."""

import json

import pytest

from console.search import KIND_MAX, KINDS, TEXT_MAX
from controlplane.observed.models import ObservedTopic
from tests.controlplane.rest.conftest import teams
from tests.controlplane.rest.teams import key_of, member_of, unseen
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

__all__ = ["teams"]

pytestmark = pytest.mark.django_db
SEARCH = "/console/api/search"


def search(client, text):
    answer = client.get(SEARCH, {"q": text})
    assert answer.status_code == 200, answer.content
    assert answer["Cache-Control"] == "no-store"
    return answer.json()


def found(client, text, kind):
    return [row["title"] for row in search(client, text)["results"] if row["kind"] == kind]


def topics_make(cluster, *names):
    ObservedTopic.objects.bulk_create(
        ObservedTopic(cluster=cluster, key=name, row={"name": name}, mark="m") for name in names
    )


def test_every_kind_is_found_by_a_part_of_its_name_in_any_case(world, ids):
    observed(world)
    client = client_for(world.tenant)
    for kind, text, id_ in [
        ("cluster", "MAI", world.cluster.id),
        ("topic", ids["topic"][1:].upper(), ids["topic"]),
        ("group", ids["group"][:-1], ids["group"]),
        ("user", ids["kafka_user"], ids["kafka_user"]),
        ("operation", ids["operation"], ids["operation"]),
        ("runbook", ids["runbook"][:-2], ids["runbook"]),
    ]:
        rows = [row for row in search(client, text)["results"] if row["kind"] == kind]
        assert id_ in [row["id"] for row in rows], (kind, rows)


def test_where_it_is_and_what_it_is_about_is_said(world, ids):
    observed(world)
    rows = search(client_for(world.tenant), ids["topic"])["results"]
    (topic,) = [row for row in rows if row["kind"] == "topic" and row["id"] == ids["topic"]]
    assert (topic["cluster_id"], topic["cluster_name"]) == (world.cluster.id, "main")
    operation = next(row for row in rows if row["kind"] == "operation")
    assert operation["note"] in {"succeeded", "failed", "running", "pending", "cancelled"}


def test_what_begins_with_the_text_comes_first(world):
    topics_make(world.cluster, "a-orders", "orders", "orders-eu", "z.orders")
    client = client_for(world.tenant)
    assert found(client, "orders", "topic") == ["orders", "orders-eu", "a-orders", "z.orders"]


def test_wildcards_are_letters(world):
    topics_make(world.cluster, "under_score", "underXscore", "per%cent", "percent")
    client = client_for(world.tenant)
    assert found(client, "r_s", "topic") == ["under_score"]
    assert found(client, "r%c", "topic") == ["per%cent"]


def test_there_are_few_of_a_kind_and_it_is_said_that_there_are_more(world):
    topics_make(world.cluster, *(f"orders-{at:02}" for at in range(KIND_MAX + 3)))
    answer = search(client_for(world.tenant), "orders-")
    assert [row["title"] for row in answer["results"]] == [
        f"orders-{at:02}" for at in range(KIND_MAX)
    ]
    assert answer["more"] == ["topic"]


def test_nothing_is_asked_for_an_empty_text(world, ids):
    for text in ("", "   "):
        assert search(client_for(world.tenant), text) == {"results": [], "more": []}


@pytest.mark.parametrize(
    "text",
    ["%", "_", "'; DROP TABLE", "<script>alert(1)</script>", "ü😀", "(", "\\", "a" * TEXT_MAX],
)
def test_hostile_texts_are_texts(world, ids, text):
    search(client_for(world.tenant), text)


def test_a_long_text_is_refused_by_its_field(world):
    answer = client_for(world.tenant).get(SEARCH, {"q": "a" * (TEXT_MAX + 1)})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/q"


def test_another_tenant_finds_nothing(world, ids):
    rival = client_for(tenant_make("rival"))
    for text in ("main", ids["topic"], ids["group"], ids["kafka_user"], ids["operation"]):
        kinds = {row["kind"] for row in search(rival, text)["results"]}
        assert kinds <= {"runbook"}, text


def test_nobody_searches(client):
    assert client.get(SEARCH, {"q": "main"}).status_code == 401


def test_who_sees_a_part_finds_that_part(world, teams):
    observed(world)
    for narrow in (member_of(world.tenant), key_of(world.tenant)):
        for text in ("team", "secret", "orders", "readers", "a", "user", "topic"):
            answer = search(narrow, text)
            assert unseen(json.dumps(answer)) == [], text
            assert {row["kind"] for row in answer["results"]} <= set(KINDS) - {"user"}
        titles = found(narrow, "team-a", "topic")
        assert titles
        assert all(title.startswith("team-a-") for title in titles)


def test_more_counts_only_what_is_seen(world, teams):
    topics_make(world.cluster, *(f"team-b-{at}" for at in range(KIND_MAX + 3)))
    assert search(member_of(world.tenant), "team-b")["more"] == []


def test_it_takes_a_fixed_number_of_statements(world, ids, django_assert_max_num_queries):
    for at in range(12):
        topics_make(cluster_make(world.tenant, f"c{at}"), *(f"t-{at}-{each}" for each in range(20)))
    client = client_for(world.tenant)
    search(client, "t-")
    # Session, person, tenant, clusters and their brokers; then one for each of four kinds.
    with django_assert_max_num_queries(9):
        search(client, "t-")


def test_deleted_clusters_and_what_was_on_them_are_not_found(world, ids):
    from django.utils import timezone

    world.cluster.deleted_at = timezone.now()
    world.cluster.save()
    kinds = {row["kind"] for row in search(client_for(world.tenant), ids["topic"])["results"]}
    assert kinds <= {"operation", "runbook"}
