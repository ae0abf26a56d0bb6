"""One record at the target of a reset: who sees it, how it is shown, and what stands in the audit."""

from __future__ import annotations

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.gateway import record_sample
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.record_sample import Sampled
from controlplane.groups.samples import HEX_MAX_BYTES, TEXT_MAX_BYTES, shown_bytes
from tests.controlplane.support import client_for, cluster_make, tenant_make

HOSTILE = b"<script>alert(1)</script>\x00\xe2\x80\xae"


@pytest.fixture
def orders(world, monkeypatch):
    """A topic whose partition 1 holds one record at 60; what was asked for, by the test."""
    world.gateway.add_topic("orders", partitions=2, records=100)
    asked = []

    def record_from(_spec, topic, partition, offset, *, timeout_s):
        asked.append((topic, partition, offset, timeout_s))
        if offset > 60:
            return None
        headers = tuple((f"h{n}", None) for n in range(25))
        return Sampled(
            offset=60, timestamp_ms=1_000, key=b"\xff\x00", value=HOSTILE, headers=headers
        )

    monkeypatch.setattr(record_sample, "record_from", record_from)
    world.named["asked"] = asked
    return world


def ask(world, topic="orders", role="operator", **query):
    client = client_for(world.tenant, role)
    return client.get(f"/api/v1/clusters/{world.cluster.id}/offset-samples/{topic}", query)


def test_the_first_record_at_or_after_the_offset(orders):
    found = ask(orders, partition=1, offset=55)
    assert found.status_code == 200
    record = found.json()["record"]
    assert (record["offset"], record["timestamp"]) == (60, "1970-01-01T00:00:01Z")
    assert record["value"] == {
        "text": HOSTILE.decode(),
        "hex": None,
        "size_bytes": len(HOSTILE),
        "is_cut": False,
    }
    assert record["key"] == {"text": None, "hex": "ff00", "size_bytes": 2, "is_cut": False}
    assert (len(record["headers"]), record["headers_left_out"]) == (20, 5)
    assert orders.named["asked"] == [("orders", 1, 55, 5.0)]


def test_behind_the_end_there_is_none_yet(orders):
    assert ask(orders, partition=1, offset=100).json()["record"] is None


def test_who_reads_stands_in_the_audit_but_not_what(orders):
    ask(orders, partition=1, offset=55)
    event = AuditEvent.objects.get(action="record.sample")
    assert event.resource == "topic/orders"
    assert (event.data["partition"], event.data["offset"]) == (1, 55)
    assert "alert" not in str(event.data)


def test_a_viewer_reads_no_record(orders):
    assert ask(orders, role="viewer", partition=1, offset=55).status_code == 403
    assert orders.named["asked"] == []


def test_what_is_not_there_or_another_tenant_s_is_not_found(orders):
    assert ask(orders, topic="nothing", partition=0, offset=0).status_code == 404
    theirs = cluster_make(tenant_make("rival"), name="main")
    client = client_for(theirs.tenant, "owner")
    address = f"/api/v1/clusters/{orders.cluster.id}/offset-samples/orders"
    assert client.get(address, {"partition": 0, "offset": 0}).status_code == 404
    assert orders.named["asked"] == []


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"partition": 9, "offset": 0}, "/partition"),
        ({"partition": -1, "offset": 0}, "/partition"),
        ({"partition": 0, "offset": "x"}, "/offset"),
        ({"partition": 0, "offset": -1}, "/offset"),
    ],
)
def test_bad_questions_are_named(orders, query, pointer):
    answer = ask(orders, **query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_record_that_cannot_be_read_is_no_empty_one(orders, monkeypatch):
    def refused(*_args, **_more):
        raise GatewayError("not-read", "a batch unpacks to more than 64 MiB")

    monkeypatch.setattr(record_sample, "record_from", refused)
    answer = ask(orders, partition=1, offset=55)
    assert answer.status_code == 503
    assert "unpacks" in answer.json()["detail"]
    assert not AuditEvent.objects.filter(action="record.sample").exists()


def test_long_values_are_cut_at_a_whole_character():
    text = "é" * TEXT_MAX_BYTES
    for shift in ("", "x"):
        shown = shown_bytes((shift + text).encode())
        assert shown is not None
        assert shown["is_cut"]
        assert shown["size_bytes"] == len((shift + text).encode())
        assert (shift + text).startswith(shown["text"])
    binary = shown_bytes(b"\xff" * 1_000)
    assert binary is not None
    assert (len(binary["hex"]), binary["is_cut"]) == (2 * HEX_MAX_BYTES, True)
    assert shown_bytes(None) is None
    assert shown_bytes(b"") == {"text": "", "hex": None, "size_bytes": 0, "is_cut": False}


def test_a_time_that_no_date_has_is_not_known(orders, monkeypatch):
    late = Sampled(offset=1, timestamp_ms=2**62, key=None, value=None)
    monkeypatch.setattr(record_sample, "record_from", lambda *_args, **_more: late)
    record = ask(orders, partition=0, offset=0).json()["record"]
    assert (record["timestamp"], record["value"]) == (None, None)
