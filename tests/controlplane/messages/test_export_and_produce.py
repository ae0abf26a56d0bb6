"""Messages as files, and messages written."""

import csv
import io
import json

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import Grant, Match, Over, Pattern
from controlplane.gateway.errors import GatewayError, timed_out
from controlplane.messages import export
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
COMPLETE = "X-Penstock-Export-Complete"
FORMULAS = [b"=1+1", b"+1", b"-1", b"@SUM(A1)", b"\t=1", "\uff1d1".encode(), b" =1"]


@pytest.fixture
def client(world):
    return client_for(world.tenant, "operator")


def test_lines_of_json_of_what_matched(client, orders):
    answer = client.get(f"{orders}/export", {"from": "beginning", "filter": "value.n < 3"})
    assert answer["Content-Type"] == "application/x-ndjson"
    assert answer["Content-Disposition"] == 'attachment; filename="messages.ndjson"'
    rows = [json.loads(line) for line in answer.content.decode().splitlines()]
    assert [json.loads(row["value"])["n"] for row in rows] == [0, 1, 2]
    assert rows[0]["headers"] == [["region", "us"]]
    assert answer[COMPLETE] == "true"
    assert client.get(f"{orders}/export", {"records": 3})[COMPLETE] == "false"
    row = AuditEvent.objects.filter(action="messages.read").first()
    assert row.data["how"] == "export"


def test_rows_that_no_spreadsheet_takes_for_formulas(client, world):
    fill(world.gateway, "evil", [(0, text, b'a,"b"\r\n\0') for text in FORMULAS])
    path = f"/api/v1/clusters/{world.cluster.id}/topics/evil/messages/export"
    answer = client.get(path, {"format": "csv", "from": "beginning"})
    head, *rows = csv.reader(io.StringIO(answer.content.decode(), newline=""))
    keys = [row[head.index("key")] for row in rows]
    assert keys == [f"'{text.decode()}" for text in FORMULAS]
    assert {row[head.index("value")] for row in rows} == {'a,"b"\r\n\u2400'}


def test_a_file_has_so_many_bytes(client, orders, monkeypatch):
    monkeypatch.setattr(export, "EXPORT_BYTES_MAX", 1_000)
    answer = client.get(f"{orders}/export")
    assert 0 < len(answer.content) <= 1_000
    assert answer[COMPLETE] == "false"


@pytest.mark.parametrize(
    ("query", "pointer"),
    [({"records": 10_001}, "/records"), ({"limit": 3}, "/limit"), ({"format": "xlsx"}, "/format")],
)
def test_bad_queries(client, orders, query, pointer):
    found = problem(client.get(f"{orders}/export", query), 422)
    assert found["errors"][0]["pointer"] == pointer


# -- writing --------------------------------------------------------------------------------
def part(text, form="string"):
    return {"format": form, "text": text}


def test_a_message_is_written_and_read_back(client, orders, world):
    body = {
        "partition": 2,
        "key": part("k"),
        "value": part('{"n": 1.50}', "json"),
        "headers": [{"name": "a", "value": part("00ff", "hex")}, {"name": "b", "value": part("")}],
    }
    answer = client.post(orders, body, "json")
    assert answer.status_code == 201, answer.content
    where = answer.json()
    record = world.gateway.topics["orders"].partitions[2].records[-1]
    assert (where["partition"], where["offset"]) == (2, record.offset)
    assert (record.key, record.value) == (b"k", b'{"n": 1.50}')
    assert record.headers == (("a", b"\x00\xff"), ("b", b""))
    row = AuditEvent.objects.get(action="messages.produce")
    assert row.data == {
        "partition": 2, "offset": record.offset, "key_bytes": 1, "value_bytes": 11, "headers": 2,
    }  # fmt: skip


def test_a_tombstone(client, orders, world):
    answer = client.post(orders, {"partition": 0, "key": part("k"), "value": None}, "json")
    assert answer.status_code == 201
    assert world.gateway.topics["orders"].partitions[0].records[-1].value is None


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"value": part("{", "json")}, "/value/text"),
        ({"value": part("zz", "hex")}, "/value/text"),
        ({"value": part("x", "xml")}, "/value/format"),
        ({"value": part("x" * 600_000)}, "/value"),
        ({"key": part("x" * 70_000)}, "/key"),
        ({"value": None}, "/value"),
        ({"headers": [{"name": "h", "value": None}]}, "/headers/0/value"),
        ({"partition": 99}, "/partition"),
        ({"partition": -1}, "/partition"),
        ({"headers": [{"name": "h", "value": part("x")}] * 51}, "/headers"),
        ({"more": 1}, "/more"),
    ],
)
def test_bad_messages_name_their_field(client, orders, world, changed, pointer):
    before = [part.log_end for part in world.gateway.topics["orders"].partitions]
    found = problem(client.post(orders, {"value": part("v"), **changed}, "json"), 422)
    assert found["errors"][0]["pointer"] == pointer
    assert [part.log_end for part in world.gateway.topics["orders"].partitions] == before


def test_a_late_answer_is_unknown_and_said_so(client, orders, world):
    world.gateway.fail_next("write_record", timed_out("no answer", write=True))
    found = problem(client.post(orders, {"value": part("v")}, "json"), 504)
    assert found["code"] == "outcome-unknown"
    assert found["retryable"] is False
    row = AuditEvent.objects.get(action="messages.produce")
    assert row.outcome == "unknown"
    world.gateway.fail_next("write_record", GatewayError("NOT_ENOUGH_REPLICAS", "too few"))
    assert problem(client.post(orders, {"value": part("v")}, "json"), 409)


def test_a_key_writes_once(client, orders, world):
    for _ in range(2):
        client.post(
            orders, {"partition": 0, "value": part("v")}, "json",
            headers={"Idempotency-Key": "one"},
        )  # fmt: skip
    assert world.gateway.topics["orders"].partitions[0].log_end == 11


def test_who_may_write(world, orders):
    body = {"value": part("v")}
    prefix = Pattern(Match.LITERAL, "orders")
    for role, status in (("message-reader", 403), ("message-writer", 201), ("viewer", 403)):
        who = member_of(world.tenant, [Grant(role=role, over=Over.TOPIC, names=prefix)], role)
        assert who.post(orders, body, "json").status_code == status, role
    other = orders.replace("orders", "other")
    world.gateway.add_topic("other")
    writer = member_of(
        world.tenant, [Grant(role="message-writer", over=Over.TOPIC, names=prefix)], "w"
    )
    problem(writer.post(other, body, "json"), 404)
    problem(key_client(world.tenant, "read").post(orders, body, "json"), 403)
    problem(client_for(tenant_make("rival")).post(orders, body, "json"), 404)


def test_nothing_is_written_to_the_clusters_own_topics(client, world):
    world.gateway.add_topic("__consumer_offsets")
    path = f"/api/v1/clusters/{world.cluster.id}/topics/__consumer_offsets/messages"
    found = problem(client.post(path, {"value": part("v")}, "json"), 409)
    assert found["code"] == "internal-topic"
