"""`GET …/messages`: what a page holds, who gets one, and how it ends."""

import json

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import Grant, Match, Over, Pattern
from controlplane.gateway.errors import unreachable
from controlplane.gateway.record_port import NewRecord
from controlplane.messages import reading
from controlplane.messages.bounds import TEXT_SHOWN_MAX
from controlplane.messages.query import From, Order, Query
from controlplane.messages.services import read_begin
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import ACTOR, client_for, tenant_make

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(world):
    return client_for(world.tenant, "operator")


def page(client, path, **query):
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def numbers(found):
    return [json.loads(row["value"]["text"])["n"] for row in found["data"]]


def test_newest_first_over_all_partitions_page_by_page(client, orders):
    first = page(client, orders, limit=8)
    assert numbers(first) == list(range(29, 21, -1))
    assert first["page"]["has_more"]
    assert first["reading"]["ended_by"] == "limit"
    seen, cursor = numbers(first), first["page"]["next"]
    while cursor:
        following = page(client, orders, limit=8, cursor=cursor)
        seen += numbers(following)
        cursor = following["page"]["next"]
    assert seen == list(range(29, -1, -1))


def test_a_message_is_shown_with_all_it_has(client, orders):
    (row,) = page(client, orders, limit=1)["data"]
    assert (row["partition"], row["offset"], row["timestamp_type"]) == (2, 9, "create")
    assert row["timestamp"] == "2023-11-14T22:13:49Z"
    assert row["key"] == {
        "kind": "string", "text": "key-29", "truncated": False, "size_bytes": 6, "schema": "",
        "problem": "", "masked": False,
    }  # fmt: skip
    assert row["value"]["kind"] == "json"
    assert [(head["name"], head["text"]) for head in row["headers"]] == [("region", "eu")]


def test_by_offset_time_and_partition(client, orders):
    assert numbers(page(client, orders, **{"from": "beginning"}, limit=4)) == [0, 1, 2, 3]
    found = page(client, orders, offset=5, partitions="1")
    assert numbers(found) == [16, 19, 22, 25, 28]
    found = page(client, orders, offset=5, partitions="0,1", order="newest", limit=3)
    assert numbers(found) == [16, 15, 13]
    found = page(client, orders, time="2023-11-14T22:13:47Z")
    assert numbers(found) == [27, 28, 29]
    assert found["reading"]["ended_by"] == "end"
    found = page(client, orders, time="2023-11-14T22:13:47Z", order="newest", limit=2)
    assert numbers(found) == [26, 25]
    assert page(client, orders, time="2033-11-14T22:13:47Z")["data"] == []
    assert page(client, orders, offset=10**9, partitions="0")["data"] == []


def test_filters(client, orders):
    assert numbers(page(client, orders, key="KEY-1", order="newest", limit=3)) == [19, 18, 17]
    assert numbers(page(client, orders, value="u7@")) == [7]
    assert len(page(client, orders, header="region=eu")["data"]) == 15
    found = page(client, orders, filter='value.n >= 10 && value.n < 13 && headers.region == "us"')
    assert numbers(found) == [12, 10]
    assert found["reading"]["records"] == 30
    assert found["reading"]["matched"] == 2
    found = page(client, orders, filter="key > 3")
    assert (found["data"], found["reading"]["filter_errors"]) == ([], 30)


def test_the_end_is_followed_by_what_is_written_later(client, orders, world):
    found = page(client, orders, **{"from": "end"}, order="oldest")
    assert (found["data"], found["page"]["has_more"]) == ([], False)
    later = json.dumps({"n": 99}).encode()
    world.gateway.write_record("orders", NewRecord(partition=1, key=None, value=later))
    cursor = found["reading"]["cursor"]
    assert numbers(page(client, orders, cursor=cursor)) == [99]


def test_a_long_text_is_cut_and_shown_whole_when_asked_for(client, world):
    text = "x" * 1_000_000
    fill(world.gateway, "long", [(0, None, text.encode()), (0, b"k", None)])
    path = f"/api/v1/clusters/{world.cluster.id}/topics/long/messages"
    tombstone, row = page(client, path)["data"]
    assert tombstone["value"]["kind"] == "null"
    assert (len(row["value"]["text"]), row["value"]["truncated"]) == (TEXT_SHOWN_MAX, True)
    assert row["value"]["size_bytes"] == 1_000_000
    found = page(client, path, offset=0, partitions="0", limit=1, whole="true")
    assert found["data"][0]["value"]["text"] == text


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"limit": 201}, "/limit"),
        ({"limit": 0}, "/limit"),
        ({"partitions": "a"}, "/partitions"),
        ({"partitions": "7"}, "/partitions"),
        ({"from": "somewhere"}, "/from"),
        ({"from": "offset"}, "/offset"),
        ({"from": "time"}, "/time"),
        ({"from": "end", "offset": 3}, "/offset"),
        ({"from": "beginning", "order": "newest"}, "/order"),
        ({"offset": -1}, "/offset"),
        ({"offset": 2**63}, "/offset"),
        ({"time": "yesterday"}, "/time"),
        ({"filter": "value.n >"}, "/filter"),
        ({"filter": "x" * 1001}, "/filter"),
        ({"key": "x" * 501}, "/key"),
        ({"cursor": "nonsense"}, "/cursor"),
        ({"cursor": "WyJvbGRlc3QiLHsiMCI6Wzk5LDFdfV0"}, "/cursor"),
        ({"whole": "true"}, "/whole"),
        ({"value_format": "xml"}, "/value_format"),
        ({"other": "1"}, "/other"),
    ],
)
def test_bad_queries_name_their_field(client, orders, query, pointer):
    found = problem(client.get(orders, query), 422)
    assert [row["pointer"] for row in found["errors"]] == [pointer]


def test_where_an_expression_is_wrong_is_said(client, orders):
    found = problem(client.get(orders, {"filter": "value.n >"}), 422)
    assert "at character 10:" in found["detail"]


@pytest.mark.parametrize("role", ["owner", "operator"])
def test_who_may(world, orders, role):
    assert page(client_for(world.tenant, role), orders)["data"]


def test_seeing_a_topic_is_not_seeing_its_messages(world, orders):
    for client in (client_for(world.tenant, "viewer"), key_client(world.tenant, "read")):
        assert client.get(orders.removesuffix("/messages")).status_code == 200
        assert "message-reader" in problem(client.get(orders), 403)["detail"]


def test_grants_over_topics_open_these_and_no_others(world, orders):
    fill(world.gateway, "team-a-x", [(0, b"k", b"v")])
    fill(world.gateway, "secret", [(0, b"k", b"v")])
    team = Pattern(Match.PREFIX, "team-a-")
    base = orders.removesuffix("orders/messages")
    reader = member_of(
        world.tenant, [Grant(role="message-reader", over=Over.TOPIC, names=team)], "reader"
    )
    assert page(reader, f"{base}team-a-x/messages")["data"]
    for name in ("secret", "no-such"):
        found = problem(reader.get(f"{base}{name}/messages"), 404)
        assert found["detail"] == f"There is no topic {name}."
    viewer = member_of(
        world.tenant, [Grant(role="viewer", over=Over.TOPIC, names=team)], "viewer-only"
    )
    problem(viewer.get(f"{base}team-a-x/messages"), 403)
    writer = member_of(
        world.tenant, [Grant(role="message-writer", over=Over.TOPIC, names=team)], "writer-only"
    )
    problem(writer.get(f"{base}team-a-x/messages"), 403)


def test_another_tenants_topic_is_not_there(world, orders):
    problem(client_for(tenant_make("rival")).get(orders), 404)


def test_a_topic_that_is_not_there(client, orders):
    problem(client.get(orders.replace("orders", "nothing")), 404)


def test_who_read_is_recorded_and_not_what(client, orders):
    page(client, orders, value="u7@", limit=5)
    row = AuditEvent.objects.get(action="messages.read")
    assert row.resource.endswith("/topic/orders")
    assert row.touches == [["topic", "orders"]]
    assert row.data["filtered"] is True
    assert "u7" not in json.dumps(row.data)


def test_readers_are_so_many_and_give_their_seats_back(client, orders, settings, world):
    settings.MESSAGE_READERS_PER_TENANT = 1
    with reading.seat(str(world.tenant.pk)):
        found = problem(client.get(orders), 429)
        assert found["code"] == "too-many-readers"
    assert page(client, orders)["data"]
    world.gateway.fail_next("fetch", unreachable("the broker is gone"))
    assert problem(client.get(orders), 503)["code"] == "cluster-unreachable"
    assert page(client, orders)["data"]


def test_a_bound_ends_a_search_and_the_next_page_goes_on(client, orders, monkeypatch):
    monkeypatch.setattr(reading, "SCANNED_RECORDS_MAX", 10)
    found = page(client, orders, value="u3@")
    assert (found["data"], found["reading"]["ended_by"]) == ([], "records")
    for _ in range(5):
        if found["data"] or not found["page"]["next"]:
            break
        found = page(client, orders, value="u3@", cursor=found["page"]["next"])
    assert numbers(found) == [3]


@pytest.mark.parametrize(
    "query", [Query(limit=20), Query(limit=20, start=From.BEGINNING, order=Order.OLDEST)]
)
def test_costly_messages_are_looked_at_in_short_steps(world, orders, monkeypatch, query):
    """Between two steps it can be cancelled, and asks whether it may go on."""
    monkeypatch.setattr(reading, "STEP_S_MAX", 0.0)
    asked = read_begin(
        tenant=world.tenant, actor=ACTOR, cluster_id=world.cluster.id, topic="orders", query=query
    )
    steps = list(reading.reading(asked))
    found = [sum(name == "message" for name, _ in frames) for frames in steps]
    assert (sum(found), max(found)) == (20, 1)
    assert steps[-1][-1][1]["ended_by"] == "limit"


def test_a_partition_without_a_leader_or_that_is_silent_is_named(
    client, orders, world, monkeypatch
):
    leaders = [part.replicas[0] for part in world.gateway.topics["orders"].partitions]
    monkeypatch.setattr(reading, "SILENCE_S", 0.0)
    reader = world.gateway.record_reader

    def silent_once_open(topic, partitions, isolation):
        world.gateway.silent.add(leaders[1])
        return reader(topic, partitions, isolation)

    monkeypatch.setattr(world.gateway, "record_reader", silent_once_open)
    found = page(client, orders)
    assert found["reading"]["silent"] == [1]
    assert sorted(numbers(found)) == [n for n in range(30) if n % 3 != 1]
    monkeypatch.undo()
    world.gateway.silent.clear()
    for part in world.gateway.topics["orders"].partitions[1:2]:
        part.replicas = (99,)
    found = page(client, orders)
    assert found["reading"]["unavailable"] == [1]
