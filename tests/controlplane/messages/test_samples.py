"""One record at the target of a reset: who sees it, through which masks, and what the audit says."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import Grant, Match, Over, Pattern
from controlplane.gateway.errors import unreachable
from controlplane.messages import reading
from controlplane.messages.models import MaskRule
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
HOSTILE = b"<script>alert(1)</script>\x00\xe2\x80\xae"


@pytest.fixture
def read(world, orders, monkeypatch):
    """The topics that were read, by the test."""
    found, make = [], world.gateway.record_reader

    def record_reader(topic, partitions, isolation):
        found.append((topic, list(partitions)))
        return make(topic, partitions, isolation)

    monkeypatch.setattr(world.gateway, "record_reader", record_reader)
    return found


def address(world, topic="orders"):
    return f"/api/v1/clusters/{world.cluster.id}/offset-samples/{topic}"


def ask(world, client=None, topic="orders", **query):
    return (client or client_for(world.tenant, "operator")).get(address(world, topic), query)


def test_the_record_at_the_offset_or_the_first_one_after_it(world, read):
    answer = ask(world, partition=1, offset=4)
    assert answer.status_code == 200, answer.content
    assert answer["Cache-Control"] == "no-store"
    found = answer.json()
    assert (found["topic"], found["partition"], found["offset"]) == ("orders", 1, 4)
    assert (found["record"]["offset"], found["record"]["key"]["text"]) == (4, "key-13")
    assert "u13@example.org" in found["record"]["value"]["text"]
    assert read == [("orders", [1])]


def test_behind_the_end_there_is_none_yet(world, orders):
    assert ask(world, partition=1, offset=100).json()["record"] is None


def test_what_a_mask_hides_is_hidden_here_too(world, orders):
    MaskRule.objects.create(
        tenant=world.tenant,
        topic_match="literal",
        topic_name="orders",
        part="value",
        path="who.email",
        act="replace",
        see_through=["owner"],
    )
    answer = ask(world, partition=0, offset=0)
    assert "example.org" not in answer.content.decode()
    record = answer.json()["record"]
    assert (record["masked"], record["value"]["size_bytes"]) == (True, None)
    owner = ask(world, client_for(world.tenant, "owner"), partition=0, offset=0)
    assert "u0@example.org" in owner.content.decode()


def test_who_moves_groups_but_reads_no_messages_is_refused_and_nothing_is_read(world, read):
    topic = Grant(role="viewer", over=Over.TOPIC, names=Pattern(Match.LITERAL, "orders"))
    group = Grant(role="operator", over=Over.GROUP)
    mover = member_of(world.tenant, [topic, group], name="mover")
    for client in (mover, client_for(world.tenant, "viewer")):
        assert "message-reader" in problem(ask(world, client), 403)["detail"]
    assert read == []
    assert not AuditEvent.objects.filter(action="messages.read").exists()


def test_who_reads_messages_of_this_topic_needs_no_group(world, read):
    grant = Grant(role="message-reader", over=Over.TOPIC, names=Pattern(Match.LITERAL, "orders"))
    fill(world.gateway, "salaries", [(0, None, b"much")])
    reader = member_of(world.tenant, [grant], name="reader")
    assert ask(world, reader).status_code == 200
    problem(ask(world, reader, topic="salaries"), 404)
    assert [topic for topic, _ in read] == ["orders"]


def test_what_is_not_there_or_another_tenant_s_is_not_found(world, read):
    problem(ask(world, topic="nothing"), 404)
    theirs = cluster_make(tenant_make("rival"), name="main")
    problem(client_for(theirs.tenant, "owner").get(address(world)), 404)
    assert read == []


def test_who_reads_stands_in_the_audit_but_not_what(world):
    fill(world.gateway, "evil", [(0, b"\xff\x00", HOSTILE)])
    record = ask(world, topic="evil").json()["record"]
    assert (record["key"]["kind"], record["key"]["text"]) == ("hex", "ff00")
    assert record["value"]["text"] == HOSTILE.decode()
    event = AuditEvent.objects.get(action="messages.read")
    assert event.resource == f"cluster/{world.cluster.id}/topic/evil"
    assert (event.data["how"], event.data["partitions"]) == ("sample", [0])
    assert "alert" not in str(event.data)


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"partition": 9, "offset": 0}, "/partition"),
        ({"partition": -1, "offset": 0}, "/partition"),
        ({"partition": 0, "offset": "x"}, "/offset"),
        ({"partition": 0, "offset": -1}, "/offset"),
    ],
)
def test_bad_questions_are_named(world, orders, query, pointer):
    found = problem(ask(world, **query), 422)
    assert found["errors"][0]["pointer"] == pointer


def test_what_could_not_be_read_is_no_end_of_the_log(world, orders, monkeypatch):
    monkeypatch.setattr(reading, "SCAN_S_MAX", -1.0)
    monkeypatch.setattr(world.gateway, "record_reader", _Silent)
    assert "in time" in problem(ask(world), 503)["detail"]

    def away(*_args):
        raise unreachable("nobody is there")

    monkeypatch.setattr(world.gateway, "record_reader", away)
    problem(ask(world), 503)


class _Silent:
    def __init__(self, *_args):
        pass

    def fetch(self, spans, *, wait_s):
        del spans, wait_s
        return reading.Fetched()

    def close(self):
        pass
