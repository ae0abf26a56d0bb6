"""The page of operations: fifty at a time, found on the server, of what the viewer sees."""

from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.pages.operations import PAGE_SIZE
from controlplane.operations.models import Operation, Plan
from controlplane.operations.states import FAILED, RUNNING, SUCCEEDED
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
PAGE = "/console/api/pages/operations"
STATEMENTS_MAX = 12
NUMBERS = count(1)


def done(world, resource="topic/orders", kind="topic.create", state=SUCCEEDED, **more):
    about = {
        "tenant": world.tenant,
        "cluster_id": world.cluster.id,
        "resource": resource,
        "kind": kind,
        **more,
    }
    now = timezone.now()
    actor = about.pop("actor", "user:ada")
    plan = Plan.objects.create(
        **about,
        inputs={"name": resource.partition("/")[2]},
        diff={},
        impact={},
        preconditions={},
        expires_at=now,
    )
    # Ids of one millisecond are in no order.
    made = Operation.objects.create(
        **about, pk=f"op_{next(NUMBERS):020}", actor=actor, plan=plan, state=state, finished_at=now
    )
    return made.pk


def read(client, **query):
    parts = client.get(PAGE, query).json()["parts"]
    assert {part["status"] for part in parts.values()} == {"ok"}
    return [row["id"] for row in parts["operations"]["data"]], parts["page"]["data"]


def test_a_page_goes_on_where_the_one_before_ended(world):
    made = [done(world) for _ in range(PAGE_SIZE + 2)]
    client = client_for(world.tenant)
    newest, page = read(client)
    assert newest == made[:1:-1]
    assert page["has_more"]
    later = done(world)  # meanwhile
    older, page = read(client, cursor=page["next"])
    assert older == made[1::-1]
    assert page == {"next": None, "has_more": False}
    assert read(client)[0][0] == later


def test_it_takes_as_many_statements_however_many_there_are(world):
    done(world)
    client = client_for(world.tenant)
    read(client)
    with CaptureQueriesContext(connection) as few:
        read(client)
    for _ in range(PAGE_SIZE + 5):
        done(world)
    with CaptureQueriesContext(connection) as many:
        read(client)
    assert len(many) <= len(few) <= STATEMENTS_MAX


@pytest.mark.parametrize("cursor", ["junk", "a:b", "x" * 5_000, "é"])
def test_a_bad_cursor_is_named(world, cursor):
    client = client_for(world.tenant)
    client.raise_request_exception = False
    assert problem(client.get(PAGE, {"cursor": cursor}), 422)["errors"][0]["pointer"] == "/cursor"


def test_a_cursor_of_the_rest_list_is_not_one_of_the_pages(world):
    for _ in range(2):
        done(world)
    client = client_for(world.tenant)
    client.raise_request_exception = False
    cursor = client.get("/api/v1/operations", {"page_size": 1}).json()["page"]["next"]
    problem(client.get(PAGE, {"cursor": cursor}), 422)


def test_a_cursor_of_another_tenant_shows_nothing_of_theirs(world):
    for _ in range(PAGE_SIZE + 1):
        done(world)
    _, page = read(client_for(world.tenant))
    assert read(client_for(tenant_make("other")), cursor=page["next"])[0] == []


def test_a_page_that_was_not_sent_again_still_leads_on(world):
    made = [done(world) for _ in range(PAGE_SIZE + 1)]
    client = client_for(world.tenant)
    first = client.get(PAGE)
    assert client.get(PAGE, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304
    following = first.json()["parts"]["page"]["data"]["next"]
    assert read(client, cursor=following)[0] == made[:1]
    done(world)
    assert client.get(PAGE, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 200


def test_they_are_found_by_text_kind_state_and_cluster(world):
    topic, group = done(world), done(world, "group/readers", "offset.reset", FAILED)
    other = cluster_make(world.tenant, "other")
    there = done(world, "topic/there", state=RUNNING, cluster_id=other.id, actor="key:ci")
    client = client_for(world.tenant)
    for query, found in [
        ({"q": "READERS"}, [group]),
        ({"q": "ci"}, [there]),
        ({"q": topic}, [topic]),
        ({"q": "nothing"}, []),
        ({"q": "nothing", "kinds": "offset.reset,topic.delete"}, [group]),
        ({"state": "failed"}, [group]),
        ({"state": "active"}, [there]),
        ({"state": "active,failed"}, None),
        ({"cluster_id": other.id}, [there]),
        ({"cluster_id": world.cluster.id, "q": "o"}, [group, topic]),
    ]:
        if found is None:
            client.raise_request_exception = False
            problem(client.get(PAGE, query), 422)
        else:
            assert read(client, **query)[0] == found, query


def test_a_cluster_of_somebody_else_is_not_found(world):
    done(world)
    theirs = cluster_make(tenant_make("other"), "theirs")
    client = client_for(world.tenant)
    client.raise_request_exception = False
    for cluster_id in (theirs.id, "kc_none"):
        assert client.get(PAGE, {"cluster_id": cluster_id}).status_code == 404


def test_what_a_scope_does_not_cover_takes_no_place_and_is_not_found(world):
    own = [done(world, "topic/team-a-orders") for _ in range(PAGE_SIZE + 1)]
    for _ in range(3):
        done(world, "topic/payments")
    member = member_of(world.tenant)
    newest, page = read(member)
    assert newest == own[:0:-1]
    assert read(member, cursor=page["next"]) == (own[:1], {"next": None, "has_more": False})
    assert read(member, q="payments")[0] == []
