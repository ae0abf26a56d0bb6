"""A page that says what it said is not sent again; how old it is by now is."""

import pytest

from console.revisions import AGES, ages, tag_of_page
from controlplane.observed.models import ObservedCluster
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, observed, tenant_make


@pytest.fixture
def page(world):
    world.gateway.add_topic("team-a-orders", partitions=1, records=5)
    observed(world)
    return f"/console/api/pages/topics/{world.cluster.id}"


def part(as_of, data, status="ok"):
    return {"status": status, "as_of": as_of, "reason": None, "data": data}


def test_the_tag_is_of_what_is_said_and_not_of_its_age():
    def tag(as_of, **more):
        return tag_of_page("t", {"topics": part(as_of, [{"name": "a", "as_of": as_of, **more}])})

    assert tag("2026-01-01T00:00:00Z") == tag("2026-01-01T00:00:09Z")
    assert tag("2026-01-01T00:00:00Z") != tag("2026-01-01T00:00:00Z", records=1)
    # A row that is older than its part says so.
    old = [{"name": "a", "as_of": "2025-12-31T00:00:00Z"}]
    assert tag_of_page("t", {"topics": part("2026-01-01T00:00:00Z", old)}) != tag(
        "2026-01-01T00:00:00Z"
    )


@pytest.mark.parametrize(
    "other",
    [
        ("u", {"a": part("1", 1)}),
        ("t", {"b": part("1", 1)}),
        ("t", {"a": part("1", 2)}),
        ("t", {"a": part("1", 1, "stale")}),
        ("t", {"a": part(None, 1)}),
        ("t", {"a": part("1", 1), "b": part("1", 1)}),
    ],
)
def test_whatever_else_differs_has_another_tag(other):
    assert tag_of_page(*other) != tag_of_page("t", {"a": part("1", 1)})


def test_ages_are_by_part():
    assert ages({"a": part("1", 1), "b": part(None, None)}) == "a=1, b="


def test_what_is_known_is_not_sent_again_and_gets_its_new_age(world, page):
    client = client_for(world.tenant)
    first = client.get(page)
    tag, before = first["ETag"], first.json()["parts"]["topics"]["as_of"]
    observed(world)
    again = client.get(page, HTTP_IF_NONE_MATCH=tag)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    assert again["Cache-Control"] == "no-store"
    now = ObservedCluster.objects.get(pk=world.cluster.id).sections["topics"]["as_of"]
    assert now != before
    assert again[AGES] == f"topics={now}, counts={now}"
    world.gateway.topics["team-a-orders"].partitions[0].log_end += 1
    observed(world)
    changed = client.get(page, HTTP_IF_NONE_MATCH=tag)
    assert (changed.status_code, changed["ETag"] == tag) == (200, False)


def test_old_data_is_no_longer_what_was_known(world, page):
    client = client_for(world.tenant)
    tag = client.get(page)["ETag"]
    world.gateway.offline = True
    observed(world)
    answer = client.get(page, HTTP_IF_NONE_MATCH=tag)
    assert answer.status_code == 200
    assert answer.json()["parts"]["topics"]["status"] == "stale"


def test_a_tag_is_of_one_viewer_and_one_question(world, page):
    """Also where both see the same: who may see less later must not be told that nothing changed."""
    tag = client_for(world.tenant).get(page)["ETag"]
    narrow = member_of(world.tenant)
    assert narrow.get(page, HTTP_IF_NONE_MATCH=tag).status_code == 200
    other = client_for(tenant_make("other"))
    empty = other.get("/console/api/pages/operations")
    ours = client_for(world.tenant).get("/console/api/pages/operations")
    assert empty.json()["parts"]["operations"]["data"] == ours.json()["parts"]["operations"]["data"]
    assert empty["ETag"] != ours["ETag"]
    searched = client_for(world.tenant).get(f"{page}?q=team", HTTP_IF_NONE_MATCH=tag)
    assert searched.status_code == 200


def test_a_tag_opens_nothing(world, page):
    tag = client_for(world.tenant).get(page)["ETag"]
    other = client_for(tenant_make("other"))
    other.raise_request_exception = False
    assert other.get(page, HTTP_IF_NONE_MATCH=tag).status_code == 404
    assert other.get(page, HTTP_IF_NONE_MATCH="*").status_code == 404
